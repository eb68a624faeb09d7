"""The answer of the pane reward: rewards over steps, score and total, components."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from rltui.common.arrays import in_both
from rltui.common.display_text import in_sentence
from rltui.common.regex import regex
from rltui.draw.numbers import format_share, format_short, format_value
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer import Amount, Answer, Band, Fact, Ridge, formulas_of
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.values.distributions import band, logged_ridges, sample_ridge
from rltui.panes.answers.values.recent_values import LAST, RunValues, Values, binned, level_text
from rltui.panes.answers.values.repeated_totals import equal_values, repeats
from rltui.panes.answers.values.since_start import change_since_start
from rltui.rules.metric_roles import metric_roles

NO_MEAN = ("min", "max", "std", "median", "p10", "p90", "sum", "count", "gini")  # last parts of keys
MAX_COMPONENTS = 12
SAME_SUM = 0.02  # relative distance of a sum of components from the total within which they add up to it
MAX_RIDGES = 2
# Keys of histograms that the glossary does not know; those of a network's parameters are none of rewards.
_REWARD = regex(r"(?:^|[/_.])(?:rewards?|returns?|advantages?)(?:[/_.]|$)", re.IGNORECASE)
_PARAMETER = regex(r"weight|bias|grad|param|layer", re.IGNORECASE)


def reward_answer(run: RunValues) -> Answer | None:
    """The answer of the pane reward; None for a run that logs no rewards."""
    single, listed = answer_metrics().single, answer_metrics().metrics["reward_totals"]
    totals = {each: values for each in listed if (values := run.find(each, of_part=True)) is not None}
    # If the reward of each step is constant, the return counts the steps.
    mean = next((each for each, values in totals.items() if np.ptp(values.value)), next(iter(totals), ""))
    total = totals.get(mean)
    score = run.find(single.score, near=total.tag if total is not None else "")
    if score is not None and (total is None or repeats(total, score)):
        mean, total, score = single.score, score, None
    parts = _components(run, total)
    rating = run.find(single.rating)
    if total is None and not parts and rating is None:
        return None
    told = [(single.rating, rating), (mean, total)]
    if score is not None and total is not None and _judged(run, score.tag) and not _judged(run, total.tag):
        told.insert(1, (single.score, score))  # what is wrong is said of the score
    told[:0] = _others_judged(run, [values.tag for _, values in told if values is not None])
    levels = [(values, *_level(run, name, values)) for name, values in told if values is not None]
    clauses = [in_sentence(clause) if at else clause for at, (_, clause, _) in enumerate(levels)]
    facts = [fact for values, _, fact in levels if values is not score]  # which follows, with the difference
    if total is not None and score is not None:
        facts += _score_and_difference(score, total)
    amounts, adds_up = _amounts(parts, total)
    if len(amounts) > 1 and adds_up:
        clauses.append(f"{amounts[0].title} makes {format_share(amounts[0].share or 0.0)} of it")
    notes = []
    environment = run.view.evaluator.environment
    if environment is not None and mean == single.episode_return:
        low, high = _text(environment.random), _text(environment.good)
        notes.append(f"random actions earn about {low} in {environment.id}, trained agents {high} or more")
    if len(amounts) > 1 and not adds_up and total is not None:
        notes.append("components do not add up to the reward: their weights are not logged")
    if len(parts) > MAX_COMPONENTS:
        notes.append(f"{len(parts) - MAX_COMPONENTS} smaller components are left out")
    formulas = formulas_of(facts)
    if len(amounts) > 1:
        share = f"share of a component = its size / sizes of all components, medians of {LAST} steps"
        formulas = (share, *formulas)
    drawn = [mean] if total is not None else []
    drawn += [single.score] if score is not None else []
    bands = filter(None, (band(run, each.removesuffix(".mean")) for each in drawn))
    return Answer(
        "; ".join(clauses or ["The log has components of rewards, but no total"]) + ".",
        tuple(facts), amounts=tuple(amounts), amounts_words=("component", "mean"),
        bands=tuple(_distinct(bands)), ridges=_ridges(run), notes=tuple(notes),
        formulas=formulas,
    )  # fmt: skip


def _level(run: RunValues, metric: str, values: Values) -> tuple[str, Fact]:
    """What the sentence says of the recent values of a metric, and their mean."""
    one_part = run.name(values.tag).part and len(run.numbered_like(values.tag)) == 1
    title = run.name(values.tag).title if one_part else glossary().metrics[metric].title
    now = float(np.mean(values.last))  # a median of outcomes that are 0 or 1 has no information
    mean = values.fact(title.lower(), "score", text=_text(now), in_sentence=True)._replace(value=now)
    change = change_since_start(run, values.tag, now, _text, more_is_better=True)
    return f"{title} is {level_text(now, values, _text)}" + (f", {change}" if change else ""), mean


def _ridges(run: RunValues) -> tuple[Ridge, ...]:
    """Distributions of rewards and advantages over time, from logged histograms first, then from samples."""
    samples = run.inputs.samples
    of_samples = (
        sample_ridge(samples, "reward", "Reward of samples", "score", run.at_step),
        sample_ridge(samples, "advantage", "Advantage of samples", "", run.at_step),
    )
    found = [*logged_ridges(run, lambda tag: _is_reward(run, tag)), *filter(None, of_samples)]
    return tuple(found[:MAX_RIDGES])


def _judged(run: RunValues, tag: str) -> bool:
    """Whether something is wrong with a metric now."""
    found = run.view.evaluator.findings() if run.at_step is None else []
    return any(one.rank and one.state == "firing" and tag in one.metrics for one in found)


def _others_judged(run: RunValues, told: Sequence[str]) -> list[tuple[str, Values]]:
    """The outcome with the worst finding of the pane, if it is none of those that are told: an accuracy.

    A sentence on the reward alone would contradict the warning before it.
    """
    found = [] if run.at_step is not None else run.view.evaluator.findings()
    wrong = [one for one in found if one.rank and one.state == "firing" and one.pane == "reward"]
    worst = max(wrong, key=lambda one: (one.explained_by is None, one.rank), default=None)
    if worst is None or not {*told}.isdisjoint(worst.metrics):
        return []
    for tag in worst.metrics[:1]:
        name = run.name(tag)
        if name.canonical in metric_roles().outcomes and not name.held_out and len(run.of(tag).value):
            return [(name.canonical, run.of(tag))]
    return []


def _text(value: float) -> str:
    return format_value(value, "score").strip()


def _is_reward(run: RunValues, tag: str) -> bool:
    name = run.name(tag)
    known = name.pane == "reward" or (name.canonical or "").startswith("policy.advantage")
    return known or (bool(_REWARD.search(tag)) and not _PARAMETER.search(tag))


def _components(run: RunValues, total: Values | None) -> list[tuple[str, Values]]:
    """Names and means of the components of the reward in training, the largest first.

    What equals the total is no component, but the reward of the only policy or the only reward function.
    """
    components = []
    for tag in run.tags(answer_metrics().single.reward_component):
        name = run.name(tag)
        if name.held_out or name.statistic not in ("", "mean") or tag.rpartition("/")[2] in NO_MEAN:
            continue
        values = run.of(tag)
        if len(values.value) and not (total is not None and equal_values(values, total)):
            parts = [part for part in tag.split("/") if part != "mean"]
            components.append((name.part or parts[-1], values))
    return sorted(components, key=lambda component: -abs(component[1].now))


def _amounts(parts: list[tuple[str, Values]], total: Values | None) -> tuple[list[Amount], bool]:
    """The components with their shares of the sum of their sizes, and whether they add up to the total."""
    size = sum(abs(values.now) for _, values in parts)
    steps = max((values.step for _, values in parts), key=len, default=np.empty(0, np.int64))
    sizes = sum((np.abs(values.held(steps)) for _, values in parts), np.zeros(len(steps)))
    amounts = []
    for title, values in parts[:MAX_COMPONENTS]:
        share = abs(values.now) / size if size > 0 else 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            history = np.where(sizes > 0, np.abs(values.held(steps)) / sizes, np.nan)
        amounts.append(
            Amount(title, values.tag, share, values.now, format_short(values.now), history=binned(history))
        )
    together = sum(values.now for _, values in parts)
    adds_up = total is not None and abs(together - total.now) <= SAME_SUM * max(abs(total.now), size, 1e-12)
    return amounts, adds_up


def _score_and_difference(score: Values, total: Values) -> list[Fact]:
    """The score, and the difference between it and the total, if there is one."""
    facts = [score.fact("score", "score", text=format_short(score.now))]
    steps = in_both(score.step, total.step)
    if len(steps):
        difference = Values("", steps, total.at(steps) - score.at(steps))
        if abs(difference.now) > 1e-6 * max(abs(total.now), abs(score.now), 1e-12):
            formula = "difference at the same steps: what is added to the score or taken from it"
            text = format_short(difference.now)
            one = difference.fact("reward - score", "score", text=text, formula=formula)
            facts.append(one._replace(change=None))
    return facts


def _distinct(bands: Iterable[Band]) -> list[Band]:
    """Without bands whose mean is that of the one before: score and total of a run without penalties."""
    distinct: list[Band] = []
    for one in bands:
        last = distinct[-1] if distinct else None
        same_steps = last is not None and one.steps == last.steps and len(one.middle) == len(last.middle)
        if last is None or not same_steps or not np.allclose(one.middle, last.middle, equal_nan=True):
            distinct.append(one)
    return distinct
