"""Healthy and sick recipes for toys, and which styles can show the sickness at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from tests.support.toys.control import control
from tests.support.toys.language import Array, Recipe, language
from tests.support.toys.styles import CONTROL, LANGUAGE

Series = dict[str, Array]


def healthy_language(seed: int, steps: tuple[int, ...] = (100, 150, 250)) -> Recipe:
    """Group size, batch, learning rate, epochs, KL weight, sparsity and lengths by the seed."""
    rng = np.random.default_rng([seed, 1])
    return Recipe(
        seed=seed,
        steps=int(rng.choice(steps)),
        prompts=int(rng.choice([8, 12, 24])),
        group=int(rng.choice([4, 8, 16])),
        lr=float(rng.choice([0.02, 0.04, 0.08])),
        epochs=int(rng.choice([1, 2, 4])),
        beta=float(rng.choice([0, 0, 0.02])),
        entropy=float(rng.choice([0, 0.002])),
        sparse=bool(rng.random() < 0.6),
        critic=bool(rng.random() < 0.25),
        limit=int(rng.choice([10, 16, 24])),
    )


def healthy_control(seed: int, steps: tuple[int, ...] = (60, 120)) -> Recipe:
    """Grid or line, learning rate, epochs and scale of rewards by the seed."""
    rng = np.random.default_rng([seed, 2])
    continuous = bool(rng.random() < 0.5)
    return Recipe(
        seed=seed,
        steps=int(rng.choice(steps)),
        lr=float(rng.choice([0.002, 0.004] if continuous else [0.01, 0.03])),
        epochs=int(rng.choice([2, 4])),
        entropy=float(rng.choice([0, 0.003 if continuous else 0.01])),
        continuous=continuous,
        scale=float(rng.choice([0.01, 1, 1, 100])),
    )


@cache
def run(recipe: Recipe, of_control: bool) -> Series:
    """Train; only continuous actions have a deviation."""
    series = control(recipe) if of_control else language(recipe)
    if not recipe.continuous:
        series.pop("policy.action_std", None)
    return series


def styles(recipe: Recipe, of_control: bool) -> Mapping[str, Mapping[str, str]]:
    """The styles in which such a run may be logged; two of them know continuous actions only."""
    if not of_control:
        return LANGUAGE
    return {
        name: tags for name, tags in CONTROL.items() if recipe.continuous or name not in ("skrl", "rsl_rl")
    }


def _same(series: Series) -> Series:
    return series


def _as_is(recipe: Recipe) -> Recipe:
    return recipe


def _nan(series: Series) -> Series:
    """Losses and gradients are NaN from two thirds on."""
    found = dict(series)
    for tag in ("policy.loss", "optimizer.grad_norm", "critic.loss", "policy.entropy"):
        if tag in series:
            found[tag] = np.where(np.arange(len(series[tag])) < 0.6 * len(series[tag]), series[tag], np.nan)
    return found


def _slow(series: Series) -> Series:
    """Steps take four times as long from two thirds on."""
    late = np.where(np.arange(len(series["timing.step"])) < 0.6 * len(series["timing.step"]), 1.0, 4.0)
    return series | {tag: series[tag] * late for tag in ("timing.step", "timing.generation")}


@dataclass(frozen=True)
class Sickness:
    """What is done to a healthy recipe and to its series; which ids name it; what must be logged."""

    recipe: Callable[[Recipe], Recipe]
    answers: tuple[str, ...]
    needs: tuple[str, ...] = ()  # one of these must be in the style
    series: Callable[[Series], Series] = _same
    of_control: bool = False
    without: tuple[str, ...] = ()  # styles that log the quantity in a way that hides it


_UPDATES = ("approx-kl-*", "first-update-kl", "saturated-policy", "kl-*", "update-instability", "drastic-*")
_COLLAPSE = ("entropy-*", "policy-collapsed", "saturated-policy", "zero-gradient", "no-reward-spread")
_LOST = ("reward-*", "return-*", "no-stop", "no-signal", "solve-none-high", "zero-*", "validation-*")
_LENGTH, _CUT = "lengths.response.mean", "lengths.response_clip_fraction"

SICK: dict[str, Sickness] = {
    "hot": Sickness(
        lambda r: replace(r, lr=4.0, beta=0.0), (*_UPDATES, *_COLLAPSE, *_LOST, "grad-*", "engine-*")
    ),
    "rate-raised": Sickness(
        lambda r: replace(r, lr=0.03, steps=max(r.steps, 150), schedule=lambda s: 150.0 if s > 0.3 else 1.0),
        ("learning-rate-blow-up", *_UPDATES, *_COLLAPSE, *_LOST, "grad-*", "engine-*"),
    ),
    "frozen": Sickness(lambda r: replace(r, lr=0.0), ("not-moving",)),
    "impossible": Sickness(
        lambda r: replace(r, reward=lambda s, x, n: 0 * x, critic=False), (*_LOST, "not-moving")
    ),
    "brevity": Sickness(
        lambda r: replace(r, lr=0.08, limit=24, reward=lambda s, x, n: -n / 10.0, critic=False),
        ("length-*", "degenerate-optimum"),
        needs=(_LENGTH,),
        without=("areal", "tinker"),
    ),
    "verbosity": Sickness(
        lambda r: replace(r, lr=0.08, reward=lambda s, x, n: n / 10.0, critic=False),
        ("truncation*", "runaway-length"),
        needs=(_CUT,),
    ),
    "judge-breaks": Sickness(lambda r: replace(r, lr=0.08, reward=lambda s, x, n: x * (s < 0.6)), _LOST),
    "task-turns": Sickness(lambda r: replace(r, lr=0.08, reward=lambda s, x, n: x - (s >= 0.6)), _LOST),
    "not-finite": Sickness(_as_is, ("non-finite", "numerical-breakdown"), series=_nan),
    "slow": Sickness(_as_is, ("step-slow", "slow-training"), ("timing.step",), series=_slow),
    "engine": Sickness(
        lambda r: replace(r, engine=1.0),
        ("engine-mismatch*",),
        ("rollout.mismatch_kl", "rollout.mismatch_k3_kl"),
    ),
    "stale": Sickness(
        lambda r: replace(r, lr=0.1, steps=250, stale=lambda s: int(40 * s)),
        ("staleness-grows", "stale-rollouts"),
        ("rollout.staleness.mean",),
    ),
    "control-hot": Sickness(
        lambda r: replace(r, lr=6.0, continuous=False, steps=80),
        (*_UPDATES, *_COLLAPSE, *_LOST),
        of_control=True,
    ),
    "control-not-finite": Sickness(
        _as_is, ("non-finite", "numerical-breakdown"), series=_nan, of_control=True
    ),
    "control-frozen": Sickness(
        lambda r: replace(r, lr=0.0, continuous=False, steps=80),
        ("not-moving", "updates-too-small"),
        ("optimizer.learning_rate",),
        of_control=True,
    ),
}


def sick_runs(name: str, seed: int, short: bool = False) -> tuple[Series, dict[str, Mapping[str, str]]]:
    """A sick run and the styles that can show it."""
    sickness = SICK[name]
    make = healthy_control if sickness.of_control else healthy_language
    base = make(seed, (60,) if sickness.of_control else (100,)) if short else make(seed)
    recipe = sickness.recipe(base)
    series = sickness.series(run(recipe, sickness.of_control))
    able = {
        style: tags
        for style, tags in styles(recipe, sickness.of_control).items()
        if style not in sickness.without
        and (not sickness.needs or any(need in tags for need in sickness.needs))
    }
    return series, able
