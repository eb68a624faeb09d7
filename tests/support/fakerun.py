"""A run made of arrays, in the shape that boards and the screen expect."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from rltui.config.model import UserHardware
from rltui.session.tag_index import TagIndex

NOW = 1_763_600_000.0


@dataclass
class FakeSeries:
    """A series whose points are all exact."""

    tag: str
    step: np.ndarray
    value: np.ndarray
    superseded: int = 0

    @property
    def count(self) -> int:
        return len(self.step)

    @property
    def nonfinite(self) -> int:
        return int((~np.isfinite(self.value)).sum())

    @property
    def first_step(self) -> int | None:
        return int(self.step[0]) if len(self.step) else None

    @property
    def last_step(self) -> int | None:
        return int(self.step[-1]) if len(self.step) else None

    @property
    def last_value(self) -> float | None:
        return float(self.value[-1]) if len(self.value) else None

    @property
    def previous_value(self) -> float | None:
        return float(self.value[-2]) if len(self.value) > 1 else None

    @property
    def exact_from(self) -> int:
        return 0

    @property
    def last_wall(self) -> float:
        return NOW - 4

    def extent(self) -> tuple[float, float]:
        return (float(np.nanmin(self.value)), float(np.nanmax(self.value)))

    def recent(self, n: int | None = None) -> Any:
        cut = slice(None if n is None else -n, None)
        walls = NOW - 4 - (self.step[-1] - self.step) * 10.0
        return SimpleNamespace(step=self.step[cut], value=self.value[cut], wall_time=walls[cut])

    def columns(self, low: float, high: float, width: int, axis: str = "step") -> Any:
        edges = np.linspace(low, high, width + 1)
        out = SimpleNamespace(
            edges=edges,
            low=np.full(width, math.nan),
            high=np.full(width, math.nan),
            mean=np.full(width, math.nan),
            last=np.full(width, math.nan),
            count=np.zeros(width, np.int64),
            nonfinite=np.zeros(width, np.int64),
        )
        at = np.clip(((self.step - low) / (high - low) * width).astype(int), 0, width - 1)
        inside = (low <= self.step) & (self.step < high)
        finite = np.isfinite(self.value)
        np.add.at(out.nonfinite, at[inside & ~finite], 1)
        at, value = at[inside & finite], self.value[inside & finite]
        np.fmin.at(out.low, at, value)
        np.fmax.at(out.high, at, value)
        np.add.at(out.count, at, 1)
        out.mean[at] = out.last[at] = value
        return out


@dataclass
class FakeName:
    """A name with the attributes that rows read."""

    tag: str
    canonical: str | None
    title: str
    pane: str
    unit: str = ""
    group: str = ""
    statistic: str = ""
    importance: int = 1
    part: str = ""
    held_out: bool = False
    guessed: bool = False
    framework: str | None = "verl"
    caveat: str = ""
    metric: Any = None
    declared_range: tuple[float, float] | None = None
    scale: float = 1.0
    offset: float = 0.0
    comparable: bool = True


@dataclass(eq=False)
class FakeRun:
    """A run, its names, its judge and its liveness in one."""

    name: str = "verl-grpo-a"
    series: dict[str, FakeSeries] = field(default_factory=dict)
    known: dict[str, FakeName] = field(default_factory=dict)
    found: list[Any] = field(default_factory=list)
    state: str = "live"
    framework: str = "verl"
    health: str = "ok"
    loading: bool = False
    modified: float = NOW - 4

    def __post_init__(self) -> None:
        self.run = self
        self.consoles: tuple[Any, ...] = ()
        self.job: Any = None
        self.names = SimpleNamespace(name=self.name_of, pane_titles={})
        self.evaluator = SimpleNamespace(
            findings=lambda: list(self.found),
            history=list,
            diagnostics=list,
            health=self.health,
            unjudged=lambda: "",
            unknown_outcome=lambda: "",
            sentence=lambda: "reward rises, policy steady" if not self.found else self.found[0].message,
        )
        self.sources: dict[str, Any] = {}
        self.previewing = False
        self.recognition = SimpleNamespace(reason="made up", framework="verl", label="verl")
        self.attempts: list[Any] = []
        self.problems: dict[Any, Any] = {}
        self.hparams: dict[str, Any] = {}
        self.texts: dict[str, Any] = {}
        self.histograms: dict[str, Any] = {}
        self.hardware = UserHardware()
        self.exit_code: int | None = None
        self.hparams_texts: dict[str, Any] = {}
        self.version = 1
        self.superseded = self.earlier = 0
        self.histograms: dict[str, Any] = {}

    def name_of(self, tag: str) -> FakeName:
        if tag in self.known:
            return self.known[tag]
        return FakeName(tag, None, tag.split("/")[-1], tag.split("/")[0], guessed=True, importance=99)

    @property
    def tag_index(self) -> TagIndex:
        return TagIndex(self.series, self.names)

    @property
    def last_step(self) -> int:
        last = [one.last_step or 0 for one in self.series.values()]
        return max((step for step in last if last.count(step) > 1), default=max(last, default=0))

    @property
    def span(self) -> tuple[int, int] | None:
        firsts = [one.first_step for one in self.series.values() if one.first_step is not None]
        return (min(firsts), self.last_step) if firsts else None

    @property
    def points(self) -> int:
        return sum(one.count for one in self.series.values())

    def recognise_again(self) -> None:
        """Names are fixed."""

    def evaluate_held(self, *, force: bool = False, most: int | None = None) -> bool:
        return False

    def set_consoles(self, reports: Any, now: float) -> bool:
        """Nothing is judged by them."""
        self.consoles = tuple(reports)
        return False

    def tell_state(self, now: float) -> bool:
        """Nothing is said of its state."""
        return False

    def set_job(self, job: Any, now: float) -> bool:
        """Nothing is judged by it."""
        self.job = job
        return False

    def job_traces(self) -> Any:
        """Nothing tells its job."""
        from rltui.jobs.run_jobs import RunTraces

        return RunTraces(())

    def last_error(self, now: float) -> str:
        """Made-up runs have no consoles."""
        return ""

    def findings_at(self, step: int, *, evaluate: bool = True) -> Any:
        from rltui.session.time_travel import current_findings, recalled_findings

        if step >= self.last_step:
            return current_findings(self.evaluator)
        return recalled_findings(self.evaluator.findings(), self.evaluator.history(), step)

    def file_problems(self, now: float) -> list[Any]:
        """What its problems are, whatever time it is."""
        return list(self.problems.values())

    def liveness(self, now: float) -> Any:
        return SimpleNamespace(
            state=self.state,
            word=self.state,
            age=4.0,
            gap=10.0,
            quiet="",
            eta=2500.0,
            total=1000,
            progress=0.3,
            pace=10.0,
            now=now,
        )

    def add(self, tag: str, values: Any, step: Any = None, **name: Any) -> None:
        values = np.asarray(values, float)
        steps = np.arange(1, len(values) + 1) if step is None else np.asarray(step)
        self.series[tag] = FakeSeries(tag, steps, values)
        if name:
            self.known[tag] = FakeName(tag, **{"canonical": None, "title": tag, "pane": "reward", **name})


def believable(steps: int = 300, seed: int = 3) -> FakeRun:
    """A GRPO run as people know them: reward rises, entropy falls, KL creeps, lengths grow."""
    rng = np.random.default_rng(seed)
    run = FakeRun()
    x = np.arange(steps) / 300

    def noisy(curve: Any, size: float) -> Any:
        return curve + rng.normal(0, size, steps)

    run.add(
        "critic/rewards/mean",
        noisy(0.1 + 0.5 * (1 - np.exp(-2 * x)), 0.02),
        canonical="reward.mean",
        title="Reward mean",
        pane="reward",
        unit="score",
        group="reward",
        statistic="mean",
        importance=1,
    )
    run.add(
        "critic/rewards/min",
        noisy(-1 + 0 * x, 0.01),
        canonical="reward.min",
        title="Reward min",
        pane="reward",
        unit="score",
        group="reward",
        statistic="min",
        importance=2,
    )
    run.add(
        "critic/rewards/max",
        noisy(1 + 0 * x, 0.01),
        canonical="reward.max",
        title="Reward max",
        pane="reward",
        unit="score",
        group="reward",
        statistic="max",
        importance=3,
    )
    run.add(
        "actor/ppo_kl",
        np.abs(noisy(0.002 + 0.02 * x, 0.001)),
        canonical="policy.approx_kl",
        title="KL (old policy)",
        pane="policy",
        unit="nats",
        importance=1,
    )
    run.add(
        "actor/entropy",
        noisy(0.2 + 0.8 * np.exp(-2 * x), 0.02),
        canonical="policy.entropy",
        title="Entropy",
        pane="policy",
        unit="nats",
        importance=2,
    )
    run.add(
        "actor/pg_clipfrac",
        np.abs(noisy(0.01 + 0.01 * x, 0.004)),
        canonical="policy.clip_fraction",
        title="Clip fraction",
        pane="policy",
        unit="fraction",
        importance=3,
    )
    grad = np.abs(noisy(0.5 + 0 * x, 0.1))
    grad[min(120, steps - 1)] = 9.0
    run.add(
        "actor/grad_norm",
        grad,
        canonical="optimizer.grad_norm",
        title="Gradient norm",
        pane="policy",
        unit="norm",
        importance=4,
    )
    run.add(
        "actor/lr",
        np.full(steps, 1e-6),
        canonical="optimizer.learning_rate",
        title="Learning rate",
        pane="policy",
        unit="rate",
        importance=5,
    )
    run.add(
        "response_length/mean",
        noisy(300 + 500 * x, 12),
        canonical="lengths.response.mean",
        title="Response mean",
        pane="lengths",
        unit="tokens",
        group="lengths.response",
        statistic="mean",
        importance=1,
    )
    run.add(
        "response_length/max",
        noisy(1024 + 0 * x, 2),
        canonical="lengths.response.max",
        title="Response max",
        pane="lengths",
        unit="tokens",
        group="lengths.response",
        statistic="max",
        importance=2,
    )
    run.add(
        "response_length/min",
        noisy(40 + 0 * x, 4),
        canonical="lengths.response.min",
        title="Response min",
        pane="lengths",
        unit="tokens",
        group="lengths.response",
        statistic="min",
        importance=3,
    )
    run.add(
        "timing_s/step",
        noisy(42 + 5 * x, 1),
        canonical="timing.step",
        title="Step time",
        pane="timing",
        unit="s",
        importance=1,
    )
    run.add(
        "timing_s/gen",
        noisy(25 + 5 * x, 1),
        canonical="timing.generation",
        title="Generation",
        pane="timing",
        unit="s",
        importance=2,
    )
    run.add(
        "perf/mfu/actor",
        noisy(0.41 + 0 * x, 0.01),
        canonical="perf.mfu.actor",
        title="MFU actor",
        pane="perf",
        unit="fraction",
        importance=1,
    )
    run.add(
        "perf/throughput",
        noisy(2400 + 0 * x, 40),
        canonical="perf.throughput",
        title="Throughput",
        pane="perf",
        unit="tokens/s/gpu",
        importance=2,
    )
    run.add(
        "global_seqlen/minmax_diff",
        np.abs(noisy(4000 + 0 * x, 400)),
        canonical="load.seqlen.spread",
        title="Spread",
        pane="load",
        unit="tokens",
        importance=1,
    )
    every = np.arange(0, steps, 20)
    run.add(
        "val-core/gsm8k/acc/mean@1",
        0.4 + 0.3 * every / steps,
        every + 1,
        canonical="validation.accuracy",
        title="Accuracy · gsm8k",
        pane="validation",
        unit="fraction",
        importance=1,
    )
    holes = noisy(1 + 0 * x, 0.1)
    holes[steps // 2 : steps // 2 + 4] = math.nan
    run.add("mine/loss/aux", holes)
    return run


def finding(tag: str = "actor/pg_clipfrac", severity: str = "warning", **changes: Any) -> Any:
    """A finding as the judge gives them."""
    from rltui.rules.finding import Finding

    base = {
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
