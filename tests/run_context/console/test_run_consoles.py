"""The consoles of runs: by a thread while they are followed, and as the pane of `snapshot`."""

from __future__ import annotations

from pathlib import Path

from rltui.logs.discovery.context_file_search import ContextFileSearch
from rltui.logs.follow.follower import Follower
from rltui.logs.run_names import RunFilter
from rltui.many_runs.plan import make_plan
from rltui.run_context.console.console_scan_thread import ConsoleScanThread
from rltui.run_context.console.failures import is_console
from rltui.run_context.console.run_consoles import RunConsoles
from rltui.session.session import Session
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB.\n"
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no\n'


def _run(folder: Path, console: str) -> None:
    rows = [{"step": step, "loss": 1.0, "wall_time": 1_700_000_000.0 + step} for step in range(30)]
    write_rows(folder / "metrics.jsonl", rows)
    (folder / "slurm-7.out").write_text(console)


def test_the_state_of_a_trainer_is_no_console(tmp_path: Path) -> None:
    """What stands in for a log among checkpoints is looked for as a log, not as a console."""
    (tmp_path / "run/checkpoint-10").mkdir(parents=True)
    (tmp_path / "run/checkpoint-10/trainer_state.json").write_text('{"log_history": []}')
    (tmp_path / "run/train.out").write_text("hello\n")
    (found,) = RunConsoles([str(tmp_path)]).files({"run": ["run/checkpoint-10/trainer_state.json"]})["run"]
    assert found.path == "run/train.out"


def test_a_thread_hands_over_what_it_found_once(tmp_path: Path) -> None:
    """A look is taken once; without LOGDIRs nothing is looked at."""
    _run(tmp_path, OOM)
    thread = ConsoleScanThread([str(tmp_path)])
    assert thread.take() is None
    thread.follow({".": ("metrics.jsonl",)}, {})
    assert thread.thread.wait(20)
    thread.thread.stop()
    reports = thread.take()
    assert reports is not None
    (report,) = reports["."]
    assert [found.failure.id for found in report.failures] == ["cuda-out-of-memory"]
    assert thread.take() is None
    idle = ConsoleScanThread([])
    idle.follow({".": ("metrics.jsonl",)}, {})
    assert not idle.thread.wait(0)


def test_a_known_failure_is_told_with_its_line(tmp_path: Path) -> None:
    """Whoever is called at night sees how much memory was asked for, in reports and on the screen."""
    printed = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    _run(tmp_path, TRACE.replace("ValueError: no", printed))
    assert f"| {printed}" in rltui("check", tmp_path).out
    assert f"│ {printed}" in rltui("snapshot", tmp_path, "--pane", "findings").out
    _run(tmp_path, TRACE)
    told = rltui("snapshot", tmp_path, "--pane", "findings").out
    assert "ValueError: no, in f (a.py line 1); it ended" in told and "│ ValueError" not in told


def test_the_console_pane_shows_the_last_lines(tmp_path: Path) -> None:
    """Repeats are counted, tracebacks folded, the failure and what to do stand above."""
    _run(tmp_path, "hello\nhello\n\x1b[31mred\x1b[0m\n" + TRACE)
    result = rltui("snapshot", tmp_path, "--pane", "console")
    assert result.code == 0, result.err
    assert "hello  ×2" in result.out
    assert " red\n" in result.out
    assert "ValueError: no  ▸ 4 lines" in result.out
    assert "ValueError: no, in f (a.py line 1); it ended the program (line 4 of slurm-7.out)" in result.out
    assert "1 error, 0 warnings" in result.out
    assert "g()" not in result.out


def test_an_exception_after_the_summary_of_the_trainer_ended_a_complete_training(tmp_path: Path) -> None:
    """The finding has the exception's own words, cut at their end, and says what was over before it."""
    _run(tmp_path, TRACE.replace("ValueError: no", "ValueError: " + "no " * 99))
    before = rltui("check", tmp_path, "--json").json()["runs"][0]["findings"][0]["message"]
    assert before.startswith("ValueError: no no ")
    assert "…, in f (a.py line 1); it ended the program (line 1 of" in before
    with (tmp_path / "metrics.jsonl").open("a") as log:
        log.write('{"step": 29, "train_runtime": 60.0, "wall_time": 1700000030.0}\n')
    after = rltui("check", tmp_path, "--json").json()["runs"][0]["findings"][0]["message"]
    assert "…, in f (a.py line 1); it ended the program after the training was complete (line 1 of" in after


def test_the_console_pane_as_data_has_the_folded_lines(tmp_path: Path) -> None:
    """JSON holds what the text folds, and the finding with its line."""
    _run(tmp_path, TRACE)
    result = rltui("snapshot", tmp_path, "--pane", "console", "--format", "json")
    data = result.json()
    assert data["consoles"][0]["lines"][0]["folded"][2] == "    g()"
    assert data["findings"][0]["console"]["line"] == 1
    markdown = rltui("snapshot", tmp_path, "--pane", "console", "--format", "markdown")
    assert "    ValueError: no  ▸ 4 lines" in markdown.out


