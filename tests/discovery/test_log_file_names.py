"""The names by which logs are known, as `rltui/data/log_files.toml` has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.logs.log_file_names import LogFileNames, is_json, is_telling, names
from rltui.schema.fields import table_of
from rltui.schema.toml_files import DATA, read_file


def test_the_table_has_no_fault() -> None:
    """Every key is there, and every pattern can be used."""
    assert names().plain_stems and names().richest_formats[0] == "tfevents"
    assert names().rotated.groupindex.keys() == {"base", "turn"}
    assert names().writer.groupindex.keys() == {"writer"}


@pytest.mark.parametrize(
    ("line", "wrong", "fault"),
    [
        ("rank_file = ", "rank_file = 'rank(' #", "regular expression"),
        ("joints = ", "jonts = 3 #", "unknown"),
    ],
)
def test_a_fault_in_the_table_is_named(tmp_path: Path, line: str, wrong: str, fault: str) -> None:
    """With its line and its key, as in every other table."""
    text = (DATA / "log_files.toml").read_text()
    path = tmp_path / "log_files.toml"
    path.write_text(text.replace(line, wrong, 1))
    problems = []
    assert read_file(path, table_of(LogFileNames), problems) is None
    assert any(fault in problem.message and "line" in problem.message for problem in problems)


@pytest.mark.parametrize(
    ("name", "log"),
    [
        ("metrics.jsonl", True),
        ("Progress.JSON", True),
        ("train_config.json", False),
        ("Tokenizer.json", False),
        ("wandb-summary.json", False),
        ("model.safetensors.index.json", False),
        (".metrics.jsonl", False),
        ("config.jsonl.txt", False),
        ("data.jsonl", False),
        ("data_2.jsonl", True),
    ],
)
def test_names_of_json_logs(name: str, log: bool) -> None:
    """Settings, tokenizers and data sets beside a run are told by their whole stems."""
    assert is_json(name) is log


@pytest.mark.parametrize(
    ("name", "telling"), [("eval_scores.json", True), ("logs.jsonl", True), ("card.json", False)]
)
def test_telling_names(name: str, telling: bool) -> None:
    """A name that speaks of metrics says that its file is a log."""
    assert is_telling(name) is telling
