"""What may stand in the file of a framework, and in the file of conventions that hold across frameworks.

A file of `rltui/data/frameworks` is one framework; its stem is its id. Those of the folder `shared_names`
hold in runs of any. All keys but `title` may be left out:

    title = "Zork"                      # as people call it
    source = "zork/zork @ 1dda039"      # what was read, and which version
    caveat = "..."                      # what a reader of any of its metrics should know
    popularity = 3                      # rank among frameworks that mean different things by one name
    aliases = ["zk"]                    # other names that users may call it by
    prefixes = ["train/", ""]           # what its loggers put in front of a name; default [""]
    held_out = ["eval/"]                # prefixes of evaluation: never taken for training
    beside = true                       # its names hold in runs of any framework, behind that one's own
    held_out_sets = true                # data sets stand between: eval_math_loss
    domains = true                      # names repeat behind a domain: math/critic/score/mean
    silent = ["default_policy"]         # words for wildcards that say nothing
    extends = ["transformers"]          # its names count too, behind the file's own

    [recognise]                         # how a run is known as this framework's
    must = ["a/b", ["c", "d"]]          # at least one of these (a list: all of it) is there
    without = ["e"]                     # none of these is
    [recognise.signs]
    "a/{b,c}" = 1                       # names that tell it: each point halves the doubt

    [[variant]]                         # a trainer with a label of its own: zork-grpo
    id = "grpo"
    any = ["x"]                         # the first variant with one of these, and none of `without`
    [variant.names]                     # where it means something else by a name

    [names]                             # name -> canonical id; wildcards as in `patterns`
    "a/{mean,avg}" = "reward.{mean,mean}"
    "b" = { is = "perf.mfu", unit = "percent", statistic = "max", caveat = "...", shared = false }
    "c" = { is = "rollout.format_score", scale = -1, offset = 1 }

    [older]                             # likewise, names that only older releases write

`unit` is that of the value as written where it is not the canonical one; `scale` and `offset` are needed only
where the two units do not tell them. The statistic `copy` is for a series that is logged a second time at
other steps, such as seconds: it is shown, not judged. `shared = false` keeps a name out of the guesses for
unknown frameworks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

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
    table_of,
)
from rltui.schema.metric import STATISTICS, TEXTS, NameTarget, Statistic, entry_field


class Signs(NamedTuple):
    """The table `recognise`."""

    must: tuple[tuple[str, ...], ...] = ()
    without: tuple[str, ...] = ()
    signs: Mapping[str, float] = {}


class VariantTable(NamedTuple):
    """A table `variant`."""

    id: str
    title: str = ""
    any: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    names: Mapping[str, NameTarget | str] = {}


class FrameworkFile(NamedTuple):
    """The file of a framework, as described above."""

    title: str = ""
    source: str = ""
    caveat: str = ""
    popularity: int | None = None
    aliases: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ("",)
    held_out: tuple[str, ...] = ()
    silent: frozenset[str] = frozenset()
    domains: bool = False
    held_out_sets: bool = False
    beside: bool = False
    extends: tuple[str, ...] = ()
    recognise: Signs = Signs()
    variant: tuple[VariantTable, ...] = ()
    names: Mapping[str, NameTarget | str] = {}
    older: Mapping[str, NameTarget | str] = {}


class Conventions(NamedTuple):
    """What holds across frameworks, for keys that none of them knows."""

    held_out: tuple[str, ...] = ()  # prefixes of evaluation
    training: tuple[str, ...] = ()  # prefixes that say only "not evaluation"
    fallback: tuple[str, ...] = ()  # files whose names are tried last beside any framework
    validation: Mapping[str, str] = {}  # canonical id of training -> of evaluation
    units: Mapping[str, float] = {}  # "percent -> fraction" = 0.01
    kinds: frozenset[str] = frozenset()  # canonical ids that say only of what kind a thing is
    statistics: Mapping[str, Statistic] = {}  # last word of a key -> statistic
    sections: Mapping[str, str] = {}  # section of a key -> pane


def _expanded(names: Mapping[str, str]) -> dict[str, str]:
    return dict(pair for name, target in names.items() for pair in expand(name, target))


def _by_word(**words: tuple[str, ...]) -> dict[str, Statistic]:
    return {word: statistic for statistic in STATISTICS for word in words.get(statistic, ())}


@cache
def framework_field() -> TableField[FrameworkFile]:
    """The file of a framework."""
    names = MapField(entry_field(shared=BoolField()))
    groups = ListField(ListField(TextField(), single=True))
    return table_of(
        FrameworkFile,
        popularity=NumberField(1, integer=True),
        prefixes=ListField(TextField(empty=True)),
        recognise=table_of(Signs, must=groups, signs=MapField(NumberField(0.01))),
        variant=ListField(table_of(VariantTable, names=names)),
        names=names,
        older=names,
    )


def conventions_field() -> TableField[Conventions]:
    """The file of conventions."""
    return table_of(
        Conventions,
        validation=ConvertedField(MapField(TextField()), _expanded),
        statistics=TableField(dict.fromkeys(STATISTICS, TEXTS), _by_word),
    )


def expand_names(
    names: Mapping[str, NameTarget | str], path: KeyPath, report: Report, *, older: bool = False
) -> dict[str, NameTarget]:
    """Names without braces and where each leads; patterns that cannot be meant are reported.

    names: as a file has them: patterns with braces, and a canonical id or more than that.
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


def expand_pattern(pattern: str, target: str, path: KeyPath, report: Report) -> list[tuple[str, str]]:
    """Pairs of name and target without braces; none, and why is reported, for what cannot be meant."""
    try:
        return list(expand(pattern, target))
    except PatternError as error:
        report(path, str(error))
        return []
