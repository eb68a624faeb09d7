"""Fields of TOML files: what is right becomes values, what is wrong is told with its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest

from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.schema import toml_files
from rltui.schema.fields import (
    INVALID,
    AnyOfField,
    BoolField,
    ListField,
    MapField,
    NumberField,
    TableField,
    TextField,
    as_dict,
    field_of,
    table_of,
)
from rltui.schema.toml_files import read_file, read_table, statements


@dataclass(frozen=True)
class Lamp:
    """What the tests make of a table."""

    name: str
    for_: int = 1
    lit: bool = False

    def __post_init__(self) -> None:
        """A lamp has no name of one letter."""
        if len(self.name) == 1:
            raise ValueError("has too short a name")


LAMPS = TableField(
    {
        "lamp": ListField(
            TableField(
                {"name": TextField(), "for": NumberField(1, integer=True), "lit": BoolField()},
                Lamp,
                required=("name",),
                aliases={"duration": "for"},
                strict=True,
            )
        ),
        "limits": MapField(
            AnyOfField[object]((NumberField(), TableField({"at": NumberField()}, as_dict)), "a number")
        ),
    },
    as_dict,
)


def read(tmp_path: Path, text: str) -> tuple[object, list[str]]:
    """What a file of lamps says, and its problems."""
    path = tmp_path / "lamps.toml"
    path.write_text(text)
    problems: list[Problem] = []
    return read_file(path, LAMPS, problems), [problem.message for problem in problems]


def test_a_table_becomes_what_its_field_makes(tmp_path: Path) -> None:
    """Defaults are those of the dataclass, lists are tuples, a Python keyword gets an underscore."""
    found, problems = read(tmp_path, '[[lamp]]\nname = "brass"\nfor = 3\n[[lamp]]\nname = "oil"\n')
    assert problems == []
    assert found == {"lamp": (Lamp("brass", 3), Lamp("oil"))}


def test_an_old_key_is_understood_unless_the_new_one_is_there(tmp_path: Path) -> None:
    """An alias fills the key that replaced it; both at once are told."""
    assert read(tmp_path, '[[lamp]]\nname = "oil"\nduration = 4') == ({"lamp": (Lamp("oil", 4),)}, [])
    _, problems = read(tmp_path, '[[lamp]]\nname = "oil"\nduration = 4\nfor = 5')
    assert problems == ["line 3: lamp[1].duration is the old name of 'for', which is given as well"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lamp = 3", "line 1: lamp must be a list, not a number (3)"),
        ('[[lamp]]\nname = "x"', "line 1: lamp[1] has too short a name"),
        (
            '[[lamp]]\nname = "ab"\n\n[[lamp]]\nfor = 0',
            "line 5: lamp[2].for must be a whole number of at least 1",
        ),
        (
            "[limits]\nx = 1\ny = { at = 'z' }",
            "line 3: limits.y.at must be a finite number, not a text ('z')",
        ),
        ("[limits]\nx = [\n1]", "line 2: limits.x must be a number, not a list"),
        ("[[lamp]]\nlit = true", "line 1: lamp[1] needs 'name'"),
        ("[limits", "is not TOML"),
    ],
)
def test_a_fault_names_line_key_and_what_is_permitted(tmp_path: Path, text: str, message: str) -> None:
    """One sentence for each fault."""
    assert any(each.startswith(message) for each in read(tmp_path, text)[1]), read(tmp_path, text)[1]


def test_a_strict_table_with_a_fault_is_left_out(tmp_path: Path) -> None:
    """The entries beside it hold."""
    found, problems = read(tmp_path, '[[lamp]]\nname = "oil"\nlit = 2\n[[lamp]]\nname = "brass"')
    assert found == {"lamp": (Lamp("brass"),)}
    assert len(problems) == 1


def test_a_shipped_table_must_be_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault is an error that names the file."""
    monkeypatch.setattr(toml_files, "DATA", tmp_path)
    (tmp_path / "good.toml").write_text("[limits]\na = 1")
    (tmp_path / "bad.toml").write_text("[limits]\na = true")
    assert read_table("good", dict[str, dict[str, float]]) == {"limits": {"a": 1.0}}
    with pytest.raises(ValueError, match=r"bad\.toml: line 2: limits\.a must be a finite number"):
        read_table("bad", dict[str, dict[str, float]])


def test_lines_of_keys_are_found() -> None:
    """Keys in tables, nested lists of tables, values over several lines, texts that look like heads."""
    text = 'a = 1\n[b]\nc = """\n[no.head]\n"""\n[[f]]\n[[f]]\ng = [\n1,\n2]\n[[f.q]]\n[[f.q]]\nz = {a = 2}\n'
    text += '[h."i/j"]\nk.l = 3'
    lines = {path: line for path, (line, _) in statements(text).items()}
    for path, line in [
        (("a",), 1), (("b",), 2), (("b", "c"), 3), (("f", 0), 6), (("f", 1), 7), (("f", 1, "g", 1), 8),
        (("f", 1, "q", 0), 11), (("f", 1, "q", 1), 12), (("f", 1, "q", 1, "z", "a"), 13),
        (("h", "i/j", "k", "l"), 15),
    ]:  # fmt: skip
        assert lines[path] == line, path
    assert ("no", "head") not in lines


def test_looking_for_lines_takes_bounded_time() -> None:
    """A value over tens of thousands of lines is not read again and again."""
    assert statements("a = 1\nb = [\n" + "1,\n" * 30_000 + "]\nc = 2") == {("a",): (1, 0)}


class NamedLamp(NamedTuple):
    """The same as a named tuple."""

    name: str
    for_: int = 1
    lit: bool = False


@pytest.mark.parametrize("made", [Lamp, NamedLamp])
def test_a_class_says_what_its_table_holds(made: type[Lamp | NamedLamp]) -> None:
    """Attributes without a default are required, types are checked; a given field says more than a type."""
    faults: list[str] = []

    def report(_: object, message: str) -> None:
        faults.append(message)

    lamp = table_of(made, for_=NumberField(1, integer=True))
    assert lamp.check({"name": "oil", "for": 2, "lit": True}, (), report) == made("oil", 2, True)
    assert not faults
    lamp.check({"lit": "yes", "for": 0}, (), report)
    assert faults == [
        "must be true or false, not a text ('yes')",
        "must be a whole number of at least 1, not a number (0)",
        "needs 'name'",
    ]


@pytest.mark.parametrize(
    ("kind", "given", "becomes"),
    [
        (int, 3, 3),
        (int, 0.5, None),
        (float | None, 3, 3.0),
        (Literal["oil", "gas"], "gas", "gas"),
        (Literal["oil", "gas"], "wax", None),
        (tuple[str, ...], ["a", "b"], ("a", "b")),
        (tuple[float, float], [0, 1], (0.0, 1.0)),
        (frozenset[str], ["a", "a"], frozenset({"a"})),
        (dict[str, tuple[NamedLamp, ...]], {"l": [{"name": "oil"}]}, {"l": (NamedLamp("oil"),)}),
        (Annotated[int, NumberField(1)], 0, None),
    ],
)
def test_a_type_says_what_a_value_may_be(kind: object, given: object, becomes: object) -> None:
    """Numbers, choices, lists, maps and classes within classes; an annotation with a field is that field."""
    checked = field_of(kind).check(given, (), lambda _path, _message: None)
    assert (None if checked is INVALID else checked) == becomes
