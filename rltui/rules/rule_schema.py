"""The schema of the files of rules. A rule also has the keys of its kind (`rltui.rules.kind_fields`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

from rltui.common.named_tuple import NamedTuple
from rltui.metrics.glossary_files import glossary
from rltui.rules.finding import RANK
from rltui.rules.kind_fields import NUMBERS, WORDS
from rltui.rules.rule import (
    RECORDING,
    UNLESS_LOGGED,
    Applies,
    AtResume,
    FollowsOutcome,
    Gap,
    Group,
    HParamCondition,
    KnownReturn,
    Rescaling,
    Rule,
    SharedMetrics,
    Symptom,
)
from rltui.schema.fields import (
    AnyOfField,
    BoolField,
    ConvertedField,
    Field,
    Invalid,
    KeyPath,
    ListField,
    NumberField,
    Report,
    TableField,
    TextField,
    as_dict,
    table_of,
)

T = TypeVar("T")


class RuleFile(NamedTuple):
    """The valid entries of one file."""

    rule: tuple[Rule, ...] = ()
    symptom: tuple[Symptom, ...] = ()
    gap: tuple[Gap, ...] = ()
    rescaling: tuple[Rescaling, ...] = ()
    hparam: tuple[HParamCondition, ...] = ()
    at_resume: tuple[AtResume, ...] = ()
    known_return: tuple[KnownReturn, ...] = ()
    follows_outcome: tuple[FollowsOutcome, ...] = ()
    group: tuple[Group, ...] = ()
    metric_group: tuple[SharedMetrics, ...] = ()


def _rule(
    metric: tuple[str, ...],
    kind: str,
    severity: str,
    applies: Mapping[str, Any] = MappingProxyType({}),
    for_: int = 1,
    latch: bool | None = None,
    **others: object,
) -> Rule:
    rest: dict[str, Any] = others
    if severity != RECORDING and not all(rest.get(key) for key in ("title", "message", "advice")):
        raise ValueError("needs title, message and advice")
    # An absolute limit is meaningful on the canonical scale only; a multiple of the run's level on any.
    relative = {"of", "per", "multiple_of"} & rest.keys()
    absolute = kind in ("threshold", "first", "logged") and not relative
    if latch is None:
        latch = kind in ("spike", "shift") and severity in ("warning", "critical")
    return Rule(
        metrics=metric,
        kind=kind,
        severity=severity,
        numbers={key: rest.pop(key) for key in NUMBERS[kind] if key in rest},
        words={key: rest.pop(key) for key in WORDS.get(kind, {}) if key in rest},
        unless_logged=rest.pop("unless_logged", {}),
        for_ticks=for_,
        latch=latch,
        applies=Applies(**{"comparable": True if absolute else None, **applies}),
        **rest,
    )


_TEXT = TextField()
_TEXTS = ListField(_TEXT)
_ID = TextField(pattern=r"[a-z][a-z0-9-]*", permitted="lower-case words joined by '-'")
_POINTS = NumberField(minimum=0, integer=True)
_WINDOWS = ListField(TextField(permitted="a window, such as '0.1*50 0.4*20'"))
_ANY = ConvertedField(TextField(choices=("any",)), lambda _: None)
_RULE: dict[str, Field[Any]] = {
    "id": _ID,
    "metric": _TEXTS,
    "kind": TextField(choices=tuple(NUMBERS)),
    "severity": TextField(choices=(*RANK, RECORDING)),
    **dict.fromkeys(("for", "keep_firing_for", "warmup"), _POINTS),
    **dict.fromkeys(("latch", "skip_zeros"), BoolField()),
    "remark_for": NumberField(minimum=0, maximum=1),
    "unless_logged": UNLESS_LOGGED,
    "applies": TableField(
        {
            **dict.fromkeys(("frameworks", "frameworks_not", "tags", "tags_not"), _TEXTS),
            "held_out": AnyOfField[Any]((BoolField(), _ANY), "true, false or 'any'"),
            "comparable": BoolField(),
        },
        as_dict,
        strict=True,
    ),
    **dict.fromkeys(("fires", "quiet"), _WINDOWS),
    **dict.fromkeys(("check_next", "holds_while", "inhibited_by", "info_when", "requires"), _TEXTS),
    **dict.fromkeys(("title", "message", "advice", "source", "per"), _TEXT),
}


class _RuleField(Field[Rule]):
    """A rule of any kind."""

    def check(self, value: object, path: KeyPath, report: Report) -> Rule | Invalid:
        """See Field."""
        kind = value.get("kind") if isinstance(value, dict) else None
        return _of_kind(kind if isinstance(kind, str) else "").check(value, path, report)


class _EntriesField(ListField[T]):
    """Entries of one kind. One that is `like` another of its file has that one's keys, but for its own."""

    def check(self, value: object, path: KeyPath, report: Report) -> tuple[T, ...] | Invalid:
        """See Field."""
        if not isinstance(value, list):
            return super().check(value, path, report)
        models = {
            each["id"]: index
            for index, each in enumerate(value)
            if isinstance(each, dict) and "like" not in each and isinstance(each.get("id"), str)
        }
        checked: dict[int, T] = {}
        mistakes: dict[int, list[tuple[KeyPath, str]]] = {}  # by index: keys in the entry, and messages

        def check(index: int, entry: object) -> None:
            found = mistakes[index] = list[tuple[KeyPath, str]]()
            at = (*path, index)
            item = self.item.check(entry, at, lambda keys, words: found.append((keys[len(at) :], words)))
            if not isinstance(item, Invalid):
                checked[index] = item

        like = {index: each for index, each in enumerate(value) if isinstance(each, dict) and "like" in each}
        for index, entry in enumerate(value):
            if index not in like:
                check(index, entry)
        for index, entry in like.items():
            model = models.get(str(entry["like"]))
            if model is None:
                words = "must be the id of an entry here that is not like another one"
                mistakes[index] = [(("like",), words)]
                continue
            own = {key: each for key, each in entry.items() if key != "like"}
            check(index, {key: each for key, each in value[model].items() if key != "id"} | own)
            mistakes[index] = [
                (keys, words)
                for keys, words in mistakes[index]
                if (keys and keys[0] in own) or (keys, words) not in mistakes[model]
            ]
        for index in range(len(value)):
            for keys, words in mistakes[index]:
                report((*path, index, *keys), words)
        return tuple([checked[index] for index in sorted(checked)])


