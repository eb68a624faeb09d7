"""Named tuples that are made quickly."""

from __future__ import annotations

import inspect
import pickle
import typing

import pytest

from rltui.common.named_tuple import NamedTuple


class Made(NamedTuple):
    """Of the module under test."""

    one: int
    two: tuple[int, ...] = ()

    @property
    def both(self) -> tuple[int, ...]:
        """All numbers."""
        return (self.one, *self.two)


class Expected(typing.NamedTuple):
    """Of the library."""

    one: int
    two: tuple[int, ...] = ()


def test_a_named_tuple_is_made_compared_shown_and_pickled_as_that_of_typing() -> None:
    """Fields, defaults, equality, text, pickles and properties."""
    made, expected = Made(1, (2, 3)), Expected(1, (2, 3))
    assert (made._fields, made._field_defaults) == (expected._fields, expected._field_defaults)
    assert made == expected == (1, (2, 3))
    assert repr(made) == repr(expected).replace("Expected", "Made")
    assert pickle.loads(pickle.dumps(made)) == made
    assert isinstance(pickle.loads(pickle.dumps(made)), Made)
    assert made._replace(one=4).both == (4, 2, 3)
    assert Made(one=1) == Expected(one=1)
    assert Made.__doc__ == "Of the module under test."
    with pytest.raises(TypeError):
        Made()


def test_annotations_of_a_named_tuple_are_the_texts_of_its_class() -> None:
    """Tables of data files read them from the signature."""
    assert [each.annotation for each in inspect.signature(Made).parameters.values()] == [
        "int",
        "tuple[int, ...]",
    ]
    assert typing.get_type_hints(Made) == {"one": int, "two": tuple[int, ...]}
