"""A tiny writer of event files, in every style that programs use. It shares no code with the reader."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence

import google_crc32c
import numpy as np

WALL = 1_763_600_000.25

# dtype name -> (TensorFlow's number, struct format, field of its repeated values)
DTYPES: dict[str, tuple[int, str, int]] = {
    "float": (1, "f", 5),
    "double": (2, "d", 6),
    "int32": (3, "i", 7),
    "uint8": (4, "B", 7),
    "int16": (5, "h", 7),
    "int8": (6, "b", 7),
    "int64": (9, "q", 10),
    "bool": (10, "?", 11),
    "bfloat16": (14, "", 13),
    "uint16": (17, "H", 7),
    "half": (19, "e", 13),
    "uint32": (22, "I", 16),
    "uint64": (23, "Q", 17),
}


def masked_crc(data: bytes) -> bytes:
    """CRC-32C, rotated right by 15 and moved by the constant of TensorFlow's crc32c.h."""
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17 & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data: bytes) -> bytes:
    """A framed record."""
    length = struct.pack("<Q", len(data))
    return length + masked_crc(length) + data + masked_crc(data)


def varint(value: int) -> bytes:
    """A varint of an int64 or uint64."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = []
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def event(step: int, *values: bytes, wall: float = WALL, extra: bytes = b"") -> bytes:
    """An event with a summary; step 0 is left off the wire, as proto3 does."""
    return record(payload(step, *values, wall=wall, extra=extra))


def payload(step: int, *values: bytes, wall: float = WALL, extra: bytes = b"") -> bytes:
    """The same without its frame. `extra` is appended as it is."""
    head = b"\x09" + struct.pack("<d", wall) + (b"\x10" + varint(step) if step else b"")
    return head + (field(5, b"".join(field(1, value) for value in values)) if values else b"") + extra


def version(wall: float = WALL, text: str = "brain.Event:2") -> bytes:
    """The record that begins every file."""
    return record(b"\x09" + struct.pack("<d", wall) + field(3, text.encode()))


def session_start(step: int, wall: float = WALL) -> bytes:
    """SessionLog START, as `purge_step` writes it."""
    return event(step, wall=wall, extra=field(7, b"\x08\x01"))


def graph(size: int, wall: float = WALL) -> bytes:
    """A graph_def of `size` bytes."""
    return record(b"\x09" + struct.pack("<d", wall) + field(4, bytes(size)))


def metadata(plugin: str, content: bytes = b"") -> bytes:
    """A SummaryMetadata field of a value."""
    inner = field(1, plugin.encode()) + (field(2, content) if content else b"")
    return field(9, field(1, inner))


def raw_tag(tag: str | bytes) -> bytes:
    """The tag field of a value; bytes need not be UTF-8."""
    return field(1, tag if isinstance(tag, bytes) else tag.encode())


def simple(tag: str | bytes, value: float | bytes) -> bytes:
    """A simple_value; four bytes stand for themselves."""
    return raw_tag(tag) + b"\x15" + (value if isinstance(value, bytes) else struct.pack("<f", value))


def tensor(
    tag: str,
    value: float,
    dtype: str = "float",
    *,
    content: bool = True,
    packed: bool = True,
    plugin: str | None = "scalars",
    shape: Sequence[int] = (),
) -> bytes:
    """A scalar as a tensor, in tensor_content or in the repeated field of its dtype."""
    number, form, where = DTYPES[dtype]
    if dtype == "bfloat16":
        element = struct.pack("<f", value)[2:]
        integer = int.from_bytes(element, "little")
    else:
        element = struct.pack("<" + form, value if form in "fde?" else int(value))
        integer = (
            int.from_bytes(element, "little") if dtype == "half" else int(value) if form not in "fd" else 0
        )
    dims = b"".join(field(2, b"\x08" + varint(size)) for size in shape)
    body = b"\x08" + varint(number) + field(2, dims)
    if content:
        body += field(4, element)
    elif form in ("f", "d"):
        body += field(where, element) if packed else varint(where << 3 | (5 if form == "f" else 1)) + element
    else:
        body += field(where, varint(integer)) if packed else varint(where << 3) + varint(integer)
    return raw_tag(tag) + field(8, body) + (metadata(plugin) if plugin else b"")


def text(tag: str, *strings: str) -> bytes:
    """A text summary."""
    body = b"\x08\x07" + field(2, field(2, b"\x08" + varint(len(strings))))
    body += b"".join(field(8, string.encode()) for string in strings)
    return raw_tag(tag) + field(8, body) + metadata("text")


def hparams(values: dict[str, float | str | bool]) -> bytes:
    """The session start of the hparams plugin."""
    entries = b""
    for name, value in values.items():
        if isinstance(value, bool):
            inner = b"\x20" + bytes([value])
        elif isinstance(value, str):
            inner = field(3, value.encode())
        else:
            inner = b"\x11" + struct.pack("<d", value)
        entries += field(1, field(1, name.encode()) + field(2, inner))
    return raw_tag("_hparams_/session_start_info") + metadata("hparams", field(3, entries))


def image(tag: str, size: int) -> bytes:
    """An image of `size` encoded bytes."""
    return raw_tag(tag) + field(
        4, b"\x08\x10\x10\x10\x18\x03" + field(4, bytes(range(256)) * (size // 256 + 1))
    )


def histogram(tag: str, buckets: int = 30) -> bytes:
    """A histogram with `buckets` buckets."""
    limits = np.linspace(-1, 1, buckets).astype("<f8").tobytes()
    stats = b"".join(bytes([k << 3 | 1]) + struct.pack("<d", 1.5 * k) for k in range(1, 6))
    return raw_tag(tag) + field(5, stats + field(6, limits) + field(7, limits))


def histogram_of(tag: str, values: Sequence[float], buckets: int = 30) -> bytes:
    """A histogram as torch writes it: limits and counts, with minimum, maximum, number and sums."""
    counts, edges = np.histogram(values, buckets)
    data = np.asarray(values, np.float64)
    head = (data.min(), data.max(), len(data), data.sum(), (data**2).sum())
    stats = b"".join(bytes([k << 3 | 1]) + struct.pack("<d", each) for k, each in enumerate(head, 1))
    columns = (edges[1:].astype("<f8").tobytes(), counts.astype("<f8").tobytes())
    return raw_tag(tag) + field(5, stats + field(6, columns[0]) + field(7, columns[1]))


def histogram_tensor(tag: str, values: Sequence[float], buckets: int = 30) -> bytes:
    """A histogram as TensorFlow 2 writes it: a tensor with a row (left, right, count) per bucket."""
    counts, edges = np.histogram(values, buckets)
    rows = np.stack((edges[:-1], edges[1:], counts), axis=1).astype("<f8").tobytes()
    shape = b"".join(field(2, b"\x08" + varint(size)) for size in (buckets, 3))
    content = b"\x08\x02" + field(2, shape) + field(4, rows)
    return raw_tag(tag) + metadata("histograms") + field(8, content)


# Styles of whole files, for exactness and speed. Each: (steps, tags, random values) -> bytes

_NAMES = """
actor/entropy actor/kl_loss actor/pg_loss actor/pg_clipfrac actor/ppo_kl actor/grad_norm actor/lr
critic/score/mean critic/score/max critic/score/min critic/rewards/mean critic/rewards/max critic/rewards/min
critic/advantages/mean critic/advantages/max critic/advantages/min critic/returns/mean critic/returns/max
critic/returns/min critic/values/mean critic/values/max critic/values/min
response_length/mean response_length/max response_length/min response_length/clip_ratio
prompt_length/mean prompt_length/max prompt_length/min prompt_length/clip_ratio
timing_s/gen timing_s/reward timing_s/old_log_prob timing_s/ref timing_s/adv timing_s/update_actor
timing_s/update_critic timing_s/step timing_per_token_ms/gen timing_per_token_ms/ref timing_per_token_ms/adv
timing_per_token_ms/update_actor timing_per_token_ms/update_critic
perf/mfu/actor perf/mfu/critic perf/total_num_tokens perf/time_per_step perf/throughput
perf/max_memory_allocated_gb perf/cpu_memory_used_gb
global_seqlen/min global_seqlen/max global_seqlen/minmax_diff global_seqlen/balanced_min
global_seqlen/balanced_max global_seqlen/mean
training/global_step training/epoch training/rollout_probs_diff_max training/rollout_probs_diff_mean
"""
TAGS = _NAMES.split()


def _walls(count: int, start: float = WALL) -> np.ndarray:
    return start + np.arange(count) * 0.001


def _simple_steps(steps: Iterable[int], tags: Sequence[str], values: np.ndarray) -> list[bytes]:
    """Fast enough for ten million points: constant bytes are made once."""
    heads = [(raw_tag(tag), len(raw_tag(tag)) + 5) for tag in tags]
    bodies = [b"\x2a" + varint(2 + size) + b"\x0a" + varint(size) + head + b"\x15" for head, size in heads]
    numbers = values.astype("<f4").tobytes()
    walls = _walls(values.size).astype("<f8").tobytes()
    lengths: dict[int, bytes] = {}
    out, i = [], 0
    for step in steps:
        mark = b"\x10" + varint(step) if step else b""
        for body in bodies:
            data = b"\x09" + walls[8 * i : 8 * i + 8] + mark + body + numbers[4 * i : 4 * i + 4]
            head = lengths.get(len(data))
            if head is None:
                length = struct.pack("<Q", len(data))
                head = lengths[len(data)] = length + masked_crc(length)
            out.append(head + data + masked_crc(data))
            i += 1
    return out


def _values(steps: int, tags: Sequence[str], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((steps, len(tags))).astype(np.float32)


def simple_file(
    steps: int, tags: Sequence[str] = TAGS, first: int = 0, values: np.ndarray | None = None
) -> bytes:
    """One simple_value an event, each step's tags in order; `values` (steps, tags) are noise unless given."""
    values = _values(steps, tags) if values is None else values
    return version() + b"".join(_simple_steps(range(first, first + steps), tags, values))


