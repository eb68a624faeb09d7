"""Problems with files: the newest report stands, a healed one goes, and they are never without number."""

from __future__ import annotations

from dataclasses import replace

from rltui.common.problem import Problem, Problems, merged


def _problem(path: str, message: str = "damaged") -> Problem:
    return Problem("warning", "corrupt-record", path, message)


def test_the_newest_report_stands_and_a_healed_one_goes() -> None:
    """Of one trouble only what was said last is known; once it is over, nothing."""
    known = Problems()
    known.note([_problem("a"), _problem("b"), _problem("a", "more damaged")])
    assert [(one.path, one.message) for one in known.values()] == [("b", "damaged"), ("a", "more damaged")]
    known.note([replace(_problem("a"), healed=True)])
    assert [one.path for one in known.values()] == ["b"]


def test_a_full_list_still_keeps_what_it_knows_up_to_date() -> None:
    """Beyond the most that are kept nothing new is taken in; a known one is renewed."""
    known = Problems()
    known.note(_problem(str(number)) for number in range(Problems.MAX_COUNT + 5))
    assert len(known) == Problems.MAX_COUNT
    known.note([_problem("0", "twice")])
    assert [one.message for one in known.values() if one.path == "0"] == ["twice"]
    known.note([replace(_problem("1"), healed=True), _problem("new")])
    assert len(known) == Problems.MAX_COUNT
    assert "new" in {one.path for one in known.values()}


def test_a_problem_as_json_has_the_promised_fields() -> None:
    """What programs read of a diagnostic: level, code, path and message."""
    assert _problem("a").as_json() == {
        "level": "warning",
        "code": "corrupt-record",
        "path": "a",
        "message": "damaged",
    }


def test_what_several_keys_have_in_common_is_told_once() -> None:
    """Twenty lines that differ in the key alone are read as one; what differs otherwise stays apart."""
    keys = [_problem("run", f"loss/{number}: not finite at 3 points") for number in range(7)]
    other = _problem("run", "the clock went back")
    elsewhere = _problem("other", "loss/0: not finite at 3 points")
    assert [one.message for one in merged([*keys, other, elsewhere])] == [
        "not finite at 3 points: loss/0, loss/1, loss/2, loss/3 and 3 more keys",
        "the clock went back",
        "loss/0: not finite at 3 points",
    ]
    assert merged(keys)[0].count == 7
    assert merged(keys[:2])[0].message == "not finite at 3 points: loss/0, loss/1"


def test_a_problem_at_several_places_is_told_once() -> None:
    """Its sentence does not stand there several times, and what a sentence has after a colon is no key."""
    lines = [replace(_problem("a", "a line was skipped"), offset=place) for place in (10, 20, 30)]
    assert [one.message for one in merged(lines)] == ["a line was skipped (3 times)"]
    records = [_problem("a", f"skipped one record at byte {place}: bad checksum") for place in (10, 20)]
    assert merged(records) == records