@cache
def _of_kind(kind: str) -> TableField[Rule]:
    own: dict[str, Field[Any]] = dict.fromkeys(NUMBERS.get(kind, ()), NumberField())
    own |= {key: TextField(choices=tuple(filter(None, words))) for key, words in WORDS.get(kind, {}).items()}
    fields = _RULE | own | {"pane": _pane_field()}
    return TableField(fields, _rule, required=("id", "metric", "kind", "severity"), strict=True)


@cache
def _pane_field() -> TextField:
    """A function, so that importing this module does not read the glossary (24 ms)."""
    return TextField(choices=("overview", *(pane.id for pane in glossary().panes)))


@cache
def rule_file() -> TableField[RuleFile]:
    """The schema of one file of rules."""
    groups, share = ListField(ListField(_TEXT, single=True)), NumberField(minimum=0)
    pane = _pane_field()
    return table_of(
        RuleFile,
        rule=_EntriesField(_RuleField()),
        symptom=_EntriesField(
            _strict(Symptom, all=groups, or_all=groups, pane=pane, together=share, leads=share)
        ),
        known_return=_EntriesField(_strict(KnownReturn)),
        hparam=ListField(_strict(HParamCondition, pane=pane)),
        gap=ListField(_strict(Gap)),
        rescaling=ListField(_strict(Rescaling)),
        at_resume=ListField(_strict(AtResume)),
        follows_outcome=ListField(_strict(FollowsOutcome)),
        group=ListField(_strict(Group)),
        metric_group=ListField(_strict(SharedMetrics)),
    )


def _strict(make: type[T], **fields: Any) -> TableField[T]:
    return replace(table_of(make, id=_ID, **fields), strict=True)