def shuffled_file(steps: int, tags: Sequence[str] = TAGS) -> bytes:
    """The same with each step's tags in random order."""
    events = _simple_steps(range(steps), tags, _values(steps, tags))
    order = np.argsort(np.random.default_rng(1).random((steps, len(tags))), axis=1)
    order += np.arange(steps)[:, None] * len(tags)
    return version() + b"".join([events[i] for i in order.ravel()])


def mixed_file(steps: int, tags: Sequence[str] = TAGS) -> bytes:
    """Five validation tags each tenth step, a histogram each hundredth."""
    events = _simple_steps(range(steps), tags, _values(steps, tags))
    extra = [f"val-core/gsm8k/acc/best@{k}/mean" for k in (1, 2, 4, 8, 16)]
    out = [version()]
    for step in range(steps):
        out += events[step * len(tags) : (step + 1) * len(tags)]
        if step % 10 == 0:
            out += [event(step, simple(tag, 0.5)) for tag in extra]
        if step % 100 == 0:
            out.append(event(step, histogram("weights")))
    return b"".join(out)


def _per_value(make: Callable[[str, float], bytes]) -> Callable[..., bytes]:
    def whole(steps: int, tags: Sequence[str] = TAGS) -> bytes:
        values = _values(steps, tags)
        walls = _walls(values.size)
        out, i = [version()], 0
        for step in range(steps):
            for tag, value in zip(tags, values[step], strict=True):
                out.append(event(step, make(tag, float(value)), wall=float(walls[i])))
                i += 1
        return b"".join(out)

    return whole


