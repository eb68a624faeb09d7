"""The thread that reads samples near the logs, so that a blocked file system does not block keys."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from rltui.common import crash
from rltui.common.display_text import clean
from rltui.common.problem import Problem
from rltui.common.worker_thread import WorkerThread

if TYPE_CHECKING:
    from rltui.logs.sample_layouts.sample import Sample, SampleHead, SampleSummary
    from rltui.panes.context_panes.samples_pane import TextMatches
    from rltui.run_context.samples.indexes_by_run import SampleIndexes
    from rltui.run_context.samples.run_samples import RunSamples
    from rltui.run_context.samples.sample_index import SampleIndex

SLICE_SECONDS = 0.05  # of reading between checks for requests
LOOK_SECONDS = 0.4  # between checks of the files of the run shown
SEARCH_SECONDS_SHOWN = 0.6  # between searches for files while the pane is shown
SEARCH_SECONDS_HIDDEN = 60.0  # while it is not
SEARCH_SECONDS_UNCHANGED = 300.0  # and while no folder has changed either
REPORT_SECONDS = 0.3  # between snapshots of what has been read so far
WAIT_FACTOR = 5  # reading takes at most 1/5 of the time: file systems may be slow
WAIT_FACTOR_HIDDEN = 50
MAX_RUNS = 3  # whose heads are kept
MAX_TEXTS, MAX_CHARACTERS = 16, 32_000_000  # samples kept in full, and characters of them together
MAX_SUMMARIES = 2_000  # kept

Runs: TypeAlias = Mapping[str, Sequence[str]]  # paths of a run's logs by its name
NO_RUNS: Runs = MappingProxyType({})
Key: TypeAlias = "tuple[str, SampleHead]"  # the name of an index and a sample of it


class SamplesThread:
    """Reads samples once `follow` has been called."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self.thread = WorkerThread("samples", self._step, self._answered)
        self.logdirs = tuple(logdirs)
        self.version = 0  # rises with everything that is new
        self.heads_version = 0  # rises with new samples
        # Set by the screen.
        self._told: tuple[Runs, Runs, str | None, int | None] | None = None
        self._changes: int | None = None
        self._runs: Runs = NO_RUNS
        self._shown: str | None = None
        self._asked: OrderedDict[Key, None] = OrderedDict()
        self._asked_rows: tuple[str, tuple[SampleHead, ...]] | None = None
        self._asked_words: tuple[str, tuple[SampleHead, ...], str] | None = None
        # Set by the thread.
        self._owners: dict[str, str] = {}  # the index of each run that has samples
        self._found: dict[str, RunSamples] = {}
        self._texts: OrderedDict[Key, Sample | str] = OrderedDict()
        self._summaries: OrderedDict[Key, SampleSummary] = OrderedDict()
        self._matches: TextMatches | None = None
        self._matched: tuple[str, tuple[SampleHead, ...], str] | None = None
        self._kept: dict[str, bool] = {}  # by key, whether the words of the filter are in the sample
        self._searching: Iterator[tuple[SampleHead, Sample]] = iter(())
        self._reader = _Reader(self.logdirs)
        self._all_read = False  # of the run shown, at the last look
        self._searched = False
        self._failed: RunSamples | None = None  # says what went wrong

    # ---- for the screen

    def follow(
        self, runs: Runs, shown: str | None, *, others: Runs = NO_RUNS, changes: int | None = None
    ) -> None:
        """Set all runs, and the one whose samples are shown, if any; others: runs that are not listed.

        changes: as `LogSearch.changes`; None: not known.
        """
        told = (runs, others, shown, changes)
        if not self.logdirs or told == self._told:
            return
        with self.thread.lock:
            if shown != self._shown:
                self._all_read = False
            self._told, self._runs, self._shown, self._changes = told, {**others, **runs}, shown, changes
        self.thread.start()
        self.thread.wake()

    def has(self, run: str) -> bool:
        """Whether files of samples of a run have been found."""
        return run in self._owners

    @property
    def loading(self) -> bool:
        """Whether more samples of the run shown may be found."""
        return bool(self.logdirs) and not (self._searched and self._all_read)

    def of(self, run: str) -> RunSamples | None:
        """The samples of a run as far as they have been read."""
        return self._found.get(self._owners.get(run, ""), self._failed)

    def sample(self, run: str, head: SampleHead) -> Sample | str | None:
        """A sample in full, or a message why it cannot be read; None while it is being read."""
        key = (self._owners.get(run, run), head)
        with self.thread.lock:
            if key not in self._texts and not self.thread.stopped:
                self._asked[key] = None
                while len(self._asked) > 2:  # only the latest requests count
                    self._asked.popitem(last=False)
                self.thread.wake()
            return self._texts.get(key)

    def summaries(self, run: str, heads: Sequence[SampleHead]) -> dict[str, SampleSummary]:
        """The summaries of visible rows, by key; missing ones are requested."""
        owner = self._owners.get(run, run)
        with self.thread.lock:
            found = {h.key: s for h in heads if (s := self._summaries.get((owner, h))) is not None}
            if len(found) < len(heads):
                self._asked_rows = (owner, tuple(head for head in heads if head.key not in found))
                self.thread.wake()
        return found

    def matches(self, run: str, heads: tuple[SampleHead, ...], expression: str) -> TextMatches | None:
        """The samples that match the words of a filter, as far as they have been searched."""
        asked = (self._owners.get(run, run), heads, expression)
        with self.thread.lock:
            if self._asked_words != asked:
                self._asked_words = asked
                self.thread.wake()
            return self._matches if self._matched == asked else None

    def _answered(self) -> bool:
        """Whether all requests are answered."""
        if not self.thread.started:
            return not self._asked
        words = self._asked_words is not None and (
            self._matched != self._asked_words
            or self._matches is None
            or self._matches.read < self._matches.of
        )
        unread = self._shown is not None and not self._all_read
        return not (self._asked or self._asked_rows is not None or words or unread or not self._searched)

    # ---- the thread

    def _step(self) -> float:
        """Do the most urgent work; after an unexpected error wait for a while."""
        try:
            return self._look()
        except Exception as error:  # noqa: BLE001 (other samples are still wanted)
            self._fail(error)
            return SEARCH_SECONDS_HIDDEN

    def _fail(self, error: Exception) -> None:
        """Show the first unexpected error in place of samples, and drop all requests."""
        from rltui.run_context.samples.run_samples import RunSamples  # as in `_runs`

        if self._failed is None:
            problem = Problem("error", "internal-error", "samples", crash.report(error))
            self._failed = RunSamples(problems=(problem,))
        with self.thread.lock:
            self._asked.clear()
            self._asked_rows = None
            self._all_read = self._searched = True
            self.heads_version += 1
        self._publish()

    def _look(self) -> float:
        """Do the most urgent work; returns the seconds until the next work without a request."""
        reader = self._reader
        with self.thread.lock:
            runs, shown, rows, changes = self._runs, self._shown, self._asked_rows, self._changes
            wanted = next(reversed(self._asked), None)
            words = self._asked_words
        if wanted is not None:
            self._load(wanted)
            return 0.0
        if rows is not None:
            self._summarize(*rows)
            return 0.0
        now = time.monotonic()
        if now >= reader.search_due(shown is not None, runs, changes):
            owners, searched = self._owners, self._searched
            self._owners = reader.search(runs, changes)
            self._searched = True
            if shown is not None or not searched or owners != self._owners:
                self._publish()
        owner = self._owners.get(shown or "")
        if owner is None:
            self._note_read(shown, self._searched)
        elif now >= reader.read_due:
            done, found = reader.read(owner)
            self._note_read(shown, done)
            if found is not None:
                self._found = {name: one for name, one in self._found.items() if name in reader.recent}
                self._found[owner] = found
                self.heads_version += 1
                self._publish()
        if words is not None and self._match(*words):
            return 0.0
        if not self._all_read:
            return 0.001
        dues = [reader.search_due(shown is not None, runs, changes)]
        if owner is not None:
            dues.append(reader.read_due)
        return max(min(dues) - time.monotonic(), 0.02)

    def _note_read(self, shown: str | None, done: bool) -> None:
        """Note whether all samples of a run are read, unless another one is shown meanwhile."""
        with self.thread.lock:
            if shown == self._shown:
                self._all_read = done

    def _publish(self) -> None:
        self.version += 1
        self.thread.notify()

    def _load(self, key: Key) -> None:
        text: Sample | str
        try:
            text = self._reader.load(*key)
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            text = f"changed while it was read, or cannot be read: {clean(str(error), 100)}"
        with self.thread.lock:
            self._texts[key] = text
            self._asked.pop(key, None)
            while len(self._texts) > MAX_TEXTS or (
                len(self._texts) > 2 and sum(map(_characters, self._texts.values())) > MAX_CHARACTERS
            ):
                self._texts.popitem(last=False)
        self._publish()

    def _summarize(self, owner: str, heads: tuple[SampleHead, ...]) -> None:
        from rltui.run_context.samples.sample_text import summary  # as in `_runs`

        until = time.monotonic() + SLICE_SECONDS
        made: dict[Key, SampleSummary] = {}
        over = True
        for head, sample in self._reader.load_many(owner, heads):
            made[owner, head] = summary(sample)
            if time.monotonic() > until:
                over = False
                break
        with self.thread.lock:
            self._summaries.update(made)
            if over:  # what cannot be read is not asked for again and again
                for head in heads:
                    self._summaries.setdefault((owner, head), _unreadable_summary())
            while len(self._summaries) > MAX_SUMMARIES:
                self._summaries.popitem(last=False)
            if self._asked_rows == (owner, heads):
                self._asked_rows = None
        self._publish()

    def _match(self, owner: str, heads: tuple[SampleHead, ...], expression: str) -> bool:
        """Search texts for the words of a filter for a slice of time; True if there is more to do."""
        from rltui.panes.context_panes.samples_pane import parsed_filter  # as in `_runs`

        asked = (owner, heads, expression)
        if self._matched != asked:
            if self._matched is None or (self._matched[0], self._matched[2]) != (owner, expression):
                self._kept = {}
            left = [head for head in heads if head.key not in self._kept]
            self._searching = self._reader.load_many(owner, left)
            self._matched, self._matches = asked, self._matches_of(heads)
        wanted, _ = parsed_filter(expression)
        if wanted is None or self._matches is None or self._matches.read >= self._matches.of:
            return False
        until = time.monotonic() + SLICE_SECONDS
        for head, sample in self._searching:
            self._kept[head.key] = wanted.keeps_text(sample)
            if time.monotonic() > until:
                break
        else:  # what cannot be read matches nothing
            self._kept.update((head.key, False) for head in heads if head.key not in self._kept)
        self._matches = self._matches_of(heads)
        self._publish()
        return self._matches.read < self._matches.of

    def _matches_of(self, heads: tuple[SampleHead, ...]) -> TextMatches:
        from rltui.panes.context_panes.samples_pane import TextMatches  # as in `_runs`

        known = [head.key for head in heads if head.key in self._kept]
        return TextMatches(frozenset(key for key in known if self._kept[key]), len(known), len(heads))


