"""Processing of shards by an engine: its executor, the results in the order of the shards, lost shards.

The executors of Ray, Dask and Slurm come from optional packages, which are imported on use.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from rltui.common import interpreter_settings, writable_paths
from rltui.common.display_text import quote
from rltui.common.worker_thread import in_thread
from rltui.many_runs.engine import Engine, EngineError
from rltui.many_runs.plan import LostShard, Shard, portable

if TYPE_CHECKING:
    import submitit

P = ParamSpec("P")
T = TypeVar("T")

SLURM_MINUTES = 120  # time limit of one job of an array


@contextlib.contextmanager
def executor_of(engine: Engine, folder: Path) -> Iterator[Executor]:
    """The executor of an engine; tasks that have not started when the block ends are cancelled.

    folder: for the results of Slurm jobs, on a shared file system. Raises EngineError.
    """
    makers: dict[str, Callable[[], contextlib.AbstractContextManager[Executor]]] = {
        "processes": lambda: _processes(engine.processes or 1),
        "ray": lambda: _ray(engine.argument),
        "dask": lambda: _dask(engine.argument),
        "slurm": lambda: _slurm(engine.argument, folder),
    }
    # Ray's driver prints messages of workers: standard output is for the document only.
    with contextlib.redirect_stdout(sys.stderr), makers[engine.name]() as executor:
        yield executor


@contextlib.contextmanager
def _processes(count: int) -> Iterator[Executor]:
    # Workers are forked from a process without threads that has imported what they need.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["rltui.many_runs.evaluate_shard"])
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin_worker)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker() -> None:
    """Prepare a worker process: the driver handles signals, and the worker ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    interpreter_settings.hide_numpy_warnings()
    interpreter_settings.collect_seldom()
    threading.Thread(target=_end_with_driver, daemon=True).start()


def _end_with_driver() -> None:
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)


@contextlib.contextmanager
def _ray(address: str) -> Iterator[Executor]:
    import ray

    import rltui

    began = not ray.is_initialized()
    if began:
        environment = {"py_modules": [rltui]} if address else None
        try:
            ray.init(address or "local", runtime_env=environment, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EngineError(f"Ray at {address or 'this machine'}: {error}") from error
    try:
        yield _RayExecutor(ray.remote)
    finally:
        if began:
            ray.shutdown()


class _RayExecutor(Executor):
    """Ray's tasks as an executor. A task whose worker is lost is not repeated."""

    def __init__(self, remote: Callable[..., Callable[..., object]]) -> None:
        self._remote = remote

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """One task."""
        task = self._remote(max_retries=0)(_call)
        future: Future[T] = task.remote(fn, *args, **kwargs).future()  # type: ignore[attr-defined]
        return future


def _call(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call any callable: Ray's tasks have to be functions."""
    return fn(*args, **kwargs)


@contextlib.contextmanager
def _dask(address: str) -> Iterator[Executor]:
    import distributed

    options = {"address": address} if address else {"dashboard_address": None}
    try:
        client = distributed.Client(timeout=30, set_as_default=False, **options)
    except OSError as error:
        raise EngineError(f"Dask at {address or 'this machine'}: {error}") from error
    with client, client.get_executor(retries=0, pure=False) as executor:
        yield executor


@contextlib.contextmanager
def _slurm(partition: str, folder: Path) -> Iterator[Executor]:
    import submitit

    # `local`: submitit's replacement for Slurm for tests, processes of this machine.
    cluster = "local" if partition == "local" else None
    executor = submitit.AutoExecutor(folder=str(folder), cluster=cluster)
    if cluster is None and executor.cluster != "slurm":
        raise EngineError("there is no Slurm here (no srun); log in to the cluster, or use slurm:local")
    executor.update_parameters(timeout_min=SLURM_MINUTES, name="rltui", cpus_per_task=1)
    if partition and cluster is None:
        executor.update_parameters(slurm_partition=partition)
    yield ArrayExecutor(executor)


class ArrayExecutor(Executor):
    """submitit's jobs as an executor; tasks submitted together are one array of Slurm."""

    def __init__(self, executor: submitit.AutoExecutor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """One job."""
        return in_thread("job", self._executor.submit(fn, *args, **kwargs).result)

    def submit_all(self, tasks: Iterable[Callable[[], T]]) -> list[Future[T]]:
        """One array of jobs."""
        with self._executor.batch():
            jobs = [self._executor.submit(task) for task in tasks]
        return [in_thread("job", job.result) for job in jobs]


def work(
    shards: Sequence[Shard], engine: Engine, task: Callable[[Shard], T]
) -> Iterator[tuple[Shard, T | LostShard]]:
    """Each shard with its result, in their order. task: can be pickled. Raises EngineError."""
    with tempfile.TemporaryDirectory(prefix="rltui-", dir=_shared_folder(engine)) as folder:
        left = deque(shards)
        while left:
            with executor_of(engine, Path(folder)) as executor:
                yield from _until_broken(left, executor, engine.processes, task)


def _until_broken(
    left: deque[Shard], executor: Executor, processes: int | None, task: Callable[[Shard], T]
) -> Iterator[tuple[Shard, T | LostShard]]:
    """Process shards and remove them from `left` until all are done or the executor is broken."""
    begun: deque[tuple[Shard, Future[T]]] = deque()
    broken = False
    if isinstance(executor, ArrayExecutor):
        tasks = [partial(task, portable(shard)) for shard in left]
        begun.extend(zip(left, executor.submit_all(tasks), strict=True))
        left.clear()
    # One more than there are workers: few shards are lost with a worker.
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
            yield shard, LostShard(shard, "the process that worked on it ended")
        except Exception as error:  # noqa: BLE001 - an engine may raise anything; other shards go on
            broken |= isinstance(error, BrokenExecutor)
            lines = str(error).strip().splitlines() or [type(error).__name__]
            yield shard, LostShard(shard, quote(lines[-1]))


def _shared_folder(engine: Engine) -> Path | None:
    """For Slurm a folder in the user's home, which the machines of its jobs share."""
    folder = writable_paths.state()
    if engine.name != "slurm" or folder is None:
        return None
    writable_paths.make_private(folder)
    return folder
