"""How logs belong together: which runs own the sub-runs, and which logs say again what others say."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rltui.logs.discovery import duplicate_logs
from rltui.logs.discovery.walk import Found
from rltui.logs.discovery.writer_subruns import above, parent_of
from rltui.logs.files import Calls, GivenUpError
from rltui.logs.log_file.log_file import LogFile
from rltui.logs.run_names import is_events, rotated_from

CROWD = 256  # logs below one folder among which no twin is sought by place alone


@dataclass(slots=True)
class _Entry:
    """A log in the order of closeness that `twins.nearest` makes."""

    track: LogFile
    folder: str
    name: str


@dataclass(slots=True)
class RelatedRuns:
    """All logs of the LOGDIRs and what was found out about their belonging together."""

    mains: dict[LogFile, LogFile] = field(default_factory=dict)  # twin: the log that says the same
    _events: dict[str, list[str]] = field(default_factory=dict)  # folder: names of its event files
    _rotated: dict[str, list[LogFile]] = field(default_factory=dict)  # by the name they had
    _mixed: bool = False  # whether any log is no event file
    _below: dict[str, list[_Entry]] = field(default_factory=dict)  # folder: logs in it and below
    _called: dict[str, list[_Entry]] = field(default_factory=dict)  # name of a file or folder: logs
    _kin: set[LogFile] = field(default_factory=set)  # whose place is settled for good

    def add(self, track: LogFile) -> None:
        """A log was found."""
        found = track.found
        entry = _Entry(track, found.folder, found.name)
        for folder in (found.folder, *above(found.folder)):
            self._below.setdefault(folder, []).append(entry)
        for name in duplicate_logs.names_of(found.folder, found.name):
            self._called.setdefault(name, []).append(entry)
        base = f"{found.folder}/{rotated_from(found.name) or found.name}"
        rotated = self._rotated.setdefault(base, [])
        rotated.append(track)
        if len(rotated) > 1:
            for each in rotated:
                each.rotated = rotated
        if is_events(found.name):
            self._events.setdefault(found.folder, []).append(found.name)
        else:
            self._mixed = True

    def may_belong_above(self, found: Found) -> bool:
        """Whether there is a run above the event file."""
        return is_events(found.name) and any(self._events.get(upper) for upper in above(found.folder))

    def settle(self, track: LogFile, calls: Calls) -> list[tuple[LogFile, str]]:
        """Find out where a log belongs, as far as its beginning tells.

        Returns the logs whose place changed, each with the name of the run that it had belonged to.

        A changed log has another `run`, and `also_of` set or taken away. Reads the beginnings of the log
        and of its nearest neighbours of other formats, once each. Raises GivenUpError.
        """
        if track.format is None or track.also_of is not None:
            return []
        changed: list[tuple[LogFile, str]] = []
        before = track.run
        if track not in self._kin and self._fold(track, calls):
            changed.append((track, before))
        if self._mixed and track.tag_map is None:
            changed += self._match(track, calls)
        return changed

    def freed(self, twin: LogFile) -> bool:
        """Whether the log that said the same has vanished, so that the twin stands for itself again."""
        main = self.mains.get(twin)
        if main is None or not main.gone:
            return False
        del self.mains[twin]
        twin.also_of, twin.run = None, twin.found.run
        return True

    def undecided(self, track: LogFile) -> bool:
        """Whether it may still turn out that the log belongs elsewhere."""
        return track.also_of is None and (track.sample is None or not track.sample.complete)

    def mixed_with(self, track: LogFile, others: Iterable[LogFile]) -> list[LogFile]:
        """Logs whose points a run holds mixed with those of `track`, since both speak of the same tags.

        When one is told anew the others must be, too. Those are left out that could not be told anew.
        """
        said = set(track.tags)
        return [
            other
            for other in others
            if other is not track
            and other.run == track.run
            and other.also_of is None
            and other.published
            and other.complete
            and not said.isdisjoint(other.tags)
        ]

    def _fold(self, track: LogFile, calls: Calls) -> bool:
        if not self.may_belong_above(track.found):
            return False
        said = self._sample(track, calls)
        if said is None or (said.empty and not said.hparams and not said.complete):
            return False
        self._kin.add(track)
        parent = parent_of(track.found.folder, track.found.name, said, self._events)
        if parent is None:
            return False
        track.run = parent.folder or "."
        track.tag_map = parent.rename
        return True

    def _match(self, track: LogFile, calls: Calls) -> list[tuple[LogFile, str]]:
        found, known = track.found, track.format
        assert known is not None
        mine = duplicate_logs.rank(known, found.name)

        def rival(other: LogFile) -> bool:
            if other.aside and not (other.opened or other.stuck):
                other.visit(calls, 0.0, trust=True, until=None)  # to know its format
            # A poorer log asks for itself before it is published; only a published one must be corrected.
            return (
                other is not track
                and other.format is not None
                and other.format.name != known.name
                and other.also_of is None
                and not other.gone
                and (other.published or duplicate_logs.rank(other.format, other.found.name) <= mine)
            )

        rivals = self._near(found, rival)
        if not rivals:
            return []
        said = self._sample(track, calls)
        if said is None or said.empty:
            return []
        changed: list[tuple[LogFile, str]] = []
        for entry in duplicate_logs.nearest(found.folder, found.name, rivals):
            assert isinstance(entry, _Entry)
            other = entry.track
            its = self._sample(other, calls)
            if its is None or its.empty or other.format is None:
                continue
            begin = its_begin = 0
            if not duplicate_logs.same(said, its, beside=entry.folder == found.folder):
                if not self._end_alike(track, other, calls):
                    continue
                begin, its_begin = min(said.rows), min(its.rows)  # the one that goes farther back is richer
            theirs = duplicate_logs.rank(other.format, entry.name)
            if (its_begin, theirs, -other.size, other.found.path) < (begin, mine, -track.size, found.path):
                return [*changed, *self._join(track, other)]
            changed += self._join(other, track)
        return changed

    def _end_alike(self, one: LogFile, other: LogFile, calls: Calls) -> bool:
        """Whether logs of one run say the same at their ends, however they begin."""
        if one.run != other.run:
            return False
        ends = []
        for track in (one, other):
            calls.subject = track
            try:
                with track.file(calls) as file:
                    assert track.format is not None
                    ends.append(duplicate_logs.ending(track.format, file))
            except GivenUpError:
                raise
            except Exception:  # noqa: BLE001 - the visit of that log tells what is wrong with it
                return False
        return bool(duplicate_logs.same(ends[0], ends[1], beside=True))

    def _near(self, found: Found, rival: Callable[[LogFile], bool]) -> list[_Entry]:
        """Logs that may be twins: those of the same name, and those in the nearest folder that has any."""
        near = [
            entry
            for name in duplicate_logs.names_of(found.folder, found.name)
            for entry in self._called.get(name, ())[:CROWD]
            if rival(entry.track)
        ]
        for folder in (found.folder, *above(found.folder)):
            crowd = self._below.get(folder, ())
            if len(crowd) > CROWD:
                break
            beside = [entry for entry in crowd if rival(entry.track)]
            if beside:
                near += beside
                break
        return list({id(entry): entry for entry in near}.values())

    def _join(self, twin: LogFile, main: LogFile) -> list[tuple[LogFile, str]]:
        """Make a log and its own twins twins of `main`."""
        joined = [twin, *(other for other, its in self.mains.items() if its is twin)]
        before = [(each, each.run) for each in joined]
        for each in joined:
            self.mains[each] = main
            each.run = each.also_of = main.run
        return before

    def _sample(self, track: LogFile, calls: Calls) -> duplicate_logs.Sample | None:
        """What the beginning of a log says; asked again when the log has grown and it matters."""
        said = track.sample
        if said is not None and (said.complete or track.asked == track.size):
            return said
        if track.format is None or track.stuck:
            return said
        track.asked = track.size
        calls.subject = track
        try:
            with track.file(calls) as file:
                track.sample = said = duplicate_logs.sample(track.format, file)
        except GivenUpError:
            raise
        except Exception:  # noqa: BLE001 - the visit of that log tells what is wrong with it
            return said
        return said
