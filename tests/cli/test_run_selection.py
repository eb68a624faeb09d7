"""`--run` of every command: globs of names as ever, and expressions over what runs are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rltui.cli.commands.monitor.watch import command as watch
from rltui.panes.runs.selection import RunSelection
from tests.support.commands.in_process import rltui
from tests.support.runs.checked_runs import SICK, WELL, write
from tests.support.shared import SHARED, needs_shared


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A healthy run with a low rate, a sick and a healthy one with a high one."""
    folder = tmp_path / "logs"
    for name, values, rate in (("low", WELL, 1e-5), ("high_sick", SICK, 1e-3), ("high=well", WELL, 1e-3)):
        write(folder / name, values)
        (folder / name / "config.json").write_text(json.dumps({"optim": {"lr": rate}, "seed": 1}))
    return folder


def names(*words: object) -> list[str]:
    """The runs that `runs --json` lists."""
    return [run["run"] for run in rltui("runs", *words, "--json").json()["runs"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("lr>1e-4", {"high_sick", "high=well"}), ("lr>1e-4 critical", {"high_sick"}),
        ("-critical", {"low", "high=well"}), ("critical", {"high_sick"}),
        ("high*", {"high_sick", "high=well"}),
        ("high=well", {"high=well"}), ("learning_rate<1e-4", {"low"}), ("step>=80 ok", {"low", "high=well"}),
        ("lo[vw]", {"low"}),
    ],
)  # fmt: skip
def test_globs_and_expressions_choose_runs(logs: Path, text: str, found: set[str]) -> None:
    """A text that is the glob of a name means that; any other comparison, health or words are looked at."""
    assert set(names(logs, "--run", text)) == found


@pytest.mark.parametrize("text", ["lr>1", "nothing*", "lo", "low critical"])
def test_a_text_that_chooses_none_says_so(logs: Path, text: str) -> None:
    """Exit code 2 and a line, as for a glob."""
    done = rltui("runs", logs, "--run", text)
    assert done.code == 2 and text in done.err


def test_a_logdir_that_is_a_run_is_called_by_its_folder(tmp_path: Path) -> None:
    """What people read and share names the folder, `--run` takes that name, and JSON keeps the dot."""
    run = write(tmp_path / "sick", SICK)
    for command in ("check", "report", "snapshot", "runs"):
        first, *rest = rltui(command, run, "--run", "sick").out.splitlines()
        assert "sick" in first or (command == "runs" and rest[0].startswith(". ")), command
    assert rltui("check", "--json", run).json()["runs"][0]["run"] == "."


def test_every_command_takes_expressions(logs: Path) -> None:
    """The same text chooses the same runs whoever reads it."""
    chosen = ["--run", "lr>1e-4 critical"]
    assert [run["run"] for run in rltui("check", logs, *chosen, "--json").json()["runs"]] == ["high_sick"]
    lines = rltui("export", logs, *chosen, "--metric", "*kl*").out.splitlines()
    assert {json.loads(line)["run"] for line in lines} == {"high_sick"} and len(lines) == 80
    assert "high_sick" in rltui("snapshot", logs, *chosen).out
    compared = rltui("compare", logs, "--baseline", "low", *chosen, "--json").json()
    assert [run["run"] for run in compared["runs"]] == ["high_sick"]
    waited = rltui("wait", logs, *chosen, "--until", "step>=80", "--timeout", 5, "--json").json()
    assert (waited["outcome"], waited["run"]) == ("reached", "high_sick")
    assert "lr>1e-4" in watch.get_help(watch.make_context("watch", [], resilient_parsing=True))


def test_a_name_with_the_characters_of_a_glob_selects_its_run(tmp_path: Path) -> None:
    """Sweeps write settings in brackets: the whole name selects its run, besides what it matches."""
    for name in ("lr[1]", "lr1"):
        write(tmp_path / name, WELL)
    chosen = (tmp_path, "--run", "lr[1]")
    assert set(names(*chosen)) == {"lr[1]", "lr1"}
    assert {run["run"] for run in rltui("check", *chosen, "--json").json()["runs"]} == {"lr[1]", "lr1"}
    lines = rltui("export", *chosen, "--metric", "*kl*").out.splitlines()
    assert {json.loads(line)["run"] for line in lines} == {"lr[1]", "lr1"}


