"""The framework files and the pattern language that they are written in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.config import Config
from rltui.metrics.catalogue import Catalogue
from rltui.metrics.frameworks.framework_files import Frameworks, frameworks
from rltui.metrics.frameworks.patterns import (
    Matcher,
    PatternError,
    ambiguous,
    check,
    expand,
    is_wild,
    overlap,
    specificity,
    to_regex,
)
from rltui.metrics.frameworks.recognise import recognise
from rltui.metrics.glossary_files import glossary
from rltui.metrics.resolve import MetricNames
from rltui.schema.toml_files import DATA
from tests.support.catalogue import catalogue as entries
from tests.support.catalogue import needs_catalogue

# ---- the language


@pytest.mark.parametrize(
    ("pattern", "key", "wild"),
    [
        ("a/*/c", "a/b/c", ("b",)),
        ("a/*/c", "a/b/b/c", None),
        ("a/**/c", "a/b/b/c", ("b/b",)),
        ("a/**", "a/b/c", ("b/c",)),
        ("a/**", "a/", None),
        ("val-core/**/acc/mean@<n>", "val-core/org/set/v2/acc/mean@16", ("org/set/v2", "16")),
        ("a_<n>", "a_x", None),
        ("lr-pg_<n>", "lr-pg_0", ("0",)),
        ("*_calls", "search_calls", ("search",)),
        ("x (s)", "x (s)", ()),
        ("a.b", "axb", None),
    ],
)
def test_what_wildcards_stand_for(pattern: str, key: str, wild: tuple[str, ...] | None) -> None:
    """`*` stays within a part, `**` crosses parts, `<n>` is digits, everything else is itself."""
    matcher = Matcher({pattern: pattern})
    if not is_wild(pattern):
        assert (matcher.exact(key) is None) == (wild is None)
        return
    found = matcher.wild(key)
    assert (found.wild if found else None) == wild


def test_braces_go_in_step_with_the_target() -> None:
    """`{mean,avg}` leads to the first and second word of the target's braces."""
    assert list(expand("a/{avg,max}/{x,y}", "b.{mean,max}.{p,q}")) == [
        ("a/avg/x", "b.mean.p"),
        ("a/avg/y", "b.mean.q"),
        ("a/max/x", "b.max.p"),
        ("a/max/y", "b.max.q"),
    ]
    assert list(expand("{,train/}loss", "l")) == [("loss", "l"), ("train/loss", "l")]


@pytest.mark.parametrize("pattern", ["", " a", "a{b", "a}b", "{a}", "a/**<n>", "a***", "a/*<n>"])
def test_patterns_that_say_nothing_clear_are_refused(pattern: str) -> None:
    """A pattern whose end or braces cannot be found is an error, not a guess."""
    with pytest.raises(PatternError):
        check(pattern)


def test_braces_of_unlike_length_are_refused() -> None:
    """A target with other alternatives than its pattern is an error."""
    with pytest.raises(PatternError, match="other alternatives"):
        list(expand("a/{x,y}", "b.{p,q,r}"))


def test_the_longest_and_most_specific_wins() -> None:
    """Literal first parts, then literal characters, then narrow wildcards decide; file order does not."""
    names = ["**", "time/**", "time/*", "time/env/*", "*/env/step", "time/env/<n>", "time/env/step"]
    for order in (names, names[::-1]):
        matcher = Matcher({name: name for name in order})

        def best(key: str, matcher: Matcher[str] = matcher) -> str:
            found = matcher.wild(key)
            return matcher.exact(key) or (found.target if found else "")

        assert best("time/env/step") == "time/env/step"
        assert best("time/env/7") == "time/env/<n>"
        assert best("time/env/x") == "time/env/*"
        assert best("time/x") == "time/*"
        assert best("time/x/y") == "time/**"
        assert best("rest/env/step") == "*/env/step"
        assert best("else") == "**"


_PIECES = st.sampled_from(["a", "b", "1", "/", "*", "**", "<n>"])


@given(st.lists(_PIECES, min_size=1, max_size=5), st.lists(_PIECES, min_size=1, max_size=5), st.data())
def test_overlap_agrees_with_matching(one: list[str], other: list[str], data: st.DataObject) -> None:
    """Where some key matches two patterns, `overlap` says so."""
    first, second = "".join(one), "".join(other)
    for pattern in (first, second):
        try:
            check(pattern)
        except PatternError:
            return
    key = data.draw(st.text("ab1/", min_size=1, max_size=6))
    if re.fullmatch(to_regex(first), key) and re.fullmatch(to_regex(second), key):
        assert overlap(first, second)
        assert overlap(second, first)


def test_ambiguity_is_found() -> None:
    """Two patterns of equal rank that can match one key are told, others are not."""
    assert ambiguous(["a/*/xy", "a/xy/*"]) == [("a/*/xy", "a/xy/*")]
    assert ambiguous(["a/*/x", "a/*/y", "b/*/x", "a/**/x"]) == []


# ---- the files


def test_the_shipped_files_are_without_fault() -> None:
    """No file has an unknown key, a bad pattern, or two patterns that contend for a name."""
    assert frameworks().problems == ()
    for framework in frameworks():
        wild = [name for name in framework.names if is_wild(name)]
        contending = [
            pair for pair in ambiguous(wild) if framework.names[pair[0]] != framework.names[pair[1]]
        ]
        assert contending == [], framework.id
        assert framework.title
        assert framework.file.source