def test_the_console_pane_is_of_now(tmp_path: Path) -> None:
    """An earlier step has no console."""
    _run(tmp_path, TRACE)
    result = rltui("snapshot", tmp_path, "--pane", "console", "--at-step", "3")
    assert result.code == 2


def test_a_console_of_a_run_that_was_not_asked_for_is_of_no_other(tmp_path: Path) -> None:
    """With `--run a` the failure of the run b stays away, read once and followed; so does one above both."""
    for name, console in (("a", "hello\n"), ("b", OOM)):
        (tmp_path / name).mkdir()
        _run(tmp_path / name, console)
    (tmp_path / "a" / "slurm-7.out").unlink()
    (tmp_path / "train.log").write_text(OOM)
    session = Session.load([tmp_path], run_glob="a")
    assert list(session.runs) == ["a"]
    assert session.runs["a"].consoles == ()
    follower = Follower([tmp_path], runs=RunFilter("a"))
    while not follower.caught_up:
        session.apply(follower.poll())
    found = RunConsoles([str(tmp_path)]).scan(session.sources(), follower.others())
    assert not found.get("a")
    assert RunConsoles([str(tmp_path)]).scan(session.sources())["a"]  # nobody said that there is a b
    plan = make_plan([str(tmp_path)], run_glob="a")
    assert [(run.name, run.consoles) for run in plan.runs] == [("a", [])]


def test_a_failure_in_the_folder_of_another_experiment_is_not_of_the_only_run(tmp_path: Path) -> None:
    """`exp2` died before its first values, no fault of `exp1`; a console in `slurm_logs` may be its own."""
    for name in ("exp1", "exp2", "slurm_logs"):
        (tmp_path / name).mkdir()
    _run(tmp_path / "exp1", "")
    (tmp_path / "exp1" / "slurm-7.out").unlink()
    sources = {"exp1": ["exp1/metrics.jsonl"]}
    (tmp_path / "exp2" / "train.log").write_text("import torch\n" + TRACE)
    assert list(RunConsoles([str(tmp_path)]).scan(sources)) == ["exp2/train"]
    (tmp_path / "slurm_logs" / "slurm-8.out").write_text(TRACE)
    assert sorted(RunConsoles([str(tmp_path)]).scan(sources)) == ["exp1", "exp2/train"]


def test_a_line_of_metrics_is_not_quoted_as_the_last_line(tmp_path: Path) -> None:
    """What a console said last says why a run is silent, unless it is the values that are shown anyway."""

    def last_line(text: str) -> str:
        _run(tmp_path, text)
        thread = ConsoleScanThread([str(tmp_path)])
        thread.follow({".": ("metrics.jsonl",)}, {})
        assert thread.thread.wait(20)
        thread.thread.stop()
        reports = thread.take()
        assert reports is not None
        return reports["."][0].last_line

    metrics = "step:7 - actor/entropy:0.5 - critic/score/mean:0.25 - timing_s/step:9.5\n"
    assert last_line("loading\n" + metrics) == ""
    assert last_line(metrics + "waiting for rollouts\n") == "waiting for rollouts"


def test_a_search_repeated_sees_what_came_and_what_went(tmp_path: Path) -> None:
    """A search that remembers folders gives what one without a past gives."""
    search = ContextFileSearch([tmp_path], is_console)
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.log").touch()
    assert [each.path for each in search.files()] == ["a/train.log", "b/train.log"]
    (tmp_path / "a" / "train.log").rename(tmp_path / "b" / "other.log")
    assert [each.path for each in search.files()] == ["b/other.log", "b/train.log"]


def test_consoles_are_searched_for_when_folders_changed(tmp_path: Path) -> None:
    """One that came is told with the next change, or when the runs are others; one that grew at once."""
    _run(tmp_path, "hello\n")
    consoles = RunConsoles([str(tmp_path)])
    sources = {".": ("metrics.jsonl",)}
    (report,) = consoles.scan(sources, changes=1)["."]
    assert report.last_line == "hello"
    (tmp_path / "slurm-7.out").write_text("hello\nmore\n")
    (tmp_path / "train.log").write_text(OOM)
    assert [one.last_line for one in consoles.scan(sources, changes=1)["."]] == ["more"]
    assert len(consoles.scan(sources, changes=2)["."]) == 2
    (tmp_path / "other.log").write_text(OOM)
    assert len(consoles.scan({**sources, "b": ("b/metrics.jsonl",)}, changes=2)["."]) == 3
    (tmp_path / "train.log").unlink()
    assert len(consoles.scan({**sources, "b": ("b/metrics.jsonl",)}, changes=2)["."]) == 2


def test_a_thread_tells_consoles_that_say_the_same_once(tmp_path: Path) -> None:
    """A failure is told at each look, since what it means depends on the time."""
    _run(tmp_path, "hello\n")
    thread = ConsoleScanThread([str(tmp_path)])
    thread._runs = ({".": ("metrics.jsonl",)}, {}, 1)
    looks = []
    for text in (None, None, "hello\nmore\n", None, OOM, None):
        if text is not None:
            (tmp_path / "slurm-7.out").write_text(text)
        thread._step()
        looks.append(thread.take() is not None)
    assert looks == [True, False, True, False, True, True]
