"""Working on shards by an engine: results in the order of the shards, and what was lost."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import TypeVar

from rltui import paths
from rltui.many_runs.engine import Engine
from rltui.many_runs.engine_executors import ArrayExecutor, executor_of
from rltui.many_runs.plan import Lost, Shard, portable
from rltui.text import quote

T = TypeVar("T")


def work(
    shards: Sequence[Shard], engine: Engine, task: Callable[[Shard], T]
) -> Iterator[tuple[Shard, T | Lost]]:
    """Each shard with its result, in their order. task: can be pickled. Raises EngineError."""
    with tempfile.TemporaryDirectory(prefix="rltui-", dir=_shared_folder(engine)) as folder:
        left = deque(shards)
        while left:
            with executor_of(engine, Path(folder)) as executor:
                yield from _until_broken(left, executor, engine.processes, task)


def _until_broken(
    left: deque[Shard], executor: Executor, processes: int | None, task: Callable[[Shard], T]
) -> Iterator[tuple[Shard, T | Lost]]:
    """Work on shards, and take them off `left`, until all are done or the executor takes no more."""
    begun: deque[tuple[Shard, Future[T]]] = deque()
    broken = False
    if isinstance(executor, ArrayExecutor):
        tasks = [partial(task, portable(shard)) for shard in left]
        begun.extend(zip(left, executor.submit_all(tasks), strict=True))
        left.clear()
    # One more than there are workers: a worker that dies takes few shards with it.
    most = len(left) if processes is None else processes + 1
    while begun or (left and not broken):
        while left and len(begun) < most and not broken:
            try:
                begun.append((left[0], executor.submit(task, portable(left[0]))))
            except BrokenExecutor:
                broken = True
            else:
                left.popleft()
        if not begun:
            return
        shard, future = begun.popleft()
        try:
            yield shard, future.result()
        except BrokenProcessPool:
            broken = True
            yield shard, Lost(shard, "the process that worked on it ended")
        except Exception as error:  # noqa: BLE001 - whatever an engine raises, the other shards go on
            broken |= isinstance(error, BrokenExecutor)
            said = str(error).strip().splitlines() or [type(error).__name__]
            yield shard, Lost(shard, quote(said[-1]))


def _shared_folder(engine: Engine) -> Path | None:
    """Slurm's jobs run on other machines, which share the user's home: what they are given lies there."""
    folder = paths.state()
    if engine.name != "slurm" or folder is None:
        return None
    paths.make_private(folder)
    return folder
