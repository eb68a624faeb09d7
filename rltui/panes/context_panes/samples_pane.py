"""The samples pane as data: the samples of one step, filtered and sorted, with a summary."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from rltui.common.display_text import count_of
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.draw.numbers import format_bytes, format_plain, format_step
from rltui.logs.records.record_keys import ended_at_limit
from rltui.logs.sample_layouts.layouts import layouts
from rltui.logs.sample_layouts.sample import Evaluation, SampleHead
from rltui.run_context.samples.run_samples import RunSamples
from rltui.run_context.samples.sample_query import Filter, FilterError, SortKey, parse_filter, sorted_heads

NO_FILES = "No samples were found next to this run's logs."
USUALLY_OFF = "Most trainers write rollouts only when told to."


class SamplesPane(NamedTuple):
    """The samples of a step. `rows` are those that match the filter, `of` counts all."""

    step: int | None = None
    steps: tuple[int, ...] = ()
    rows: tuple[SampleHead, ...] = ()
    of: int = 0
    wanted: int | None = None  # the requested step, if it has no samples: `step` is the nearest that has
    sort: SortKey | None = None  # None: as they were written
    reverse: bool = False
    facts: tuple[str, ...] = ()  # about all samples of the step
    notes: tuple[str, ...] = ()  # what is left out or not read yet
    problems: tuple[Problem, ...] = ()
    empty: str = ""
    evaluations: tuple[Evaluation, ...] = ()

    def step_after(self, count: int) -> int | None:
        """The step with samples `count` places later, earlier if negative; None beyond the ends."""
        at = self.steps.index(self.step) + count if self.step in self.steps else -1
        return self.steps[at] if 0 <= at < len(self.steps) else None


class TextMatches(NamedTuple):
    """Which samples of a step contain the text of a filter, as far as they have been read."""

    keys: Collection[str]  # of samples that match
    read: int
    of: int


def step_at(samples: RunSamples, wanted: int | None, at_step: int | None = None) -> int | None:
    """The step to show: the one nearest to `wanted`, else the newest, up to `at_step` if given."""
    if wanted is not None:
        return samples.nearest(wanted)
    steps = [step for step in samples.by_step if at_step is None or step <= at_step]
    return max(steps, default=None)


def parsed_filter(expression: str) -> tuple[Filter | None, str]:
    """A filter, or None and the error."""
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
    """The samples of a step. `matches` is needed for filters that search texts."""
    heads: Sequence[SampleHead] = samples.by_step.get(step, ()) if step is not None else ()
    of, facts = len(heads), _facts(heads)
    notes = []
    filter_, error = parsed_filter(expression)
    if filter_ is not None:
        heads = [head for head in heads if filter_.keeps_head(head)]
        if filter_.texts:
            matching = matches.keys if matches is not None else ()
            heads = [head for head in heads if head.key in matching]
            if matches is None or matches.read < matches.of:
                done = f"{matches.read:,} of {matches.of:,}" if matches is not None else "none"
                notes.append(f"{done} texts searched")
    heads = sorted_heads(heads, sort, reverse=reverse)
    if samples.bytes_left:
        notes.append(f"{format_bytes(samples.bytes_left)} still to be read")
    if samples.left_out:
        notes.append(f"{count_of(samples.left_out, 'sample')} beyond what is held left out")
    if error:
        notes.append(f"filter: {error}")
    empty = ""
    if not heads:
        reading = loading or samples.bytes_left > 0
        empty = "No sample matches." if of else "Reading samples." if reading else ""
        empty = empty or ("No sample could be read." if samples.problems else no_samples_text(framework))
    wanted_step = None if wanted_step == step else wanted_step
    return SamplesPane(
        step, tuple(samples.by_step), tuple(heads), of, wanted_step, sort, reverse, facts, tuple(notes),
        samples.problems, empty, samples.evaluations,
    )  # fmt: skip


def no_samples_text(framework: str) -> str:
    """That there are no samples, and how to get them: with the framework's option if it is known."""
    option = layouts().options.get(framework.partition("-")[0])
    return f"{NO_FILES} {f'The trainer writes them with {option}.' if option else USUALLY_OFF}"


def _facts(heads: Sequence[SampleHead]) -> tuple[str, ...]:
    """A summary of reward, length and truncation of all samples of a step."""
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
    """Which step of how many is shown, how many samples it has, and their order if one was chosen."""
    if pane.step is None:
        return ""
    number = pane.steps.index(pane.step) + 1
    near = f" (nearest to {format_step(pane.wanted)})" if pane.wanted is not None else ""
    order = " · last first" if pane.reverse else ""
    if pane.sort is not None:
        order = f" · by {pane.sort}, {'largest' if pane.reverse else 'smallest'} first"
    return (
        f"step {format_step(pane.step)}{near}, {number} of {len(pane.steps):,} with samples · "
        f"{count_of(pane.of, 'sample')}{order}"
    )
