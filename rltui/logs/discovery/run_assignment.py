"""Which logs make up one run: sub-runs that a writer made, and logs that say again what others say.

Sub-runs belong to the run above them. `add_scalars` gives every curve its own folder and event file, with
one tag in it: torch `<run>/<main tag with _ for />_<key>/`, tensorboardX `<run>/<main tag>/<key>/`.
`add_hparams` writes `<run>/<unix time>/` or `<run>/<run_name>/` with hparams and a few single points.
A folder is folded only where its content bears its name out. For duplicates see `duplicate_logs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile

from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.logs.discovery import duplicate_logs
from rltui.logs.discovery.nearest_run import NearestRun
from rltui.logs.file_calls import Calls, GivenUpError
from rltui.logs.formats.interface import Format
from rltui.logs.found_file import FoundFile
from rltui.logs.log_file.log_file import LogFile
from rltui.logs.log_file_names import TRAINER_STATE, is_events, names, rotated_from, stem_of
from rltui.logs.run_names import folders_above
from rltui.logs.sample_layouts.layouts import Place, log_place

NEAREST = 16  # logs that one is compared with at most
_FEW = 3  # a console of that many times the series of a log is no copy of it
CROWD = 256  # logs below one folder among which no duplicate is sought by place alone


class Parent(NamedTuple):
    """Where a sub-run belongs."""

    folder: str
    rename: Callable[[str], str]  # from the tag in the file to the tag in the run


@dataclass(slots=True)
class _Beginning:
    """What the beginning of a log says, and when it was asked."""

    sample: duplicate_logs.LogBeginning | None
    generation: int  # of the log
    size: int  # bytes that the log had


class RunAssignment:
    """All logs of the LOGDIRs and what was found out about their belonging together."""

    def __init__(self) -> None:
        self.mains: dict[LogFile, LogFile] = {}  # duplicate: the log that says the same
        self._events: dict[str, list[str]] = {}  # folder: names of its event files
        self._rotated: dict[str, list[LogFile]] = {}  # by the name they had
        self._mixed = False  # whether any log may be a duplicate: one that is no event file, or a copy
        self._below: dict[str, list[LogFile]] = {}  # folder: logs in it and below
        self._parts: dict[str, list[LogFile]] = {}  # by key: logs in containers
        self._called: dict[str, list[LogFile]] = {}  # name of a file or folder: logs
        self._copied: set[str] = set()  # folders and names of logs that have copies of their own format
        self._placed: set[LogFile] = set()  # whose run is known for good
        self._beginnings: dict[LogFile, _Beginning] = {}
        self._samples: dict[LogFile, Place] = {}
        self._companions: dict[str, list[LogFile]] = {}  # by folder: episodes and evaluations
        self._others: list[LogFile] = []
        self._recount = False  # others were found since they were counted
        self._counted: dict[LogFile, str] = {}  # log that is none of samples: the run that it counts for
        self.nearest = NearestRun()

    def add(self, log: LogFile) -> None:
        """A log was found."""
        found = log.found
        if (place := log_place(found.path)) is not None:
            self._samples[log] = place
            return
        if names().companions.search(found.name):
            for folder in dict.fromkeys((found.folder, _home(found.folder))):
                self._companions.setdefault(folder, []).append(log)
        self._others.append(log)
        self._recount = True
        folders = (found.folder, *folders_above(found.folder))
        called = duplicate_logs.names_of(found.folder, found.name)
        for folder in folders:
            self._below.setdefault(folder, []).append(log)
        for name in called:
            self._called.setdefault(name, []).append(log)
        partial = stem_of(found.name) in names().partial_copies - {"metrics"}
        if found.name == TRAINER_STATE or partial or _is_copy(log):
            self._copied.update(folders, called)
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
        if not is_events(found.name) or _is_copy(log):
            self._mixed = True

    def place(self, log: LogFile, calls: Calls) -> list[tuple[LogFile, str]]:
        """Find out which run a log belongs to, as far as its beginning tells.

        Returns the logs whose place changed, each with the name of the run that it had belonged to.

        A changed log has another `run`, and `duplicate_of` set or taken away. Reads the beginnings of the log
        and of its nearest neighbours of other formats, once each. Raises GivenUpError.
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
        if log not in self._placed and self._fold(log, calls):
            changed.append((log, before))
        if self._mixed and log.tag_map is None:
            changed += self._match(log, calls)
        if self._companions:
            changed += self._accompany(log)
        if self._samples and self._count([log, *(other for other, _ in changed)], calls):
            changed += self._attach(self._samples)
        return changed

    def imported(self, log: LogFile) -> list[tuple[LogFile, str]]:
        """Vanished logs whose rows are in another log of the same run now: an inbox that was imported.

        They become duplicates. Each comes with the name of the run that it had belonged to.
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
        """Whether the log that said the same has vanished, so that the duplicate stands for itself again."""
        main = self.mains.get(duplicate)
        if main is None or not main.gone:
            return False
        del self.mains[duplicate]
        duplicate.duplicate_of, duplicate.run = None, duplicate.found.run
        return True

    def undecided(self, log: LogFile) -> bool:
        """Whether it may still turn out that the log belongs elsewhere."""
        if log.duplicate_of is not None or log in self._samples:
            return False
        known = self._beginnings.get(log)
        return (
            known is None
            or known.generation != log.generation
            or known.sample is None
            or not known.sample.complete
        )

    def mixed_with(self, log: LogFile, others: Iterable[LogFile]) -> list[LogFile]:
        """Logs whose points a run holds mixed with those of `log`, since both speak of the same tags.

        When one is delivered anew the others must be, too. Those are left out that no longer could be.
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
        """Note where these logs of runs lie; whether that changed anything."""
        changed = False
        for log in others:
            _know_format(log, calls)
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
        """Give files of samples to the nearest runs; those that changed, with the runs that they had."""
        changed = []
        runs: dict[str, str | None] = {}  # by folder
        for log in logs:
            if log.format is None:
                continue
            place = self._samples[log]
            if place.folder not in runs:
                runs[place.folder] = self.nearest.of(place.folder)
            run = runs[place.folder]
            # Metrics that were computed of samples are in the logs of the run, too.
            duplicate_of = run if place.layout.kind == "metrics" else None
            if (run or log.found.run, duplicate_of) != (log.run, log.duplicate_of):
                changed.append((log, log.run))
                log.run, log.duplicate_of = run or log.found.run, duplicate_of
        return changed

    # -- episodes and evaluations beside the logs of a training

    def _accompany(self, log: LogFile) -> list[tuple[LogFile, str]]:
        """Give those above a log, or that it is one of, to the only training there; what changed."""
        changed = []
        for folder in (log.found.folder, *folders_above(log.found.folder)):
            for each in self._companions.get(folder, ()):
                new = self._only_training(each.found) or each.found.run
                if each.duplicate_of is None and each.run != new:
                    changed.append((each, each.run))
                    each.run = new
        return changed

    def _only_training(self, companion: FoundFile) -> str | None:
        """The run of all other logs in and below the folder of a companion, or else of those beside it.

        None where there are several, or several monitors: these have the same tags, and are kept apart.
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
        """Whether the log is a sub-run: then it is given its place in the run above."""
        found = log.found
        if not is_events(found.name) or not any(map(self._events.get, folders_above(found.folder))):
            return False
        sample = self._sample(log, calls)
        if sample is None or (sample.empty and not sample.hparams and not sample.complete):
            return False
        self._placed.add(log)
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
        mine = duplicate_logs.rank(known, found.name)

        def rival(other: LogFile) -> bool:
            _know_format(other, calls)
            # A poorer log asks for itself before it is published; only a published one must be corrected.
            return (
                other is not log
                and other.format is not None
                and (other.format.name != known.name or _may_be_copy(known.name, found, other.found))
                and other.duplicate_of is None
                and not other.gone
                and (other.published or duplicate_logs.rank(other.format, other.found.name) <= mine)
            )

        rivals = self._near(found, known, rival)
        if not rivals:
            return []
        sample = self._sample(log, calls)
        if sample is None or sample.empty:
            return []
        changed: list[tuple[LogFile, str]] = []
        for other in sorted(rivals, key=lambda other: _distance(found, other.found))[:NEAREST]:
            its = self._sample(other, calls)
            if its is None or its.empty or other.format is None:
                continue
            if _is_poor_beside_console(log, other, sample, its):
                continue
            begin = its_begin = 0
            beside, copy = other.found.folder == found.folder, other.format.name == known.name
            told = self._prints_of(log, other, calls) or _is_kept_beside(log, other)
            if not told and not duplicate_logs.same(sample, its, beside=beside, copy=copy):
                if not self._end_alike(log, other, calls):
                    continue
                begin, its_begin = min(sample.rows), min(its.rows)  # the one that goes farther back is richer
            theirs = duplicate_logs.rank(other.format, other.found.name)
            its_key = (its_begin, theirs, -other.size, _is_copy(other), other.found.path)
            if its_key < (begin, mine, -log.size, _is_copy(log), found.path):
                return [*changed, *self._join(log, other)]
            changed += self._join(other, log)
        return changed

    def _near(self, found: FoundFile, known: Format, rival: Callable[[LogFile], bool]) -> list[LogFile]:
        """Logs that may be duplicates: those of the same name, and those in the nearest folder with any."""
        near: list[LogFile] = []
        for name in duplicate_logs.names_of(found.folder, found.name):
            crowd = self._called.get(name, ())[:CROWD]
            if self._may_differ(name, crowd, known):
                near += filter(rival, crowd)
        for folder in (found.folder, *folders_above(found.folder)):
            crowd = self._below.get(folder, ())
            if len(crowd) > CROWD:
                break
            differ = self._may_differ(folder, crowd, known)
            beside = [log for log in crowd if rival(log)] if differ else []
            near += beside
            # One that only prints goes on until it finds a log that it may be the console of.
            if beside and not (
                _prints(known) and all(log.format is None or _prints(log.format) for log in beside)
            ):
                break
        return list(dict.fromkeys(near))

    def _may_differ(self, place: str, logs: Iterable[LogFile], known: Format) -> bool:
        """Whether any of the logs of a folder or name may be a rival of one of a format: mostly none is."""
        if place in self._copied or known.name in names().copied_formats:
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

    def _prints_of(self, one: LogFile, other: LogFile, calls: Calls) -> bool:
        """Whether one is the only console that a loop printed by the place of the other, a proper log.

        Of several consoles in one folder that say different things, the place does not tell whose one is.
        """
        if not _prints_by(one, other):
            return False
        console, proper = (one, other) if one.format is not None and _prints(one.format) else (other, one)
        mine = self._sample(console, calls)
        for each in self._below.get(console.found.folder, ())[:CROWD]:
            beside = each.found.folder == console.found.folder and not each.gone
            if not beside or stem_of(each.found.name) == stem_of(console.found.name):
                continue
            if duplicate_logs.are_numbered_apart(each.found.path, proper.found.path):
                continue  # it cannot be the one
            _know_format(each, calls)
            if each.format is None or not _prints(each.format):
                continue
            its = self._sample(each, calls)
            if mine is None or its is None or its.empty:
                continue
            if duplicate_logs.same(mine, its, beside=True, copy=True) is False:
                return False
        return True

    def _end_alike(self, one: LogFile, other: LogFile, calls: Calls) -> bool:
        """Whether logs of one run say the same at their ends, however they begin."""
        if one.run != other.run:
            return False
        end, its_end = (_ask(log, duplicate_logs.ending, calls) for log in (one, other))
        if end is None or its_end is None:
            return False
        return bool(duplicate_logs.same(end, its_end, beside=True))

    def _sample(self, log: LogFile, calls: Calls) -> duplicate_logs.LogBeginning | None:
        """What the beginning of a log says; asked again when the log has grown and it matters."""
        known = self._beginnings.get(log)
        if known is None or known.generation != log.generation:
            known = self._beginnings[log] = _Beginning(None, log.generation, -1)
        complete = known.sample is not None and known.sample.complete
        if not (complete or known.size == log.size or log.format is None or log.hung):
            known.size = log.size
            known.sample = _ask(log, duplicate_logs.sample, calls) or known.sample
        return known.sample


def _know_format(log: LogFile, calls: Calls) -> None:
    """Open a log that nobody asked for, to know whether it is one, and of which format."""
    if log.unrequested and not (log.opened or log.hung):
        log.visit(calls, 0.0, trust=True, until=None)


def _home(folder: str) -> str:
    """The folder whose training is told of in `folder`: the one above `eval_logs` and its like."""
    above, _, name = folder.rpartition("/")
    known = names()
    name = name.lower()
    bare = name in known.plain_folders or "monitor" in name or known.evaluation.search(name)
    return above if bare else folder


def _distance(one: FoundFile, other: FoundFile) -> tuple[int, int, str, str]:
    """Sorts the logs that may be duplicates, closest first: by common folder, then by name."""
    parts, theirs = _parts(one.folder), _parts(other.folder)
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(parts, theirs, strict=False)))
    same_name = stem_of(one.name).lower() in (
        stem_of(other.name).lower(),
        theirs[-1].lower() if theirs else "",
    )
    return (-common - 4 * same_name, len(parts) + len(theirs) - 2 * common, other.folder, other.name)


def _may_be_copy(form: str, one: FoundFile, other: FoundFile) -> bool:
    """Whether two logs of one format may be copies by their places: one folder lies above the other.

    Two folders side by side are two trainings, though they may say the same for having the same seed.
    """
    if one.name == other.name == TRAINER_STATE:  # of checkpoints of one training, each longer than the last
        return one.run == other.run
    if {stem_of(one.name), stem_of(other.name)} == names().partial_copies:
        return one.folder == other.folder
    if _uncopied(one.name) == _uncopied(other.name):
        return one.folder == other.folder
    if form not in names().copied_formats or duplicate_logs.are_numbered_apart(one.path, other.path):
        return False
    return _one_above_other(one, other)


def _uncopied(name: str) -> str:
    """The name of which a browser or a shared folder made a numbered one for a copy: `monitor (1).csv`."""
    return names().numbered_copy.sub("", name)


def _is_copy(log: LogFile) -> bool:
    return _uncopied(log.found.name) != log.found.name


def _is_poor_beside_console(
    one: LogFile,
    other: LogFile,
    sample: duplicate_logs.LogBeginning,
    its: duplicate_logs.LogBeginning,
) -> bool:
    """Whether one is a console and the other no substitute for it: of evaluations, or of few series."""
    pairs = [(one, sample), (other, its)]
    consoles = [
        (log, says) for log, says in pairs if log.format and log.format.name in names().copied_formats
    ]
    if len(consoles) != 1:
        return False
    proper, few = pairs[1 if consoles[0][0] is one else 0]
    evaluates = names().evaluation.search(proper.found.name) is not None
    return evaluates or _FEW * len(few.tags) <= len(consoles[0][1].tags)


def _prints_by(one: LogFile, other: LogFile) -> bool:
    """Whether one is what a loop printed in its own words, and the other a proper log of it, by their places.

    Such a console has few digits and other axes, so its values need not agree with anything.
    """
    consoles = [
        log for log in (one, other) if log.format is None or log.format.name in names().copied_formats
    ]
    if len(consoles) != 1 or consoles[0].format is None or not _prints(consoles[0].format):
        return False  # two consoles in one folder are those of two programs
    return _one_above_other(one.found, other.found) and not duplicate_logs.are_numbered_apart(
        one.found.path, other.found.path
    )


def _is_kept_beside(one: LogFile, other: LogFile) -> bool:
    """Whether one is the console that a tracker's client keeps beside the other, the log of the same run."""
    consoles = [log for log in (one, other) if log.format and log.format.name in names().copied_formats]
    trackers = [log for log in (one, other) if log.found.name.endswith(names().tracker_endings)]
    return one.found.run == other.found.run and len(consoles) == len(trackers) == 1


