"""Colour of check, runs and compare: on terminals and when forced, never in files, never against NO_COLOR."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rltui.cli.output.printing import fitted_columns
from tests.support.commands.in_process import rltui
from tests.support.runs.checked_runs import SICK, WELL, write
from tests.support.screen.terminal import Terminal

SGR = re.compile(r"\x1b\[[0-9;]*m")
VARIABLES = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE")


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A good and a sick run; nothing in the environment says anything of colour."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    write(tmp_path / "logs" / "well", WELL)
    write(tmp_path / "logs" / "sick", SICK)
    return tmp_path / "logs"


@pytest.mark.parametrize("words", [("check",), ("runs",), ("compare", "--baseline", "well", "--all")])
def test_colour_changes_no_word(logs: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    """Forced colour adds sequences and nothing else; a pipe gets none."""
    plain = rltui(words[0], logs, *words[1:])
    monkeypatch.setenv("FORCE_COLOR", "1")
    painted = rltui(words[0], logs, *words[1:])
    assert not SGR.search(plain.out) and SGR.search(painted.out)
    assert SGR.sub("", painted.out) == plain.out and painted.code == plain.code


def test_documents_are_never_coloured(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON and Markdown stay as they are."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    for words in (("check", "--json"), ("runs", "--json"), ("check", "--format", "markdown")):
        assert not SGR.search(rltui(words[0], logs, *words[1:]).out)


@pytest.mark.parametrize(
    ("variables", "painted"),
    [
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"CLICOLOR": "1"}, False),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"CLICOLOR": "0", "FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "0"}, False),
    ],
)
def test_the_environment_decides(
    logs: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], painted: bool
) -> None:
    """NO_COLOR wins, forcing comes next, CLICOLOR alone colours terminals only."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert bool(SGR.search(rltui("check", logs).out)) == painted


@pytest.mark.parametrize("width", [60, 80])
def test_a_table_fits_its_terminal(logs: Path, width: int) -> None:
    """What is worth least is left out, and named; a pipe has all columns."""
    with Terminal.python("-m", "rltui", "runs", str(logs), size=(width, 24)) as terminal:
        terminal.until_text("no room for")
    (head,) = [line for line in terminal.lines if line.strip().startswith("run ")]
    assert head.split() == ["run", "step", "Score", "why"]
    (sick,) = [line for line in terminal.lines if " sick " in line]
    assert sick.split()[1] == "✖" and "@" in sick
    assert "points" in rltui("runs", logs).out.splitlines()[0]


def test_names_and_reasons_share_a_narrow_terminal(tmp_path: Path) -> None:
    """At 80 columns it can be read which of several runs are wrong, and why."""
    names = [f"grpo-qwen2.5-7b-math-lr{rate}-seed{seed}" for rate in ("1e-5", "3e-4") for seed in (1, 2)]
    for name in names:
        write(tmp_path / "sweep" / name / "run", SICK if "3e-4" in name else WELL)
    with Terminal.python("-m", "rltui", "runs", str(tmp_path / "sweep"), size=(80, 24)) as terminal:
        terminal.until_text("no room for")
    found = [line for line in terminal.lines if "seed" in line]
    assert all(any(name[-11:] in line for line in found) for name in names)
    checked = rltui("check", tmp_path / "sweep", "--json").json()["runs"]
    titles = [one["findings"][0]["title"] for one in checked if one["findings"]]
    assert len(titles) == 2 and all(any(title in line for line in found) for title in titles)


def test_text_fits_its_terminal(logs: Path) -> None:
    """Sentences are wrapped between words and panes drawn for a terminal of 60 cells, for 100 in a pipe."""

    def seen(*words: str) -> str:
        with Terminal.python("-m", "rltui", words[0], str(logs), *words[1:], size=(60, 60)) as terminal:
            terminal.wait(30)
            return terminal.text

    pipe = " ".join(rltui("check", logs).out.split())
    advice = pipe[pipe.index("→") :].partition(". ")[0]
    assert len(advice) > 60 and advice in " ".join(seen("check").split())
    rules = [line for line in seen("snapshot", "--run", "sick").splitlines() if not line.strip("─")]
    assert rules[0] == "─" * 60


@pytest.mark.parametrize(
    ("words", "first"),
    [(("check",), "Several runs:"), (("compare", "--baseline", "well"), "▲ better")],
)
def test_sentences_about_runs_are_broken_between_words(
    logs: Path, words: tuple[str, ...], first: str
) -> None:
    """Also what is said of several runs, and what explains a table, which is said once."""
    for number in range(3):
        write(logs / "a-sweep-of-several-runs" / f"seed-{number}", SICK)
    with Terminal.python("-m", "rltui", words[0], str(logs), *words[1:], size=(60, 200)) as terminal:
        terminal.wait(30)
        seen = terminal.text
    pipe = rltui(words[0], logs, *words[1:]).out
    told = " ".join(pipe[pipe.index(first) :].split())[:150]
    assert " ".join(seen.split()).count(told) == pipe.count(first) == 1


def test_columns_give_way_in_their_order() -> None:
    """First those that can be cut are counted as cut; what is left of the room is theirs, from the left."""
    assert fitted_columns([40, 9, 9, 30], 100, {0: 20, 3: 20}, [1]) == {0: 40, 1: 9, 2: 9, 3: 30}
    assert fitted_columns([40, 9, 9, 30], 70, {0: 20, 3: 20}, [1]) == {0: 26, 1: 9, 2: 9, 3: 20}
    assert fitted_columns([40, 9, 9, 30], 60, {0: 20, 3: 20}, [1]) == {0: 27, 2: 9, 3: 20}
