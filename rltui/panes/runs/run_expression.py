"""Expressions that select runs by settings, metrics, health, state and words, such as `lr>1e-4 critical`.

Terms are separated by blanks and must all hold; `-` or `!` negates a term, `|` separates alternatives. A term
is a comparison (`lr>=1e-4`, `step>500`, `reward<0.2`, `seed=1|2`, `tag:critic/*`), a word or glob that is
searched in name, framework, state, health and findings, or `/regex/` for names. Incomplete terms hold, so
that lists do not change while a term is typed.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Callable, Mapping

from rltui.common.comparison_operators import COMPARISONS
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.panes.runs.run_facts import RunFacts, tag_of
from rltui.rules.finding import RUN_HEALTHS
from rltui.run_context.hparams.hparams import Value, parse_value, same, value_text

Holds = Callable[[RunFacts], bool]

STATES = ("live", "stalled", "ended")
WORDS = (*RUN_HEALTHS[::-1], *STATES)  # keywords

_TERM = regex(
    r"""\s*(?P<negated>[-!](?=[^\s\d.]))?
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
    """An expression as typed, and the predicates that must all hold."""

    text: str
    terms: tuple[Holds, ...] = ()
    asks_hparams: bool = False  # whether settings have to be read

    def holds(self, run: RunFacts) -> bool:
        """Whether a run is selected."""
        return all(term(run) for term in self.terms)


def parse_expression(text: str) -> RunExpression:
    """Parse a text; every text is valid, and one without terms selects all runs."""
    terms: list[Holds] = []
    hparams = False
    for match in _TERM.finditer(text.rstrip()):
        term = _term(match)
        if term is None:
            continue
        key = match["key"]
        hparams = hparams or match["place"] == "project" or (key is not None and key.lower() not in NUMBERS)
        terms.append(_negated(term) if match["negated"] else term)
    return RunExpression(text, tuple(terms), hparams)


def is_expression(text: str) -> bool:
    """Whether a text is no plain name or glob of names: it has several terms, a comparison, or a keyword."""
    terms = [match for match in _TERM.finditer(text.strip()) if match[0].strip()]
    return len(text.split()) > 1 or any(
        match["key"] or match["place"] or match["negated"] or (match["word"] or "").lower() in WORDS
        for match in terms
    )


def _negated(holds: Holds) -> Holds:
    return lambda run: not holds(run)


def _term(match: re.Match[str]) -> Holds | None:
    """The predicate of one term; None if it is incomplete."""
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
    """Whether a run has the word, or one of several."""
    tests = [_one_word(one) for one in word.split("|") if one]
    return lambda run: any(test(run) for test in tests)


def _one_word(word: str) -> Holds:
    if word in RUN_HEALTHS:
        return lambda run: run.health == word
    if word in STATES:
        return lambda run: run.liveness.state == word
    if "*" in word or "?" in word:
        glob = f"*{word.strip('*')}*" if not word.startswith("*") or not word.endswith("*") else word
        return lambda run: any(
            fnmatch.fnmatchcase(name.lower(), glob) for name in (run.view.name, run.view.given_name)
        )

    def holds(run: RunFacts) -> bool:
        view = run.view
        if any(word in name.lower() for name in (view.name, view.given_name, view.framework)):
            return True
        return any(word in f"{one.id} {one.title}".lower() for one in run.findings if one.rank)

    return holds


def _in_place(place: str, text: str) -> Holds:
    """Whether a property of a run matches a glob, or one of several."""
    globs = [one.lower() if "*" in one else f"*{one.lower()}*" for one in text.split("|") if one]

    def holds(run: RunFacts) -> bool:
        texts = [one.lower() for one in _PLACES[place](run)]
        return any(fnmatch.fnmatchcase(one, glob) for one in texts for glob in globs)

    return holds


def _labels(run: RunFacts) -> list[str]:
    """The tags of a run's series, and its tags in a tracker."""
    label = run.hparam("tags")
    return [*run.view.run.series, *([label.text] if label is not None else [])]


_PLACES: Mapping[str, Callable[[RunFacts], list[str]]] = {
    "tag": _labels,
    "name": lambda run: [run.view.name, run.view.given_name],
    "framework": lambda run: [run.view.framework],
    "project": lambda run: [run.project],
    "state": lambda run: [run.liveness.state],
    "health": lambda run: [run.health],
    "finding": lambda run: [f"{one.id} {one.title}" for one in run.view.evaluator.findings()],
}

# ---- comparisons

NUMBERS: Mapping[str, Callable[[RunFacts], float | None]] = {
    "step": lambda run: run.step,
    "steps": lambda run: run.liveness.total,
    "share": lambda run: run.share,
    "age": lambda run: run.liveness.age,
    "eta": lambda run: run.liveness.eta,
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
        value = value_of(run, key)
        if value is None:
            return sign == "!="
        if wanted:
            fits = any(_fits(value, one, part=sign == "~") for one in wanted)
            return fits != (sign == "!=")
        number = _number(value)
        return number is not None and bound is not None and COMPARISONS[sign](number, bound)

    return holds


def value_of(run: RunFacts, key: str) -> Value:
    """The value of a run for a key: one of `NUMBERS`, a setting, or a metric's last value; else None.

    `config.KEY` is always a setting, `metric.KEY` always a metric.
    """
    kind, _, rest = key.partition(".")
    if rest and kind in ("config", "cfg", "setting"):
        hparam = run.hparam(rest)
        return None if hparam is None else hparam.value
    if not (rest and kind == "metric"):
        number = NUMBERS.get(key.lower())
        if number is not None:
            return number(run)
        if key.lower() in _PLACES and key.lower() not in ("tag", "finding"):
            return _PLACES[key.lower()](run)[0]
        hparam = run.hparam(key)
        if hparam is not None:
            return hparam.value
        rest = key
    tag = tag_of(run.view, rest)
    if tag is None:
        return None
    last = run.view.run.series[tag].last_value
    return None if last is None else float(last)


def amount(text: str, *, seconds: bool = False) -> float | None:
    """A number as typed: `1e-4`, `2k`, `30%`, or a duration such as `10m`, `2h` in seconds."""
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


def _fits(value: Value, wanted: Value, *, part: bool) -> bool:
    text, want = value_text(value).lower(), value_text(wanted).lower()
    if part:
        return want in text
    is_glob = "*" in want or "?" in want
    return same(value, wanted) or text == want or (is_glob and fnmatch.fnmatchcase(text, want))
