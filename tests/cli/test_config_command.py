"""`rltui config`: where the configuration is, whether it is right, what may stand in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from rltui.cli.commands.setup.config import command
from rltui.common.problem import Problem
from rltui.config import load_config, read_file
from rltui.config.config_schema import DISPLAY, PRIVATE, json_schema
from rltui.draw.themes import shipped_folder
from rltui.metrics.catalogue import catalogue
from rltui.metrics.config_snippet import snippet
from rltui.metrics.explain_key import explain
from rltui.metrics.resolve import MetricNames
from rltui.schema.metric import DIRECTIONS, STATISTICS
from tests.support.commands.config_files import logs, own

__all__ = ["logs", "own"]  # fixtures


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(command, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def test_check_says_whether_anything_is_wrong(own: Path, logs: Path) -> None:
    """Exit 0 and a word, or exit 2 and every fault on standard error."""
    code, out, _ = run("--check")
    assert code == 0 and out.endswith(": not there; the defaults hold\n")
    own.write_text("theme = 'dusk'")
    assert run("--check")[1].endswith(": nothing is wrong\n")
    own.write_text("theme = 3\npoll = 'x'\n[frameworks]\n'*' = 'zork'\n[aliases]\n'x' = 'no.metric'")
    code, out, err = run("--check")
    assert (code, out) == (2, "")
    for word in ("theme must be", "poll must be", "no framework 'zork'", "leads to no metric: no.metric"):
        assert word in err
    beside = logs / "rltui.toml"
    beside.write_text("[keys]\nquit = 'q'")
    assert "read only from your own file" in run("--check", str(beside))[2]
    assert run("--check", str(logs / "missing.toml"))[0] == 2


def test_check_knows_what_names_refer_to(own: Path) -> None:
    """Themes, panes and actions that do not exist are faults; own panes and own themes are none."""
    own.write_text("theme = 'zork'\npane = 'nowhere'\n[keys]\nfly = 'q'")
    code, _, err = run("--check")
    assert code == 2
    for word in ("no theme is called 'zork'", "no pane is called 'nowhere'", "no action is called 'fly'"):
        assert word in err
    (own.parent / "themes").mkdir()
    shipped = (shipped_folder() / "night.toml").read_text()
    (own.parent / "themes" / "mine.toml").write_text(shipped)
    for section in ("other", "general"):
        own.write_text(f"pane = '{section}'")
        assert run("--check")[0] == 0
    own.write_text("theme = 'mine'\npane = 'own'\n[panes.own]\ntitle = 'Own'\nmetrics = ['loss']")
    assert run("--check")[0] == 0


def test_path_and_schema(own: Path) -> None:
    """The path is one line; the schema is JSON that knows every key."""
    assert run("--path")[:2] == (0, f"{own}\n")
    code, out, _ = run("--schema")
    assert code == 0
    schema = json.loads(out)
    assert set(schema["properties"]) == {*DISPLAY, *PRIVATE}
    assert schema == json.loads(json.dumps(json_schema()))
    assert run("--schema", "--path")[0] != 0


def test_every_key_is_described() -> None:
    """The JSON schema has a sentence on each key that is not an old name of another."""

    def keys(schema: dict[str, Any], path: str) -> Iterator[tuple[str, bool]]:
        for name, each in schema["properties"].items():
            yield f"{path}{name}", bool(each.get("description") or each.get("deprecated"))
            for inner in (each, each.get("items"), each.get("additionalProperties")):
                if isinstance(inner, dict) and "properties" in inner:
                    yield from keys(inner, f"{path}{name}.")

    assert [path for path, described in keys(json_schema(), "") if not described] == []


def test_words_of_the_glossary_and_the_configuration_agree() -> None:
    """Directions, statistics and panes are the glossary's own."""
    text = json.dumps(json_schema())
    for word in (*DIRECTIONS, *filter(None, STATISTICS)):
        assert f'"{word}"' in text
    problems: list[Problem] = []
    assert read_file(Path("/nonexistent/rltui.toml"), problems, own=False) is None
    assert problems == []
    assert catalogue().glossary.pane("perf") is not None


def test_a_snippet_can_be_pasted(own: Path) -> None:
    """What is offered for unrecognised names is a configuration without fault that makes them known."""
    tags = [
        "zorkmid",
        "actor/my_metric",
        "a/b/c d",
        "a/b/c_d",
        "奖励/平均",
        "tag (ms) [%]",
        'say "hi"',
        "x" * 80,
    ]
    own.write_text(snippet([*tags, "a{b", "any*"], MetricNames("verl")))
    config = load_config()
    assert config.problems == ()
    names = MetricNames("verl", config)
    assert names.problems == ()
    assert all(names.name(tag).recognised for tag in tags)
    assert names.name("actor/my_metric").pane == "policy"
    assert explain("zorkmid", config=config)[0].metric.title == "Zorkmid"
    assert explain("zorkmid") == []
