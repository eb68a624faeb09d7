"""Assigns logs to runs: logs of sub-runs, of samples and evaluations, and duplicate logs.

See `sub_runs` and `duplicate_logs`, which know nothing of the state of logs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rltui.logs.discovery import duplicate_logs, kept_evaluations
from rltui.logs.discovery.duplicate_logs import (
    LogBeginning,
    LogParts,
    distance,
    has_less_than_console,
    has_less_than_table,
    is_console_of_tracker,
    is_copy,
    may_be_copy,
    may_repeat,
    prints,
    prints_by,
    uncopied,
)
from rltui.logs.discovery.kept_evaluations import keeps_evaluations
from rltui.logs.discovery.nearest_run import NearestRun
from rltui.logs.discovery.sub_runs import parent_of
from rltui.logs.file_calls import Calls, GivenUpError
from rltui.logs.formats.interface import File, Format
from rltui.logs.found_file import FoundFile
from rltui.logs.log_file.log_file import LogFile
from rltui.logs.log_file_names import TRAINER_STATE, is_events, names, rotated_from, stem_of
from rltui.logs.run_names import folders_above
from rltui.logs.sample_layouts.layouts import LayoutMatch, match_log

T = TypeVar("T")

MAX_COMPARED = 16  # logs with which one is compared
MAX_IN_FOLDER = 256  # logs below a folder among which duplicates are searched for
_FEW_TABLES = 8  # logs in a folder among which tables that repeat others are sought


@dataclass(slots=True)
class _Beginning:
    """The beginning of a log, and when it was read."""

    sample: LogBeginning | None
    generation: int  # of the log
    size: int  # bytes of the log at that time


class RunAssignment:
    """All logs of the LOGDIRs and the runs that they are assigned to."""

    def __init__(self) -> None:
        self.mains: dict[LogFile, LogFile] = {}  # by duplicate, the main log
        self._events: dict[str, list[str]] = {}  # folder: names of its event files
        self._rotated: dict[str, list[LogFile]] = {}  # by original path
        self._mixed = False  # whether any log may be a duplicate: one that is no event file, or a copy
        self._below: dict[str, list[LogFile]] = {}  # folder: logs in it and below
        self._parts: dict[str, list[LogFile]] = {}  # by key: logs in containers
        self._by_name: dict[str, list[LogFile]] = {}  # see `duplicate_logs.names_of`
        self._copied: set[str] = set()  # folders and names of logs that have copies in their own format
        self._assigned: set[LogFile] = set()  # whose run is final
        self._beginnings: dict[LogFile, _Beginning] = {}
        self._samples: dict[LogFile, LayoutMatch] = {}
        self._companions: dict[str, list[LogFile]] = {}  # by folder: episodes and evaluations
        self._others: list[LogFile] = []  # that are none of samples
        self._recount = False  # others were found since they were counted
        self._counted: dict[LogFile, str] = {}  # by log of `_others`, the run for which it was counted
        self.nearest = NearestRun()

    def add(self, log: LogFile) -> None:
        """Add a log that was found."""
        found = log.found
        if (match := match_log(found.path)) is not None:
            self._samples[log] = match
            return
        if names().companions.search(found.name):
            for folder in dict.fromkeys((found.folder, _home(found.folder))):
                self._companions.setdefault(folder, []).append(log)
        self._others.append(log)
        self._recount = True
        folders = (found.folder, *folders_above(found.folder))
        shared_names = duplicate_logs.names_of(found.folder, found.name)
        for folder in folders:
            self._below.setdefault(folder, []).append(log)
        for name in shared_names:
            self._by_name.setdefault(name, []).append(log)
        partial = stem_of(found.name) in names().partial_copies - {"metrics"}
        if found.name == TRAINER_STATE or partial or is_copy(log):
            self._copied.update(folders, shared_names)
        if found.part is not None and found.part.key:
            self._parts.setdefault(found.part.key, []).append(log)
        base = f"{found.folder}/{rotated_from(found.name) or found.name}"
        rotated = self._rotated.setdefault(base, [])
        rotated.append(log)
        if len(rotated) > 1:
            for each in rotated:
                each.rotated = rotated
        if is_events(found.name):
            self._events.setdefault(found.folder, []).append(found.name)
        if not is_events(found.name) or is_copy(log):
            self._mixed = True

    def place(self, log: LogFile, calls: Calls) -> list[tuple[LogFile, str]]:
        """Assign a log to its run, as far as its beginning allows.

        Returns the logs whose `run` or `duplicate_of` changed, each with the name of its run before. Reads
        the beginnings of the log and of the nearest logs of other formats, once each. Raises GivenUpError.
        """
        if log in self._samples:
            if self._recount:
                self._recount = False
                self._count(self._others, calls)
            return self._attach([log])
        if log.format is None or log.duplicate_of is not None:
            return []
        changed: list[tuple[LogFile, str]] = []
        before = log.run
        if log not in self._assigned and self._fold(log, calls):
            changed.append((log, before))
        if duplicate_logs.is_misnamed(log.format.name, log.found.name):
            self._copied.add(log.found.folder)
        if self._mixed and log.tag_map is None:
            changed += self._match(log, calls)
        if self._companions:
            changed += self._accompany(log)
        if self._samples and self._count([log, *(other for other, _ in changed)], calls):
            changed += self._attach(self._samples)
        return changed

    def imported(self, log: LogFile) -> list[tuple[LogFile, str]]:
        """Deleted logs whose rows were imported into another log of the same run, and are its duplicates now.

        Each with the name of its run before.
        """
        part = log.found.part
        alike = self._parts.get(part.key, []) if part is not None else []
        mains = [
            each
            for each in alike
            if not (each.gone or _moves(each) or each.duplicate_of) and each.reader is not None
        ]
        if not mains:
            return []
        moved = [each for each in alike if _moves(each) and each.gone and each.duplicate_of is None]
        return [pair for each in moved for pair in self._join(each, mains[0])]

    def freed(self, duplicate: LogFile) -> bool:
        """Whether the main log of a duplicate was deleted, so that it is no duplicate any more."""
        main = self.mains.get(duplicate)
        if main is None or not main.gone:
            return False
        del self.mains[duplicate]
        duplicate.duplicate_of, duplicate.run = None, duplicate.found.run
        return True

    def undecided(self, log: LogFile) -> bool:
        """Whether the log may still turn out to belong to another run."""
        if log.duplicate_of is not None or log in self._samples:
            return False
        known = self._beginnings.get(log)
        return (
            known is None
            or known.generation != log.generation
            or known.sample is None
            or not known.sample.complete
            or keeps_evaluations(log.found)  # later ones may be the first that tell
        )

    def mixed_with(self, log: LogFile, others: Iterable[LogFile]) -> list[LogFile]:
        """Published logs that share tags with `log` in its run, so that they must be delivered again with it.

        Without those that cannot be read completely any more.
        """
        tags = set(log.tags)
        return [
            other
            for other in others
            if other is not log
            and other.run == log.run
            and other.duplicate_of is None
            and other.published
            and other.complete
            and not tags.isdisjoint(other.tags)
        ]

    # -- files of samples

    def _count(self, others: Iterable[LogFile], calls: Calls) -> bool:
        """Update the folders of these logs in `nearest`; whether anything changed."""
        changed = False
        for log in others:
            _detect_format(log, calls)
            if log.format is None:
                continue
            before = self._counted.get(log)
            if before != log.run:
                if before is not None:
                    self.nearest.remove(before, log.found.folder)
                self.nearest.add(log.run, log.found.folder)
                self._counted[log] = log.run
                changed = True
        return changed

    def _attach(self, logs: Iterable[LogFile]) -> list[tuple[LogFile, str]]:
        """Assign files of samples to the nearest runs; those that changed, with their runs before."""
        changed = []
        runs: dict[str, str | None] = {}  # by folder
        for log in logs:
            if log.format is None:
                continue
            match = self._samples[log]
            if match.folder not in runs:
                runs[match.folder] = self.nearest.of(match.folder)
            run = runs[match.folder]
            # Metrics computed from samples are in the logs of the run as well.
            duplicate_of = run if match.layout.kind == "metrics" else None
            if (run or log.found.run, duplicate_of) != (log.run, log.duplicate_of):
                changed.append((log, log.run))
                log.run, log.duplicate_of = run or log.found.run, duplicate_of
        return changed

    # -- episodes and evaluations near the logs of a training

    def _accompany(self, log: LogFile) -> list[tuple[LogFile, str]]:
        """Assign those in the folder of a log, and above, to the only training there; what changed."""
        changed = []
        for folder in (log.found.folder, *folders_above(log.found.folder)):
            for each in self._companions.get(folder, ()):
                new = self._only_training(each.found) or each.found.run
                if each.duplicate_of is None and each.run != new:
                    changed.append((each, each.run))
                    each.run = new
        return changed

    def _only_training(self, companion: FoundFile) -> str | None:
        """The run of all other logs in and below the folder of a companion, or else in the folder above it.

        None if there are several, or several monitors, which have the same tags and remain separate.
        """
        for folder in dict.fromkeys((companion.folder, _home(companion.folder))):
            runs: set[str] = set()
            for each in self._below.get(folder, ()):
                known = each.format is not None or is_events(each.found.name)
                if known and not each.gone and not names().companions.search(each.found.name):
                    runs.add(each.run)
                    if len(runs) > 1:
                        return None
            if runs:
                beside = [each.found for each in self._companions.get(folder, ())]
                monitors = {each.run for each in beside if "monitor" in each.name}
                return None if "monitor" in companion.name and len(monitors) > 1 else runs.pop()
        return None

    # -- sub-runs

    def _fold(self, log: LogFile, calls: Calls) -> bool:
        """Assign a log to the run above if it is one of a sub-run; whether it is."""
        found = log.found
        if not is_events(found.name) or not any(map(self._events.get, folders_above(found.folder))):
            return False
        sample = self._sample(log, calls)
        if sample is None or (sample.empty and not sample.hparams and not sample.complete):
            return False
        self._assigned.add(log)
        parent = parent_of(found.folder, found.name, sample, self._events)
        if parent is None:
            return False
        log.run = parent.folder or "."
        log.tag_map = parent.rename
        return True

    # -- duplicates

    def _match(self, log: LogFile, calls: Calls) -> list[tuple[LogFile, str]]:
        found, known = log.found, log.format
        assert known is not None
        own_rank = duplicate_logs.rank(known, found.name)

        def is_candidate(other: LogFile) -> bool:
            _detect_format(other, calls)
            # A log with less data is compared itself before it is published.
            return (
                other is not log
                and other.format is not None
                and (other.format.name != known.name or may_be_copy(known.name, found, other.found))
                and other.duplicate_of is None
                and not other.gone
                and (other.published or duplicate_logs.rank(other.format, other.found.name) <= own_rank)
            )

        candidates = self._near(found, known, is_candidate)
        if not candidates:
            return []
        sample = self._sample(log, calls)
        if sample is None or sample.empty:
            return []
        changed: list[tuple[LogFile, str]] = []
        for other in sorted(candidates, key=lambda other: distance(found, other.found))[:MAX_COMPARED]:
            its = self._sample(other, calls)
            main = None if its is None or its.empty else self._main_of(log, other, sample, its, calls)
            if main is other:
                return [*changed, *self._join(log, other)]
            if main is log:
                changed += self._join(other, log)
        return changed

    def _main_of(
        self, log: LogFile, other: LogFile, sample: LogBeginning, its: LogBeginning, calls: Calls
    ) -> LogFile | None:
        """The main one of two logs, by their beginnings; None if they are no duplicates."""
        assert log.format is not None and other.format is not None
        alike = other.format is log.format and may_repeat(log.format) and set(sample.tags) == set(its.tags)
        if alike and uncopied(log.found.name) != uncopied(other.found.name):
            return None  # trainings of one program, which have the same columns
        if has_less_than_console(log, other, sample, its):
            return None
        begin = its_begin = 0
        beside, copy = other.found.folder == log.found.folder, other.format.name == log.format.name
        related = self._is_only_console(log, other, calls) or is_console_of_tracker(log, other)
        if keeps_evaluations(log.found) != keeps_evaluations(other.found):
            kept, main = (log, other) if keeps_evaluations(log.found) else (other, log)
            if self._repeats_evaluations(kept, main, calls):
                return main
            if log.run != other.run:
                return None
        if not related and not duplicate_logs.same(sample, its, beside=beside, copy=copy):
            if log.run != other.run or self._same_end(log, other, calls) is not True:
                return None
            # the one that begins earlier has more data
            begin, its_begin = min(sample.rows), min(its.rows)
        elif not related and not copy and self._same_end(log, other, calls) is False:
            return None  # trainings with one seed, whose policies were the same in the beginning
        misnamed = [duplicate_logs.is_misnamed(log.format.name, each.found.name) for each in (log, other)]
        if copy and misnamed[0] != misnamed[1]:
            return self._richest(log, other, calls)
        if beside and begin == its_begin:
            begin, its_begin = int(has_less_than_table(sample, its)), int(has_less_than_table(its, sample))
        return other if _order(other, its_begin) < _order(log, begin) else log

    def _richest(self, log: LogFile, other: LogFile, calls: Calls) -> LogFile | None:
        """The log that has all of the other one with the same values; None if each has more in some respect.

        If they have the same, it is the one that is named as logs of their format are.
        """
        parts, its = self._begin_and_end(log, calls), self._begin_and_end(other, calls)
        if parts is None or its is None:
            return None
        for late in (0, 1):  # one of them may be written first
            more, less = (duplicate_logs.covers(*pair, late) for pair in ((parts, its), (its, parts)))
            if more and less:
                return min(log, other, key=lambda each: _order(each, 0))
            if more or less:
                return log if more else other
        return None

    def _begin_and_end(self, log: LogFile, calls: Calls) -> LogParts | None:
        """The beginning and the end of a log; None if it cannot be read."""
        sample, end = self._sample(log, calls), _read(log, duplicate_logs.ending, calls)
        return LogParts(sample, end, log.size) if sample and end else None

    def _near(
        self, found: FoundFile, known: Format, is_candidate: Callable[[LogFile], bool]
    ) -> list[LogFile]:
        """Logs that may be duplicates: those of the same name, and those in the nearest folder with any."""
        near: list[LogFile] = []
        for name in duplicate_logs.names_of(found.folder, found.name):
            logs = self._by_name.get(name, ())[:MAX_IN_FOLDER]
            if self._may_differ(name, logs, known):
                near += filter(is_candidate, logs)
        for folder in (found.folder, *folders_above(found.folder)):
            logs = self._below.get(folder, ())
            if len(logs) > MAX_IN_FOLDER:
                break
            differ = self._may_differ(folder, logs, known)
            beside = [log for log in logs if is_candidate(log)] if differ else []
            near += beside
            # For a console the search continues until there is a log that it may be the console of.
            decisive = [log for log in beside if log.format is not known or not may_repeat(known)]
            if decisive and not (
                prints(known) and all(log.format is None or prints(log.format) for log in beside)
            ):
                break
        return list(dict.fromkeys(near))

    def _may_differ(self, place: str, logs: Sequence[LogFile], known: Format) -> bool:
        """Whether any log of a folder or name may be a duplicate of one of a format: mostly none is."""
        if place in self._copied or known.name in names().copied_formats:
            return True
        if may_repeat(known) and len(logs) <= _FEW_TABLES:
            return True
        return any(log.unrequested or (log.format is not None and log.format is not known) for log in logs)

    def _join(self, duplicate: LogFile, main: LogFile) -> list[tuple[LogFile, str]]:
        """Make a log and its own duplicates duplicates of `main`."""
        joined = [duplicate, *(other for other, its in self.mains.items() if its is duplicate)]
        before = [(each, each.run) for each in joined]
        for each in joined:
            self.mains[each] = main
            each.run = each.duplicate_of = main.run
        return before

    def _is_only_console(self, one: LogFile, other: LogFile, calls: Calls) -> bool:
        """Whether one is the only console in the folder of the other, a proper log.

        If there are several consoles with different content, the folder does not show which one belongs to
        it.
        """
        if not prints_by(one, other):
            return False
        console, proper = (one, other) if one.format is not None and prints(one.format) else (other, one)
        own = self._sample(console, calls)
        for each in self._below.get(console.found.folder, ())[:MAX_IN_FOLDER]:
            beside = each.found.folder == console.found.folder and not each.gone
            if not beside or stem_of(each.found.name) == stem_of(console.found.name):
                continue
            if duplicate_logs.are_numbered_apart(each.found.path, proper.found.path):
                continue  # it is of another run
            _detect_format(each, calls)
            if each.format is None or not prints(each.format):
                continue
            its = self._sample(each, calls)
            if own is None or its is None or its.empty:
                continue
            if duplicate_logs.same(own, its, beside=True, copy=True) is False:
                return False
        return True

    def _same_end(self, one: LogFile, other: LogFile, calls: Calls) -> bool | None:
        """Whether the ends of logs have the same values; None if they have too few at the same steps."""
        ends = [
            end._replace(rounded=sample.rounded, counted=sample.counted)
            for log in (one, other)
            if (sample := self._sample(log, calls)) and (end := _read(log, duplicate_logs.ending, calls))
        ]
        return duplicate_logs.same_end(*ends) if len(ends) == 2 else None

    def _repeats_evaluations(self, kept: LogFile, main: LogFile, calls: Calls) -> bool:
        """Whether a file of evaluations certainly has those of the training in another log."""
        own = _read(kept, kept_evaluations.evaluations, calls)
        if not own or not kept_evaluations.vary(own):
            return False
        its = _read(main, kept_evaluations.evaluations, calls)
        if its:
            return kept_evaluations.are_repeated(own, its) is True
        every = _read(main, lambda known, file: kept_evaluations.series_at(known, file, own), calls)
        return every is not None and kept_evaluations.are_a_series(own, every)

    def _sample(self, log: LogFile, calls: Calls) -> LogBeginning | None:
        """The beginning of a log; read again if the log has grown and it was incomplete."""
        known = self._beginnings.get(log)
        if known is None or known.generation != log.generation:
            known = self._beginnings[log] = _Beginning(None, log.generation, -1)
        complete = known.sample is not None and known.sample.complete
        if not (complete or known.size == log.size or log.format is None or log.hung):
            known.size = log.size
            known.sample = _read(log, duplicate_logs.sample, calls) or known.sample
        return known.sample


def _order(log: LogFile, begin: int) -> tuple[int, int, bool, int, bool, str]:
    """Sorts duplicates, the main log first. begin: the lower, the more data it has at its beginning."""
    assert log.format is not None
    rank = duplicate_logs.rank(log.format, log.found.name)
    misnamed = duplicate_logs.is_misnamed(log.format.name, log.found.name)
    return (begin, rank, misnamed, -log.size, is_copy(log), log.found.path)


def _detect_format(log: LogFile, calls: Calls) -> None:
    """Open a log of a run that was not requested, to detect its format."""
    if log.unrequested and not (log.opened or log.hung):
        log.visit(calls, 0.0, trust=True, until=None)


def _home(folder: str) -> str:
    """The folder of the training that has its logs in `folder`: the one above `eval_logs` and the like."""
    above, _, name = folder.rpartition("/")
    known = names()
    name = name.lower()
    bare = name in known.plain_folders or "monitor" in name or known.evaluation.search(name)
    return above if bare else folder


def _read(log: LogFile, read: Callable[[Format, File], T], calls: Calls) -> T | None:
    """A part of a log; None if it cannot be read, as its visit will report. Raises GivenUpError."""
    assert log.format is not None
    calls.subject = log
    try:
        with log.file(calls) as file:
            return read(log.format, file)
    except GivenUpError:
        raise
    except Exception:  # noqa: BLE001 - the visit of that log reports what is wrong with it
        return None


def _moves(log: LogFile) -> bool:
    return log.found.part is not None and log.found.part.moves
