"""`export`: every point, in file order, marked where superseded, in lines that any parser takes."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from rltui.cli.export.export_points import Exporter, PointSelection, SupersededFlags
from rltui.cli.export.follow_points import PointPrinter
from rltui.cli.export.point_lines import CsvWriter, JsonlWriter
from rltui.common.display_text import clean
from rltui.logs.follow.read_all import read_all
from rltui.many_runs.plan import make_plan
from rltui.store.store import Store
from tests.support.commands.child_process import running
from tests.support.commands.in_process import Done, rltui
from tests.support.logs import tfwriter as w
from tests.support.logs.live_logs import write_rows
from tests.support.runs.deliveries import Row, batch, delivery, histories, ticks
from tests.support.shared import LOGS, needs_shared, oracles


def run(*args: object) -> Done:
    """Call the command."""
    return rltui("export", *args)


def exported(*args: object) -> list[dict[str, Any]]:
    """The points of a jsonl export."""
    done = run(*args)
    assert done.code == 0, done.err
    return done.lines()


def write(path: Path, *rows: dict[str, Any]) -> None:
    """Append JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def number(value: Any) -> float:
    """A value as the export spells it."""
    return float(value.replace("Infinity", "inf")) if isinstance(value, str) else float(value)


def test_line_of_a_point(tmp_path: Path) -> None:
    """The promised fields in the promised spelling; odd numbers as strings, an unknown time as null."""
    write(tmp_path / "metrics.jsonl", {"step": 2**60, "a/b": 0.1, "c": math.nan, "d": -math.inf, "e": -0.0})
    result = run(tmp_path)
    text = result.out
    assert text.splitlines()[0] == (
        '{"run": ".", "tag": "a/b", "step": 1152921504606846976, "wall_time": null, "value": 0.1, '
        '"source": "metrics.jsonl"}'
    )
    assert [point["value"] for point in result.lines()] == [0.1, "NaN", "-Infinity", -0.0]
    assert '"value": -0.0,' in text


def test_float32_reads_back_to_the_same_bits() -> None:
    """Values that came from float32 are printed short and exact, in every mixture with doubles."""
    generator = np.random.default_rng(7)
    bits = generator.integers(0, 2**32, 5000, dtype=np.uint64).astype(np.uint32)
    values = bits.view(np.float32)
    values = values[np.isfinite(values)]
    rows = [("x", index, float(value)) for index, value in enumerate(values.tolist())]
    source = delivery().source
    for mixed in (False, True):
        points = batch(rows, single=True)
        if mixed:
            points.single[::3] = False
        text = b"".join(JsonlWriter().lines(source, points, None)).decode()
        for line, value, single in zip(text.splitlines(), values, points.single, strict=True):
            found = json.loads(line)["value"]
            assert np.float32(found) == value if single else found == float(value)
            if single and 1e-3 < abs(value) < 1e6:
                assert len(repr(found)) <= 14


@pytest.mark.parametrize("printer", [JsonlWriter(), CsvWriter()])
def test_hostile_tags_stay_in_their_field(printer: JsonlWriter | CsvWriter) -> None:
    """Quotes, commas, line ends and non-ASCII in names break no line."""
    tag = 'a,"b"\u2028ä\\n'
    text = b"".join(printer.lines(delivery().source, batch([(tag, 1, 1.0)]), None)).decode()
    if isinstance(printer, JsonlWriter):
        assert text.isascii()
        assert json.loads(text)["tag"] == tag
    else:
        assert next(csv.reader(io.StringIO(text)))[1] == clean(tag)  # CSV has no escapes of its own


def test_csv(tmp_path: Path) -> None:
    """A header, the same points, superseded as true or false."""
    write(tmp_path / "metrics.jsonl", *[{"step": step, "loss": step / 3} for step in [0, 1, 2, 3, 1, 2, 3]])
    rows = list(csv.DictReader(io.StringIO(run(tmp_path, "--format", "csv").out)))
    assert [(int(row["step"]), row["superseded"]) for row in rows] == [
        (0, "false"), (1, "true"), (2, "true"), (3, "true"), (1, "false"), (2, "false"), (3, "false"),
    ]  # fmt: skip
    assert float(rows[1]["value"]) == 1 / 3


