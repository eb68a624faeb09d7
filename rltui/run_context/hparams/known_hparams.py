"""What is known about hyperparameters: names of files and texts, the most important keys, topics of keys."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from rltui.common.named_tuple import NamedTuple
from rltui.schema.toml_files import read_table

KEY = "Key settings"
OTHER = "Other"
UNSET = "Not set"


class Topic(NamedTuple):
    """The topic of keys with a part that begins with one of `words`; the lowest rank takes precedence."""

    title: str
    rank: float
    words: str


class KnownHParams(NamedTuple):
    """`rltui/data/known_hparams.toml`."""

    files: tuple[str, ...]
    trainer_state_keys: tuple[str, ...]
    text_names: tuple[str, ...]
    text_patterns: tuple[str, ...]
    secret_keys: tuple[str, ...]
    secret_values: tuple[str, ...]
    key_hparams: tuple[str, ...]
    project_keys: tuple[str, ...]
    other_models: tuple[str, ...]
    other_purposes: tuple[str, ...]
    identity_words: tuple[str, ...]
    same_hparams: tuple[str, ...]
    topics: tuple[Topic, ...]


@cache
def known_hparams() -> KnownHParams:
    """The shipped table."""
    return read_table("known_hparams", KnownHParams)


@cache
def text_pattern() -> re.Pattern[str]:
    """Matches the name of a text that may hold hyperparameters."""
    return re.compile("|".join(known_hparams().text_patterns), re.IGNORECASE)


@cache
def secret_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Match keys of secrets, and values that are secrets."""
    known = known_hparams()
    return re.compile("|".join(known.secret_keys), re.IGNORECASE), re.compile("|".join(known.secret_values))


@cache
def _key_patterns() -> list[re.Pattern[str]]:
    ends = known_hparams().key_hparams
    return [re.compile(rf"(?:^|/)(?:{pattern})(?:/value)?$", re.IGNORECASE) for pattern in ends]


@cache
def _topic_patterns() -> list[tuple[str, re.Pattern[str]]]:
    topics = sorted(known_hparams().topics, key=lambda topic: topic.rank)
    return [
        (topic.title, re.compile(rf"(?:^|[/_])(?:{'|'.join(topic.words.split())})", re.IGNORECASE))
        for topic in topics
    ]


@lru_cache(maxsize=65536)
def plain_key(key: str) -> str:
    """A key in the form in which keys are compared: lower case, `/` between parts, `_` between words."""
    return key.lower().removesuffix("/value").replace(".", "/").replace("-", "_").replace(" ", "_")


@lru_cache(maxsize=1024)
def names_of_hparam(key: str) -> tuple[str, ...]:
    """The plain key of a setting, then those of the same setting in other frameworks."""
    key = plain_key(key)
    above, slash, word = key.rpartition("/")
    names = next((names.split() for names in known_hparams().same_hparams if word in names.split()), ())
    return (key, *(f"{above}{slash}{name}" for name in names if name != word))


@lru_cache(maxsize=8192)
def rank(key: str) -> int | None:
    """The position of a key among the key settings; None if it is none of them."""
    if key.startswith("model_config/") and not key.endswith("_name_or_path"):
        return None
    return next((index for index, pattern in enumerate(_key_patterns()) if pattern.search(key)), None)


@lru_cache(maxsize=8192)
def topic(key: str) -> str:
    """The heading of a key that is no key setting."""
    if key.startswith("model_config/"):
        return "Model"
    return next((title for title, pattern in _topic_patterns() if pattern.search(key)), OTHER)


@cache
def topic_order() -> list[str]:
    """The headings in display order."""
    return [KEY, *(topic.title for topic in known_hparams().topics), OTHER, UNSET]
