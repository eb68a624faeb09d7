"""Data classes that are made quickly."""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import field, replace

import pytest

from rltui.common.data_class import dataclass


@dataclass(frozen=True, slots=True)
class Made:
    """Of the module under test."""

    one: int
    two: list[int] = field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Expected:
    """Of the library."""

    one: int
    two: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Key:
    """One that can be hashed."""

    one: int = 1


@dataclass(slots=True)
class Changing:
    """Compared by value, and changed."""

    one: int = 1


@dataclass(eq=False)
class Itself:
    """Compared by identity."""

    one: int = 1


def test_a_data_class_is_shown_copied_and_pickled_as_that_of_the_library() -> None:
    """Defaults, text, `replace`, `astuple`, pickles; a frozen one cannot be changed."""
    made, expected = Made(1), Expected(1)
    assert repr(made) == repr(expected).replace("Expected", "Made")
    assert replace(made, two=[3]) == Made(1, [3])
    assert dataclasses.astuple(made) == dataclasses.astuple(expected)
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.one = 2  # type: ignore[misc]


def test_data_classes_are_equal_by_class_and_values_and_hashed_where_frozen() -> None:
    """One with `eq=False` is equal to itself alone."""
    assert Made(1) != Made(2)
    assert Made(1) != Expected(1)
    assert {Key(1): 2}[Key()] == 2
    assert Changing() == Changing()
    assert Itself() != Itself()
    assert hash(Itself())
    with pytest.raises(TypeError):
        hash(Changing())
