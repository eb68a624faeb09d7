"""The keys of `snapshot --format json`, which programs rely on: there may be more, but none vanishes."""

from __future__ import annotations

from dataclasses import replace

from rltui.panes.answers.answer import (
    Amount,
    Answer,
    Band,
    Device,
    DeviceCell,
    DeviceTable,
    Fact,
    Gantt,
    GanttRow,
    Range,
    Ridge,
    Share,
    StepPhase,
    Strip,
)
from rltui.panes.pane_report import as_record, pane_report
from tests.support.runs.pane_answers import NOW, run

# By place in the document; `[]` stands for each item of a list.
KEYS = {
    "": "schema run framework state step total age eta health sentence pane title rows findings notes answer",
    "rows[]": "title tag tags inside canonical unit value before statistics severity warning"
    " since_step window",
    "rows[].window": "low_step high_step low high nonfinite",
    "findings[]": (
        "id severity pane metrics canonical since_step message advice check_next title value limit state "
        "resolved_step evidence explained_by symptom source look_next"
    ),
    "findings[].evidence[]": "metric canonical from to since_step",
    "answer": (
        "sentence facts shares_of shares parts inside amounts amounts_words ranges scale marks strips bands "
        "ridges gantt devices notes formulas"
    ),
    "answer.facts[]": "title value text change change_steps formula plain told",
    "answer.shares[]": "title share seconds named",
    "answer.parts[]": "title tag median p95 share depth note per_token per_token_derived history",
    "answer.amounts[]": "title tag share value text note history",
    "answer.ranges[]": "title low middle high text",
    "answer.strips[]": "title ranks values text",
    "answer.bands[]": "title tag words unit steps low middle high inner_low inner_high",
    "answer.ridges[]": "title tag unit low high steps rows source",
    "answer.gantt": "step seconds rows title source",
    "answer.gantt.rows[]": "title spans seconds count",
    "answer.devices": "columns devices seconds phases phase_titles",
    "answer.devices.devices[]": "title cells history note",
    "answer.devices.devices[].cells[]": "text heat",
}


def _of_each_part() -> Answer:
    """An answer with one of each part that an answer may have."""
    cells = (DeviceCell("50 %", 0.5),)
    return Answer(
        "The sentence.",
        facts=(Fact("mean", 1.0, "1", in_sentence=True),),
        shares=(Share("Generation", 1.0, 2.0),),
        parts=(StepPhase("Generation", "timing_s/gen", 2.0, 3.0),),
        amounts=(Amount("too long", "rollout/too_long", 0.5),),
        ranges=(Range("MFU", 0.1, 0.2, 0.3, "0.1 to 0.3"),),
        strips=(Strip("tokens", (0, 1), (1.0, 2.0), "1 to 2"),),
        bands=(Band("reward", "reward/mean", "mean", "", (0, 1), (0.0,), (1.0,), (2.0,)),),
        ridges=(Ridge("reward", "reward/mean", "", 0.0, 1.0, ((0, 1),), ((1.0,),), "logged histograms"),),
        gantt=Gantt(1, 2.0, (GanttRow("Generation", ((0.0, 2.0),), 2.0),), "step 1"),
        devices=DeviceTable(("use",), (Device("GPU 0", cells),)),
    )


def _keys(value: object, place: str, found: dict[str, set[str]]) -> dict[str, set[str]]:
    """The keys that all mappings at a place have, by place."""
    if isinstance(value, dict):
        found[place] = found.get(place, {*value}) & {*value}
        for key, item in value.items():
            _keys(item, f"{place}.{key}".lstrip("."), found)
    elif isinstance(value, list | tuple):
        for item in value:
            _keys(item, f"{place}[]", found)
    return found


def test_json_of_a_pane_has_the_promised_keys() -> None:
    """No key of the document or of a part of its answer is missing, whatever its field is called in code."""
    view = run({"actor/ppo_kl": [0.004] * 30 + [0.9] * 30}, steps=60)
    report = pane_report(view, "policy", NOW)
    report = report._replace(pane=replace(report.pane, answer=_of_each_part()))
    found = _keys(as_record(report), "", {})
    missing = {place: {*keys.split()} - found.get(place, set()) for place, keys in KEYS.items()}
    assert {place: keys for place, keys in missing.items() if keys} == {}


def test_every_field_of_an_answer_is_tested() -> None:
    """A part that an answer gains is one of the promised keys from then on."""
    assert {*Answer._fields} == {*KEYS["answer"].split()}
    empty = {"notes", "formulas", "marks", "inside", "amounts_words", "scale", "sentence", "shares_of"}
    filled = _of_each_part()._asdict()
    assert all(filled[name] for name in filled.keys() - empty)
