"""Runs from arrays, with a real store, names and liveness, and given findings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from rltui.config.user_config import Config, Threshold, UserMetric
from rltui.logs.batch import Batch, Text
from rltui.logs.delivery import Delivery, Kind, Source
from rltui.rules.finding import Finding
from rltui.rules.rule_states.rule_selection import RuleSelection
from rltui.rules.rulebook import Rulebook
from rltui.schema.metric import Metric, NameTarget
from rltui.session.run_view import RunView
from rltui.session.shared_metric_names import SharedNames
from rltui.store.series import Series
from rltui.store.store import Store

NOW = 1_763_600_000.0
CADENCE = 10.0  # seconds from step to step
_NO_RULES = Rulebook({}, (), {})
_QUIET = Threshold("*", above=1e300)  # a run without any rule is one that nobody judged


class _Names(SharedNames):
    """A rule selection without shipped rules."""

    def selection(self, label: str) -> RuleSelection:
        return RuleSelection(self.names(label), self.config, _NO_RULES)


class MadeRun(RunView):
    """A run from arrays, with a log for each tag."""

    def __init__(
        self, name: str = "verl-grpo-a", framework: str = "verl", *, modified: float = NOW - 4,
        config: Config | None = None,
    ) -> None:  # fmt: skip
        self._store = Store()
        self._modified, self._began = modified, 0.0
        self.config = (config or Config())._replace(
            total_steps={"*": 1000}, thresholds=(_QUIET,), frameworks={"*": framework}
        )
        run, _ = self._store.apply(self._delivery("metrics.jsonl", Batch(), "state", name))
        super().__init__(run, _Names(self.config))
        self.recognise()

    def add(self, tag: str, values: Any, step: Any = None, at: Any = None, **name: Any) -> None:
        """Points at steps from 1 on, in place of those before; `name`: keys of a metric of the user's own.

        at: the steps of the run at which they were written, which are their own unless they count otherwise.
        """
        values = np.asarray(values, np.float64)
        steps = np.arange(1, len(values) + 1) if step is None else np.asarray(step, np.int64)
        if not self._began:
            self._began = self._modified - CADENCE * int(steps[-1])
        if name:
            self._define(tag, **name)
        walls = self._began + CADENCE * (steps if at is None else np.asarray(at)).astype(np.float64)
        self._modified = max(self._modified, float(walls[-1]))
        batch = Batch.of_doubles((tag,), np.zeros(len(steps)), steps, walls, values)
        if tag in self.run.series:
            self._take(self._delivery(tag, Batch(), "rewritten"))
        self._take(self._delivery(tag, batch))

    def add_many(self, tags: Sequence[str], values: Any) -> None:
        """The same values for many tags, in one log."""
        steps = np.repeat(np.arange(1, len(values) + 1), len(tags))
        tag = np.tile(np.arange(len(tags)), len(values))
        walls = self._modified - CADENCE * (len(values) - steps).astype(np.float64)
        batch = Batch.of_doubles(tuple(tags), tag, steps, walls, np.repeat(values, len(tags)))
        self._take(self._delivery("many.jsonl", batch))

    def _define(self, tag: str, **name: Any) -> None:
        scale = name.pop("scale", 1.0)
        canonical = name.pop("canonical", None) or f"made.{re.sub(r'[^a-z0-9_]+', '_', tag.lower())}"
        metric = Metric(id=canonical, **{"title": tag, "pane": "reward", **name})
        self.config = self.config._replace(
            metrics=(*(one for one in self.config.metrics if one.metric.id != canonical), UserMetric(metric)),
            aliases={**self.config.aliases, tag: NameTarget(canonical, scale=scale)},
        )
        self._shared = _Names(self.config)
        self._evaluator, self._tag_index = None, None

    def _delivery(self, path: str, batch: Batch, kind: Kind = "points", name: str = "") -> Delivery:
        source = Source(name or self.run.name, path, "jsonl", modified=self._modified, caught_up=True)
        return Delivery(source, batch, kind)

    def _take(self, delivery: Delivery) -> None:
        self.hold(self.run.apply(delivery))
        self.evaluate_held(force=True)

    def lie_at(self, path: str) -> None:
        """Set the path of its only log."""
        self.run.sources = {path: Source(self.name, path, "jsonl", 1, 1, modified=1.0)}

    def end(self) -> None:
        """Log an exit code, which ends the run."""
        text = Text("exit", 0, self._modified, "exit-code", "0")
        self._take(self._delivery("metrics.jsonl", Batch(texts=(text,))))

    @property
    def found(self) -> list[Finding]:
        """The given findings."""
        return list(self._external["sisters"])

    @found.setter
    def found(self, findings: Sequence[Finding]) -> None:
        self.set_findings("sisters", findings)


def made_series(tag: str, values: Any, step: Any = None) -> Series:
    """A series of a run."""
    run = MadeRun()
    run.add(tag, values, step)
    return run.run.series[tag]


def believable(steps: int = 300, seed: int = 3, **options: Any) -> MadeRun:
    """A GRPO run as people know them: reward rises, entropy falls, KL creeps, lengths grow."""
    rng = np.random.default_rng(seed)
    run = MadeRun(**options)
    x = np.arange(steps) / 300

    def noisy(curve: Any, size: float) -> Any:
        return curve + rng.normal(0, size, steps)

    curves: dict[str, Any] = {
        "critic/rewards/mean": noisy(0.1 + 0.5 * (1 - np.exp(-2 * x)), 0.02),
        "critic/rewards/min": noisy(-1 + 0 * x, 0.01),
        "critic/rewards/max": noisy(1 + 0 * x, 0.01),
        "actor/ppo_kl": np.abs(noisy(0.002 + 0.02 * x, 0.001)),
        "actor/entropy": noisy(0.2 + 0.8 * np.exp(-2 * x), 0.02),
        "actor/pg_clipfrac": np.abs(noisy(0.01 + 0.01 * x, 0.004)),
        "actor/grad_norm": np.abs(noisy(0.5 + 0 * x, 0.1)),
        "actor/lr": np.full(steps, 1e-6),
        "response_length/mean": noisy(300 + 500 * x, 12),
        "response_length/max": noisy(1024 + 0 * x, 2),
        "response_length/min": noisy(40 + 0 * x, 4),
        "timing_s/step": noisy(42 + 5 * x, 1),
        "timing_s/gen": noisy(25 + 5 * x, 1),
        "perf/mfu/actor": noisy(0.41 + 0 * x, 0.01),
        "perf/throughput": noisy(2400 + 0 * x, 40),
        "global_seqlen/minmax_diff": np.abs(noisy(4000 + 0 * x, 400)),
    }
    curves["actor/grad_norm"][min(120, steps - 1)] = 9.0
    for tag, values in curves.items():
        run.add(tag, values)
    every = np.arange(0, steps, 20)
    run.add("val-core/gsm8k/acc/mean@1", 0.4 + 0.3 * every / steps, every + 1)
    holes = noisy(1 + 0 * x, 0.1)
    holes[steps // 2 : steps // 2 + 4] = np.nan
    run.add("mine/loss/aux", holes)
    return run


def finding(tag: str = "actor/pg_clipfrac", severity: str = "warning", **changes: Any) -> Finding:
    """A finding as rules report it."""
    base: dict[str, Any] = {
        "id": "clip-fraction-high",
        "severity": severity,
        "pane": "policy",
        "metrics": (tag,),
        "canonical": ("policy.clip_fraction",),
        "since_step": 212,
        "message": "The clip fraction has been above 0.2 since step 212.",
        "title": "clip fraction > 0.2",
        "advice": "Lower the learning rate or take larger batches.",
        "check_next": ("policy.approx_kl", "optimizer.learning_rate"),
        "value": 0.31,
        "limit": 0.2,
    }
    return Finding(**{**base, **changes})
