"""Statistics of the texts of a step's responses: repetition, refusals, broken format, another script.

Only a bounded selection of the responses is examined, chosen by content, so that it does not depend on their
order or on how a file is read in parts. The numbers of selected and of all responses are reported as well.
"""

from __future__ import annotations

import heapq
import re
import zlib
from collections.abc import Iterator
from functools import cache

from rltui.common.regex import regex
from rltui.schema.toml_files import read_table

SELECTED = 32  # responses of a step whose texts are examined
CLIP = 2_000  # characters that are kept of the start of a text, and of its end
NGRAM = 4  # words
_MIN_WORDS = 20  # of a text with a repetition rate
_OPENING = 300  # characters that are searched for a refusal
_FOREIGN = 0.1  # share of letters in a script that does not occur in the prompt

_LATIN = regex(r"[A-Za-z]")


@cache
def _scripts() -> re.Pattern[str]:
    """Letters beyond ASCII by script. Greek is omitted, since it is common in formulas; Han includes kana."""
    return re.compile(
        r"(?P<cyrillic>[\u0400-\u052f])|(?P<han>[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff])"
        r"|(?P<hangul>[\uac00-\ud7af])|(?P<arabic>[\u0600-\u06ff])|(?P<hebrew>[\u0590-\u05ff])|(?P<devanagari>[\u0900-\u097f])"
        r"|(?P<thai>[\u0e00-\u0e7f])"
    )


@cache
def _patterns() -> tuple[re.Pattern[str], tuple[str, ...]]:
    """The openings of refusals, and the tags that must be closed: data/response_patterns.toml."""
    table = read_table("response_patterns", dict[str, tuple[str, ...]])
    return re.compile("|".join(re.escape(opening.lower()) for opening in table["refusals"])), tuple(
        table["tags"]
    )


def repetition(text: str) -> float | None:
    """Share of repeated word n-grams, 1 - distinct / all (seq-rep-4 of Welleck et al., arXiv 1908.04319)."""
    words = text.split()
    if len(words) < _MIN_WORDS:
        return None
    grams = list(zip(*(words[start:] for start in range(NGRAM)), strict=False))
    return 1 - len(set(grams)) / len(grams)


def refuses(text: str) -> bool:
    """Whether a response begins like an English refusal (the list of Zou et al., arXiv 2307.15043)."""
    opening = text.rpartition("</think>")[2].lstrip()[:_OPENING].lower().replace("’", "'")
    return _patterns()[0].match(opening) is not None


def unclosed(text: str) -> bool:
    """Whether a tag or a code block is opened but not closed."""
    tags = _patterns()[1]
    return text.count("```") % 2 == 1 or any(text.count(f"<{tag}>") > text.count(f"</{tag}>") for tag in tags)


def other_script(text: str, prompt: str) -> bool | None:
    """Whether a tenth of the letters are in a script that the prompt does not use; None without letters."""
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
        self._occurrences: dict[int, int] = {}  # by checksum of prompt and response
        self._selected: list[tuple[int, int, str, str]] = []  # a heap with the largest key on top

    def add(self, prompt: str, response: str) -> None:
        """Add one response."""
        self.count += 1
        if not response or response.isspace():
            self._empty += 1
            return
        mark = zlib.crc32(response.encode("utf-8", "replace"), zlib.crc32(prompt.encode("utf-8", "replace")))
        times = self._occurrences[mark] = self._occurrences.get(mark, 0) + 1
        key = zlib.crc32(times.to_bytes(8, "little"), mark)
        full = len(self._selected) >= SELECTED
        if not full or -key > self._selected[0][0]:
            add = heapq.heapreplace if full else heapq.heappush
            add(self._selected, (-key, -self.count, _clipped(prompt), _clipped_response(response)))

    def statistics(self) -> Iterator[tuple[str, float]]:
        """Tag and value of each statistic; those ending in `_pct` are percentages."""
        if not self.count:
            return
        yield "responses/count", float(self.count)
        yield "responses/selected", float(len(self._selected))
        yield "responses/empty_pct", 100 * self._empty / self.count
        written = self.count - self._empty
        if written > 1:
            yield "responses/identical_pct", 100 * (1 - len(self._occurrences) / written)
        texts = [(prompt, response) for _, _, prompt, response in sorted(self._selected)]
        results: tuple[tuple[str, int, list[float | None]], ...] = (
            ("repetition", 1, [repetition(response) for _, response in texts]),
            ("refusal_pct", 100, [refuses(response) for _, response in texts]),
            ("unclosed_pct", 100, [unclosed(response) for _, response in texts]),
            ("other_script_pct", 100, [other_script(response, prompt) for prompt, response in texts]),
        )
        for name, scale, values in results:
            known = [value for value in values if value is not None]
            if known:
                yield f"responses/{name}", scale * sum(known) / len(known)


def _clipped(text: str) -> str:
    """The start and the end of a text."""
    return text if len(text) <= 2 * CLIP else f"{text[:CLIP]}\n{text[-CLIP:]}"


def _clipped_response(text: str) -> str:
    """The same, keeping tags and code blocks that the middle opens or closes."""
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
