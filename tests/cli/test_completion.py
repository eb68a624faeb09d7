"""Completion in shells: what is offered, asked as the scripts of click ask, and in the shells themselves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands.in_process import rltui
from tests.support.runs.checked_runs import WELL, environment, write


def offered(monkeypatch: pytest.MonkeyPatch, home: Path, *words: str) -> list[str]:
    """The values that bash is offered for the last word."""
    monkeypatch.chdir(home)
    asked = {"_RLTUI_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(("rltui", *words))}
    for name, value in (asked | {"COMP_CWORD": str(len(words))}).items():
        monkeypatch.setenv(name, value)
    done = rltui()
    assert (done.code, done.err) == (0, "")
    return done.out.splitlines()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("ch",), {"plain,check"}),
        (("check", "--fail-on", "w"), {"plain,warning"}),
        (("check", "--fo"), {"plain,--format", "plain,--follow"}),
        (("watch", "--pane", "pol"), {"plain,policy"}),
        (("snapshot", "--theme", "pap"), {"plain,paper"}),
        (("explain", "policy.clip_fraction_du"), {"plain,policy.clip_fraction_dual"}),
        (("export", "--metric", "policy.clip_fraction_du"), {"plain,policy.clip_fraction_dual"}),
        (("check", "lo"), {"file,lo"}),
        (("lo",), {"file,lo"}),
        (("check", "logs", "--run", "fi"), {"plain,first"}),
        (("logs", "--baseline", ""), {"plain,first", "plain,second"}),
    ],
)
def test_what_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], expected: set[str]
) -> None:
    """Commands, options, choices, panes, themes, metrics, run names; files where a LOGDIR is meant."""
    write(tmp_path / "logs" / "first", WELL)
    write(tmp_path / "logs" / "second", WELL)
    assert set(offered(monkeypatch, tmp_path, *words)) == expected


def test_all_commands_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`rltui <TAB>` lists the commands."""
    found = set(offered(monkeypatch, tmp_path, ""))
    assert {"plain,watch", "plain,check", "plain,wait", "plain,completion"} <= found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_works_in_the_shell(tmp_path: Path, shell: str) -> None:
    """The real shell loads the script without an error; bash and fish complete a command with it."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    script = rltui("completion", shell)
    assert script.code == 0 and "_RLTUI_COMPLETE" in script.out
    tool = tmp_path / "bin" / "rltui"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rltui "$@"\n')
    tool.chmod(0o755)
    (tmp_path / "script").write_text(script.out)
    asking = {
        "bash": "source ./script; COMP_WORDS=(rltui ch); COMP_CWORD=1; _rltui_completion rltui ch rltui; "
        'printf "%s\\n" "${COMPREPLY[@]}"',
        "zsh": "autoload -U compinit; compinit -u; source ./script; print ${_comps[rltui]}",
        "fish": "source ./script; complete -C 'rltui ch'",
    }
    expected = {"bash": "check", "zsh": "_rltui_completion", "fish": "check"}
    env = environment(tmp_path, PATH=f"{tool.parent}{os.pathsep}{os.environ['PATH']}", TERM="xterm")
    done = subprocess.run(
        [program, "-c", asking[shell]],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split()[:1] == [expected[shell]], done.stderr


def test_another_shell_is_refused() -> None:
    """Exit code 2 and one line."""
    done = rltui("completion", "tcsh")
    assert done.code == 2 and done.err.count("\n") == 1