def test_the_screen_lists_only_chosen_runs(logs: Path) -> None:
    """What is not chosen is read, but neither listed nor come to by a key; it appears when it changes."""
    from rltui.screen.start import build
    from rltui.session.session import Session
    from tests.support.screen.screens import screen_of

    session = Session.load([logs])
    screen = screen_of(build(session, [str(logs)]))
    selection = RunSelection("critical")
    session.show_only(selection.test(screen.state.run_hparams, screen.state.options.clock))
    text = screen.text(120, 30)
    assert "high_sick" in text and screen.view is not None and screen.view.name == "high_sick"
    screen.press(">")
    assert screen.view.name == "high_sick"
    screen.press("r")
    assert [name for _, name in (screen.frame(120, 30), screen.overlays[-1])[1].drawn.items] == ["high_sick"]


def test_runs_sorts_and_prints_chosen_columns(logs: Path) -> None:
    """Settings and metrics are columns; Markdown is a table; an unknown name ends with 1."""
    out = rltui("runs", logs, "--sort", "-lr", "--columns", "run,lr,kl_loss,best").out.splitlines()
    assert out[0].split()[:3] == ["run", "lr", "kl_loss"]
    assert [line.split()[0] for line in out[1:]][-1] == "low"
    table = rltui("runs", logs, "--format", "markdown", "--columns", "+seed").out.splitlines()
    assert table[0].startswith("| run |") and "| seed |" in table[0] and len(table) == 5
    assert rltui("runs", logs, "--sort", "nonesuch").code == 1


def test_the_document_says_last_best_and_why(logs: Path) -> None:
    """The fields of the outcome, for scripts that pick the best run."""
    runs = {run["run"]: run for run in rltui("runs", logs, "--json").json()["runs"]}
    low = runs["low"]
    assert low["metric"] in ("critic/rewards/mean", "critic/score/mean")
    assert (low["best_step"], low["best_step_exact"]) == (80, True) and low["last"] == low["best"]
    assert "@" in runs["high_sick"]["why"] and low["why"] == ""


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """Runs in deep folders, two of them with one last folder."""
    folder = tmp_path / "logs"
    for name in (
        "lab/exp/ppo/2026/a1",
        "lab/exp/ppo/2026/a2",
        "lab/exp/grpo/2026/b[1]",
        "lab/exp/grpo/2026/a2",
    ):
        write(folder / name, WELL)
    return folder


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a1", ["lab/exp/ppo/2026/a1"]),
        ("ppo/2026/a2", ["lab/exp/ppo/2026/a2"]),
        ("lab/exp/ppo/2026/a2", ["lab/exp/ppo/2026/a2"]),
        ("ppo/*/a1", []),
        ("*/a1", ["lab/exp/ppo/2026/a1"]),
    ],
)
def test_a_run_goes_by_its_short_name(deep: Path, text: str, found: list[str]) -> None:
    """The name that lists show, or folders that follow each other; a glob is of the whole name."""
    done = rltui("runs", deep, "--run", text, "--json")
    assert [run["run"] for run in (done.json()["runs"] if done.code == 0 else [])] == found


def test_a_name_of_several_runs_says_which(deep: Path) -> None:
    """Nothing is printed of any of them, and every command says so."""
    for words in (("runs", deep), ("check", deep), ("export", deep), ("snapshot", deep)):
        done = rltui(*words, "--run", "a2")
        assert done.code == 2 and "lab/exp/grpo/2026/a2, lab/exp/ppo/2026/a2" in done.err


@needs_shared
@pytest.mark.parametrize("text", ["second", "second 8py9y2ty", "8py9y2ty"])
def test_a_run_goes_by_the_name_that_a_person_gave_it(text: str) -> None:
    """The name in W&B, with its id or without; what programs get is the id."""
    done = rltui("runs", SHARED / "trackers" / "wandb-two", "--run", text, "--json")
    (found,) = done.json()["runs"]
    assert (found["run"], found["given_name"]) == ("wandb/8py9y2ty", "second")


@needs_shared
@pytest.mark.parametrize("words", [(), ("--no-cache",), ("--columns", "run,project")], ids=str)
def test_tables_show_the_name_that_a_person_gave(words: tuple[str, ...], logs: Path) -> None:
    """As the monitor does, read anew or remembered, with columns of settings or not; check adds the id."""
    folder = SHARED / "trackers" / "wandb-two"
    for _ in range(2):
        lines = rltui("runs", folder, *words).out.splitlines()
        assert {line.split()[0] for line in lines[1:]} == {"first", "second"}
    assert "second wandb/8py9y2ty " in rltui("check", folder).out


@needs_shared
def test_a_baseline_goes_by_the_name_that_a_person_gave_it() -> None:
    """`compare` takes the name in W&B and says the id of the run that it found."""
    folder = SHARED / "trackers" / "wandb-two"
    assert rltui("compare", folder, "--baseline", "first", "--json").json()["baseline"] == "wandb/cpqd14u9"
