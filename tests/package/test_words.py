"""What users read is plain English: short sentences, one way to say a thing, no leftovers of templates."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

import rltui.cli
from rltui.screen.input.key_table import bindings, key_table
from tests.support.commands.in_process import rltui as command
from tests.support.screen.screens import screen_of

DATA = Path(rltui.cli.__file__).parents[1] / "data"
MAX_WORDS = 31  # words of a sentence
MAX_FINDING_WORDS = 27  # words of what a finding says; it is read in a headline
# Keys of tables that hold sentences: those that are whole ones, and those that go on in a line of the screen.
SENTENCES = ("advice", "meaning", "watch_for", "healthy", "means", "do", "intro", "empty", "caveat")
PHRASES = ("message", "title")
# Fields that messages are filled with.
FIELDS = {
    "value", "percent", "before", "limit", "tag", "times", "since", "metric", "baseline", "because",
    "environment",
    # Those of findings about a run as a whole.
    "age", "usual", "console", "line", "where", "exit_code", "needed", "job", "left",
    "count", "relation", "level", "median", "step", "spreads",
}  # fmt: skip
# What is said in another way now: metaphors, and words of which the glossary of terms has others.
DEPRECATED = re.compile(
    r"\b(homework|exam|report card|learnt by heart|by heart|look whether|look why|mind (the|its|whether)"
    r"|idlest|stays? put|red flag|bad smell|runs? away|ran away"
    r"|judgement|hushed|log dir|logdirs)\b",
    re.IGNORECASE,
)


@cache
def texts() -> list[tuple[str, str, str]]:
    """Where each text of the tables stands, the key that holds it, and the text."""

    def walk(found: object, place: str, key: str) -> Iterator[tuple[str, str, str]]:
        if isinstance(found, dict):
            for name, each in found.items():
                yield from walk(each, f"{place}.{name}", str(name))
        elif isinstance(found, list):
            for at, each in enumerate(found):
                yield from walk(each, f"{place}[{at}]", key)
        elif isinstance(found, str) and key in (*SENTENCES, *PHRASES):
            yield place, key, found

    paths = sorted(set(DATA.rglob("*.toml")) - {DATA / "json_schemas.toml"})  # names of fields
    tables = [(tomllib.loads(path.read_text("utf-8")), path.stem) for path in paths]
    return [text for table, name in tables for text in walk(table, name, "")]


def help_texts() -> Iterator[tuple[str, str]]:
    """What the help of each command and option says."""

    def walk(found: click.Command, path: str) -> Iterator[tuple[str, str]]:
        yield path, found.help or ""
        for option in found.params:
            yield f"{path} {option.name}", getattr(option, "help", None) or ""
        if isinstance(found, click.Group):
            context = click.Context(found)
            for name in found.list_commands(context):
                below = found.get_command(context, name)
                assert below is not None
                yield from walk(below, f"{path} {name}")

    yield from walk(rltui.cli.command_group, "rltui")


def sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return re.split(r"(?<=[.!?])\s+(?=[A-Z0-9])", text)


def test_sentences_are_short() -> None:
    """Nobody has to read a sentence twice; a finding fits a headline."""
    for place, key, text in texts():
        most = MAX_FINDING_WORDS if key in PHRASES else MAX_WORDS
        long = [one for one in sentences(text) if len(one.split()) > most]
        assert not long, f"{place}: {len(long[0].split())} words: {long[0]}"


def test_sentences_end_and_phrases_do_not() -> None:
    """What to do ends with a full stop; what is wrong is continued by the screen."""
    for place, key, text in texts():
        if key in SENTENCES:
            assert text.rstrip("`")[-1] in ".?", f"{place}: {text[-60:]}"
        elif key == "message":
            assert not text.endswith("."), f"{place}: {text[-60:]}"


def test_punctuation_is_plain() -> None:
    """No double blanks, no dashes between thoughts, no blank before a stop."""
    odd = re.compile(r"\S  +\S| [–—-]{1,2} |—|\s[,;:!?](\s|$)|\.\.(?!\.)\.?$|\(\s|\s\)")
    found = [(place, text) for place, _, text in texts() if odd.search(text)]
    found += [(path, text) for path, text in help_texts() if re.search(r" [–—] |—", text)]
    found += [(bind.action, bind.words) for bind in bindings() if odd.search(bind.words)]
    assert not found, found[0]


def test_messages_have_no_raw_or_unknown_fields() -> None:
    """A field in braces is one that is filled; nothing else has braces."""
    for place, key, text in texts():
        fields = re.findall(r"\{(\w*)[^}]*\}", text)
        assert key in PHRASES or not fields, f"{place}: {text}"
        assert set(fields) <= FIELDS, f"{place}: {text}"


def test_nothing_says_since_twice() -> None:
    """`since step 40` stands behind a finding: its own words do not begin with another since."""
    for place, key, text in texts():
        if key == "title":
            assert "since" not in text, f"{place}: {text}"
        elif key == "message":
            assert text.replace("{since}", "").count("since") <= 1, f"{place}: {text}"


def test_one_word_for_one_thing() -> None:
    """Words that were given up do not come back, in tables, help and keys."""
    found = [(place, text) for place, _, text in texts() if DEPRECATED.search(text)]
    found += [(path, text) for path, text in help_texts() if DEPRECATED.search(text)]
    keys = [*((bind.action, bind.words) for bind in bindings()), *key_table().sign]
    for context in key_table().context.values():
        keys += [*context.words.items(), *context.hints.items()]
    found += [(action, words) for action, words in keys if DEPRECATED.search(words)]
    assert not found, found[0]


@pytest.fixture
def one_of_each(tmp_path: Path) -> Path:
    """A run with one metric, which has one point."""
    folder = tmp_path / "runs" / "single"
    folder.mkdir(parents=True)
    (folder / "metrics.jsonl").write_text(json.dumps({"step": 1, "zork/frobnitz": 1.0}) + "\n")
    return folder.parent


ONE = re.compile(
    r"(?<![\d.,])1 (metrics|runs|points|steps|series|findings|remarks|warnings|lines|names|keys|tags|files"
    r"|logs|settings|rules|records|values|cores|seeds|sister runs|minutes|hours|days|tokens)\b"
)


@pytest.mark.parametrize(
    "words",
    [["check"], ["runs"], ["snapshot"], ["snapshot", "--pane", "all"], ["snapshot", "--pane", "findings"],
     ["snapshot", "--pane", "config"], ["report"], ["doctor"], ["snapshot", "--chart", "zork/frobnitz"]],
)  # fmt: skip
def test_one_is_singular_in_commands(one_of_each: Path, words: list[str]) -> None:
    """`1 metric`, not `1 metrics`: where there is one of each, no command uses the plural."""
    done = command(words[0], one_of_each, *words[1:])
    said = done.out + done.err
    assert said.strip() and not ONE.search(said), said


def test_one_is_singular_on_the_screen(one_of_each: Path) -> None:
    """Every pane and overlay of a run with one metric of one point, at three sizes."""
    from rltui.screen.start import build
    from rltui.session.session import Session

    screen = screen_of(build(Session.load([one_of_each]), [str(one_of_each)]))
    for keys in (
        "1",
        "2",
        "9",
        "f",
        "c",
        "9 enter",
        "escape e",
        "escape r",
        "escape / f",
        "escape M",
        "*",
        "P",
    ):
        for key in keys.split():
            screen.press(key)
        for size in ((140, 45), (80, 24), (40, 12)):
            text = screen.text(*size)
            assert not ONE.search(text), f"{keys}: {ONE.findall(text)}\n{text}"
