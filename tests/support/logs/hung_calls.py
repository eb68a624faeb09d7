"""File calls that hang until they are released, as on a dead network mount."""

from __future__ import annotations

import os
import threading
from typing import Any

import pytest

from tests.support.logs.listener import LONG


class HungCall:
    """Calls of one function of `os` hang for some paths."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str = "open") -> None:
        self.paths: set[str] = set()
        self.entered = threading.Event()
        self.let_go = threading.Event()
        real = getattr(os, name)

        def call(path: Any, *arguments: Any, **options: Any) -> Any:
            if path in self.paths:
                self.entered.set()
                self.let_go.wait(LONG)
            return real(path, *arguments, **options)

        monkeypatch.setattr(os, name, call)