def test_curves_of_one_tag_are_told_apart_in_every_form(tmp_path: Path) -> None:
    """Folders of add_scalars hold one tag: `series` says which curve a point is of, and only there."""
    dataset = pytest.importorskip("pyarrow.dataset")
    logs, name = tmp_path / "logs", "events.out.tfevents.1763600000.node7.991.0"
    for folder, value in (("", 1.0), ("train_loss_a/", 2.0), ("train_loss_b/", 3.0)):
        tag = "train/loss" if folder else "train/lr"
        path = logs / "run" / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        events = [w.event(step, w.simple(tag, value)) for step in (0, 1, 2, 1, 2, 3)]
        path.write_bytes(w.version() + b"".join(events))
    printed = [
        (point["tag"], point.get("series"), point["step"], point["value"], point.get("superseded", False))
        for point in exported(logs)
    ]
    assert {(tag, series, value) for tag, series, _, value, _ in printed} == {
        ("train/lr", None, 1.0), ("train/loss", "train/loss/a", 2.0), ("train/loss", "train/loss/b", 3.0),
    }  # fmt: skip
    table = list(csv.DictReader(io.StringIO(run(logs, "--format", "csv").out)))
    assert [
        (
            row["tag"], row["series"] or None, int(row["step"]), float(row["value"]),
            row["superseded"] == "true",
        ) for row in table
    ] == printed  # fmt: skip
    assert run(logs, "--format", "parquet", "--output", tmp_path / "data").code == 0
    rows = dataset.dataset(tmp_path / "data", partitioning="hive").to_table().to_pylist()
    names = ("tag", "series", "step", "value", "superseded")
    found = [tuple(row[name] for name in names) for row in rows]
    assert sorted(map(repr, found)) == sorted(map(repr, printed))


def test_choice_of_runs_and_metrics(tmp_path: Path) -> None:
    """--run and --metric are globs; nothing that matches is an error of its own kind."""
    for name in ("ppo_1", "sac_1"):
        write(tmp_path / name / "metrics.jsonl", {"step": 1, "train/loss": 1.0, "eval/loss": 2.0})
    assert {point["run"] for point in exported(tmp_path, "--run", "ppo*")} == {"ppo_1"}
    assert {point["tag"] for point in exported(tmp_path, "--metric", "eval/*")} == {"eval/loss"}
    nothing = run(tmp_path, "--run", "nope")
    assert (nothing.code, nothing.out) == (2, "")


def test_errors_are_one_line(tmp_path: Path) -> None:
    """A missing folder, a folder without logs, contradicting options: exit code 2."""
    for args in (
        (tmp_path / "nowhere",),
        (tmp_path,),
        (tmp_path, "--follow", "--format", "csv"),
        (tmp_path, "--format", "parquet"),
        (tmp_path, "--kind", "text"),
    ):
        result = run(*args)
        assert result.code == 2
        assert "Traceback" not in result.err


def test_output_file_is_whole_and_never_in_logdir(tmp_path: Path) -> None:
    """The file appears by renaming, an old one is replaced, nothing else is left; logs are only read."""
    logs = tmp_path / "logs"
    write(logs / "metrics.jsonl", {"step": 1, "loss": 1.0})
    target = tmp_path / "out" / "points.csv"
    target.parent.mkdir()
    target.write_text("old")
    assert run(logs, "--output", target).code == 0
    assert target.read_text().startswith("run,tag,step")
    assert [path.name for path in target.parent.iterdir()] == ["points.csv"]
    inside = run(logs, "--output", logs / "points.csv")
    assert inside.code == 2
    assert [path.name for path in logs.iterdir()] == ["metrics.jsonl"]
    assert run(logs, "--output", tmp_path / "none" / "x.csv").code == 2


def test_large_runs_are_read_twice_and_say_the_same(tmp_path: Path) -> None:
    """A run beyond what may wait in memory gives the same lines."""
    steps = [*range(200), *range(150, 260)]
    write(tmp_path / "a" / "metrics.jsonl", *[{"step": step, "loss": step, "lr": 1} for step in steps])
    write(tmp_path / "b" / "metrics.jsonl", {"step": 1, "loss": 1.0})

    def points(held: int) -> list[tuple[Any, ...]]:
        runs = make_plan([str(tmp_path)]).runs
        return [
            (each.source.run, step, flag)
            for each in Exporter(PointSelection([str(tmp_path)]), runs, held=held).batches()
            for step, flag in zip(
                each.batch.step.tolist(),
                [False] * len(each.batch) if each.superseded is None else each.superseded.tolist(),
                strict=True,
            )
        ]

    assert points(10) == points(10_000)
    assert sum(flag for _, _, flag in points(10)) == 100


