"""Names from logs inside Markdown stay names: what we print is parsed as a reader of Markdown would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rltui.common.display_text import clean
from rltui.common.markdown_text import code_in_markdown, in_markdown
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows

PARSER = MarkdownIt("commonmark").enable("table")
LIVELY = {"image", "link_open", "html_inline", "html_block", "em_open", "strong_open"}
HOSTILE = "x`![p](http://evil/p.png)<img src=y>|*b*[l](http://evil)`` _e_"


def _inside(text: str) -> list[Token]:
    return [each for token in PARSER.parse(text) for each in (token, *(token.children or ()))]


@given(st.text(max_size=40).map(clean))
@example("a&lt;b &amp; &#60; &copy c&d")
def test_text_is_text(text: str) -> None:
    """Whatever a name is, Markdown shows its characters and nothing else happens."""
    paragraph = _inside("x " + in_markdown(text) + " x")
    assert not LIVELY & {token.type for token in paragraph}
    shown = "".join(token.content for token in paragraph if token.type in ("text", "text_special"))
    assert shown.split() == f"x {text} x".split()


@given(st.text(max_size=40).map(clean))
@example("a\\|b\\\\|c\\")
@example("a&lt;b")
def test_code_is_one_cell_of_code(text: str) -> None:
    """A tag is one piece of code in one cell of a table, whatever backticks and bars it holds."""
    table = f"| key | last |\n|---|---|\n| {code_in_markdown(text)} | 1 |\n"
    tokens = _inside(table)
    assert [token.type for token in tokens].count("td_open") == 2
    codes = [token.content for token in tokens if token.type == "code_inline"]
    assert len(codes) == 1
    assert codes[0].strip() == text.strip()


@pytest.mark.parametrize(
    "words",
    [
        ("snapshot", "--pane", "all"),
        ("snapshot", "--pane", "config"),
        ("compare", "--baseline", "good", "--all"),
        ("compare", "--baseline", "good", "--config"),
        ("check",),
    ],
    ids=" ".join,
)
def test_hostile_names_do_nothing(words: tuple[str, ...], tmp_path: Path) -> None:
    """No command makes an image, a link or HTML of the names of tags, runs and settings."""
    for run in ("good", HOSTILE.replace("/", "-")):
        folder = tmp_path / "logs" / run
        rows = ({"step": step, HOSTILE: step, "loss": float("nan")} for step in range(30))
        write_rows(folder / "metrics.jsonl", rows)
        (folder / "config.json").write_text(json.dumps({HOSTILE: HOSTILE + run}))
    name, *rest = words
    done = rltui(name, tmp_path / "logs", *rest, "--format", "markdown")
    assert "evil" in done.out
    assert not {"image", "link_open", "html_inline", "html_block"} & {one.type for one in _inside(done.out)}
