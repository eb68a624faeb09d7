"""Recognises files of samples, and converts their records to samples, by data/sample_layouts.toml."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Literal

import orjson

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.logs.sample_layouts.sample import Message, Sample
from rltui.schema.fields import ConvertedField, TextField
from rltui.schema.toml_files import read_table

Kind = Literal[
    "rows", "columns", "episodes", "summaries", "metrics", "table", "parquet", "traces", "database"
]
LINES = frozenset({"rows", "columns", "episodes", "summaries", "metrics"})  # kinds of JSON lines
_MAX_METADATA = 64  # further keys that are kept with a sample
PathEnd = Annotated[re.Pattern[str], ConvertedField(TextField(), lambda text: re.compile(rf"(?:{text})\Z"))]


class Layout(NamedTuple):
    """How one framework writes its samples."""

    name: str
    kind: Kind
    path: PathEnd
    split: str = "train"  # if it is not in the path
    components: str = ""  # how the reward follows from columns of reward functions: sum, first
    statistics: bool = True  # whether one file has all samples of a step
    copies: bool = False  # its samples are also in another file, which lacks their split


class LayoutMatch(NamedTuple):
    """How the path of a file of samples matches a layout."""

    layout: Layout
    step: int | None
    split: str
    dataset: str = ""
    folder: str = ""  # that of all samples of the training


class Unread(NamedTuple):
    """Files that may have samples but are never opened."""

    path: PathEnd
    why: str


class Layouts(NamedTuple):
    """The layouts, the names of columns by role, and the files that are never opened.

    skipped_folder: by base name. dump_folders: folders in which files that are never opened are samples.
    options: the setting with which a trainer writes samples, by framework. splits: names of splits by how
    files write them. held_out, path_steps: words in the paths of files. reasoning_tags: of responses.
    """

    layout: tuple[Layout, ...]
    columns: Mapping[str, tuple[str, ...]]
    unread: tuple[Unread, ...]
    skipped_folder: re.Pattern[str]
    dump_folders: frozenset[str]
    splits: Mapping[str, str]
    held_out: tuple[str, ...]
    path_steps: tuple[str, ...]
    reasoning_tags: tuple[str, ...]
    options: Mapping[str, str]


_UNKNOWN = Layout("rows", "rows", regex(r"\Z"))


@cache
def layouts() -> Layouts:
    """The shipped table."""
    return read_table("sample_layouts", Layouts)


def match_layout(path: str) -> LayoutMatch | None:
    """The properties of a file by its path below LOGDIR, None if it is no file of samples."""
    for layout in layouts().layout:
        found = layout.path.search(path)
        if found:
            named = found.groupdict()
            split = named.get("split") or layout.split
            step = named.get("step")
            return LayoutMatch(
                layout,
                int(step) if step else None,
                layouts().splits.get(split, split),
                named.get("dataset") or "",
                path[: found.start()].rpartition("/")[0],
            )
    return None


@cache
def _held_out() -> re.Pattern[str]:
    words = "|".join(layouts().held_out)
    return re.compile(rf"(?:^|[_.-])(?:{words})(?:[_.-]|$)", re.IGNORECASE)


def match_by_content(path: str) -> LayoutMatch:
    """The properties of a file without a known layout, each line of which is a sample by its keys."""
    split = "eval" if _held_out().search(path.rpartition("/")[2]) else "train"
    return LayoutMatch(_UNKNOWN, None, split, "", path.rpartition("/")[0])


def match_log(path: str) -> LayoutMatch | None:
    """The same for a file that is followed as a log of its run: uncompressed JSON lines."""
    match = match_layout(path) if path.endswith(".jsonl") else None
    return match if match is not None and match.layout.kind in LINES else None


def unread_reason(path: str) -> str | None:
    """Why a file of samples is never opened, None for other files."""
    return next((each.why for each in layouts().unread if each.path.search(path)), None)


def samples_of(record: Mapping[str, object], match: LayoutMatch) -> Iterator[Sample]:
    """The samples of one record of a JSON lines file."""
    kind = match.layout.kind
    if kind == "metrics":
        return
    if kind == "episodes":
        yield from _of_episode(record, match)
    elif kind == "summaries":
        yield _of_summary(record, match)
    else:
        rows = _rows_of_lists(record)
        for row in [record] if rows is None else rows:
            yield _of_row(row, match)


def texts_of(record: Mapping[str, object]) -> tuple[str, str] | None:
    """Prompt and response of a row; None if it has no response."""
    columns = layouts().columns
    answer = next((record[key] for key in columns["response"] if record.get(key) is not None), None)
    if isinstance(answer, list):
        answer = _ends(tuple(_messages(answer)))[1] or None
    if not isinstance(answer, str):
        return None
    prompt = next((record[key] for key in columns["prompt"] if record.get(key) is not None), "")
    if isinstance(prompt, list):
        prompt = _ends(tuple(_messages(prompt)))[0]
    return (prompt if isinstance(prompt, str) else "", answer)


def table_samples(content: bytes, match: LayoutMatch) -> list[Sample]:
    """The samples of a table that Weights & Biases stored. Raises ValueError for anything else."""
    table = orjson.loads(content)
    columns, data = table["columns"], table["data"]
    wide = [number for number in (_numbered(str(name)) for name in columns) if number]
    samples = []
    for row in data:
        record = dict(zip(map(str, columns), row, strict=False))
        if wide:  # veRL: step, input_1, output_1, score_1, input_2, ...
            for number in sorted({each for _, each in wide}):
                row_record = {name: record[f"{name}_{number}"] for name, each in wide if each == number}
                if "step" in record:
                    row_record["step"] = record["step"]
                samples.append(_of_row(row_record, match))
        else:
            samples.append(_of_row(record, match))
    return samples


def parquet_samples(rows: Sequence[Mapping[str, object]], match: LayoutMatch) -> list[Sample]:
    """Samples of TRL's completions."""
    return [_of_row(row, match) for row in rows]


