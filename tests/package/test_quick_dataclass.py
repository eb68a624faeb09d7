"""Classes of `quick_dataclass` behave as those of the standard library: both are asked the same."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

import pytest

from rltui.quick_dataclass import dataclass

T = TypeVar("T")
MAKERS = (dataclass, dataclasses.dataclass)
OPTIONS = (
    {"frozen": True, "slots": True},
    {"slots": True},
    {"frozen": True},
    {},
    {"frozen": True, "slots": True, "eq": False},
    {"slots": True, "eq": False},
)


class Plain(Generic[T]):
    """A class with every kind of field."""

    first: int
    many: list[int] = dataclasses.field(default_factory=list)
    last: str = "end"
    made: int = dataclasses.field(init=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "made", self.first + 1)


def made(maker: Callable[..., Any], options: dict[str, bool]) -> Any:
    """The class above, made by one of the two."""
    body = {key: value for key, value in vars(Plain).items() if key not in ("__dict__", "__weakref__")}
    return maker(**options)(type("Plain", (Generic[T],), body))


def outcome(act: Callable[[], object]) -> object:
    """What comes of it, or which error."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001 (its kind is what is compared)
        return type(error)


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(options) or "plain")
@pytest.mark.parametrize(
    "act",
    [
        lambda cls: repr(cls(1)),
        lambda cls: repr(cls(1, [2], last="x")),
        lambda cls: cls(),
        lambda cls: cls(1, nothing=2),
        lambda cls: cls(1, [2], "x", 3),
        lambda cls: cls(1).many is cls(1).many,
        lambda cls: cls(1) == cls(1),
        lambda cls: cls(1) == cls(2),
        lambda cls: cls(1) == (1, [], "end", 2),
        lambda cls: cls(1, ()) in {cls(1, ())},
        lambda cls: setattr(cls(1), "first", 2),
        lambda cls: setattr(cls(1), "other", 2),
        lambda cls: delattr(cls(1), "first"),
        lambda cls: dataclasses.asdict(cls(1)),
        lambda cls: repr(dataclasses.replace(cls(1), first=5)),
        lambda cls: dataclasses.replace(cls(1), made=5),
        lambda cls: [field.name for field in dataclasses.fields(cls)],
        lambda cls: repr(copy.deepcopy(cls(1, [2]))),
        lambda cls: cls.__match_args__,
        lambda cls: hasattr(cls(1), "__dict__"),
        lambda cls: cls.__doc__,
    ],
)
def test_it_does_what_the_standard_library_does(options: dict[str, bool], act: Callable[[Any], object]):
    """One class, made by both; results and kinds of errors are compared."""
    ours, theirs = (outcome(lambda maker=maker: act(made(maker, options))) for maker in MAKERS)
    assert ours == theirs


@dataclass(frozen=True, slots=True)
class Point:
    """A class that pickle finds by its name."""

    x: int
    y: tuple[int, ...] = ()


@dataclass(frozen=True)
class Lazy:
    """A class with a property that is computed once."""

    x: int

    @cached_property
    def double(self) -> int:
        return 2 * self.x


def test_an_instance_survives_pickle():
    """Verdicts of shards travel so between processes."""
    assert pickle.loads(pickle.dumps(Point(1, (2, 3)))) == Point(1, (2, 3))


def test_a_frozen_class_without_slots_computes_a_property_once():
    """A cached property writes past `__setattr__`."""
    assert Lazy(2).double == 4


def test_a_repr_that_holds_itself_ends():
    """As that of a list does."""

    @dataclass(slots=True)
    class Node:
        peers: list[object]

    node = Node([])
    node.peers.append(node)
    assert repr(node).endswith("Node(peers=[...])")
