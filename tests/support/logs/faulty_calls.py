"""System calls that fail on chosen paths."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


class Fault:
    """Makes system calls on chosen paths fail, and counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.errors: dict[str, int] = {}  # path: errno of every call on it
        self.calls: list[tuple[str, str]] = []
        self._names: dict[int, str] = {}
        for name in ("open", "stat", "scandir"):
            monkeypatch.setattr(os, name, self._wrapped(name, getattr(os, name)))
        real_pread, self._read_errors = os.pread, dict[str, int]()

        def pread(descriptor: int, length: int, offset: int) -> bytes:
            name = str(Path(f"/proc/self/fd/{descriptor}").readlink())
            if name in self._read_errors:
                raise OSError(self._read_errors[name], os.strerror(self._read_errors[name]), name)
            return real_pread(descriptor, length, offset)

        monkeypatch.setattr(os, "pread", pread)

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, **options: Any) -> Any:
            if isinstance(path, str):
                self.calls.append((name, path))
                if path in self.errors:
                    raise OSError(self.errors[path], os.strerror(self.errors[path]), path)
            return real(path, *arguments, **options)

        return call

    def of(self, path: Path, number: int) -> None:
        """Every call on this path fails from now on."""
        self.errors[str(path)] = number

    def of_reads(self, path: Path, number: int) -> None:
        """Reading this file fails from now on; opening it does not."""
        self._read_errors[str(path)] = number

    def over(self) -> None:
        """All is well again."""
        self.errors.clear()
        self._read_errors.clear()
