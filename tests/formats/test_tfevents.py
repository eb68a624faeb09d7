"""Event files: what is read is what was written, to the bit, in every style that programs write."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rltui.logs.batch import Batch, SessionStart
from rltui.logs.formats.interface import RECORD_CAP
from rltui.logs.formats.tfevents.event_format import FORMAT
from tests.support.logs import tfwriter as w
from tests.support.logs.file_in_memory import MemFile, SparseFile, read_on, read_whole
from tests.support.shared import BUNDLED, LOGS, needs_shared, oracles

NAME = "events.out.tfevents.1763600000.node7.991.0"


def read(data: bytes) -> Batch:
    """All that a file of these bytes gives."""
    return read_whole(FORMAT, MemFile(NAME, data))


def series(batch: Batch) -> dict[str, tuple[list[int], list[bytes], list[bytes]]]:
    """Tag -> steps, wall times and values, floats as their bytes."""
    out = {}
    for number, tag in enumerate(batch.tags):
        mine = batch.tag == number
        walls, values = batch.wall_time[mine], batch.value[mine]
        out[tag] = (batch.step[mine].tolist(), [x.tobytes() for x in walls], [x.tobytes() for x in values])
    return out


def accumulated(path: Path) -> dict[str, tuple[list[int], list[bytes], list[bytes]]]:
    """The same by TensorBoard's own accumulator, keeping all; scalars in tensors taken out of them."""
    from tensorboard.backend.event_processing import event_accumulator
    from tensorboard.util import tensor_util

    accumulator = event_accumulator.EventAccumulator(
        str(path),
        size_guidance=dict.fromkeys(("scalars", "tensors", "histograms", "images"), 0),
        purge_orphaned_data=False,
    )
    accumulator.Reload()
    out = {}
    tags = accumulator.Tags()
    for tag in tags["scalars"]:
        events = accumulator.Scalars(tag)
        out[tag] = ([e.step for e in events], [e.wall_time for e in events], [e.value for e in events])
    for tag in tags["tensors"]:
        if accumulator.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
            events = accumulator.Tensors(tag)
            values = [float(tensor_util.make_ndarray(e.tensor_proto).item()) for e in events]
            out[tag] = ([e.step for e in events], [e.wall_time for e in events], values)
    return {
        tag: (steps, [np.float64(x).tobytes() for x in walls], [np.float64(x).tobytes() for x in values])
        for tag, (steps, walls, values) in out.items()
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("style", w.STYLES)
def test_every_style_equals_the_accumulator(style: str, tmp_path: Path) -> None:
    """Tags, steps, wall times and values in any style are those that TensorBoard reads, bit for bit."""
    path = tmp_path / NAME
    path.write_bytes(w.STYLES[style](25))
    assert series(read(path.read_bytes())) == accumulated(path)


@pytest.mark.parametrize("dtype", w.DTYPES)
@pytest.mark.parametrize("content", [True, False])
def test_tensors_of_every_numeric_dtype(dtype: str, content: bool) -> None:
    """A scalar tensor is read in every numeric dtype, as bytes and as repeated field, packed or not."""
    value = {"bool": 1.0, "uint64": 2.0**63}.get(dtype, 3.0)
    events = [w.event(1, w.tensor("a", value, dtype, content=content, packed=p)) for p in (True, False)]
    batch = read(w.version() + b"".join(events))
    assert batch.value.tolist() == [value, value]
    assert batch.single.tolist() == [dtype == "float"] * 2


def test_negative_integer_tensors() -> None:
    """Signed integers keep their sign in both encodings."""
    dtypes = ("int8", "int16", "int32", "int64")
    events = [w.event(1, w.tensor("a", -5, dtype, content=c)) for dtype in dtypes for c in (True, False)]
    assert read(b"".join(events)).value.tolist() == [-5.0] * 8


@pytest.mark.parametrize(("shape", "count"), [((), 1), ((1,), 1), ((1, 1), 1), ((2,), 0), ((0,), 0)])
def test_only_tensors_of_one_element_are_scalars(shape: tuple[int, ...], count: int) -> None:
    """A tensor is a scalar when it has one element, whatever its rank."""
    assert len(read(w.event(1, w.tensor("a", 1.5, shape=shape)))) == count


@pytest.mark.parametrize("plugin", ["histograms", "images", "pr_curves", "text", None])
def test_tensors_of_other_plugins_are_no_scalars(plugin: str | None) -> None:
    """A float tensor counts only under the plugin `scalars`."""
    assert len(read(w.event(1, w.tensor("a", 1.5, plugin=plugin)))) == 0


def test_metadata_of_a_tags_first_event_count_for_all() -> None:
    """Values without metadata belong to the plugin that their tag's first event named, not those before."""
    events = [
        w.event(0, w.tensor("late", 0.5, plugin=None)),
        w.event(1, w.tensor("a", 1.5), w.tensor("h", 9.0, plugin="histograms")),
        w.event(2, w.tensor("a", 2.5, plugin=None), w.tensor("h", 9.0, plugin=None)),
        w.event(3, w.tensor("late", 3.5)),
    ]
    batch = read(b"".join(events))
    assert [(batch.tags[t], v) for t, v in zip(batch.tag, batch.value, strict=True)] == [
        ("a", 1.5),
        ("a", 2.5),
        ("late", 3.5),
    ]


def test_simple_values_keep_their_bits() -> None:
    """NaN, infinities, minus zero, subnormals and extremes come through unchanged and marked as float32."""
    bits = [0x7FC00000, 0xFFC12345, 0x7F800000, 0xFF800000, 0x80000000, 0x00000001, 0x7F7FFFFF, 0x00000000]
    data = b"".join(w.event(1, w.simple("a", struct.pack("<I", b))) for b in bits)
    for batch in (read(data), read(data * 100)):
        got = batch.value.astype(np.float32).view(np.uint32).tolist()
        assert got[: len(bits)] == bits
        assert batch.single.all()


def test_steps_are_exact_and_zero_may_be_left_out() -> None:
    """Steps are int64: negative, beyond 2**53, absent for 0, in short files and in long ones."""
    steps = [0, 1, 127, 128, 16384, 2**32, 2**49 - 1, 2**49, 2**53 + 1, 2**63 - 1, -1, -(2**63)]
    data = b"".join(w.event(step, w.simple("a", 1.0)) for step in steps)
    assert read(data).step.tolist() == steps
    assert read(data * 60).step.tolist() == steps * 60


@pytest.mark.parametrize("wall", [math.nan, math.inf, 0.0, -5.0, 1e308])
def test_wall_times_are_kept_as_they_are(wall: float) -> None:
    """A point with a senseless wall time stays, and so does the time, for others to judge."""
    data = w.event(1, w.simple("a", 1.0), wall=wall)
    for batch in (read(data), read(data * 600)):
        assert batch.wall_time.tobytes() == struct.pack("<d", wall) * len(batch)


def test_events_without_a_wall_time_are_read() -> None:
    """A wall time of exactly 0 may be left off the wire; such events are still read, among thousands too."""
    bare = w.record(b"\x10\x05" + w.field(5, w.field(1, w.simple("a", 2.0))))
    batch = read(w.simple_file(10) + bare + w.simple_file(10))
    assert len(batch) == 1201
    assert (batch.step[600], batch.wall_time[600], batch.value[600]) == (5, 0.0, 2.0)


def test_fields_in_any_order_and_unknown_fields() -> None:
    """Protobuf fields may come in any order, and unknown ones are passed over."""
    value = b"\x15" + struct.pack("<f", 2.5) + w.field(7, b"node") + w.field(99, b"?") + w.raw_tag("a")
    data = w.field(5, w.field(1, value)) + b"\x10\x07" + w.varint(77 << 3) + b"\x01" + b"\x09" + bytes(8)
    batch = read(w.record(data))
    assert (batch.tags[0], batch.step[0], batch.value[0]) == ("a", 7, 2.5)


def test_several_values_in_one_event() -> None:
    """All scalars of an event are read, in their order, with other values between them."""
    event = w.event(3, w.simple("a", 1.0), w.histogram("h"), w.simple("b", 2.0), w.tensor("c", 4.0, "double"))
    for repeat in (1, 300):
        batch = read(event * repeat)
        assert batch.value.tolist() == [1.0, 2.0, 4.0] * repeat
        assert batch.single.tolist() == [True, True, False] * repeat


def test_tags_are_cleaned_once_and_stay_apart() -> None:
    """Control characters in tags are spelled out; tags that clean to the same text stay two series."""
    data = b"".join(
        w.event(1, w.simple(tag, 1.0)) for tag in ("\x1b]0;x\x07", "a\\x1b", "a\x1b", b"\xff\xfe", "奖励")
    )
    batch = read(data)
    title, spelled, *rest = batch.tags
    assert title == "\\x1b]0;x\\x07"
    assert spelled.startswith("a\\x1b#")
    assert rest == ["a\\x1b", "\ufffd\ufffd", "奖励"]
    assert batch.tag.tolist() == [0, 1, 2, 3, 4]


def test_long_tags_and_thousands_of_tags() -> None:
    """Tags of hundreds of letters and 5,000 different tags are read like others."""
    tags = [f"layer.{i}/{'x' * (i % 300)}/norm" for i in range(5000)]
    batch = read(
        w.version() + b"".join(w.event(step, w.simple(tag, step)) for step in (1, 2) for tag in tags)
    )
    assert list(batch.tags) == tags
    assert batch.tag.tolist() == list(range(5000)) * 2
    assert batch.value.tolist() == [1.0] * 5000 + [2.0] * 5000


def test_texts_and_hparams() -> None:
    """Text summaries come as lines cleaned of controls; hyperparameters as a JSON object."""
    data = w.event(0, w.text("args/text_summary", "| a |\n|---|\x1b[2J\tx")) + w.event(
        0, w.hparams({"lr": 3e-4, "steps": 100.0, "env": "Cart\x07", "norm": True, "bad": math.nan})
    )
    texts = read(data).texts
    assert [(t.kind, t.tag, t.step) for t in texts] == [
        ("text", "args/text_summary", 0),
        ("hparams", "_hparams_/session_start_info", 0),
    ]
    assert texts[0].body == "| a |\n|---|\\x1b[2J    x"
    assert json.loads(texts[1].body) == {
        "lr": 3e-4,
        "steps": 100,
        "env": "Cart\\x07",
        "norm": True,
        "bad": "NaN",
    }


def test_long_texts_are_cut() -> None:
    """A text of a megabyte is shown by its beginning."""
    body = read(w.event(0, w.text("t", "line\n" * 300_000))).texts[0].body
    assert body.startswith("line\nline\n")
    assert len(body) < 40_000


def test_session_starts_stand_where_they_were_written() -> None:
    """A declared restart knows how many points of its batch precede it, in short and in long files."""
    for steps in (1, 20):
        batch = read(w.simple_file(steps) + w.session_start(7) + w.simple_file(steps, first=7))
        assert batch.starts == (SessionStart(60 * steps, 7),)
        assert len(batch) == 120 * steps


def test_header_only_and_empty_files_are_quiet() -> None:
    """A writer that has not flushed yet is no trouble."""
    for data in (b"", w.version(), w.version(text="brain.Event:1")):
        assert not read(data)


def test_everything_else_is_passed_over() -> None:
    """Graphs, images, histograms and empty events give nothing and hide nothing."""
    junk = [
        w.graph(5000),
        w.event(1, w.image("i", 3000)),
        w.event(1, w.histogram("h")),
        w.record(b""),
        w.event(4),
    ]
    batch = read(w.version() + b"".join(junk) + w.event(2, w.simple("a", 1.0)))
    assert (list(batch.tags), batch.step.tolist(), batch.problems) == (["a"], [2], ())


def test_large_records_are_not_held_in_memory() -> None:
    """A 24 MB image and a 24 MB graph between scalars are stepped over by reading a small part of them."""
    before, after = w.event(1, w.simple("a", 1.0)), w.event(2, w.simple("a", 2.0))
    image = w.event(1, w.image("i", 24 << 20), w.simple("b", 5.0))
    data = before + image + w.graph(24 << 20) + after
    file = MemFile(NAME, data)
    batch = read_whole(FORMAT, file)
    assert batch.value.tolist() == [1.0, 5.0, 2.0]
    assert batch.problems == ()
    assert max(length for _, length in file.reads) <= 2 << 20


def test_scalars_in_a_large_record_are_read() -> None:
    """An event with 60,000 values, longer than any block, is still read whole."""
    values = [w.simple(f"layer{i}/weight/grad_norm/of/everything", i) for i in range(60_000)]
    batch = read(w.event(9, *values))
    assert batch.value.tolist() == list(range(60_000))


def test_record_beyond_the_cap_is_stepped_over() -> None:
    """A record longer than the cap is neither read nor allocated, and what follows it is read."""
    length = RECORD_CAP + 1000
    head = struct.pack("<Q", length)
    tail = w.event(2, w.simple("a", 2.0))
    extents = [(0, head + w.masked_crc(head)), (12 + length + 4, tail)]
    file = SparseFile(NAME, 16 + length + len(tail), extents)
    batch = read_whole(FORMAT, file)
    assert batch.value.tolist() == [2.0]
    assert [p.code for p in batch.problems] == ["implausible-length"]
    assert file.largest_read <= 2 << 20


def test_newest_is_the_end_of_the_file() -> None:
    """The preview of a file's end is a suffix of what reading it all gives, and moves nothing."""
    data = w.mixed_file(300)
    whole = read(data)
    file = MemFile(NAME, data)
    log = FORMAT.open(NAME)
    preview = log.newest(file, 100_000)
    assert log.offset == 0
    count = len(preview)
    assert 1500 < count < 2500
    assert [preview.tags[i] for i in preview.tag] == [whole.tags[i] for i in whole.tag[-count:]]
    assert preview.value.tobytes() == whole.value[-count:].tobytes()
    assert preview.step.tolist() == whole.step[-count:].tolist()
    assert sum(map(len, read_on(log, file))) == len(whole)
    assert sum(length for _, length in file.reads[:1]) == 100_000


def test_newest_teaches_reading_nothing() -> None:
    """Metadata seen in a preview do not change how earlier events are read."""
    data = w.event(1, w.tensor("a", 1.0, plugin=None)) + w.event(2, w.tensor("a", 2.0))
    log, file = FORMAT.open(NAME), MemFile(NAME, data)
    assert log.newest(file, 1000).value.tolist() == [2.0]
    assert [b.value.tolist() for b in read_on(log, file)] == [[2.0]]


def test_newest_goes_on_behind_damage() -> None:
    """A damaged stretch near the end hides nothing behind it from the preview."""
    data = w.simple_file(100) + bytes(4096) + w.simple_file(3, first=100)
    batch = FORMAT.open(NAME).newest(MemFile(NAME, data), 64 << 10)
    assert batch.step[-1] == 102
    assert len(batch) > 180


@pytest.mark.parametrize(
    ("name", "head", "ours"),
    [
        (NAME, b"", True),
        ("my.tfevents", b"anything", True),
        ("events.out.tfevents.1.node.v2", b"", True),
        ("events.out.tfevents.1.node.rank0", b"", True),
        (".events.out.tfevents.1.Xk3v9Q", b"", False),
        ("events.out.tfevents.1.node.profile-empty", b"", False),
        ("events.out.tfevents.1.node.gz", b"", False),
        ("events.out.tfevents.1.node", b"\x1f\x8b\x08", False),
        ("metrics.jsonl", b"", False),
    ],
)
def test_names(name: str, head: bytes, ours: bool) -> None:
    """A file is an event file by its name; hidden and packed copies and markers are not."""
    assert FORMAT.matches(name, head) is ours


def check_oracle(batch: Batch, expected: dict[str, Any], complete: bool) -> None:
    """A batch against what TensorBoard's accumulator said of the same file."""
    assert (set(batch.tags) == set(expected)) if complete else (set(batch.tags) >= set(expected))
    for number, tag in enumerate(batch.tags):
        if tag not in expected or not complete:
            continue
        want, mine = expected[tag], batch.tag == number
        step, wall, value = batch.step[mine], batch.wall_time[mine], batch.value[mine]
        finite = value[np.isfinite(value)]
        assert len(value) == want["count"], tag
        assert (int(step[0]), int(step[-1])) == (want["first_step"], want["last_step"]), tag
        assert (wall[0], wall[-1]) == (want["first_wall"], want["last_wall"]), tag
        assert len(value) - len(finite) == want["nonfinite"], tag
        assert math.isclose(math.fsum(finite), want["sum_finite"], rel_tol=1e-9, abs_tol=1e-30), tag
        for got, said in ((value[0], want["first_value"]), (value[-1], want["last_value"])):
            same = float(said) if said is not None else math.nan
            assert got == same or (math.isnan(got) and math.isnan(same)), tag


@needs_shared
@pytest.mark.parametrize(
    "oracle", oracles(), ids=lambda path: str(path.relative_to(LOGS)).removesuffix(".oracle.json")
)
def test_real_logs_equal_their_oracles(oracle: Path) -> None:
    """Every event file that a real program wrote reads as TensorBoard reads it."""
    files = json.loads(oracle.read_text()).get("event_files", {})
    folder = oracle.with_name(oracle.name.removesuffix(".oracle.json"))
    for name, said in files.items():
        paths = [p for p in folder.rglob("*tfevents*") if str(p).endswith(name)]
        assert len(paths) == 1
        batch = read(paths[0].read_bytes())
        # The accumulator stops for good at the flipped byte; we go on behind it.
        check_oracle(batch, said["scalars"], complete="flipped-byte" not in oracle.name)
        if "odd" not in oracle.parts:
            assert batch.problems == ()


def test_bundled_logs_equal_their_oracles() -> None:
    """The same for the small real logs that travel with the project."""
    for name, said in json.loads((BUNDLED / "tfevents_oracle.json").read_text()).items():
        check_oracle(read((BUNDLED / name).read_bytes()), said, complete=True)
