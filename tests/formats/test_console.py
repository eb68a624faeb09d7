"""Console logs: metrics lines between everything else that a program prints."""

from __future__ import annotations

import math

import pytest

from rltui.logs.batch import Batch
from rltui.logs.formats.printed_metrics import trainer_console
from tests.support.logs.file_in_memory import MemFile, cut, points, read_in_pieces, read_on, read_whole, rows
from tests.support.logs.text_oracles import read_path
from tests.support.shared import BUNDLED

FORM = trainer_console.FORMAT


def read(text: str) -> Batch:
    """A console log read to its end."""
    return read_whole(FORM, MemFile("console.log", text.encode()))


@pytest.mark.parametrize(
    "line",
    [
        "step:3 - actor/lr:0.5 - critic/score/mean:2",
        "step:3 - actor/lr:np.float64(0.5) - critic/score/mean:np.float32(2.0)",
        "(TaskRunner pid=123) step:3 - actor/lr:0.5 - critic/score/mean:tensor(2., device='cuda:0')",
        "\x1b[36m(TaskRunner pid=123, ip=10.0.0.1)\x1b[0m step:3 - actor/lr:0.5 - critic/score/mean:2",
        "(main_task pid=1) step:3 - actor/lr:0.5 - critic/score/mean:2 [repeated 2x across cluster]",
        "Training Progress:   5%|▌  | 3/60\rstep:3 - actor/lr:0.5 - critic/score/mean:2",
        "Step 3 | actor/lr:0.5 critic/score/mean:2",
    ],
)
def test_metrics_lines(line: str) -> None:
    """Values in every wrapping, behind colours, Ray's prefixes and progress bars."""
    text = f"starting\n{line}\n(WorkerDict pid=4) loss: 3\n"
    assert rows(read(text)) == [("actor/lr", 3, 0.5), ("critic/score/mean", 3, 2.0)]


def test_odd_values() -> None:
    """Non-finite values count; text, dicts and None do not; a key may hold colons and dashes."""
    line = "step:1 - a:nan - b:np.float64(inf) - c:None - d:{0: 1, 1: 2} - e:text"
    line += " - time/x:mean:4 - f - g:5 - h:-1e-05"
    assert rows(read(line + "\n")) == [
        ("a", 1, None),
        ("b", 1, math.inf),
        ("time/x:mean", 1, 4.0),
        ("f - g", 1, 5.0),
        ("h", 1, -1e-05),
    ]


def test_other_lines_are_no_trouble() -> None:
    """Whatever else is printed gives no points and no diagnostic."""
    batch = read("step: 3\nmystep:4 - a:1\nstep:x - a:1\nStep 4 done\nstep:5\n\xff\n" + "x" * 100_000 + "\n")
    assert len(batch) == 0
    assert batch.problems == ()


def test_real_console_gives_what_its_file_logger_gives() -> None:
    """Real console lines have the points that the JSON lines of the same run have, NaN included."""
    lines = points(read_path(BUNDLED / "verl-grpo-nan" / "console.log"))
    logged = set(points(read_path(BUNDLED / "verl-grpo-nan" / "verl-grpo-nan.jsonl")))
    assert len(lines) > 1500
    assert set(lines) <= logged


def test_pieces_and_torn_tail() -> None:
    """A line waits for its newline, since it may be cut inside a number; at the end the cut is reported."""
    data = b"step:1 - a:1.25\nnoise\nstep:2 - a:2.5\nstep:3 - a:3"
    wanted = [("a", 1, 1.25), ("a", 2, 2.5)]
    for places in ([5], [10, 14], [16, 20, 30], list(range(len(data)))):
        batch = read_in_pieces(FORM, "console.log", cut(data, places), 7)
        assert rows(batch) == wanted
        assert [problem.code for problem in batch.problems] == ["torn-tail"]
    assert rows(FORM.open("x").newest(MemFile("x", data), 40)) == [("a", 2, 2.5)]
    log = FORM.open("x")
    file = MemFile("x", data, b"5\n")
    read_on(log, file)
    file.grow()
    assert [rows(batch) for batch in read_on(log, file)] == [[("a", 3, 35.0)]]


def test_a_long_log_is_read_as_its_lines_are() -> None:
    """Hundreds of lines alike, one of them with a text, one without a number: every point of each."""
    lines = [f"step:{step} - a:{step / 3} - b/c:np.float64({step / 7})" for step in range(300)]
    lines[200] = "step:200 - a:1.5 - b/c:none"
    lines[250] += " - extra:2"
    wanted = [point for line in lines for point in rows(read(line + "\n"))]
    assert rows(read("\n".join(lines) + "\n")) == wanted
    assert len(wanted) == 600


@pytest.mark.parametrize("count", [1, 150])
def test_a_learning_rate_without_its_digits_is_none(count: int) -> None:
    """Three decimals, as veRL before 0.5 prints: `0.000` is no rate of zero; other zeros are zeros."""
    line = "step:{0} - actor/lr:0.000 - actor/kl:0.000 - critic/lr:0.00{1}\n"
    data = "".join(line.format(k, k % 2) for k in range(count)) + "step:900 - actor/lr:0.0 - actor/kl:1e-06\n"
    found = list(points(read_whole(FORM, MemFile("a.log", data.encode()))))
    assert {tag for tag, step, *_ in found if step == 0} == {"actor/kl"}
    assert [(step, value) for tag, step, _, value in found if tag == "actor/lr"] == [(900, 0.0)]
    assert {value for tag, *_, value in found if tag == "critic/lr"} == ({0.001} if count > 1 else set())
