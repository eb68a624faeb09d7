"""The schema of the files of frameworks, and of the files of conventions and words for all frameworks.

A file in `rltui/data/frameworks` describes the framework with its stem as id. The files in its folder
`shared_names` apply to runs of any framework. All keys are optional:

    title = "Zork"
    source = "zork/zork @ 1dda039"      # the source code that was read, with its version
    caveat = "..."                      # shown with all its metrics
    popularity = 3                      # rank; decides when frameworks use one name for different metrics
    aliases = ["zk"]                    # other names that users may give
    prefixes = ["train/", ""]           # prefixes that loggers add to names; default [""]
    held_out = ["eval/"]                # prefixes of evaluations, which are never judged as training
    beside = true                       # the names also apply to runs of other frameworks
    held_out_sets = true                # evaluation keys contain the data set: eval_math_loss
    domains = true                      # names may follow a domain: math/critic/score/mean
    silent = ["default_policy"]         # matches of wildcards that are not shown
    extends = ["transformers"]          # frameworks whose names apply, too, after the file's own
    copies = { "iter/" = "step/" }      # names with the second beginning are logged again with the first

    [recognise]                         # how runs of this framework are recognised
    must = ["a/b", ["c", "d"]]          # at least one of these is required; of a list, all of it
    without = ["e"]                     # none of these is permitted
    [recognise.signs]
    "a/{b,c}" = 1                       # names that indicate the framework; each point halves the doubt

    [[variant]]                         # a trainer with its own label: zork-grpo
    id = "grpo"
    any = ["x"]                         # the first variant with one of these, and none of `without`, applies
    copies = { "step/" = "iter/" }      # here the copies are those that are none otherwise
    [variant.names]                     # names that differ from those below

    [names]                             # name -> canonical id; wildcards as in `patterns`
    "a/{mean,avg}" = "reward.{mean,mean}"
    "b" = { is = "perf.mfu", unit = "percent", statistic = "max", caveat = "...", shared = false }
    "c" = { is = "rollout.format_score", scale = -1, offset = 1 }

    [older]                             # the same for names that only older releases write

`unit` is that of the values as written, if it is not the canonical one; `scale` and `offset` are needed only
if they do not follow from the two units. The statistic `copy` is for a series that is logged again at other
steps, such as seconds; it is shown but not judged. A name with `shared = false` is not used for unknown
frameworks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from rltui.common.named_tuple import NamedTuple
from rltui.metrics.frameworks.patterns import PatternError, expand
from rltui.schema.fields import (
    BoolField,
    ConvertedField,
    KeyPath,
    ListField,
    MapField,
    NumberField,
    Report,
    TableField,
    TextField,
)
from rltui.schema.metric import STATISTICS, TEXTS, NameTarget, Statistic, entry_field

Group = Annotated[tuple[str, ...], ListField(TextField(), single=True)]
Target = Annotated[NameTarget | str, entry_field(shared=BoolField())]


class Signs(NamedTuple):
    """The table `recognise`."""

    must: tuple[Group, ...] = ()
    without: tuple[str, ...] = ()
    signs: Mapping[str, Annotated[float, NumberField(0.01)]] = {}


class VariantTable(NamedTuple):
    """A table `variant`."""

    id: str
    title: str = ""
    any: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    copies: Mapping[str, str] = {}
    names: Mapping[str, Target] = {}


class FrameworkFile(NamedTuple):
    """The file of a framework."""

    title: str = ""
    source: str = ""
    caveat: str = ""
    popularity: Annotated[int | None, NumberField(1, integer=True)] = None
    aliases: tuple[str, ...] = ()
    prefixes: tuple[Annotated[str, TextField(empty=True)], ...] = ("",)
    held_out: tuple[str, ...] = ()
    silent: frozenset[str] = frozenset()
    domains: bool = False
    held_out_sets: bool = False
    beside: bool = False
    extends: tuple[str, ...] = ()
    copies: Mapping[str, str] = {}
    recognise: Signs = Signs()
    variant: tuple[VariantTable, ...] = ()
    names: Mapping[str, Target] = {}
    older: Mapping[str, Target] = {}


class Conventions(NamedTuple):
    """Conventions for all frameworks, used for unknown keys."""

    held_out: tuple[str, ...] = ()  # prefixes of evaluation
    training: tuple[str, ...] = ()  # prefixes of training
    fallback: tuple[str, ...] = ()  # files whose names are tried last, in runs of any framework
    # Canonical id of training -> of evaluation.
    validation: Annotated[Mapping[str, str], ConvertedField(MapField(TextField()), _expanded)] = {}
    units: Mapping[str, float] = {}  # "percent -> fraction" = 0.01
    kinds: frozenset[str] = frozenset()  # generic canonical ids, whose titles are made from the key
    # Last word of a key -> statistic.
    statistics: Annotated[
        Mapping[str, Statistic], TableField(dict.fromkeys(STATISTICS, TEXTS), _by_word)
    ] = {}
    sections: Mapping[str, str] = {}  # section of a key -> pane


class BelowTable(NamedTuple):
    """A table `below`: what names are called that mean something else below first sections than alone."""

    sections: frozenset[str] = frozenset()  # all if empty
    names: Mapping[str, str] = {}  # name -> what it is called alone
    unknown: frozenset[str] = frozenset()  # names that mean nothing there


class WordTable(NamedTuple):
    """The words of names in loops that nobody knows: the file `words`."""

    averages: frozenset[str] = frozenset()  # which mean it is
    containers: frozenset[str] = frozenset()  # what holds a history, as the last word of its name
    sections: frozenset[str] = frozenset()  # of names, that say which part of a loop wrote them
    algorithms: frozenset[str] = frozenset()  # the same, of documents that compare several
    training: frozenset[str] = frozenset()  # sections below these that name the phase of a loop
    below: tuple[BelowTable, ...] = ()
    apart: Mapping[str, frozenset[str]] = {}  # word -> words next to which it means nothing by itself
    roles: frozenset[str] = frozenset()  # parts of an agent, as the first section of names
    ignored: frozenset[str] = frozenset()
    evaluation: frozenset[str] = frozenset()
    words: Mapping[str, tuple[str, ...]] = {}  # word -> other spellings
    names: Mapping[str, Target] = {}  # words between blanks, in any order -> metric


def _expanded(names: Mapping[str, str]) -> dict[str, str]:
    return dict(pair for name, target in names.items() for pair in expand(name, target))


def _by_word(**words: tuple[str, ...]) -> dict[str, Statistic]:
    return {word: statistic for statistic in STATISTICS for word in words.get(statistic, ())}


def expand_names(
    names: Mapping[str, NameTarget | str], path: KeyPath, report: Report, *, older: bool = False
) -> dict[str, NameTarget]:
    """The target of each name, with braces expanded; invalid patterns are reported.

    names: patterns with braces, and their targets, as in a file.
    """
    found: dict[str, NameTarget] = {}
    for pattern, target in names.items():
        entry = NameTarget(target) if isinstance(target, str) else target
        entry = entry._replace(older=True) if older else entry
        for name, canonical in expand_pattern(pattern, entry.canonical, (*path, pattern), report):
            if name in found:
                report((*path, pattern), f'gives "{name}", which is there twice')
            found[name] = entry if canonical == entry.canonical else entry._replace(canonical=canonical)
    return found


def with_copies(names: Mapping[str, NameTarget], copies: Mapping[str, str]) -> dict[str, NameTarget]:
    """The names that begin as a value of `copies`, and the same with its key in place of that, as copies.

    Of two names of which the first is a copy among `names`, the meaning is that of the other.
    """
    found: dict[str, NameTarget] = {}
    for again, first in copies.items():
        for name, entry in names.items():
            if name.startswith(first):
                copy = again + name.removeprefix(first)
                meaning = names.get(copy, entry) if entry.statistic == "copy" else entry
                found |= {name: meaning, copy: meaning._replace(statistic="copy")}
    return found


def expand_pattern(pattern: str, target: str, path: KeyPath, report: Report) -> list[tuple[str, str]]:
    """Pairs of name and target with braces expanded; empty for an invalid pattern, which is reported."""
    try:
        return list(expand(pattern, target))
    except PatternError as error:
        report(path, str(error))
        return []
