"""Reading glossary files: every fault is named with its file and entry, all at once, and the rest stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.metrics.glossary_files import load

PANE = '[pane]\ntitle = "Policy"\norder = 1\nintro = "Look here first."\n'
GOOD = (
    '[[metric]]\nid = "policy.kl"\ntitle = "KL"\nunit = "nats"\ndirection = "near0"\nmeaning = "How far."\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder for glossary files."""
    place = tmp_path / "data"
    place.mkdir()
    return place


def _told(folder: Path) -> list[str]:
    return [f"{problem.path}: {problem.message}" for problem in load(folder).problems]


def test_a_good_file_is_read_whole(folder: Path) -> None:
    """What a file says is what comes out, with the order of entries as importance."""
    second = GOOD.replace("policy.kl", "policy.max").replace('"KL"', '"KL max"')
    extra = 'bounds = [-inf, 1]\nrange = [0, 2]\nsmooth = false\ngroup = "g"\nstatistic = "max"\n'
    extra += 'check_next = ["policy.kl"]\n'
    (folder / "policy.toml").write_text(PANE + GOOD + second + extra)
    found = load(folder)
    assert not found.problems
    assert [pane.id for pane in found.panes] == ["policy"]
    assert [(metric.id, metric.importance) for metric in found.of_pane("policy")] == [
        ("policy.kl", 1),
        ("policy.max", 2),
    ]
    metric = found.metrics["policy.max"]
    assert metric.bounds == (float("-inf"), 1.0)
    assert metric.range == (0.0, 2.0)
    assert (metric.smooth, metric.group, metric.statistic) == (False, "g", "max")
    assert metric.check_next == ("policy.kl",)


def test_all_faults_are_told_at_once(folder: Path) -> None:
    """A user mends a file in one go: every fault names file, entry and the permitted values."""
    (folder / "policy.toml").write_text(
        PANE
        + GOOD.replace("near0", "sideways")
        + GOOD.replace("policy.kl", "policy.two").replace('unit = "nats"', 'units = "nats"')
        + GOOD.replace("policy.kl", "Policy KL")
    )
    (folder / "reward.toml").write_text('[pain]\nx = 1\n[[metric]]\nid = "reward.mean"\n')
    told = "\n".join(_told(folder))
    assert "policy.toml: line 9: metric[policy.kl].direction must be one of: up, down" in told
    assert "policy.toml: line 14: metric[policy.two].units is unknown; permitted: beyond, bounds" in told
    assert "policy.toml: line 18: metric[Policy KL].id must be lower-case words" in told
    assert "reward.toml: line 1: pain is unknown; permitted: metric, pane" in told
    assert "reward.toml: needs 'pane'" in told
    assert "reward.toml: line 3: metric[reward.mean] needs 'title'" in told


def test_a_faulty_entry_does_not_take_its_neighbours(folder: Path) -> None:
    """One bad entry is left out; the rest of the file stays."""
    (folder / "policy.toml").write_text(
        PANE + GOOD + GOOD.replace("policy.kl", "policy.bad").replace("nats", "parsecs")
    )
    assert list(load(folder).metrics) == ["policy.kl"]


def test_an_id_is_defined_once(folder: Path) -> None:
    """Two files cannot both define a metric; the second is named with the first."""
    (folder / "a.toml").write_text(PANE + GOOD)
    (folder / "b.toml").write_text(PANE + GOOD)
    assert _told(folder) == ["b.toml: metric 'policy.kl' is already defined in a.toml"]


def test_links_must_lead_somewhere(folder: Path) -> None:
    """A check_next that names no metric is told and dropped."""
    (folder / "policy.toml").write_text(PANE + GOOD + 'check_next = ["policy.gone"]\n')
    assert _told(folder) == ["policy.toml: policy.kl: check_next names no metric: policy.gone"]
    assert load(folder).metrics["policy.kl"].check_next == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("bounds = [2, 1]", "bounds must be [low, high]"),
        ("bounds = [0, nan]", "bounds must be [low, high]"),
        ('range = "0..1"', "range must be [low, high]"),
        ("smooth = 1", "smooth must be true or false"),
        ('statistic = "mean"', "statistic needs a group"),
        ('group = "g"\nstatistic = "mode"', "statistic must be one of: mean, min, max, std"),
        ('sources = "me"', "sources must be a list, not a text"),
        ("healthy = 3", "healthy must be a text"),
        ("[[metric.sub]]\nx = 1", "sub is unknown"),
    ],
)
def test_values_are_checked(folder: Path, line: str, told: str) -> None:
    """A value of the wrong kind is told with what is right."""
    (folder / "policy.toml").write_text(PANE + GOOD + line + "\n")
    assert any(told in message for message in _told(folder)), _told(folder)


@pytest.mark.parametrize(
    "text", ["metric = 3\n", "metric = [3]\n", "[metric]\nid = 1\n", "pane = 3\n", "\x00", "a = "]
)
def test_nonsense_never_raises(folder: Path, text: str) -> None:
    """Whatever a file holds, loading comes back with a problem."""
    (folder / "policy.toml").write_text(text)
    assert load(folder).problems


def test_a_title_must_fit_its_column(folder: Path) -> None:
    """A title too wide for the table is refused."""
    (folder / "policy.toml").write_text(PANE + GOOD.replace('"KL"', '"' + "K" * 29 + '"'))
    assert "title is wider than 28 cells" in _told(folder)[0]


def test_a_new_pane_needs_no_python(folder: Path) -> None:
    """A pane and its metrics are one file; panes stand in the order that they ask for."""
    (folder / "policy.toml").write_text(PANE + GOOD)
    (folder / "safety.toml").write_text(
        PANE.replace("Policy", "Safety").replace("order = 1", "order = 0.5")
        + GOOD.replace("policy.kl", "safety.cost")
    )
    found = load(folder)
    assert [pane.title for pane in found.panes] == ["Safety", "Policy"]
    assert found.metrics["safety.cost"].pane == "safety"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('key = "ab"', "pane.key must be one character"),
        ('always = "yes"', "pane.always must be true or false"),
        ("tab = 3", "pane.tab must be a text"),
        (
            'kee = "r"',
            "pane.kee is unknown; permitted: aliases, also, always, empty, intro",
        ),
    ],
)
def test_what_a_pane_says_of_its_tab_is_checked(folder: Path, line: str, told: str) -> None:
    """A faulty word about the tab is told, and the pane is there all the same."""
    (folder / "policy.toml").write_text(PANE.rstrip() + f"\n{line}\n" + GOOD)
    (message,) = _told(folder)
    assert message.startswith(f"policy.toml: line 5: {told}")
    (pane,) = load(folder).panes
    assert (pane.title, pane.tab, pane.key, pane.always) == ("Policy", "policy", "", False)


def test_a_key_opens_one_pane(folder: Path) -> None:
    """Two panes cannot ask for the same key; the second is told with the first."""
    for name in ("policy", "safety"):
        (folder / f"{name}.toml").write_text(PANE + 'key = "p"\n')
    assert _told(folder) == ["safety.toml: line 5: pane.key 'p' is already that of policy.toml"]


def test_control_characters_do_not_reach_the_screen(folder: Path) -> None:
    """Text of a file is cleaned where it enters."""
    (folder / "policy.toml").write_text(PANE + GOOD.replace("How far.", "How\\u001b[31m far."))
    assert "\x1b" not in load(folder).metrics["policy.kl"].meaning
