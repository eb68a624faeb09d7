"""The threads that read for panes what is not in logs: made with the app, which stops them."""

from __future__ import annotations

from collections.abc import Sequence

from rltui.run_context.node.node_thread import NodeThread
from rltui.screen.threads.console_view_thread import ConsoleViewThread
from rltui.screen.threads.hparams_thread import HParamsThread
from rltui.screen.threads.samples_thread import SamplesThread


class ScreenThreads:
    """One thread for each source; none runs before a pane asks it.

    node: the GPUs and processes of this machine, while somebody looks.
    """

    def __init__(self, logdirs: Sequence[str] = ()) -> None:
        self.hparams = HParamsThread(logdirs)
        self.samples = SamplesThread(logdirs)
        self.console = ConsoleViewThread()
        self.node = NodeThread()
