"""What `--run` asks for: a glob of names, as readers understand it, or an expression over what runs are."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence

from rltui.panes.runs.expression import is_expression, parse_expression
from rltui.panes.runs.facts import RunFacts, RunSettings
from rltui.run_context.hparams.hparam_files import hparams_beside
from rltui.run_context.hparams.hparams import HParams
from rltui.session.run_view import RunView


def settings_below(logdirs: Sequence[str]) -> RunSettings:
    """The hyperparameters of runs below the LOGDIRs; files are read once, when asked for."""
    read: dict[str, HParams] = {}

    def beside(view: RunView) -> HParams:
        found = read.get(view.name)
        if found is None:
            paths = [source.path for source in view.run.sources.values() if source.format]
            found = read[view.name] = hparams_beside(paths, logdirs)
        return found

    return RunSettings(beside)


class RunSelection:
    """The runs that a text chooses; all of them for None. `glob` is what readers can leave runs out by."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.glob = text if text is None or not is_expression(text) else None
        self._expression = parse_expression(text or "")

    @property
    def is_expression(self) -> bool:
        """Whether runs have to be read before anybody knows whether they are chosen."""
        return self.text is not None and self.glob is None

    def holds(self, run: RunFacts) -> bool:
        """Whether a run is chosen, by its name or by what it is."""
        if self.text is None or fnmatch.fnmatchcase(run.view.name, self.text):
            return True
        return self.is_expression and self._expression.holds(run)

    def names(self, views: Sequence[RunView], now: float, settings: RunSettings) -> set[str]:
        """The names of the runs that are chosen. A text that is the glob of some names means just those."""
        named = {
            view.name for view in views if self.text is None or fnmatch.fnmatchcase(view.name, self.text)
        }
        if named or not self.is_expression:
            return named
        return {view.name for view in views if self._expression.holds(RunFacts(view, now, settings))}

    def test(self, settings: RunSettings, clock: Callable[[], float]) -> Callable[[RunView], bool] | None:
        """What a session asks of a run that it has read; None where the readers have left out the others."""
        if not self.is_expression:
            return None
        return lambda view: self.holds(RunFacts(view, clock(), settings))
