"""A session that follows its logs, for `check --follow`, `watch --no-ui` and `wait`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

from rltui.cli.output.file_problems import FileProblemReporter
from rltui.config import Config
from rltui.logs.delivery import Delivery
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import Deliveries
from rltui.logs.run_names import RunFilter
from rltui.panes.runs.selection import RunSelection, hparams_below
from rltui.session.context_threads import ContextThreads
from rltui.session.session import Session

POLL = 1.0  # seconds; the configuration overrides it
FIRST_SCAN = 2.0  # seconds that the first look at consoles may take before runs are told without it


class FollowedSession:
    """Yields the evaluated session after each change of the logs, and at least every `wait` seconds.

    Until `all_found`, a run may lack its newest logs: neither its step nor its findings are those it has.
    From then on failures in consoles are among its findings.

    run_glob: a glob or an expression. shard: see `RunFilter`. poll, wait: seconds; default: as configured.
    deliveries: read instead of the LOGDIRs, until their end; an empty list means that all logs have been
    read.
    """

    def __init__(
        self,
        logdirs: Sequence[str],
        config: Config,
        *,
        run_glob: str | None = None,
        shard: tuple[int, int] | None = None,
        poll: float | None = None,
        wait: float | None = None,
        deliveries: Iterable[list[Delivery]] | None = None,
    ) -> None:
        every = poll or config.poll or POLL
        selection = RunSelection(run_glob)
        runs = RunFilter(selection.glob, shard=shard)
        self.session = Session(config, runs=runs, logdirs=logdirs)
        self.session.show_only(selection.test(hparams_below(list(map(str, logdirs))), time.time))
        self.at_rest = False  # whether all existing points have been evaluated
        self.all_found = deliveries is not None  # whether the runs have all of their logs that exist
        self._follower = Follower(logdirs, runs=runs, poll=every)
        self._deliveries = (
            deliveries if deliveries is not None else Deliveries(self._follower, wait=wait or every)
        )
        self._file_problems = FileProblemReporter()
        self._context = ContextThreads(logdirs if deliveries is None else ())

    def __iter__(self) -> Iterator[Session]:
        try:
            yield from self._sessions()
        finally:  # a server creates many followed sessions
            self._context.stop()

    def _sessions(self) -> Iterator[Session]:
        for each in self._deliveries:
            self._file_problems.report_missing(self._follower.search.waiting)
            self.session.apply(self._file_problems.passing(each))
            self.session.evaluate()
            self.all_found = self._follower.all_found or not isinstance(self._deliveries, Deliveries)
            if known := self._follower.all_found:
                self.session.others = self._follower.others()
            self._context.update(self.session, time.time(), consoles=known, wait=FIRST_SCAN)
            self.at_rest = (
                self._deliveries.at_rest
                if isinstance(self._deliveries, Deliveries)
                else self.at_rest or not each
            )
            self.session.update_runs_over(time.time())
            yield self.session
