"""What the panes config, samples and console show in place of metrics, in each form of output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, NamedTuple

from rltui.draw.cells import Line
from rltui.panes.render.console_lines import console_lines, console_markdown
from rltui.panes.render.lines.hparams_lines import hparams_lines, hparams_markdown, hparams_record
from rltui.panes.render.lines.samples_lines import Summaries, samples_lines, samples_markdown, samples_record
from rltui.panes.special.console_pane import ConsoleEnd, console_findings_of
from rltui.panes.special.hparams_pane import HParamsPane
from rltui.panes.special.samples_pane import SamplesPane
from rltui.rules.finding import as_json
from rltui.session.run_view import RunView


class PaneContent(NamedTuple):
    """lines: below the header, for a width in cells; record: fields of the JSON object of the pane."""

    lines: Callable[[int], list[Line]]
    markdown: Callable[[], str]
    record: Callable[[], dict[str, Any]]


def hparams_content(made: HParamsPane) -> PaneContent:
    """The hyperparameters of a run."""
    return PaneContent(
        partial(hparams_lines, made), partial(hparams_markdown, made), partial(hparams_record, made)
    )


def samples_content(made: SamplesPane, summaries: Summaries) -> PaneContent:
    """The samples of a step of a run."""
    return PaneContent(
        partial(samples_lines, made, summaries),
        partial(samples_markdown, made, summaries),
        partial(samples_record, made, summaries),
    )


def console_content(view: RunView, ends: Sequence[ConsoleEnd]) -> PaneContent:
    """The ends of the consoles of a run; the record holds the lines that are folded, too."""
    return PaneContent(
        partial(console_lines, view, ends),
        partial(console_markdown, ends),
        lambda: {
            "findings": [as_json(one) for one in console_findings_of(view)],
            "consoles": [asdict(end) for end in ends],
        },
    )
