"""`rltui report`: a run as Markdown or HTML, complete, and harmless whatever it is called."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.support.commands.in_process import rltui
from tests.support.runs.checked_runs import SICK, WELL, write

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)> `|` [x](http://e.vil)'


class Page(HTMLParser):
    """The elements, attributes and text of a document."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A healthy and a sick run with settings."""
    for name, values in (("well", WELL), ("sick", SICK)):
        write(tmp_path / "logs" / name, values)
        (tmp_path / "logs" / name / "config.json").write_text(json.dumps({"lr": 1e-3, "logging_steps": 5}))
    return tmp_path / "logs"


def test_markdown_has_verdict_evidence_metrics_and_settings(logs: Path) -> None:
    """From what to what, since when, what to do, the best value and what it was started with."""
    text = rltui("report", logs, "--run", "sick").out
    assert text.startswith("# sick\n") and "✖ **critical**" in text and "**What to do:**" in text
    assert "`actor/kl_loss`" in text and "0.050 → 20" in text.replace("0.0500", "0.050")
    assert "| Score |" in text and "@80" in text and "| `lr` | `0.001` |" in text
    assert "Nothing to report" not in text


def test_html_is_one_file_with_charts(logs: Path, tmp_path: Path) -> None:
    """Charts stand in the document, the marks of findings on them; settings that matter less are folded."""
    rltui("report", logs, "--run", "sick", "--output", tmp_path / "r.html")
    page = Page((tmp_path / "r.html").read_text())
    assert {"svg", "table", "details", "h2"} <= page.tags
    assert not page.tags & {"script", "img", "link", "iframe", "a", "object"}
    assert not {name for name in page.attributes if name.startswith("on") or name in ("href", "src")}
    said = " ".join(page.words)
    assert "sick" in said and "logging_steps" in said and "actor/kl_loss" in said


def test_a_report_says_what_the_run_achieves(logs: Path, tmp_path: Path) -> None:
    """Below the verdict, in both forms; what is wrong stands above it once."""
    said = "Score is "
    for run in ("well", "sick"):
        text = rltui("report", logs, "--run", run).out
        assert text.split("\n\n")[3].startswith(said)
        rltui("report", logs, "--run", run, "--output", tmp_path / "r.html")
        assert any(word.startswith(said) for word in Page((tmp_path / "r.html").read_text()).words)


def test_the_worst_run_comes_first(logs: Path) -> None:
    """Of several runs in one report the broken one is read first; without --run it is the newest alone."""
    both = rltui("report", logs, "--run", "*").out
    assert both.index("# sick") < both.index("# well")
    assert rltui("report", logs).out.count("\n# ") == 0


def test_a_healthy_run_has_a_report_too(logs: Path) -> None:
    """It says so, and shows its metrics."""
    text = rltui("report", logs, "--run", "well").out
    assert "✓ **ok**" in text and "## Key metrics" in text


def test_hostile_names_stay_text(logs: Path, tmp_path: Path) -> None:
    """Keys and settings that spell markup are words in both forms."""
    run = logs / "evil"
    write(run, SICK, key=f"actor/kl_loss{HOSTILE}")
    (run / "config.json").write_text(json.dumps({f"lr{HOSTILE}": HOSTILE, "seed": HOSTILE}))
    rltui("report", logs, "--run", "evil", "--output", tmp_path / "r.html")
    page = Page((tmp_path / "r.html").read_text())
    assert not page.tags & {"script", "img", "a"} and "onerror" not in page.attributes
    assert HOSTILE in " ".join(page.words)
    for line in rltui("report", logs, "--run", "evil").out.splitlines():
        if line.startswith("| ") and "script" in line:
            outside = "".join(line.split("`` ")[::2]) if "`` " in line else line
            assert "`" in line or "<script" not in outside


def test_a_report_never_lies_among_the_logs(logs: Path) -> None:
    """LOGDIR is only read."""
    done = rltui("report", logs, "--output", logs / "r.md")
    assert done.code == 2 and not (logs / "r.md").exists()


def test_snapshots_keep_the_evidence(logs: Path) -> None:
    """From what to what, in text and Markdown; after findings nothing says that there are none."""
    for form in ("text", "markdown"):
        text = rltui("snapshot", logs, "--run", "sick", "--pane", "findings", "--format", form).out
        assert "→ 20" in text and "othing to report" not in text


def test_reports_and_snapshots_tell_of_a_stall_as_check_does(logs: Path) -> None:
    """No document says that there is nothing to report of a run that another one tells something of."""
    write(logs / "silent", WELL, ago=1800, gap=10)
    for command in (("check",), ("report",), ("snapshot",), ("snapshot", "--pane", "findings")):
        assert "nothing is written any more" in rltui(*command, logs, "--run", "silent").out, command
