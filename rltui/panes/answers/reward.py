"""What is earned and what for: rewards as distributions over steps, score and total apart, components."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from rltui.common.regex import regex
from rltui.draw.numbers import format_share, format_short, format_value
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer import Amount, Answer, Band, Fact
from rltui.panes.answers.distributions import band, logged_ridges, sample_ridge
from rltui.panes.answers.recent_values import LAST, RunValues, Values, binned, fact
from rltui.panes.answers.since_start import since_start

QUESTION = "What is earned, and what for?"
TOTAL = ("reward", "reward.episode_return")
SCORE = "reward.score"
RATING = "reward.rating"  # of self-play, where the return stays about even
COMPONENT = "reward.component.mean"
NO_MEAN = ("min", "max", "std", "median", "p10", "p90", "sum", "count", "gini")  # last parts of keys
MOST = 12  # components
SAME = 0.02  # relative distance of a sum of components from the total within which it is the total
MOST_RIDGES = 2
# Histograms that the tables do not know, and those of a network's parameters among them.
_REWARD = regex(r"(?:^|[/_.])(?:rewards?|returns?|advantages?)(?:[/_.]|$)", re.IGNORECASE)
_PARAMETER = regex(r"weight|bias|grad|param|layer", re.IGNORECASE)


def reward_answer(run: RunValues) -> Answer | None:
    """The answer of the pane reward; None for a run that logs no rewards."""
    totals = {one: found for one in TOTAL if (found := run.find(f"{one}.mean")) is not None}
    # A reward of one for each step is always the same: the return tells how many steps there were.
    base = next((one for one, values in totals.items() if np.ptp(values.value)), next(iter(totals), None))
    total = totals[base] if base is not None else None
    score = run.find(f"{SCORE}.mean", near=total.tag if total is not None else "")
    if base is None and score is not None:
        base, total, score = SCORE, score, None
    parts = _components(run)
    rating = run.find(RATING)
    if total is None and not parts and rating is None:
        return None
    facts: list[Fact] = []
    said = []
    for name, values in ((RATING, rating), (f"{base}.mean", total)):
        if values is None:
            continue
        title = glossary().metrics[name].title
        now = float(np.mean(values.last))  # of outcomes that are 0 or 1 a median tells nothing
        head = replace(fact(title.lower(), values, "score"), value=now, text=_text(now), told=True)
        facts.append(head)
        whole = since_start(run, values.tag)
        moved = whole.words(now, _text, more_is_better=True) if whole is not None else ""
        said.append(f"{title} is {head.text}" + (f", {moved}" if moved else ""))
    if total is not None and score is not None:
        facts += _apart(score, total)
    amounts, adds_up = _amounts(parts, total)
    if len(amounts) > 1 and adds_up:
        said.append(f"{amounts[0].title} makes {format_share(amounts[0].share or 0.0)} of it")
    notes = []
    if len(amounts) > 1 and not adds_up and total is not None:
        notes.append("components do not add up to the reward: their weights are not logged")
    if len(parts) > MOST:
        notes.append(f"{len(parts) - MOST} smaller components are left out")
    bands = [
        one for name in (base, SCORE if score is not None else None) if name and (one := band(run, name))
    ]
    ridges = [
        *logged_ridges(run, lambda tag: _is_reward(run, tag)),
        *(one for one in (
            sample_ridge(run.inputs.samples, "reward", "Reward of samples", "score", run.at_step),
            sample_ridge(run.inputs.samples, "advantage", "Advantage of samples", "", run.at_step),
        ) if one is not None),
    ]  # fmt: skip
    return Answer(
        QUESTION, "; ".join(said or ["The log has components of rewards, but no total"]) + ".", tuple(facts),
        amounts=tuple(amounts), amounts_words=("component", "mean"), bands=tuple(_distinct(bands)),
        ridges=tuple(ridges[:MOST_RIDGES]), notes=tuple(notes),
        formulas=_formulas(facts, len(amounts) > 1),
    )  # fmt: skip


def _text(value: float) -> str:
    return format_value(value, "score").strip()


def _is_reward(run: RunValues, tag: str) -> bool:
    name = run.name(tag)
    known = name.pane == "reward" or (name.canonical or "").startswith("policy.advantage")
    return known or (bool(_REWARD.search(tag)) and not _PARAMETER.search(tag))


def _components(run: RunValues) -> list[tuple[str, Values]]:
    """The means of the components of the reward in training, with what each is called, the largest first."""
    found = []
    for tag in run.tags(COMPONENT):
        name = run.name(tag)
        if name.held_out or name.statistic not in ("", "mean") or tag.rpartition("/")[2] in NO_MEAN:
            continue
        values = run.of(tag)
        if len(values.value):
            words = [part for part in tag.split("/") if part != "mean"]
            found.append((name.part or words[-1], values))
    return sorted(found, key=lambda one: -abs(one[1].now))


def _amounts(parts: list[tuple[str, Values]], total: Values | None) -> tuple[list[Amount], bool]:
    """The components with their share of all of them, and whether they add up to the total."""
    size = sum(abs(values.now) for _, values in parts)
    steps = max((values.step for _, values in parts), key=len, default=np.empty(0, np.int64))
    sizes = sum((np.abs(values.held(steps)) for _, values in parts), np.zeros(len(steps)))
    amounts = []
    for title, values in parts[:MOST]:
        share = abs(values.now) / size if size > 0 else 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            history = np.where(sizes > 0, np.abs(values.held(steps)) / sizes, np.nan)
        amounts.append(
            Amount(title, values.tag, share, values.now, format_short(values.now), history=binned(history))
        )
    together = sum(values.now for _, values in parts)
    adds_up = total is not None and abs(together - total.now) <= SAME * max(abs(total.now), size, 1e-12)
    return amounts, adds_up


def _apart(score: Values, total: Values) -> list[Fact]:
    """The score, and what is taken from it for the total, where the two differ."""
    found = [replace(one := fact("score", score, "score"), text=format_short(one.value))]
    steps = np.intersect1d(score.step, total.step)
    if len(steps):
        taken = Values("", steps, total.at(steps) - score.at(steps))
        if abs(taken.now) > 1e-6 * max(abs(total.now), abs(score.now), 1e-12):
            gap = fact(
                "reward - score",
                taken,
                "score",
                formula="difference at the same steps: what is added to the score or taken from it",
            )
            found.append(replace(gap, text=format_short(gap.value), change=None))
    return found


def _distinct(bands: list[Band]) -> list[Band]:
    """Without a band whose middle is that of the one before: score and total of a run without penalties."""
    kept: list[Band] = []
    for one in bands:
        if not kept or not np.allclose(one.middle, kept[-1].middle, equal_nan=True):
            kept.append(one)
    return kept


def _formulas(facts: list[Fact], components: bool) -> tuple[str, ...]:
    found = [f"{one.title} = {one.formula}" for one in facts if one.formula]
    if components:
        found.insert(0, f"share of a component = its size / sizes of all components, medians of {LAST} steps")
    return tuple(found)
