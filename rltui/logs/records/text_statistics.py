"""What the texts of a step's responses say, as numbers: repetition, refusals, broken format, another script.

Texts are read of a bounded selection of the responses, chosen by their content, so that neither their order
nor how a file is cut changes it. How many were read of how many stands beside the numbers.
"""

from __future__ import annotations

import heapq
import re
import zlib
from collections.abc import Iterator
from functools import cache

from rltui.common.regex import regex
from rltui.schema.fields import ListField, TableField, TextField, as_dict
from rltui.schema.toml_files import read_table

SELECTED = 32  # responses of a step whose texts are read
CLIP = 2_000  # characters of a text that are kept, from its beginning and as many from its end
NGRAM = 4  # words
_LEAST_WORDS = 20  # a text of fewer words repeats nothing
_OPENING = 300  # characters in which a refusal is looked for
_FOREIGN = 0.1  # share of letters of a script that the prompt has none of

_LATIN = regex(r"[A-Za-z]")


@cache
def _scripts() -> re.Pattern[str]:
    """Letters beyond ASCII by script. Greek is left out: formulas are full of it; Han stands with kana."""
    return re.compile(
        r"(?P<cyrillic>[\u0400-\u052f])|(?P<han>[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])"
        r"|(?P<hangul>[\uac00-\ud7af])|(?P<arabic>[\u0600-\u06ff])|(?P<hebrew>[\u0590-\u05ff])|(?P<devanagari>[\u0900-\u097f])"
        r"|(?P<thai>[\u0e00-\u0e7f])"
    )


@cache
def _patterns() -> tuple[re.Pattern[str], tuple[str, ...]]:
    """How refusals begin, and the names of tags that are to be closed: data/response_texts.toml."""
    words = ListField(TextField())
    table = read_table("response_texts", lambda: TableField({"refusals": words, "tags": words}, as_dict))
    return re.compile("|".join(re.escape(each.lower()) for each in table["refusals"])), tuple(table["tags"])


def repetition(text: str) -> float | None:
    """Share of repeated word n-grams, 1 - distinct / all (seq-rep-4 of Welleck et al., arXiv 1908.04319)."""
    words = text.split()
    if len(words) < _LEAST_WORDS:
        return None
    grams = list(zip(*(words[start:] for start in range(NGRAM)), strict=False))
    return 1 - len(set(grams)) / len(grams)


def refuses(text: str) -> bool:
    """Whether a response begins as refusals in English do (the list of Zou et al., arXiv 2307.15043)."""
    opening = text.rpartition("</think>")[2].lstrip()[:_OPENING].lower().replace("’", "'")
    return _patterns()[0].match(opening) is not None


def unclosed(text: str) -> bool:
    """Whether a tag or a block of code that the text opens stays open."""
    tags = _patterns()[1]
    return text.count("```") % 2 == 1 or any(text.count(f"<{tag}>") > text.count(f"</{tag}>") for tag in tags)


def other_script(text: str, prompt: str) -> bool | None:
    """Whether a tenth of the letters is of a script of which the prompt has none; None without letters."""
    if not prompt:
        return None
    latin = len(_LATIN.findall(text))
    if text.isascii():
        return False if latin else None
    counts: dict[str, int] = {}
    for match in _scripts().finditer(text):
        script = match.lastgroup or ""
        counts[script] = counts.get(script, 0) + 1
    letters = latin + sum(counts.values())
    if not letters:
        return None
    known = {match.lastgroup for match in _scripts().finditer(prompt)}
    return any(count >= _FOREIGN * letters for script, count in counts.items() if script not in known)


class ResponseTexts:
    """The texts of a step's responses: checksums of all, and the clipped texts of a selection."""

    def __init__(self) -> None:
        self.count = 0
        self._empty = 0
        self._seen: dict[int, int] = {}  # how often a response came, by the checksum of its text and prompt
        self._selected: list[tuple[int, int, str, str]] = []  # a heap: the greatest key on top

    def add(self, prompt: str, response: str) -> None:
        """Take one response."""
        self.count += 1
        if not response or response.isspace():
            self._empty += 1
            return
        mark = zlib.crc32(response.encode("utf-8", "replace"), zlib.crc32(prompt.encode("utf-8", "replace")))
        times = self._seen[mark] = self._seen.get(mark, 0) + 1
        key = zlib.crc32(times.to_bytes(8, "little"), mark)
        if len(self._selected) < SELECTED:
            heapq.heappush(self._selected, (-key, -self.count, _clipped(prompt), _whole(response)))
        elif -key > self._selected[0][0]:
            heapq.heapreplace(self._selected, (-key, -self.count, _clipped(prompt), _whole(response)))

    def statistics(self) -> Iterator[tuple[str, float]]:
        """Tag and value of each; shares ending in `_pct` are percent."""
        if not self.count:
            return
        yield "responses/count", float(self.count)
        yield "responses/selected", float(len(self._selected))
        yield "responses/empty_pct", 100 * self._empty / self.count
        written = self.count - self._empty
        if written > 1:
            yield "responses/identical_pct", 100 * (1 - len(self._seen) / written)
        texts = [(prompt, response) for _, _, prompt, response in sorted(self._selected)]
        repeated = [value for _, response in texts if (value := repetition(response)) is not None]
        if repeated:
            yield "responses/repetition", sum(repeated) / len(repeated)
        if texts:
            yield "responses/refusal_pct", 100 * sum(refuses(response) for _, response in texts) / len(texts)
            yield (
                "responses/unclosed_pct",
                100 * sum(unclosed(response) for _, response in texts) / len(texts),
            )
        foreign = [value for each in texts if (value := other_script(each[1], each[0])) is not None]
        if foreign:
            yield "responses/other_script_pct", 100 * sum(foreign) / len(foreign)


def _clipped(text: str) -> str:
    """The beginning and the end of a text."""
    return text if len(text) <= 2 * CLIP else f"{text[:CLIP]}\n{text[-CLIP:]}"


def _whole(text: str) -> str:
    """A text clipped so that tags and blocks left open in the middle are still left open."""
    if len(text) <= 2 * CLIP:
        return text
    middle = text[CLIP:-CLIP]
    fences = "```" if middle.count("```") % 2 else ""
    open_tags = [
        f"<{tag}>" if middle.count(f"<{tag}>") > middle.count(f"</{tag}>") else f"</{tag}>"
        for tag in _patterns()[1]
        if middle.count(f"<{tag}>") != middle.count(f"</{tag}>")
    ]
    return f"{text[:CLIP]}\n{fences}{''.join(open_tags)}\n{text[-CLIP:]}"