tf2_file = _per_value(lambda tag, value: tensor(tag, value))
new_style_file = _per_value(lambda tag, value: tensor(tag, value, content=False))
double_file = _per_value(lambda tag, value: tensor(tag, value, "double", content=False))


def many_values_file(steps: int, tags: Sequence[str] = TAGS) -> bytes:
    """All tags of a step in one event, as TF1's FileWriter does."""
    values = _values(steps, tags)
    return version() + b"".join(
        event(step, *(simple(tag, float(value)) for tag, value in zip(tags, values[step], strict=True)))
        for step in range(steps)
    )


def first_metadata_file(steps: int, tags: Sequence[str] = TAGS) -> bytes:
    """Tensors whose metadata stand on each tag's first event only."""
    values = _values(steps, tags)
    return version() + b"".join(
        event(step, tensor(tag, float(value), plugin=None if step else "scalars"))
        for step in range(steps)
        for tag, value in zip(tags, values[step], strict=True)
    )


STYLES: dict[str, Callable[[int], bytes]] = {
    "simple": simple_file,
    "shuffled": shuffled_file,
    "mixed": mixed_file,
    "tf2": tf2_file,
    "new-style": new_style_file,
    "double": double_file,
    "many-values": many_values_file,
    "first-metadata": first_metadata_file,
}