def trace_sample(lines: Sequence[bytes], match: LayoutMatch) -> Sample | None:
    """The sample of a file of trackio: a session line, then its messages. None for other files."""
    if not lines:
        return None
    session = orjson.loads(lines[0])
    about = session.get("trackio")
    if not isinstance(about, dict):
        return None
    messages = [orjson.loads(line).get("message") for line in lines[1:]]
    fields = {"step": about.get("step"), "id": session.get("id", "")}
    return _of_trace(messages, about.get("metadata"), fields, str(about.get("key", "train")), match)


def stored_trace(
    identity: str, step: object, key: str, messages: bytes | str, metadata: bytes | str, match: LayoutMatch
) -> Sample | None:
    """The sample of a row of trackio's table of traces. None if it is damaged."""
    try:
        fields = {"step": step, "id": identity}
        return _of_trace(orjson.loads(messages), orjson.loads(metadata), fields, key, match)
    except ValueError:
        return None


def _of_trace(
    record: object, metadata: object, fields: Mapping[str, object], key: str, match: LayoutMatch
) -> Sample:
    messages = tuple(_messages(record))
    prompt, response = _ends(messages)
    sample = _of_row({**_table(metadata), **fields}, match)
    return sample._replace(prompt=prompt, response=response, messages=messages, split=key)