@needs_catalogue
def test_every_framework_of_the_catalogue_has_a_file() -> None:
    """All 37 ids are there, in both spellings."""
    ids = {entry["framework"] for entry in entries()}
    assert len(ids) == 37
    for id_ in ids:
        for spelling in (id_, id_.replace("_", "-"), id_.upper()):
            framework = frameworks().get(spelling)
            assert framework is not None
            assert framework.id == id_


def test_labels_are_readable() -> None:
    """Labels have hyphens, variants follow their framework."""
    assert {"verl", "prime-rl", "trl-grpo", "trl-online-dpo", "stable-baselines3"} <= set(frameworks().labels)
    assert not any("_" in label for label in frameworks().labels)


def test_rank_is_total_within_a_name() -> None:
    """The rank of a pattern tells a literal first part from a wildcard one before anything else."""
    assert specificity("a/*") > specificity("*/long-literal-part")


# ---- a new framework is data only

_ZORK = """
title = "Zork"
source = "a great underground empire"
prefixes = ["", "zork/"]
held_out = ["exam/"]

[recognise]
must = ["grue/bites"]
[recognise.signs]
"grue/bites" = 3

[names]
"grue/bites" = "zork.bites"
"lamp/{mean,std}" = "reward.{mean,std}"
"lamp_pct" = { is = "policy.clip_fraction", unit = "percent", caveat = "Of the oil." }
"""

_ZORK_METRIC = """
[pane]
title = "Underground"
order = 500
intro = "Look here first when it is pitch dark."

[[metric]]
id = "zork.bites"
title = "Bites"
unit = "count"
direction = "near0"
meaning = "How often a grue has bitten."
"""


def test_a_new_framework_and_metric_need_no_python(tmp_path: Path) -> None:
    """Two TOML files add a framework, a metric and a pane: recognised, resolved, scaled, explained."""
    names, words = tmp_path / "frameworks", tmp_path / "glossary"
    names.mkdir()
    words.mkdir()
    (names / "zork.toml").write_text(_ZORK)
    conventions = DATA / "frameworks" / "shared_names" / "conventions.toml"
    (names / conventions.name).write_text(conventions.read_text())
    for path in (DATA / "metrics").glob("*.toml"):
        (words / path.name).write_text(path.read_text())
    (words / "underground.toml").write_text(_ZORK_METRIC)
    from rltui.metrics.glossary_files import load as load_glossary

    shipped = Catalogue(load_glossary(words), Frameworks(names))
    assert shipped.problems == ()
    assert recognise(["zork/grue/bites", "zork/lamp/mean"], known=shipped.frameworks).label == "zork"
    resolver = MetricNames("zork", shipped=shipped)
    bites = resolver.name("zork/grue/bites")
    assert (bites.canonical, bites.pane) == ("zork.bites", "underground")
    share = resolver.name("lamp_pct")
    assert (share.unit, share.to_canonical(50.0), share.caveat) == ("percent", 0.5, "Of the oil.")
    assert resolver.name("exam/lamp/mean").canonical == "validation.reward.mean"
    assert resolver.name("lamp/std").statistic == "std"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("title = 3", "title must be a text"),
        ("nonsense = 1", "nonsense is unknown"),
        ('[names]\n"a" = 3', "must be a canonical id"),
        ('[names]\n"a" = { is = "x.y", colour = 1 }', "names.a.colour is unknown"),
        ('[names]\n"a{b" = "x.y"', "braces that do not pair"),
        ('[names]\n"a/*/xy" = "x.y"\n"a/xy/*" = "x.z"', "neither is more specific"),
        ('extends = ["nobody"]', "which is no framework here"),
        ('extends = ["zork"]', "which is itself"),
        ('[names]\n"a" = { is = "x.y", statistic = "mode" }', "statistic must be one of"),
        ('[recognise.signs]\n"a" = 0', "must be a finite number of at least 0.01"),
        ('domains = "yes"', "domains must be true or false"),
        ("[recognise]\nsigns = 3", "recognise.signs must be a table"),
        ("[recognise]\nmust = 3", "recognise.must must be a list"),
        ("title = [", "Invalid"),
    ],
)
def test_faults_of_a_file_are_told(tmp_path: Path, text: str, told: str) -> None:
    """A fault names its file and is told every time; the rest of the file holds."""
    (tmp_path / "zork.toml").write_text(text)
    for _ in range(2):
        problems = Frameworks(tmp_path).problems
        assert any(told in problem.message for problem in problems), problems
        assert {problem.path for problem in problems} == {"zork.toml"}


@pytest.mark.parametrize(
    "text",
    [
        "[validation]\na = 3",
        "[validation]\n'a{b' = 'x.y'",
        "[statistics]\nmean = 'avg'",
        "[units]\na = 'x'",
        "[sections]\na = []",
    ],
)
def test_faults_of_the_conventions_are_told(tmp_path: Path, text: str) -> None:
    """What holds across frameworks is checked like the frameworks."""
    (tmp_path / "conventions.toml").write_text(text)
    (problem,) = Frameworks(tmp_path).problems
    assert problem.path == "conventions.toml"


def test_a_name_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    """A name for a metric that the glossary lacks is a problem, and the tag is placed as unknown."""
    (tmp_path / "zork.toml").write_text('[names]\n"a/b" = "no.such_metric"')
    shipped = Catalogue(glossary(), Frameworks(tmp_path))
    assert any("leads to no metric: no.such_metric" in problem.message for problem in shipped.problems)
    assert MetricNames("zork", Config(), shipped).name("a/b").canonical is None
