"""The option `--run`: a glob of names, which readers can apply, or an expression on properties of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rltui.logs.run_names import is_selected
from rltui.panes.runs.run_expression import is_expression, parse_expression
from rltui.panes.runs.run_facts import RunFacts, RunHParams
from rltui.run_context.hparams.hparam_files import hparams_near
from rltui.run_context.hparams.hparams import HParams
from rltui.session.run_view import RunView


def hparams_below(logdirs: Sequence[str]) -> RunHParams:
    """The hyperparameters of runs below the LOGDIRs; files are read once, when they are needed."""
    read: dict[str, HParams] = {}

    def file_hparams(view: RunView) -> HParams:
        if view.name not in read:
            paths = [source.path for source in view.run.sources.values() if source.format]
            read[view.name] = hparams_near(paths, logdirs)
        return read[view.name]

    return RunHParams(file_hparams)


class RunSelection:
    """The runs that a text selects; all for None. `glob`: a pattern for readers, None without one."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.glob = text if text is None or not is_expression(text) else None
        self._expression = parse_expression(text or "")

    @property
    def is_expression(self) -> bool:
        """Whether runs have to be read to decide whether they are selected."""
        return self.text is not None and self.glob is None

    def holds(self, run: RunFacts) -> bool:
        """Whether a run is selected, by its name or by the expression."""
        return is_selected(run.view.name, self.text) or (self.is_expression and self._expression.holds(run))

    def names(self, views: Sequence[RunView], now: float, hparams: RunHParams) -> set[str]:
        """The names of the selected runs. A text that matches names as a glob is not an expression."""
        named = {view.name for view in views if is_selected(view.name, self.text)}
        if named or not self.is_expression:
            return named
        return {view.name for view in views if self._expression.holds(RunFacts(view, now, hparams))}

    def test(self, hparams: RunHParams, clock: Callable[[], float]) -> Callable[[RunView], bool] | None:
        """A predicate for runs that have been read; None if the readers apply the glob."""
        if not self.is_expression:
            return None
        return lambda view: self.holds(RunFacts(view, clock(), hparams))
