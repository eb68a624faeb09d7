"""A sample: one response of the policy, with its prompt, reward and further fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rltui.common.named_tuple import NamedTuple


class Message(NamedTuple):
    """One turn of a conversation; texts are not cleaned."""

    role: str
    text: str


class Sample(NamedTuple):
    """One response. Texts are untrusted and not cleaned: this is done when they are displayed.

    step: training step, from the name of the file, its folder or the record. split: `train`, `eval`, or the
    name of the table. length: in tokens, or in characters if the file has no length.
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
    counted: bool = False  # whether the length is in characters
    stop: str = ""
    group: str | None = None  # samples of one prompt
    id: str = ""
    dataset: str = ""
    ok: bool = True
    metadata: Mapping[str, object] = MappingProxyType({})
    note: str = ""  # the reason if there is no text


class SampleHead(NamedTuple):
    """The fields of a sample for lists, and the position of its record; without texts."""

    file: int  # index of its file
    offset: int  # of the first byte of its record
    size: int  # bytes of its record
    item: int  # index within the record
    step: int
    split: str
    reward: float | None
    advantage: float | None
    length: int | None
    stop: str
    group: str | None
    dataset: str
    ok: bool
    prompt: int  # hash of the prompt: equal prompts are a group if there is no `group`
    copy_key: int = 0  # hash that equal samples share where a framework writes some twice; else 0

    @property
    def key(self) -> str:
        """Identifies it among the samples of its run, until its file is rewritten."""
        return f"{self.file}:{self.offset}:{self.item}"


class Evaluation(NamedTuple):
    """The held-out samples of one data set at one step. Shares are in [0, 1].

    passed, pass_at_k: None if rewards do not show which responses pass. k: the smallest number of responses
    to a task.
    """

    dataset: str
    step: int
    samples: int
    tasks: int
    reward: float | None  # mean
    passed: float | None
    k: int
    pass_at_k: float | None


class SampleSummary(NamedTuple):
    """Further fields of a sample for lists; the beginning of its response is cleaned."""

    rewards: Mapping[str, float]
    response: str


def nearest_step(steps: Iterable[int], step: int) -> int | None:
    """The nearest of some steps to a step, the earlier of two; None without steps."""
    return min(steps, key=lambda each: (abs(each - step), each), default=None)


def head_of(sample: Sample, file: int, offset: int, size: int, item: int) -> SampleHead:
    """The head of a sample; for file, offset, size and item see `SampleHead`."""
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
