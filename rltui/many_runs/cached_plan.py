"""Plans as data, with marks of the folders and files that they follow from, to see whether they are valid.

The plan of an unchanged tree need not be made again: the time of a folder changes when an entry is created,
moved or deleted, that of a file when it is written. Reading these attributes takes a tenth of the time of
walking the folders and opening every file.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence

from rltui.logs.found_file import Walked
from rltui.many_runs.file_marks import folder_mark, mark_of
from rltui.many_runs.plan import Plan, portable

_FolderMarks = Mapping[str, tuple[int, int, int, int] | None]


def write_plan(plan: Plan, logdirs: Sequence[str], now: float) -> bytes | None:
    """The plan of LOGDIRs, as it is passed to other processes; None if its validity cannot be checked later.

    now: when its making began, seconds since 1970. The files of its runs are not marked: the caller has marks
    of them.
    """
    if not plan.walked.certain or any(run.deliveries for run in plan.runs):
        return None
    folders = {place: folder_mark(place, now) for place in plan.walked.folders}
    read = {place for run in plan.runs for place in run.files()}
    if None in folders.values():
        return None
    others = {}
    for place in plan.walked.files:
        if place not in read:
            mark = mark_of((place,))
            if mark is None or not mark.is_before(now):
                return None
            others[place] = mark.digest
    walked = Walked(tuple(folders), tuple(others), certain=True)
    kept = Plan(list(portable(tuple(plan.runs))), plan.deliveries, walked)
    return pickle.dumps((list(logdirs), folders, others, kept), pickle.HIGHEST_PROTOCOL)


def read_plan(data: bytes, logdirs: Sequence[str], now: float) -> Plan | None:
    """The plan that `write_plan` wrote; None if anything has changed. now: seconds since 1970.

    Only for data that this user's rltui of the same version wrote: it is unpickled.
    """
    planned, folders, others, plan = pickle.loads(data)
    known: Plan | None = plan if planned == list(logdirs) and _are_unchanged(folders, others, now) else None
    return known


def _are_unchanged(folders: _FolderMarks, others: Mapping[str, str], now: float) -> bool:
    return all(folder_mark(place, now) == mark for place, mark in folders.items()) and all(
        (found := mark_of((place,))) is not None and found.digest == mark for place, mark in others.items()
    )
