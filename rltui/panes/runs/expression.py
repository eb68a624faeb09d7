"""Expressions that choose runs: settings, metrics, health, state and words together, as `lr>1e-4 critical`.

Terms stand between blanks and must all hold; `-` or `!` before one negates it, `|` separates alternatives.
A term is a comparison (`lr>=1e-4`, `step>500`, `reward<0.2`, `seed=1|2`, `tag:critic/*`), a word or glob that
is looked for in name, framework, state, health and findings, or `/regex/` for names. What is not complete yet
holds, so that nothing flickers while it is typed.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Callable, Mapping

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.panes.runs.facts import RunFacts, tag_of
from rltui.rules.finding import RUN_HEALTHS
from rltui.run_context.hparams.hparams import Value, parse_value, same, value_text

Holds = Callable[[RunFacts], bool]

STATES = ("live", "stalled", "ended")
WORDS = (*RUN_HEALTHS[::-1], *STATES)  # that stand for just one thing

_TERM = regex(
    r"""\s*(?P<turned>[-!](?=[^\s\d.]))?
    (?: /(?P<regex>[^/\s]*)/?(?=\s|$)
      | (?P<key>[^\s<>=!~:"']+)\s*(?P<sign>>=|<=|!=|==|=|>|<|~)\s*(?P<value>"[^"]*"?|'[^']*'?|[^\s]*)
      | (?P<place>tag|name|framework|project|state|health|finding):(?P<text>"[^"]*"?|[^\s]*)
      | (?P<quoted>"[^"]*"?)
      | (?P<word>\S+)
    )""",
    re.VERBOSE,
)
_FACTORS = {"k": 1e3, "m": 1e6, "g": 1e9, "%": 0.01}
_SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_AMOUNT = regex(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([a-z%]*)", re.IGNORECASE)


class RunExpression(NamedTuple):
    """An expression as typed, and what it asks of a run."""

    text: str
    terms: tuple[Holds, ...] = ()
    asks_settings: bool = False  # they have to be read first

    def holds(self, run: RunFacts) -> bool:
        """Whether a run is chosen."""
        return all(term(run) for term in self.terms)


def parse_expression(text: str) -> RunExpression:
    """Any text is an expression; one without terms chooses every run."""
    terms: list[Holds] = []
    settings = False
    for match in _TERM.finditer(text.rstrip()):
        found = _term(match)
        if found is None:
            continue
        key = match["key"]
        settings = settings or match["place"] == "project" or (key is not None and key.lower() not in NUMBERS)
        terms.append(_turned(found) if match["turned"] else found)
    return RunExpression(text, tuple(terms), settings)


def is_expression(text: str) -> bool:
    """Whether a text can be no plain name or glob of names: it compares, or stands for a health or state."""
    words = text.split()
    terms = [match for match in _TERM.finditer(text.strip()) if match[0].strip()]
    return len(words) > 1 or any(
        match["key"] or match["place"] or match["turned"] or (match["word"] or "").lower() in WORDS
        for match in terms
    )


def _turned(holds: Holds) -> Holds:
    return lambda run: not holds(run)


def _term(match: re.Match[str]) -> Holds | None:
    """What one term asks; None where it is not complete."""
    if match["regex"] is not None:
        try:
            pattern = re.compile(match["regex"], re.IGNORECASE)
        except (re.error, RecursionError):
            return None
        return lambda run: any(
            pattern.search(name[:1000]) is not None for name in (run.view.name, run.view.given_name)
        )
    if match["key"] is not None:
        value = match["value"].strip("\"'")
        return _comparison(match["key"], match["sign"], value, match[0].strip()) if value else None
    if match["place"] is not None:
        text = match["text"].strip('"')
        return _in_place(match["place"], text) if text else None
    word = (match["quoted"] or match["word"] or "").strip('"')
    return _word(word.lower()) if word else None


# ---- words


def _word(word: str) -> Holds:
    """A word, or one of several, in what is said of a run; a health or a state means just that."""
    tests = [_one_word(one) for one in word.split("|") if one]
    return lambda run: any(test(run) for test in tests)


def _one_word(word: str) -> Holds:
    if word in RUN_HEALTHS:
        return lambda run: run.health == word
    if word in STATES:
        return lambda run: run.alive.state == word
    if "*" in word or "?" in word:
        glob = f"*{word.strip('*')}*" if not word.startswith("*") or not word.endswith("*") else word
        return lambda run: any(
            fnmatch.fnmatchcase(name.lower(), glob) for name in (run.view.name, run.view.given_name)
        )

    def said(run: RunFacts) -> bool:
        view = run.view
        if any(word in name.lower() for name in (view.name, view.given_name, view.framework)):
            return True
        return any(word in f"{one.id} {one.title}".lower() for one in run.findings if one.rank)

    return said


def _in_place(place: str, text: str) -> Holds:
    """A glob for one thing that is said of a run."""
    globs = [one.lower() if "*" in one else f"*{one.lower()}*" for one in text.split("|") if one]

    def holds(run: RunFacts) -> bool:
        texts = [one.lower() for one in _PLACES[place](run)]
        return any(fnmatch.fnmatchcase(one, glob) for one in texts for glob in globs)

    return holds


def _labels(run: RunFacts) -> list[str]:
    """Keys of metrics as written, and what a tracker or its settings have labelled the run with."""
    label = run.setting("tags")
    return [*run.view.run.series, *([label.text] if label is not None else [])]


_PLACES: Mapping[str, Callable[[RunFacts], list[str]]] = {
    "tag": _labels,
    "name": lambda run: [run.view.name, run.view.given_name],
    "framework": lambda run: [run.view.framework],
    "project": lambda run: [run.project],
    "state": lambda run: [run.alive.state],
    "health": lambda run: [run.health],
    "finding": lambda run: [f"{one.id} {one.title}" for one in run.view.evaluator.findings()],
}

# ---- comparisons

NUMBERS: Mapping[str, Callable[[RunFacts], float | None]] = {
    "step": lambda run: run.step,
    "steps": lambda run: run.alive.total,
    "share": lambda run: run.share,
    "age": lambda run: run.alive.age,
    "eta": lambda run: run.alive.eta,
    "points": lambda run: run.view.run.points,
    "series": lambda run: len(run.view.run.series),
    "attempts": lambda run: len(run.view.run.attempts) or 1,
    "findings": lambda run: len([one for one in run.findings if one.rank]),
    "last": lambda run: run.outcome.last if run.outcome is not None else None,
    "best": lambda run: run.outcome.best if run.outcome is not None else None,
}


def _comparison(key: str, sign: str, value: str, whole: str) -> Holds:
    """A comparison with a number of the run, a setting, or the last value of a metric."""
    wanted = [parse_value(one) for one in value.split("|")] if sign in ("=", "==", "!=", "~") else []
    bound = amount(value, seconds=key.lower() in ("age", "eta"))

    def holds(run: RunFacts) -> bool:
        if sign == "=" and whole.lower() in run.view.name.lower():
            return True  # names of runs are often made of settings: `lr=1e-4,seed=2`
        found = value_of(run, key)
        if found is None:
            return sign == "!="
        if wanted:
            fits = any(_fits(found, one, part=sign == "~") for one in wanted)
            return fits != (sign == "!=")
        number = _number(found)
        return number is not None and bound is not None and _compare(number, sign, bound)

    return holds


def value_of(run: RunFacts, key: str) -> Value:
    """What a run has under a key: a number of its own, a setting, else a metric's last value; else None.

    `config.KEY` and `metric.KEY` say which of the two is meant.
    """
    kind, _, rest = key.partition(".")
    if rest and kind in ("config", "cfg", "setting"):
        found = run.setting(rest)
        return None if found is None else found.value
    if not (rest and kind == "metric"):
        number = NUMBERS.get(key.lower())
        if number is not None:
            return number(run)
        if key.lower() in _PLACES and key.lower() not in ("tag", "finding"):
            return _PLACES[key.lower()](run)[0]
        found = run.setting(key)
        if found is not None:
            return found.value
        rest = key
    tag = tag_of(run.view, rest)
    if tag is None:
        return None
    last = run.view.run.series[tag].last_value
    return None if last is None else float(last)


def amount(text: str, *, seconds: bool = False) -> float | None:
    """A number as people type it: `1e-4`, `2k`, `30%`, or a time as `10m`, `2h` in seconds."""
    match = _AMOUNT.fullmatch(text.strip().lower())
    if match is None:
        return None
    factor = (_SECONDS if seconds else _FACTORS).get(match[2], None) if match[2] else 1.0
    return None if factor is None else float(match[1]) * factor


def _number(value: Value) -> float | None:
    if isinstance(value, str):
        return amount(value)
    if value is None:
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _compare(number: float, sign: str, bound: float) -> bool:
    if sign == ">":
        return number > bound
    if sign == "<":
        return number < bound
    return number >= bound if sign == ">=" else number <= bound


def _fits(found: Value, wanted: Value, *, part: bool) -> bool:
    text, want = value_text(found).lower(), value_text(wanted).lower()
    if part:
        return want in text
    return (
        same(found, wanted)
        or (("*" in want or "?" in want) and fnmatch.fnmatchcase(text, want))
        or text == want
    )