class _Reader:
    """Files of samples, and when they are read; used only by the thread."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self._logdirs = logdirs
        self._made: SampleIndexes | None = None
        self._search_ended = float("-inf")
        self._search_took = 0.0
        self._changes: int | None = None  # as they were when the search began
        self.read_due = 0.0
        self.recent: list[str] = []  # owners whose heads are held
        self._told: object = None  # what had been read at the last snapshot
        self._tell_due = 0.0

    @property
    def _runs(self) -> SampleIndexes:
        if self._made is None:
            from rltui.run_context.samples.indexes_by_run import SampleIndexes  # 4 ms, only with samples

            self._made = SampleIndexes(self._logdirs)
        return self._made

    def search_due(self, shown: bool, runs: Runs, changes: int | None) -> float:
        """When to search for files next; known files may belong to a new run."""
        if not shown and len(runs) == len(self._runs.runs):
            same = changes is not None and (changes, runs) == (self._changes, self._runs.runs)
            hidden = SEARCH_SECONDS_UNCHANGED if same and not self._runs.unsure else SEARCH_SECONDS_HIDDEN
            return self._search_ended + max(hidden, self._search_took * WAIT_FACTOR_HIDDEN)
        return self._search_ended + max(SEARCH_SECONDS_SHOWN, self._search_took * WAIT_FACTOR)

    def search(self, runs: Runs, changes: int | None) -> dict[str, str]:
        """Search for files of samples; returns the owner of the samples of each run that has some."""
        self._changes = changes
        began = time.monotonic()
        known = self._runs.search(runs)
        self._search_ended = time.monotonic()
        self._search_took = self._search_ended - began
        self.read_due = 0.0
        return known

    def read(self, owner: str) -> tuple[bool, RunSamples | None]:
        """Read new samples for a slice of time. Whether all are read, and the samples if any are new."""
        index = self._runs.indexes.get(owner)
        if index is None:
            return True, None
        first = self.recent[-1:] != [owner]
        self.recent = [*(one for one in self.recent if one != owner), owner]
        for old in self.recent[:-MAX_RUNS]:
            self._runs.forget(old)
        self.recent = self.recent[-MAX_RUNS:]
        began = time.monotonic()
        done = index.refresh(SLICE_SECONDS)
        ended = time.monotonic()
        self.read_due = ended + max(LOOK_SECONDS, (ended - began) * WAIT_FACTOR) if done else 0.0
        now = _state(index)
        if not first and (now == self._told or (not done and ended < self._tell_due)):
            return done, None
        found = index.snapshot()
        self._told, self._tell_due = (
            now,
            time.monotonic() + max(REPORT_SECONDS, (time.monotonic() - ended) * WAIT_FACTOR),
        )
        return done, found

    def load(self, owner: str, head: SampleHead) -> Sample:
        """A sample in full. Raises what `SampleIndex.load` does."""
        return self._runs.indexes[owner].load(head)

    def load_many(self, owner: str, heads: Sequence[SampleHead]) -> Iterator[tuple[SampleHead, Sample]]:
        """Several samples, as far as they can be read."""
        index = self._runs.indexes.get(owner)
        return iter(()) if index is None else index.load_many(heads)


def _state(index: SampleIndex) -> tuple[object, ...]:
    """Values that change when an index has read something."""
    last = index.heads[-1] if index.heads else None
    taken = sum(file.samples for file in index.files)  # duplicates included
    return (taken, len(index.heads), last, len(index.problems), index.left_out, index.bytes_left)


def _characters(text: Sample | str) -> int:
    if isinstance(text, str):
        return len(text)
    return len(text.prompt) + len(text.response) + sum(len(one.text) for one in text.messages)


def _unreadable_summary() -> SampleSummary:
    from rltui.logs.sample_layouts.sample import SampleSummary  # as in `_runs`

    return SampleSummary({}, "(cannot be read)")
