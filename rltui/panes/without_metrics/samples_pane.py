"""The samples pane as data: the samples of one step, filtered and sorted, and what is said about them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.common.text import count_of
from rltui.draw.numbers import format_plain, format_step
from rltui.logs.records.record_keys import ended_at_limit
from rltui.logs.sample_layouts.layouts import layouts
from rltui.logs.sample_layouts.sample import Evaluation, RunSamples, SampleHead
from rltui.run_context.samples.sample_query import Filter, FilterError, SortKey, parse_filter, sorted_heads

NO_FILES = "No samples were found beside this run's logs."
TOLD = "Most trainers write rollouts only when told to."


class SamplesPane(NamedTuple):
    """The samples of a step. `rows` are those that the filter leaves, `of` counts them before it."""

    step: int | None = None
    steps: tuple[int, ...] = ()
    rows: tuple[SampleHead, ...] = ()
    of: int = 0
    wanted: int | None = None  # a step that has no samples: the one shown is the nearest that has
    sort: SortKey | None = None  # None: as they were written
    reverse: bool = False
    facts: tuple[str, ...] = ()  # about all samples of the step
    notes: tuple[str, ...] = ()  # what is left out or still to be read
    problems: tuple[Problem, ...] = ()
    empty: str = ""
    evaluations: tuple[Evaluation, ...] = ()

    def beside(self, by: int) -> int | None:
        """The step with samples that lies so many places further; None beyond the first and the last."""
        at = self.steps.index(self.step) + by if self.step in self.steps else -1
        return self.steps[at] if 0 <= at < len(self.steps) else None


class TextMatches(NamedTuple):
    """Which samples of a step hold the words of a filter, as far as they have been read."""

    kept: Collection[str]  # keys
    read: int
    of: int


def step_at(samples: RunSamples, wanted: int | None, at_step: int | None = None) -> int | None:
    """The step to show: the nearest to the one wanted, else the newest, as of `at_step` if that is given."""
    if wanted is not None:
        return samples.nearest(wanted)
    steps = [step for step in samples.by_step if at_step is None or step <= at_step]
    return max(steps, default=None)


def parsed(expression: str) -> tuple[Filter | None, str]:
    """A filter, or what is wrong with it."""
    try:
        return parse_filter(expression), ""
    except FilterError as error:
        return None, str(error)


def samples_pane(
    samples: RunSamples,
    step: int | None,
    *,
    wanted_step: int | None = None,
    sort: SortKey | None = None,
    reverse: bool = False,
    expression: str = "",
    matches: TextMatches | None = None,
    loading: bool = False,
    framework: str = "",
) -> SamplesPane:
    """The samples of a step. `matches` are needed for filters that look into texts."""
    heads: Sequence[SampleHead] = samples.by_step.get(step, ()) if step is not None else ()
    of, facts = len(heads), _facts(heads)
    notes = []
    wanted, fault = parsed(expression)
    if wanted is not None:
        heads = [head for head in heads if wanted.keeps_head(head)]
        if wanted.texts:
            kept = matches.kept if matches is not None else ()
            heads = [head for head in heads if head.key in kept]
            if matches is None or matches.read < matches.of:
                done = f"{matches.read:,} of {matches.of:,}" if matches is not None else "none"
                notes.append(f"{done} texts searched")
    heads = sorted_heads(heads, sort, reverse=reverse)
    if samples.bytes_left:
        notes.append(f"{samples.bytes_left / 1e6:,.1f} MB still to be read")
    if samples.left_out:
        notes.append(f"{count_of(samples.left_out, 'sample')} beyond what is held left out")
    if fault:
        notes.append(f"filter: {fault}")
    empty = ""
    if not heads:
        reading = loading or samples.bytes_left > 0
        empty = "No sample matches." if of else "Reading samples." if reading else ""
        empty = empty or ("No sample could be read." if samples.problems else no_files(framework))
    wanted_step = None if wanted_step == step else wanted_step
    return SamplesPane(
        step, tuple(samples.by_step), tuple(heads), of, wanted_step, sort, reverse, facts, tuple(notes),
        samples.problems, empty, samples.evaluations,
    )  # fmt: skip


def no_files(framework: str = "") -> str:
    """That there are no samples, and what to do: the framework's own option where it is known."""
    option = layouts().options.get(framework.partition("-")[0])
    return f"{NO_FILES} {f'The trainer writes them with {option}.' if option else TOLD}"


def _facts(heads: Sequence[SampleHead]) -> tuple[str, ...]:
    """Reward, length and stops of all samples of a step in a few words."""
    facts = []
    rewards = [head.reward for head in heads if head.reward is not None and head.reward == head.reward]
    if rewards:
        mean = format_plain(math.fsum(rewards) / len(rewards))
        facts.append(f"reward {mean} ({format_plain(min(rewards))} … {format_plain(max(rewards))})")
    lengths = [head.length for head in heads if head.length is not None]
    if lengths:
        facts.append(f"length {format_plain(math.fsum(lengths) / len(lengths))}, at most {max(lengths):,}")
    cut = sum(ended_at_limit(head.stop) for head in heads)
    if cut:
        facts.append(f"{cut:,} ended at the limit")
    return tuple(facts)


def headline(pane: SamplesPane) -> str:
    """Which step of how many, how many samples it has, and their order where somebody chose one."""
    if pane.step is None:
        return ""
    place = pane.steps.index(pane.step) + 1
    near = f" (nearest to {format_step(pane.wanted)})" if pane.wanted is not None else ""
    order = " · last first" if pane.reverse else ""
    if pane.sort is not None:
        order = f" · by {pane.sort}, {'largest' if pane.reverse else 'smallest'} first"
    return (
        f"step {format_step(pane.step)}{near}, {place} of {len(pane.steps):,} with samples · "
        f"{count_of(pane.of, 'sample')}{order}"
    )