def _prints(known: Format) -> bool:
    return known.name in names().printed_formats


def _one_above_other(one: FoundFile, other: FoundFile) -> bool:
    upper, lower = sorted((_parts(one.folder), _parts(other.folder)), key=len)
    return lower[: len(upper)] == upper


def _parts(folder: str) -> list[str]:
    return folder.split("/") if folder else []


def _ask(log: LogFile, question: duplicate_logs.Question, calls: Calls) -> duplicate_logs.LogBeginning | None:
    """What a log says; None where it cannot be read, as its visit will report. Raises GivenUpError."""
    assert log.format is not None
    calls.subject = log
    try:
        with log.file(calls) as file:
            return question(log.format, file)
    except GivenUpError:
        raise
    except Exception:  # noqa: BLE001 - the visit of that log reports what is wrong with it
        return None


def parent_of(
    folder: str, name: str, sample: duplicate_logs.LogBeginning, events: Mapping[str, Sequence[str]]
) -> Parent | None:
    """The run that the event file `folder/name` with this content belongs to; None when to its own.

    events: names of the event files in each folder.
    """
    for upper in folders_above(folder):
        if not events.get(upper):
            continue
        below = folder[len(upper) + 1 :] if upper else folder
        if names().subrun_folder.match(below) or (sample.hparams and _same_writer(name, events[upper])):
            return Parent(upper, str)
        if len(sample.tags) == 1:
            main = sample.tags[0]
            for joint, path in (("_", main.replace("/", "_")), ("/", main)):
                if below.startswith(path + joint) and len(below) > len(path) + 1:
                    return Parent(upper, AddedCurve(main, below[len(path) + 1 :], below))
    return None


@dataclass(frozen=True, slots=True)
class AddedCurve:
    """Names the tags of a sub-run of `add_scalars`. Data, so that another process can be given it."""

    main: str
    key: str
    below: str

    def __call__(self, tag: str) -> str:
        """The tag as its run has it."""
        return f"{self.main}/{self.key}" if tag == self.main else f"{self.below}/{tag}"


def _same_writer(name: str, uppers: Sequence[str]) -> bool:
    writer = names().writer
    mine = writer.search(name)
    return mine is not None and any(
        (its := writer.search(upper)) is not None and its["writer"] == mine["writer"] for upper in uppers
    )


def _moves(log: LogFile) -> bool:
    return log.found.part is not None and log.found.part.moves
