"""Results that are computed once, since several rules use the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class Keeper(Protocol):
    """An object that keeps results; as long as what they are computed from does not change."""

    kept: dict[tuple[object, ...], Any]


K = TypeVar("K", bound=Keeper)
P = ParamSpec("P")
T = TypeVar("T")


def kept(of: Callable[Concatenate[K, P], T]) -> Callable[Concatenate[K, P], T]:
    """A method that is computed once for the same arguments."""

    @wraps(of)
    def result(self: K, /, *args: P.args, **named: P.kwargs) -> T:
        key = of, *args, *named.items()
        found: T | None = self.kept.get(key)
        if found is None:
            found = self.kept[key] = of(self, *args, **named)
        return found

    return result