def conversations(tree: object) -> Iterator[tuple[Message, ...]]:
    """The conversations in a tree that tinker's logtree wrote, in the order of the document."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            data = node.get("data")
            if isinstance(data, dict) and data.get("type") == "conversation":
                yield tuple(_messages(data.get("messages")))
                continue
            stack.extend(reversed(list(node.values())))
        elif isinstance(node, list):
            stack.extend(reversed(node))


def with_text(sample: Sample, prompt: tuple[Message, ...], response: tuple[Message, ...]) -> Sample:
    """A sample with the conversation from another file."""
    messages = (*prompt, *response)
    before, after = _ends(messages)
    return sample._replace(prompt=before, response=after, messages=messages, note="")


class _Row:
    """A row, whose columns are taken by role: the best one that is not null."""

    def __init__(self, record: Mapping[str, object]) -> None:
        self._record = record
        self._taken: set[str] = set()

    def take(self, role: str) -> object:
        """The value of a role; None without one."""
        for key in layouts().columns[role]:
            if self._record.get(key) is not None:
                self._taken.add(key)
                return self._record[key]
        return None

    def others(self) -> dict[str, object]:
        """The columns that were not taken."""
        return {key: value for key, value in self._record.items() if key not in self._taken}


def _texts_of_row(row: _Row) -> tuple[str, str, tuple[Message, ...]]:
    """Prompt, response, and all messages of a conversation."""
    prompt, response = row.take("prompt"), row.take("response")
    messages: tuple[Message, ...] = ()
    if isinstance(prompt, list) or isinstance(response, list):
        messages = (*_messages(prompt), *_messages(response))
    conversation = row.take("conversation") if prompt is None and response is None else None
    if isinstance(conversation, list):
        messages = tuple(_messages(conversation))
    if messages:
        return (*_ends(messages), messages)
    if isinstance(conversation, str):
        return (*_of_template(conversation), ())
    return _text(prompt), _text(response), ()


def _of_row(record: Mapping[str, object], match: LayoutMatch) -> Sample:
    row, components = _Row(record), match.layout.components
    prompt, response, messages = _texts_of_row(row)
    tokens, prompt_tokens, length = row.take("response_tokens"), row.take("prompt_tokens"), row.take("length")
    note = ""
    if not prompt and not response and isinstance(tokens, list):
        length = len(tokens)
        note = (
            f"token ids only ({len(_list(prompt_tokens))} of the prompt, {length} of the response), no text"
        )
    step, reward, advantage = row.take("step"), _total(row.take("reward")), _mean(row.take("advantage"))
    stop, group, identity, dataset = map(row.take, ("stop", "group", "id", "dataset"))
    others = row.others()
    rewards = {
        key: float(value)
        for key, value in others.items()
        if components and isinstance(value, int | float) and not isinstance(value, bool) and key != "step"
    }
    if reward is None and rewards:
        finite = [value for value in rewards.values() if not math.isnan(value)]
        reward = (finite[0] if components == "first" else sum(finite)) if finite else None
    size = _whole(length)
    counted = size is None and bool(response)
    return Sample(
        step=match.step if match.step is not None else (_whole(step) or 0),
        split=match.split,
        prompt=prompt,
        response=response,
        messages=messages,
        reward=reward,
        rewards=rewards,
        advantage=advantage,
        length=len(response) if counted else size,
        counted=counted,
        stop=_text(stop),
        group=None if group is None else str(group),
        id=_text(identity),
        dataset=_text(dataset),
        metadata={key: value for key, value in list(others.items())[:_MAX_METADATA] if key not in rewards},
        note=note,
    )


def _of_episode(record: Mapping[str, object], match: LayoutMatch) -> Iterator[Sample]:
    """The samples of an episode of verifiers, one for each trace; without traces one with the errors."""
    group, run, task = _table(record.get("group")), _table(record.get("run")), _table(record.get("task"))
    data = _table(task.get("data"))
    work = _table(run.get("work"))
    step = match.step if match.step is not None else (_whole(work.get("step")) or 0)
    common = {
        "step": step,
        "split": match.split,
        "group": None if group.get("id") is None else str(group["id"]),
        "dataset": _text(_table(record.get("env")).get("id")),
    }
    traces = _list(record.get("traces"))
    if not traces:
        errors = "; ".join(map(_text, _list(record.get("errors"))))
        yield Sample(
            **common, prompt=_text(data.get("prompt")), id=_text(record.get("id")), ok=False,  # type: ignore[arg-type]
            note=errors or "the episode has no trace",
        )  # fmt: skip
        return
    for number, each in enumerate(traces):
        trace = _table(each)
        messages = tuple(_messages([_table(node).get("message") for node in _list(trace.get("nodes"))]))
        scores = {name: _table(value) for name, value in _table(trace.get("rewards")).items()}
        rewards = {name: _number(value.get("score")) or 0.0 for name, value in scores.items()}
        weights = {name: _number(value.get("weight")) for name, value in scores.items()}
        reward = sum(
            rewards[name] * (1.0 if weights[name] is None else weights[name] or 0.0) for name in rewards
        )
        prompt, response = _ends(messages)
        yield Sample(
            **common,  # type: ignore[arg-type]
            prompt=_text(data.get("prompt")) or prompt,
            response=response,
            messages=messages,
            reward=round(reward, 12) if rewards else None,
            rewards=rewards,
            length=_whole(trace.get("num_output_tokens")),
            stop=_text(trace.get("stop_condition")),
            id=_text(record.get("id")) + (f":{number}" if number else ""),
            ok=bool(record.get("ok", True)) and bool(trace.get("ok", True)),
            metadata={"answer": data.get("answer"), **_table(trace.get("metrics"))},
        )


def _of_summary(record: Mapping[str, object], match: LayoutMatch) -> Sample:
    """A trajectory summary of tinker: numbers; the texts are in the logtree file."""
    steps = [_table(step) for step in _list(record.get("steps"))]
    lengths = [_whole(step.get("ac_len")) or 0 for step in steps]
    metrics = {
        name: number
        for step in steps
        for name, value in _table(step.get("metrics")).items()
        if (number := _number(value)) is not None
    }
    return Sample(
        step=match.step or 0,
        split=match.split,
        reward=_number(record.get("total_reward")),
        rewards=metrics,
        length=sum(lengths) if lengths else None,
        stop=_text(_table(steps[-1].get("logs")).get("stop")) if steps else "",
        group=_text(record.get("group_idx")),
        dataset=", ".join(map(_text, _list(record.get("tags")))),
        metadata={"trajectory": record.get("traj_idx"), **_table(record.get("trajectory_metrics"))},
        note="its text was not logged (tinker logs the text of a few groups only)",
    )


def _rows_of_lists(record: Mapping[str, object]) -> list[dict[str, object]] | None:
    """The rows of a record whose responses or conversations are a list with one entry per sample."""
    columns = layouts().columns
    for key in (*columns["conversation"], *columns["response"]):
        value = record.get(key)
        rewards = next(
            (record[name] for name in columns["reward"] if isinstance(record.get(name), list)), None
        )
        steps = next((record[name] for name in columns["step"] if isinstance(record.get(name), list)), None)
        beside = rewards if rewards is not None else steps
        if isinstance(value, list) and isinstance(beside, list) and len(beside) == len(value):
            count = len(value)
            wide = {
                name: each for name, each in record.items() if isinstance(each, list) and len(each) == count
            }
            shared = {name: value for name, value in record.items() if name not in wide}
            return [{**{name: each[row] for name, each in wide.items()}, **shared} for row in range(count)]
    return None


def _messages(value: object) -> Iterator[Message]:
    """The messages of a list in the form of chat templates, with tool calls; a text is one message."""
    if isinstance(value, str):
        yield Message("", value)
        return
    for each in _list(value):
        if isinstance(each, str):
            yield Message("", each)
            continue
        message = _table(each)
        if not message:
            continue
        role, content = _text(message.get("role")), message.get("content")
        if isinstance(content, list):
            content = "".join(
                part if isinstance(part, str) else _text(_table(part).get("text")) for part in content
            )
        for reasoning in ("reasoning_content", "reasoning", "thinking"):
            if message.get(reasoning):
                yield Message(f"{role} reasoning".strip(), _text(message[reasoning]))
        if content:
            yield Message(role, _text(content))
        for call in _list(message.get("tool_calls")):
            function = _table(_table(call).get("function")) or _table(call)
            yield Message("tool call", f"{_text(function.get('name'))}({_text(function.get('arguments'))})")


def _ends(messages: Sequence[Message]) -> tuple[str, str]:
    """The last user message before the first response, and all responses."""
    responses = [message.text for message in messages if message.role in ("assistant", "tool call")]
    first = next((place for place, each in enumerate(messages) if each.role == "assistant"), len(messages))
    prompts = [message.text for message in messages[:first] if message.role in ("user", "")]
    if not responses and messages:  # texts without roles: the last one is the response
        return "\n".join(message.text for message in messages[:-1]), messages[-1].text
    return (prompts[-1] if prompts else ""), "\n".join(responses)


_ASSISTANT = regex(r"<\|im_start\|>assistant\n|<\|assistant\|>\n?|<start_of_turn>model\n|\[/INST\]")


def _of_template(text: str) -> tuple[str, str]:
    """A rendered chat template, split before its first response."""
    found = _ASSISTANT.search(text)
    return (text[: found.start()], text[found.end() :]) if found else ("", text)


_WIDE = regex(r"(.+)_(\d{1,6})\Z")


def _numbered(name: str) -> tuple[str, int] | None:
    found = _WIDE.match(name)
    known = {key for role in ("prompt", "response", "reward") for key in layouts().columns[role]}
    return (found[1], int(found[2])) if found and found[1] in known else None


def _number(value: object) -> float | None:
    """A number, also from text; None for other values."""
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def _numbers(value: object) -> list[float] | None:
    """A list of numbers, one per token; None for other values."""
    if not isinstance(value, list) or not value:
        return None
    numbers = [_number(each) for each in value]
    return None if None in numbers else [number for number in numbers if number is not None]


def _total(value: object) -> float | None:
    """A reward: a number, or the sum of one per token."""
    tokens = _numbers(value)
    return sum(tokens) if tokens is not None else _number(value)


def _mean(value: object) -> float | None:
    """An advantage: a number, or the mean of one per token, which are mostly equal."""
    tokens = _numbers(value)
    if tokens is None:
        return _number(value)
    nonzero = [token for token in tokens if token] or tokens  # tokens of the prompt have 0
    return sum(nonzero) / len(nonzero)


def _whole(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and math.isfinite(number) else None


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _table(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
