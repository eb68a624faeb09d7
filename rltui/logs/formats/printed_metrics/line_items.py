"""The counters and the named numbers of one line of a console.

Dictionaries, lists of pairs and the descriptions of progress bars are parsed as labelled numbers, too; the
conventions of single programs are data (`rltui/data/labelled_lines.toml`). A role at the start of a line
("[Evaluator]", "TRAINER - ") becomes a prefix of its names, which separates evaluation from training.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Annotated

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.logs.records.parse_number import statistics
from rltui.logs.records.record_keys import (
    Ranks,
    compared,
    is_idle,
    is_rounded_away,
    log_keys,
    step_keys,
    wall_time_keys,
)
from rltui.schema.fields import ConvertedField, ListField, TextField
from rltui.schema.toml_files import read_table

ANSI = regex(r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
RAY = regex(r"^\s*\((?!\d+\))[\w.:\-]+(?: \w+=[^)]{1,80})?\) ?")  # (TaskRunner pid=12, ip=10.0.0.1)
BAR = "progress_bar"  # name of the counter of a bar
ROUNDED = ("rounded", "the console shows few digits: its values are rounded")  # code and text of a note
PLAIN_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,4})?|[-+]?(?:nan|NaN|inf|Infinity)"
NUMBER = PLAIN_NUMBER.replace(r"\d+", r"\d+(?:,\d+)*", 1)  # thousands separators, decimal commas
_WORD = r"(?!(?:nan|NaN|inf|Infinity)\b)[^\W\d][\w%/.()@]*"
_NAME = rf"(?P<name>{_WORD}(?:[ -]{_WORD}){{0,5}}(?: \([^()]{{1,20}}\))?)"
_UNIT = r"(?: ?(?P<unit>%|(?:ms|s|secs?|min|[GM]i?B|[kKM])\b))?(?: ?\(\d{1,3}(?:\.\d+)?%\))?"
_ITEM = regex(
    rf"(?<![\w.]){_NAME}(?:\s*[:=]\s*[\[(]?|(?P<blank> +)(?P<hash>#)?\[?)(?P<value>{NUMBER})"
    rf"(?:\s*/\s*(?P<total>\d{{1,15}}))?{_UNIT}[\])]?(?: ?(?:±|\+/?-) ?{NUMBER})?(?!\w|\.\w|[-:/]\d)"
)
_PLAIN = regex(rf"({_WORD}(?: {_WORD}){{0,5}}): +({PLAIN_NUMBER})")  # one name and its number
_DIGIT = regex(r"\d")
_STATED = regex(r" (?:is|was):? (?=[-+]?\.?\d)")  # "average reward is 2.5"
_WRAPPED = regex(r"\b(?:np\.\w{1,10}|tensor|[aA]rray)\(\[?([^(),\[\]]{1,40})[^()]*\)")
# Several numbers after one name, named numbers after a name: "rewards=[0.5, 1.0]", "Adv(mean=0.1, std=0.5)".
_QUOTABLE = rf"""['"]?(?:{PLAIN_NUMBER})['"]?"""
_LIST = regex(
    rf"({_WORD})\s*[:=]\s*[\[(]\s*({_QUOTABLE}(?:(?:\s*[,;]\s*|\s+){_QUOTABLE}){{1,255}})\s*,?\s*[\])]"
)
_LISTED = regex(r"[:=]\s*[\[(]")  # quick test for `_LIST`
_OPENED = regex(r"\w\(\w+\s*[:=]")
_GROUP = regex(rf"\b([^\W\d]\w*)\(((?:[^\W\d]\w*\s*[:=]\s*(?:{PLAIN_NUMBER})[,;\s]*){{1,9}})\)")
_APART = regex(r"""[,;\s'"]+""")
_IN_GROUP = regex(r"(\w+)\s*[:=]\s*([^,;\s]+)")
# Names separated by slashes, and as many numbers: "Loss(P/V/E): -0.01/0.07/0.31", "min/mean/max = 1/2/3".
_SLASHED_NAME, _SLASHED_VALUE = r"[^\W\d][\w-]{0,30}", rf"(?:{PLAIN_NUMBER})"
_SLASHED = regex(
    rf"(?:(?P<of>\b[^\W\d][\w.-]*) ?(?=[(\[]))?(?P<open>[(\[])?"
    rf"(?<![\w/])(?P<names>{_SLASHED_NAME}(?: ?/ ?{_SLASHED_NAME}){{1,7}})(?(open)[)\]])\s*[:=]\s*"
    rf"(?P<values>{_SLASHED_VALUE}(?: ?/ ?{_SLASHED_VALUE}){{1,7}})(?![\w/]|\.\w)"
)
_RESTS = regex(r"[\s|,;:/()\[\]#*=~.<>—–•▶·-]*")  # between the items of a line without other text
_WITH = regex(r"with (?:an? )?", re.I)  # "Episode 3 ended with a total reward of 2.5"
_REMARK = regex(r"\(\d[^()=:]{0,40}\)")  # at the end of a line: "(2/4 rendered)"
_EPOCH_AND_BATCH = regex(
    r"\bepoch ?[:=]? ?[\[(]?(\d{1,9})(?:/(\d{1,9}))?[\])]?,? ?[\[(] ?(\d{1,12})/ ?(\d{1,12}) ?[\])]", re.I
)
_THOUSANDS = regex(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")
_DECIMAL_COMMA = regex(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_DECORATION = " \t|,;:()[]<>#*=~–—•-"  # around the start of a line
_CLOCK = 1e9  # lowest number taken for seconds since 1970
_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_SCALES_WRITTEN = frozenset({*_SCALES, *map(str.upper, _SCALES)})
# Keys as printed by Python and JSON, in a dictionary or before a number in a tuple: "('Reward:', 2.5)".
_KEY = regex(
    r"""(?P<quote>['"])(?P<key>[^'"{}]{1,80})(?P=quote)\s*:\s*"""
    r"""|[(,]\s*(?P<mark>['"])(?P<label>[^'"{}]{1,80}?)[ :=]*(?P=mark)\s*,\s*"""
)
_QUOTED = regex(rf"""(['"])({NUMBER})\1""")
_NESTED = regex(r"\b[A-Za-z_]\w{0,39}\s*[:=]\s*(?=\{)")  # the name of a dictionary
_BRACES = str.maketrans("{}", "  ")
# tqdm: description, n/total, times and rate, the text of `set_postfix`, text after the bar.
# Tensorforce's has the first time only.
_BAR = regex(
    r"(?P<before>.{0,2000}?):? *\d{1,3}%\|[^|]{0,500}\| *(?P<count>\d{1,12})/(?P<total>\d{1,12}) "
    r"\[[^\]<,]{1,20}(?:<[^,\]]{1,20}, ?[^,\]]{1,40})?(?:, (?P<postfix>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*))?\]"
    r"(?P<after>.*)"
)

Step = tuple[int, dict[str, object]]  # a record and its step


class Rewrite(NamedTuple):
    """A replacement within lines that contain the text `holds`."""

    holds: str
    pattern: re.Pattern[str]
    becomes: str = ""  # as in `re.sub`


AnyWord = Annotated[
    re.Pattern[str],
    ConvertedField(ListField(TextField()), lambda words: re.compile("|".join(words), re.IGNORECASE)),
]


@dataclass(frozen=True)
class Words:
    """The tables of `labelled_lines.toml`. counters: rank by name; roles: the prefix of names by role."""

    counters: Ranks
    in_tables: frozenset[str]
    leading: frozenset[str]
    unnamed: frozenset[str]
    telling: AnyWord
    telling_counters: frozenset[str]
    prefixes: tuple[str, ...]
    roles: dict[str, Annotated[str, TextField(empty=True)]]
    rewrite: tuple[Rewrite, ...]

    @cached_property
    def role(self) -> re.Pattern[str]:
        """A role at the start of a line, in one of the groups."""
        role = "|".join(sorted(map(re.escape, self.roles), key=len, reverse=True))
        return re.compile(
            rf"(?:\[({role})\]|\| ?({role}) *(?=\|)"
            rf"|({role})(?: ?[-|>](?= )|:(?= +[^\W\d])|\s{{2,}}(?=[^\W\d])))[\s|:>-]*",
            re.IGNORECASE,
        )

    @cached_property
    def role_starts(self) -> str:
        """Characters with which a role can begin."""
        return "[|" + "".join(role[0] + role[0].upper() for role in self.roles)

    @cached_property
    def rewrites(self) -> dict[str, list[Rewrite]]:
        """The entries of `rewrite` by `holds`."""
        found: dict[str, list[Rewrite]] = {}
        for each in self.rewrite:
            found.setdefault(each.holds, []).append(each)
        return found

    @cached_property
    def ascii_rewrites(self) -> dict[str, list[Rewrite]]:
        """Those of `rewrites` that may be needed in a line of ASCII characters."""
        return {holds: rewrites for holds, rewrites in self.rewrites.items() if holds.isascii()}

    @cached_property
    def prefix(self) -> re.Pattern[str]:
        """Times, levels and the like at the start of a line, up to a role in brackets."""
        roles = "|".join(map(re.escape, self.roles))
        return re.compile(rf"(?:(?!\[(?i:{roles})\])(?:{'|'.join(self.prefixes)})){{1,4}}")

    @cached_property
    def learner(self) -> re.Pattern[str]:
        """One of several learners by its number: `Agent 1`, `[player_2]`."""
        return re.compile(
            rf"\b({'|'.join(log_keys().learner_words)})[ _#-]{{0,2}}(\d{{1,3}})(?![\w.,]|[/:-]\d)",
            re.IGNORECASE,
        )

    @cached_property
    def learner_stems(self) -> tuple[str, ...]:
        """The words for a learner that contain no other one."""
        every = log_keys().learner_words
        return tuple(word for word in every if not any(other in word for other in every if other != word))

    def without_prefixes(self, text: str) -> tuple[str, str]:
        """The prefix of names from the role of a line, and the line without times, levels and role.

        Within the line, learners are joined to their numbers.
        """
        if found := self.prefix.match(text):
            text = text[found.end() :]
        # A search for plain text comes first: it takes a quarter of the time of the expression.
        if any(map(text.lower().__contains__, self.learner_stems)) and (
            learners := list(self.learner.finditer(text))
        ):
            found, rest = learners[0], text[learners[0].end() :].lstrip(_DECORATION)
            begins = len(learners) == 1 and not text[: found.start()].strip(_DECORATION)
            if begins and (not rest or rest[0].isalpha()):
                return f"{found[1].lower()}_{found[2]}/", rest
            text = self.learner.sub(r"\1_\2", text)
        if text[:1] in self.role_starts and (found := self.role.match(text)):
            return self.roles[found[found.lastindex or 0].lower()], text[found.end() :]
        return "", text


@cache
def words() -> Words:
    """The tables, read with the first line."""
    return read_table("labelled_lines", Words)


class Counter(NamedTuple):
    """A number that shows the progress of a training."""

    name: str
    value: int
    total: int = 0  # of a progress bar
    goal: int = 0  # the final value, if the line has it


class LabelledLine(NamedTuple):
    """A parsed line. counters: finest first; only_items: there is no other text; role: prefix of names."""

    counters: list[Counter]
    numbers: dict[str, object]
    only_items: bool
    role: str = ""


NOTHING = LabelledLine([], {}, only_items=False)


def items(text: str) -> LabelledLine:
    """Parse a line. A line that only names a learner has neither counters nor numbers, but a role."""
    if _DIGIT.search(text) is None:
        return NOTHING
    if "%|" in text and (bar := _BAR.match(text)):
        return _parse_bar(bar)
    return _parse_labelled(text)


def _parse_bar(bar: re.Match[str]) -> LabelledLine:
    """The description and postfix of a progress bar, or the line that was printed after the bar."""
    if _DIGIT.search(bar["after"]):
        return items(bar["after"].strip())
    counters, numbers, _, role = _parse_labelled(f"{bar['before']}  {bar['postfix'] or ''}".strip())
    if not numbers:
        return NOTHING
    return LabelledLine(
        _by_rank([*counters, Counter(BAR, int(bar["count"]), int(bar["total"]), int(bar["total"]))]),
        numbers,
        only_items=True,
        role=role,
    )


def _parse_single_number(text: str) -> LabelledLine | None:
    """A line of one name and its number, which need no search for items; None for other lines."""
    known = words()
    if not (plain := _PLAIN.fullmatch(text)) or known.without_prefixes(text) != ("", text):
        return None
    name, number = plain[1], float(plain[2])
    named = counter_of(name) is None and name.split(" ")[-1].lower() not in known.unnamed
    if named and number < _CLOCK and not is_rounded_away(name, plain[2]):
        return LabelledLine([], {name.rstrip("."): number}, only_items=True)
    return None


def _parse_labelled(text: str) -> LabelledLine:
    if (single := _parse_single_number(text)) is not None:
        return single
    known = words()
    role, text = _as_labelled(text)
    text, counters = _split_epoch_and_batch(text)
    if " is" in text or " was" in text:
        text = _STATED.sub(": ", text)
    text = text.replace("\t", "  ")
    numbers: dict[str, object] = {}
    alone: tuple[str, Counter] | None = None
    labelled = rests = True
    end = 0
    commas = "." not in text and any(
        not _THOUSANDS.fullmatch(each["value"]) for each in _ITEM.finditer(text) if "," in each["value"]
    )
    for item in _ITEM.finditer(text):
        name, blank, numbered, printed, total, unit = item.groups()
        start, stop = item.span()
        rests = rests and _RESTS.fullmatch(text, end, start) is not None
        name = name.rstrip(".")
        if " " in name:
            name = _plain_name(name, after_number=end > 0 and not text[end:start].strip())
        end = stop
        labelled = labelled and (not blank or " " not in name)
        value = _value(printed, unit, commas=commas)
        if value == 0.0 and is_rounded_away(name, printed):
            continue
        if value is None or name.rpartition(" ")[2].lower() in known.unnamed:
            continue  # part of a sentence
        counter = counter_of(name)
        if counter in known.in_tables:
            # Without an episode in its line, with the number that a training has, it is no length of one.
            whole = is_count(value) and (total or unit in _SCALES_WRITTEN)
            if whole and alone is None:
                alone = name, Counter(str(counter), int(value), goal=int(total or 0))
            counter = None
        if counter is not None and is_count(value) and unit != "%":
            goal = int(total or 0)
            counters.setdefault(counter, Counter(counter, int(value), goal=goal if goal >= value else 0))
        elif not numbered and not (value >= _CLOCK and wall_time_keys([name])):
            numbers.setdefault(name if name.startswith(role) else role + name, value)
    if text.endswith(")") and (remark := _REMARK.fullmatch(text, max(text.rfind("("), end))):
        text = text[: remark.start()]
    rests = rests and _RESTS.fullmatch(text, end) is not None
    if alone is not None and not counters:
        numbers.pop(alone[0] if alone[0].startswith(role) else role + alone[0], None)
        counters[alone[1].name] = alone[1]
    only_items = rests and (labelled or bool(counters))
    return LabelledLine(_by_rank(counters.values()), numbers, only_items, role)


def _split_epoch_and_batch(text: str) -> tuple[str, dict[str, Counter]]:
    """The line without "Epoch 3/10 [20/100]", and the step that this says."""
    both = _EPOCH_AND_BATCH.search(text) if "epoch" in text.lower() else None
    if both is None:
        return text, {}
    epoch, epochs, batch, batches = (int(number or 0) for number in both.groups())
    step = Counter("step", max(epoch - 1, 0) * batches + batch, goal=epochs * batches)
    return text[: both.start()] + text[both.end() :], {"step": step}


def _as_labelled(text: str) -> tuple[str, str]:
    """The role at the start of a line, and the rest: dictionaries, groups and lists as labelled numbers."""
    known = words()
    if text[:1] == "(":
        text = RAY.sub("", text, count=1)
    for holds, rewrites in (known.ascii_rewrites if text.isascii() else known.rewrites).items():
        if holds in text:
            for rewrite in rewrites:
                text = rewrite.pattern.sub(rewrite.becomes, text)
    if "{" in text or "('" in text:
        text = _QUOTED.sub(r"\2", _KEY.sub(_expand_key, _NESTED.sub("", text)).translate(_BRACES))
    role, text = known.without_prefixes(text.lstrip())
    if "(" in text:
        text = _WRAPPED.sub(r"\1", text)
        if _OPENED.search(text):
            text = _GROUP.sub(_expand_group, text)
    if ("[" in text or "(" in text) and _LISTED.search(text):
        text = _LIST.sub(_expand_list, text)
    if text.count("/") > 1:
        text = _SLASHED.sub(_expand_slashed, text)
    return role, text


def line_of(numbers: Mapping[str, float]) -> LabelledLine:
    """The names and numbers of a printed table as one line.

    The best counter may be one of `record_keys.toml` that is none in lines ("exploration/num steps total").
    """
    counters: dict[str, int] = {}
    others: dict[str, object] = {}
    for name, value in numbers.items():
        counter = counter_of(name)
        if counter is not None and is_count(value):
            counters.setdefault(counter, int(value))
        else:
            others[name] = value
    found = _by_rank(map(Counter, counters, counters.values()))
    for key in step_keys(numbers)[:1]:
        if key in others and is_count(numbers[key]) and not is_idle(key, int(numbers[key])):
            found.insert(0, Counter(key, int(others.pop(key))))  # type: ignore[call-overload]  # a number
    return LabelledLine(found, others, only_items=True)


def _plain_name(name: str, *, after_number: bool) -> str:
    """A name of several words without words of a sentence: "average reward of", "timesteps with reward".

    after_number: whether the first word may be the unit of the number before it.
    """
    known = words()
    first, _, rest = name.partition(" ")
    joint, _, plain = rest.partition(" ")
    if after_number and plain and joint.lower() in known.unnamed and counter_of(first) is not None:
        name = plain
    plain, _, last = name.rpartition(" ")
    if last.lower() != "of" or known.telling.search(plain) is None:
        return name
    plain = plain[found.end() :] if (found := _WITH.match(plain)) else plain
    return plain if known.unnamed.isdisjoint(plain.lower().split()) else name


def _expand_key(found: re.Match[str]) -> str:
    return f"  {found['key'] or found['label']}: "


def _expand_list(found: re.Match[str]) -> str:
    """A list of numbers as its statistics, as for lists in JSON records (`records.flatten`)."""
    mean, low, high = (
        statistics([float(number) for number in _APART.split(found[2].strip("'\""))]) or (0.0,) * 3
    )
    return f"{found[1]}/mean: {mean:.6g}  {found[1]}/min: {low:.6g}  {found[1]}/max: {high:.6g}  "


def _expand_group(found: re.Match[str]) -> str:
    return "".join(f"  {found[1]} {name}: {number}  " for name, number in _IN_GROUP.findall(found[2]))


def _expand_slashed(found: re.Match[str]) -> str:
    """Each name with its number. Two names with whole numbers are a path: "train/step: 3/100"."""
    named, values = found["names"].split("/"), found["values"].split("/")
    path = len(named) == 2 and found["open"] is None and "." not in found["values"]
    if len(named) != len(values) or path:
        return found[0]
    of = f"{found['of']} " if found["of"] else ""
    pairs = zip(named, values, strict=True)
    return "".join(f"  {of}{name.strip()}: {value.strip()}  " for name, value in pairs)


def _by_rank(counters: Iterable[Counter]) -> list[Counter]:
    found, ranks = list(counters), words().counters
    if len(found) > 1:
        found.sort(key=lambda counter: ranks[counter.name])
    return found


def is_count(value: float) -> bool:
    """Whether a number can be a step."""
    return value.is_integer() and 0 <= value < 1 << 62


@lru_cache(maxsize=4096)  # lines have the same names again and again
def counter_of(name: str) -> str | None:
    """The counter with this name, ignoring leading words without meaning."""
    known = words()
    parts = compared(name.rpartition(". ")[2]).split("_")  # "Walker. Step"
    for skipped in range(min(len(parts), 3)):
        rest = "_".join(parts[skipped:])
        if rest in known.counters:
            return rest
        if parts[skipped] not in known.leading:
            break
    return None


def _value(text: str, unit: str | None, *, commas: bool) -> float | None:
    """The number of a text, with commas as thousands separators or, if `commas`, as decimal commas."""
    if "," in text:
        if not commas and _THOUSANDS.fullmatch(text):
            text = text.replace(",", "")
        elif _DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        else:
            return None
    return scaled(text, unit)


def scaled(text: str, unit: str | None) -> float:
    """The number of a text, scaled by a suffix such as in `1.2k`; other units do not change it."""
    return float(text) * _SCALES.get(unit.lower(), 1.0) if unit else float(text)
