"""Where a key goes that nobody knows: section, group and metric, as its own slashes say."""

from __future__ import annotations

from functools import cache, lru_cache

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.metrics.frameworks.framework_schema import Conventions
from rltui.metrics.glossary_files import GENERAL, general_panes
from rltui.schema.fields import TableField, as_dict
from rltui.schema.metric import TEXTS, Statistic
from rltui.schema.toml_files import read_table

_HUMP = regex(r"([a-z0-9])([A-Z])")
_BETWEEN = regex(r"[\s_.-]+")
_PLAIN = regex(r"[a-z0-9]+(?:[_/][a-z0-9]+)*")
_MEAN = regex(r"(?:\A|_)(?:avg|average|mean|last|ma|moving|rolling)(?:_|\d)")
# The number of episodes that a mean goes over: round as `_100`, `_last_50_episodes`, `_ma100`; `(last 64)`.
_WINDOW = regex(
    r"(?:_(?:last|ma))?_?(?:10|20|25|30|50|100|200|500|1000)(?:_(?:eps?|episodes|games)\Z)?(?=_|\Z)"
    r"|_\(last_\d{1,6}(?:_(?:eps?|episodes|games))?\)\Z"
)
_SLUG = regex(r"[^a-z0-9]+")
_BRACKETED = regex(r"\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}|<[^<>]*>")


class KeyPlace(NamedTuple):
    """Pane and group of an unrecognised key."""

    pane: str
    group: str
    title: str
    statistic: Statistic


def place_key(key: str, conventions: Conventions) -> KeyPlace:
    """The place of a key, logger prefix already taken off.

    No slash: General. One: section and metric. Two or more: section, group and metric, where the group
    is all that lies between. A section that the glossary has a pane for joins that pane.
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
    elif name in general_panes() or not name:  # those have a meaning of their own
        pane = f"{name or 'section'}-section"
    else:
        pane = name
    shown = f"{humanise(parts[-2])} {last}" if statistic and middle else humanise(last)
    return KeyPlace(pane, f"{section}/{middle}" if middle else "", shown, statistic if middle else "")


def folders(key: str) -> list[str]:
    """The parts of a key between its slashes; one within brackets, as in `loss[/b]`, parts nothing."""
    if "/" not in key or _BRACKETED.search(key) is None:
        return key.split("/")
    masked = _BRACKETED.sub(lambda found: found[0].replace("/", "\0"), key)  # keys hold no control characters
    return [part.replace("\0", "/") for part in masked.split("/")]


@lru_cache(4_096)
def slug(text: str) -> str:
    """A pane id: lower-case letters, digits and '-'. Letters of other scripts are kept as they are."""
    made = _SLUG.sub("-", text.lower()).strip("-")
    return made or "-".join(text.lower().split())


@cache
def _acronyms() -> dict[str, str]:
    """Acronyms by their small letters."""
    table = read_table("acronyms", lambda: TableField({"acronyms": TEXTS}, as_dict))
    return {word.lower(): word for word in table["acronyms"]}


@lru_cache(16_384)
def humanise(word: str) -> str:
    """`frac_reward_zero_std` as `Frac reward zero std`."""
    acronyms = _acronyms()
    text = " ".join([acronyms.get(piece.lower(), piece) for piece in word.replace("_", " ").split()]) or word
    return text[:1].upper() + text[1:]


def plainly_spelled(tag: str) -> str:
    """A key in the spelling of most trainers: `Avg Reward`, `AvgReward` and `AVG-REWARD` are `avg_reward`.

    So is `avg_reward_100`: over how many episodes a mean goes is no part of its name.
    """
    if not _PLAIN.fullmatch(tag):
        words = tag if tag.isupper() else _HUMP.sub(r"\1_\2", tag)
        tag = "/".join(_BETWEEN.sub("_", part).strip("_") for part in words.lower().split("/"))
    return _WINDOW.sub("", tag) if _MEAN.search(tag) else tag
