"""Which runs were asked for."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass

from rltui.logs.discovery.walk import Found
from rltui.logs.discovery.writer_subruns import above
from rltui.logs.run_names import called, is_events


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Runs whose names match `glob`, and what is called `also`; all where there is no glob."""

    glob: str | None
    also: str | None = None

    def takes(self, run: str) -> bool:
        """Whether the run was asked for; troubles of no run always are."""
        if self.glob is None or not run or fnmatch.fnmatchcase(run, self.glob):
            return True
        return self.also is not None and called(run, self.also)

    def may_take(self, found: Found) -> bool:
        """Whether the log may turn out to be of such a run."""
        if self.takes(found.run):
            return True
        # A sub-run of add_scalars or add_hparams goes by the name of the run above it.
        return is_events(found.name) and any(self.takes(upper or ".") for upper in above(found.folder))
