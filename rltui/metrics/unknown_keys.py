"""Placing unknown keys: the parts of a key between slashes are its section, group and metric."""

from __future__ import annotations

from functools import cache, lru_cache

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.metrics.frameworks.framework_schema import Conventions
from rltui.metrics.glossary_files import GENERAL, general_panes
from rltui.schema.metric import Statistic
from rltui.schema.toml_files import read_table

_CAMEL_CASE = regex(r"([a-z0-9])([A-Z])")
_SEPARATORS = regex(r"[\s_.-]+")
_PLAIN = regex(r"[a-z0-9]+(?:[_/][a-z0-9]+)*")
_MEAN = regex(r"(?:\A|_)(?:avg|average|mean|last|ma|moving|rolling)(?:_|\d)")
# The number of episodes in a mean: `_100`, `_last_50_episodes`, `_ma100`, `(last 64)`.
_MEAN_LENGTH = regex(
    r"(?:_(?:last|ma))?_?(?:10|20|25|30|50|100|200|500|1000)(?:_(?:eps?|episodes|games)\Z)?(?=_|\Z)"
    r"|_\(last_\d{1,6}(?:_(?:eps?|episodes|games))?\)\Z"
)
_SLUG = regex(r"[^a-z0-9]+")
_BRACKETED = regex(r"\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}|<[^<>]*>")


class KeyPlace(NamedTuple):
    """Where an unknown key is shown."""

    pane: str
    group: str
    title: str
    statistic: Statistic


def place_key(key: str, conventions: Conventions) -> KeyPlace:
    """The place of a key without its logger prefix.

    A key without slashes is in the pane General. The first part is the section, the last part the metric, and
    the parts between are the group. A section may belong to a pane of the glossary.
    """
    parts = [stripped for part in folders(key) if (stripped := part.strip())] or [key]
    last = parts[-1]
    statistic = conventions.statistics.get(last.lower(), "")
    if len(parts) == 1:
        return KeyPlace(GENERAL, "", humanise(last), "")
    section, middle = parts[0], "/".join(parts[1:-1])
    name = slug(section)
    if name in conventions.sections:
        pane = conventions.sections[name]
    elif name in general_panes() or not name:
        pane = f"{name or 'section'}-section"  # the id is reserved
    else:
        pane = name
    shown = f"{humanise(parts[-2])} {last}" if statistic and middle else humanise(last)
    return KeyPlace(pane, f"{section}/{middle}" if middle else "", shown, statistic if middle else "")


def folders(key: str) -> list[str]:
    """The parts of a key between slashes; slashes within brackets do not count, as in `loss[/b]`."""
    if "/" not in key or _BRACKETED.search(key) is None:
        return key.split("/")
    masked = _BRACKETED.sub(lambda found: found[0].replace("/", "\0"), key)  # keys hold no control characters
    return [part.replace("\0", "/") for part in masked.split("/")]


@lru_cache(4_096)
def slug(text: str) -> str:
    """A text as pane id: lower-case letters, digits and '-'. Text in other scripts is only lowercased."""
    return _SLUG.sub("-", text.lower()).strip("-") or "-".join(text.lower().split())


@cache
def _acronyms() -> dict[str, str]:
    """Acronyms by their lower-case spelling."""
    table = read_table("acronyms", dict[str, tuple[str, ...]])
    return {word.lower(): word for word in table["acronyms"]}


@lru_cache(16_384)
def humanise(word: str) -> str:
    """`frac_reward_zero_std` as `Frac reward zero std`."""
    acronyms = _acronyms()
    text = " ".join([acronyms.get(piece.lower(), piece) for piece in word.replace("_", " ").split()]) or word
    return text[:1].upper() + text[1:]


def plainly_spelled(tag: str) -> str:
    """A key in snake case: `Avg Reward`, `AvgReward` and `AVG-REWARD` become `avg_reward`.

    So does `avg_reward_100`: the number of episodes in a mean is dropped.
    """
    if not _PLAIN.fullmatch(tag):
        words = tag if tag.isupper() else _CAMEL_CASE.sub(r"\1_\2", tag)
        tag = "/".join(_SEPARATORS.sub("_", part).strip("_") for part in words.lower().split("/"))
    return _MEAN_LENGTH.sub("", tag) if _MEAN.search(tag) else tag