def test_tail_prints_each_point_once() -> None:
    """Previews print nothing, a rewritten log only what is new, a restart is marked where known."""
    out: list[bytes] = []
    tail = PointPrinter((), out.append)
    tail.take(delivery(ticks([8, 9]), kind="newest"))
    tail.take(delivery(ticks(range(5))))
    tail.take(delivery(ticks(range(7)), kind="rewritten"))
    steps = [json.loads(line)["step"] for line in b"".join(out).splitlines()]
    assert steps == list(range(7))


def test_closed_pipe_is_quiet(tmp_path: Path) -> None:
    """`| head` ends the export without a word."""
    write(tmp_path / "metrics.jsonl", *[{"step": step, "loss": 1.0} for step in range(50_000)])
    with running("export", tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        process.wait(20)


def test_parquet_dataset_grows(tmp_path: Path) -> None:
    """One partition a run; a second export adds only what is new; a superseded past is written anew."""
    dataset = pytest.importorskip("pyarrow.dataset")
    logs, out = tmp_path / "logs", tmp_path / "data"
    log = logs / "x" / "ppo 1" / "metrics.jsonl"
    write(log, *[{"step": step, "loss": step / 3} for step in range(10)])
    write(logs / "b" / "metrics.jsonl", {"step": 1, "loss": math.nan})

    def table() -> Any:
        return dataset.dataset(out, partitioning="hive").to_table().sort_by([("run", "ascending")])

    assert run(logs, "--format", "parquet", "--output", out).code == 0
    assert table().num_rows == 11
    assert set(table()["run"].to_pylist()) == {"x/ppo 1", "b"}
    parts = sorted(out.glob("*/*.parquet"))
    assert run(logs, "--format", "parquet", "--output", out).code == 0
    assert sorted(out.glob("*/*.parquet")) == parts
    write(log, *[{"step": step, "loss": 1.0} for step in (10, 11)])
    (parts[0].parent / ".part-000009-0123456789ab.parquet.0123456789ab.part").write_bytes(
        b"left by an interrupted export"
    )
    assert run(logs, "--format", "parquet", "--output", out).code == 0
    assert set(parts) < set(out.glob("*/*.parquet"))
    assert len(list(out.glob("*/*"))) == 3
    assert table().num_rows == 13
    write(log, *[{"step": step, "loss": 2.0} for step in range(5, 14)])
    assert run(logs, "--format", "parquet", "--output", out).code == 0
    rows = [row for row in table().to_pylist() if row["run"] == "x/ppo 1"]
    assert len(rows) == 21
    assert sum(row["superseded"] for row in rows) == 7
    assert run(logs, "--format", "parquet", "--output", out, "--metric", "l*").code == 2
    assert run(logs, "--format", "parquet", "--output", logs / "d").code == 2


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line with the command that installs the extra, exit code 2, and nothing written."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    write(tmp_path / "logs" / "metrics.jsonl", {"step": 1, "loss": 1.0})
    for options in ((), ("--kind", "text")):
        result = run(tmp_path / "logs", "--output", tmp_path / "data.parquet", *options)
        missing = "export as Parquet needs pyarrow, which is not installed: pip install 'rltui[parquet]'"
        assert (result.code, result.err) == (2, f"rltui: {missing}\n")
    assert not (tmp_path / "data.parquet").exists()


def test_parquet_of_a_log_that_was_replaced_is_written_again(tmp_path: Path) -> None:
    """Another log at the same path, NaN included, replaces what was exported; other folders are refused."""
    dataset = pytest.importorskip("pyarrow.dataset")
    log, out = tmp_path / "logs" / "metrics.jsonl", tmp_path / "data"
    write(log, {"step": 1, "loss": math.nan}, {"step": 2, "loss": 2.0})
    assert run(log.parent, "--format", "parquet", "--output", out).code == 0
    first = set(out.glob("*/*"))
    assert run(log.parent, "--format", "parquet", "--output", out).code == 0
    assert set(out.glob("*/*")) == first
    log.unlink()
    write(log, *[{"step": step, "loss": 3.0} for step in (1, 2, 3)])
    assert run(log.parent, "--format", "parquet", "--output", out).code == 0
    assert not first & set(out.glob("*/*"))
    table = dataset.dataset(out, partitioning="hive").to_table()
    assert table["value"].to_pylist() == [3.0, 3.0, 3.0]
    write(log, {"step": 4, "loss": 4.0})
    (part,) = out.glob("*/*")
    assert run(log.parent, "--format", "parquet", "--output", out).code == 0
    part.unlink()  # what is missing is noticed, and the run written again
    assert run(log.parent, "--format", "parquet", "--output", out).code == 0
    assert dataset.dataset(out, partitioning="hive").to_table()["step"].to_pylist() == [1, 2, 3, 4]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    assert run(log.parent, "--format", "parquet", "--output", tmp_path / "other").code == 2
    next(out.glob("*/*")).write_bytes(b"no Parquet file")
    result = run(log.parent, "--format", "parquet", "--output", out)
    assert result.code == 2 and "export into a new folder" in result.err


@needs_shared
@pytest.mark.parametrize("path", oracles(), ids=lambda path: path.name.removesuffix(".oracle.json"))
def test_oracles_of_real_logs(path: Path) -> None:
    """Per file and tag of every real run: counts, first and last points, sums, non-finite values."""
    oracle = json.loads(path.read_text())
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    folder = path.with_name(path.name.removesuffix(".oracle.json"))
    for point in exported(folder, "--all-sources"):
        found.setdefault(point["source"], {}).setdefault(point["tag"], []).append(point)
    for name, file in oracle.get("event_files", {}).items():
        wanted = {tag: it for tag, it in file["scalars"].items() if not it["kind"].startswith("other")}
        by_suffix = dict(found.get(name, {}))
        if path.name.startswith(
            "flipped-byte"
        ):  # the oracle stops at the damage, the export goes on behind it
            assert sum(map(len, by_suffix.values())) >= sum(it["count"] for it in wanted.values())
            assert set(wanted) <= set(by_suffix)
            continue
        if set(by_suffix) != set(wanted) and len(by_suffix) == len(wanted) == 1:
            by_suffix = {
                next(iter(wanted)): next(iter(by_suffix.values()))
            }  # add_scalars: named by its folder
        assert set(by_suffix) == set(wanted), name
        for tag, it in wanted.items():
            _compare(by_suffix[tag], it)
    for name, file in oracle.get("text_files", {}).items():
        for tag, points in found.get(name, {}).items():
            key = next((key for key in (tag, tag.replace("/", ".")) if key in file.get("keys", {})), None)
            if key is not None:
                it = file["keys"][key]
                assert len(points) in (it["numeric"], it["numeric"] + it["null"], it["count"])
                values = [number(point["value"]) for point in points]
                finite = [value for value in values if math.isfinite(value)]
                if "sum_finite" in it:
                    assert math.isclose(math.fsum(finite), it["sum_finite"], rel_tol=1e-9, abs_tol=1e-9)


def _compare(points: list[dict[str, Any]], it: dict[str, Any]) -> None:
    values = [np.float32(number(point["value"])) for point in points]
    assert len(points) == it["count"]
    assert (points[0]["step"], points[-1]["step"]) == (it["first_step"], it["last_step"])
    for value, expected in ((values[0], it["first_value"]), (values[-1], it["last_value"])):
        assert np.array_equal(value, np.float32(number(expected)), equal_nan=True)
    assert (points[0]["wall_time"], points[-1]["wall_time"]) == (it["first_wall"], it["last_wall"])
    finite = [float(value) for value in values if np.isfinite(value)]
    assert len(values) - len(finite) == it["nonfinite"]
    assert math.isclose(math.fsum(finite), it["sum_finite"], rel_tol=1e-6, abs_tol=1e-9)


@needs_shared
@pytest.mark.parametrize(
    ("kind", "folder", "tag", "rows"),
    [
        ("histograms", "sb3/sb3-dqn-cartpole", "params/q_net.q_net.0.weight", 0),
        ("hparams", "sb3/sb3-dqn-cartpole", "gamma", 1),
        ("text", "odd/odd-torch", "hyperparameters", 1),
        ("tensors", "odd/odd-tf", "reward_mean", 0),
    ],
)
def test_other_records_of_event_files(tmp_path: Path, kind: str, folder: str, tag: str, rows: int) -> None:
    """Histograms, texts, hyperparameters and tensors as CSV and as Parquet, the same rows in both."""
    parquet = pytest.importorskip("pyarrow.parquet")
    text = run(LOGS / folder, "--kind", kind, "--format", "csv").out
    table = [row for row in csv.DictReader(io.StringIO(text)) if row["tag"] == tag]
    assert len(table) == rows or (not rows and len(table) > 2)
    out = tmp_path / "x.parquet"
    assert run(LOGS / folder, "--kind", kind, "--output", out).code == 0
    assert [row["tag"] for row in parquet.read_table(out).to_pylist()].count(tag) == len(table)


def test_texts_are_of_the_run_that_other_commands_name(tmp_path: Path) -> None:
    """A sub-run of add_hparams is no run of its own here either; what is left out or damaged is said."""
    name = "events.out.tfevents.1700000000.host"
    words = w.version() + w.event(0, w.text("note", "some words"))
    points = w.version() + w.event(1, w.simple("loss", 1.0))
    for place, data in (
        (f"run/{name}", points + words + b"torn"),
        (f"run/1712345678.123/{name}", words + w.event(0, w.hparams({"lr": 0.1}))),
        (f"packed/{name}.gz", gzip.compress(words)),
    ):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_bytes(data)
    result = run(tmp_path, "--kind", "text", "--run", "[rp]*", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [(row["run"], row["text"]) for row in rows if row["tag"].startswith("note")] == [
        ("run", "some words")
    ] * 2
    assert f"packed/{name}.gz: left out" in result.err


@needs_shared
def test_export_agrees_with_the_store() -> None:
    """What is marked superseded in the export is what the store counts, for every real run."""
    store = Store(window=100_000)
    for each in read_all([LOGS]):
        if each.source.run:
            store.apply(each)
    marked: dict[str, int] = {}
    total: dict[str, int] = {}
    for points in Exporter(PointSelection([str(LOGS)]), make_plan([str(LOGS)]).runs).batches():
        name = points.source.run
        flags = points.superseded
        marked[name] = marked.get(name, 0) + (0 if flags is None else int(flags.sum()))
        total[name] = total.get(name, 0) + len(points.batch)
    runs = {name: each for name, each in store.runs.items() if each.points}
    assert {name: each.superseded for name, each in runs.items()} == marked
    assert {name: each.points for name, each in runs.items()} == total
    assert store.runs["odd/odd-torch/purged"].superseded == 20


@given(histories())
def test_flags_are_what_the_store_hides(history: tuple[list[Row], list[int], list[tuple[int, int]]]) -> None:
    """For any history of restarts the points without the flag are those that the store shows, tag by tag.

    Those of trainings before a start from scratch have no flag either.
    """
    rows, cuts, starts = history
    store, reader = Store(), SupersededFlags()
    numbered = [(tag, step, float(index)) for index, (tag, step, _) in enumerate(rows)]
    parts = []
    for low, high in pairwise(cuts):
        inside = [(index - low, step) for index, step in starts if low <= index < high]
        each = delivery(numbered[low:high], starts=inside)
        held, _ = store.apply(each)
        reader.add(each.source, each.batch)
        parts.append((low, each))
    shown: dict[str, list[float]] = {}
    for low, each in parts:
        flags = reader.of_batch(each.source, each.batch, low, 0)
        for index in range(len(each.batch)):
            if flags is None or not flags[index]:
                tag = each.batch.tags[each.batch.tag[index]]
                shown.setdefault(tag, []).append(float(each.batch.value[index]))
    assert sum(map(len, shown.values())) == held.points - held.superseded
    for tag, series in held.series.items():
        values = sorted(series.recent().value.tolist())
        assert values == shown.get(tag, []) if not held.earlier else set(values) <= set(shown[tag])


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_tags_are_exported_exactly_as_written(tmp_path: Path, form: str) -> None:
    """Tags of any length as the log writes them; control characters as JSON escapes, spelled in CSV."""
    keys = [
        "x" * 5000 + "/a",
        "x" * 5000 + "/b",
        "esc\x1b[31m",
        "bidi\u202eright",
        "tab\there",
        'quo"te,comma',
        "y" * 999,
    ]
    records = ({"step": step, **dict.fromkeys(keys, step / 2)} for step in range(3))
    write_rows(tmp_path / "metrics.jsonl", records)
    done = rltui("export", tmp_path, "--format", form)
    if form == "jsonl":
        tags = [point["tag"] for point in done.lines()]
    else:
        tags = [row["tag"] for row in csv.DictReader(io.StringIO(done.out, newline=""))]
    spelled = keys if form == "jsonl" else [key.encode("unicode_escape").decode() for key in keys]
    assert [tag.replace("\\x09", "\\t") for tag in tags] == spelled * 3
    only = rltui("export", tmp_path, "--metric", "esc\x1b*").lines()
    assert {point["tag"] for point in only} == {"esc\x1b[31m"}
    shown = rltui("snapshot", tmp_path, "--pane", "all").out
    assert "\x1b" not in shown and "\u202e" not in shown
