"""Plans as JSON, with marks of the folders and files that they follow from, to see whether they are valid.

The plan of an unchanged tree need not be made again: the time of a folder changes when an entry is created,
moved or deleted, that of a file when it is written. Reading these attributes takes a tenth of the time of
walking the folders and opening every file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple
from typing import Any

import orjson

from rltui.common.problem import Problem
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.logs.found_file import AssignedLog, FoundFile, VisitedPaths
from rltui.many_runs.file_marks import folder_mark, mark_of
from rltui.many_runs.plan import Plan, RunPlan

Plain = list[Any]  # what JSON can hold


def write_plan(plan: Plan, logdirs: Sequence[str], now: float) -> bytes | None:
    """The plan of LOGDIRs as JSON; None where its validity could not be checked later.

    now: when its making began, seconds since 1970. The files of its runs are not marked: the caller has marks
    of them.
    """
    if not plan.visited_paths.certain or any(run.deliveries for run in plan.runs):
        return None
    folders = {place: folder_mark(place, now) for place in plan.visited_paths.folders}
    read = {place for run in plan.runs for place in run.files()}
    if None in folders.values():
        return None
    others = {}
    for place in plan.visited_paths.files:
        if place not in read:
            mark = mark_of((place,))
            if mark is None or not mark.is_before(now):
                return None
            others[place] = mark.digest
    problems = [[each.source.path, *map(astuple, each.batch.problems)] for each in plan.deliveries]
    try:
        return orjson.dumps([list(logdirs), folders, others, problems, list(map(_run_as_plain, plan.runs))])
    except TypeError:  # a file name that is not valid text
        return None


def read_plan(data: bytes, logdirs: Sequence[str], now: float) -> Plan | None:
    """The plan that `write_plan` wrote; None if anything has changed. now: seconds since 1970."""
    planned, folders, others, problems, runs = orjson.loads(data)
    if planned != list(logdirs) or not _are_unchanged(folders, others, now):
        return None
    deliveries = [
        Delivery(Source("", path, ""), Batch(problems=tuple(Problem(*each) for each in found)), "state")
        for path, *found in problems
    ]
    return Plan(
        list(map(_run_from_plain, runs)),
        deliveries,
        VisitedPaths(tuple(folders), tuple(others), certain=True),
    )


def _are_unchanged(folders: Mapping[str, Plain], others: Mapping[str, str], now: float) -> bool:
    return all(folder_mark(place, now) == tuple(mark) for place, mark in folders.items()) and all(
        (found := mark_of((place,))) is not None and found.digest == mark for place, mark in others.items()
    )


def _run_as_plain(run: RunPlan) -> Plain:
    return [
        run.name,
        list(map(_log_as_plain, run.logs)),
        list(map(list, run.consoles)),
        run.namesakes,
        run.part_files,
        run.hparam_files,
    ]


def _run_from_plain(plain: Plain) -> RunPlan:
    name, logs, consoles, namesakes, part_files, hparam_files = plain
    places = []
    if consoles:
        from rltui.run_context.console.find_consoles import FoundConsole  # imports the search of folders

        places = [FoundConsole(*each) for each in consoles]
    assigned = list(map(_log_from_plain, logs))
    return RunPlan(
        name, assigned, places, namesakes=namesakes, part_files=part_files, hparam_files=hparam_files
    )


def _log_as_plain(log: AssignedLog) -> Plain:
    log = log.without_part()
    return [*log.found[:-1], log.run, log.duplicate_of, _tag_map_as_plain(log), log.size, log.part_key]


def _log_from_plain(plain: Plain) -> AssignedLog:
    *found, run, duplicate_of, tag_map, size, part_key = plain
    renames: Callable[[str], str] | None = None if tag_map is None else str
    if tag_map:
        from rltui.logs.discovery.sub_runs import AddedCurve  # as in `_tag_map_as_plain`

        renames = AddedCurve(*tag_map)
    return AssignedLog(FoundFile(*found), run, duplicate_of, renames, size, part_key and tuple(part_key))


def _tag_map_as_plain(log: AssignedLog) -> Iterable[str] | None:
    """How the tags of a sub-run are renamed: those of one curve, or not at all."""
    if log.tag_map is None:
        return None
    from rltui.logs.discovery.sub_runs import AddedCurve  # imports the search of logs

    return astuple(log.tag_map) if isinstance(log.tag_map, AddedCurve) else ()
