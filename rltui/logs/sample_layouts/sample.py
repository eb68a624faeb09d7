"""A sample: one response of the policy, with its prompt, its reward and what else was written of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem


class Message(NamedTuple):
    """One turn of a conversation; texts are as written, not cleaned."""

    role: str
    text: str


class Sample(NamedTuple):
    """One response. Texts are untrusted and as written: whoever shows them cleans them.

    step: training step, as the file's name, its folder or the record says. split: `train`, `eval`, or the
    name of the table. length: in the unit that the file gives (tokens), characters where it gives none.
    """

    step: int
    split: str = "train"
    prompt: str = ""
    response: str = ""
    messages: tuple[Message, ...] = ()
    reward: float | None = None
    rewards: Mapping[str, float] = MappingProxyType({})  # components by name
    advantage: float | None = None
    length: int | None = None
    counted: bool = False  # length is in characters: the file says none
    stop: str = ""
    group: str | None = None  # samples of one prompt
    id: str = ""
    dataset: str = ""
    ok: bool = True
    metadata: Mapping[str, object] = MappingProxyType({})
    note: str = ""  # why there is no text


class SampleHead(NamedTuple):
    """What the list shows of a sample, and where the sample lies: no text is kept."""

    file: int  # index of its file
    offset: int  # first byte of its record
    size: int  # bytes of its record
    item: int  # number within the record
    step: int
    split: str
    reward: float | None
    advantage: float | None
    length: int | None
    stop: str
    group: str | None
    dataset: str
    ok: bool
    prompt: int  # hash of the prompt: equal prompts are a group where none is named
    copy_key: int = 0  # hash that equal samples share where a framework writes some twice; else 0

    @property
    def key(self) -> str:
        """Tells it from the other samples of its run, as long as its file is not rewritten."""
        return f"{self.file}:{self.offset}:{self.item}"


class Evaluation(NamedTuple):
    """What the held-out samples of one data set at one step say. Shares are of 1.

    passed and pass_at_k are None where rewards do not tell right from wrong; k is the number of responses
    that each task has at least.
    """

    dataset: str
    step: int
    samples: int
    tasks: int
    reward: float | None  # mean
    passed: float | None
    k: int
    pass_at_k: float | None


class RunSamples(NamedTuple):
    """What is known of the samples of a run at a moment. `by_step` rises."""

    by_step: Mapping[int, tuple[SampleHead, ...]] = MappingProxyType({})
    problems: tuple[Problem, ...] = ()
    left_out: int = 0  # samples beyond what is held
    bytes_left: int = 0  # known to be there and not read yet
    evaluations: tuple[Evaluation, ...] = ()  # by data set, then by step

    def nearest(self, step: int) -> int | None:
        """The step with samples that is nearest to a step, the earlier of two; None without samples."""
        return nearest_step(self.by_step, step)


class SampleSummary(NamedTuple):
    """What a list shows of a sample beyond its head; the beginning of its response is cleaned."""

    rewards: Mapping[str, float]
    response: str


def nearest_step(steps: Iterable[int], step: int) -> int | None:
    """The one of some steps that is nearest to a step, the earlier of two; None of none."""
    return min(steps, key=lambda each: (abs(each - step), each), default=None)


def head_of(sample: Sample, file: int, offset: int, size: int, item: int) -> SampleHead:
    """The head of a sample that was read from a place."""
    return SampleHead(
        file=file,
        offset=offset,
        size=size,
        item=item,
        step=sample.step,
        split=sample.split,
        reward=sample.reward,
        advantage=sample.advantage,
        length=sample.length,
        stop=sample.stop,
        group=sample.group,
        dataset=sample.dataset,
        ok=sample.ok,
        prompt=hash(sample.prompt),
    )
