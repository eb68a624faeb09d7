"""Regular expressions that are compiled when they are first used."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re

import pytest

import rltui
from rltui.common.regex import regex


def test_an_expression_behaves_as_one_compiled_at_once() -> None:
    """Methods, attributes and flags are those of `re.compile`, in bytes as in text."""
    made, compiled = regex(r"(?P<name>a+)", re.IGNORECASE), re.compile(r"(?P<name>a+)", re.IGNORECASE)
    assert made.sub("-", "xAAay") == compiled.sub("-", "xAAay") == "x-y"
    assert (made.pattern, made.flags, made.groupindex) == (
        compiled.pattern,
        compiled.flags,
        compiled.groupindex,
    )
    assert regex(rb"\d").findall(b"a1b2") == [b"1", b"2"]
    assert pickle.loads(pickle.dumps(made)).fullmatch("AA")


def test_a_wrong_pattern_is_raised_where_it_is_used() -> None:
    """Making one compiles nothing."""
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.match("")


def test_every_expression_of_a_module_compiles() -> None:
    """A mistake in one that is seldom used is not left for users to find."""
    names = [
        each.name for each in pkgutil.walk_packages(rltui.__path__, "rltui.") if "__main__" not in each.name
    ]
    values = [value for name in names for value in vars(importlib.import_module(name)).values()]
    found = [value for value in values if isinstance(value, type(regex("")))]
    assert len(found) > 100
    assert all(re.compile(each.pattern, each.flags) for each in found)
