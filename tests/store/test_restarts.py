"""Attempts: what a restart supersedes, and what only looks like one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rltui.logs.delivery import Delivery
from rltui.store.run import Run
from rltui.store.store import Store
from tests.support.runs.deliveries import Row, delivery, histories, shown, ticks

OLD = "events.out.tfevents.1795160227.vm.1.0"
NEW = "events.out.tfevents.1795160327.vm.2.0"
T_OLD, T_NEW = 1795160227.5, 1795160327.5


def fed(*deliveries: Delivery) -> Run:
    """The run after these deliveries."""
    store = Store()
    for each in deliveries:
        run, _ = store.apply(each)
    return run


def steps(run: Run, tag: str = "loss") -> list[int]:
    """Shown steps."""
    return [step for step, _ in shown(run, tag)]


def message(run: Run, code: str = "restarted") -> list[str]:
    """Messages about restarts."""
    return [problem.message for problem in run.problems.values() if problem.code == code]


def test_declared_start_supersedes_all_tags_from_its_step() -> None:
    """R01: a session start at step 2 replaces every tag's points at or above 2, also of tags yet silent."""
    run = fed(
        delivery([*ticks(range(4)), ("rare", 3, 9.0)]),
        delivery(ticks([2, 3], base=10), starts=[(0, 2)]),
    )
    assert shown(run) == [(0, 0.0), (1, 1.0), (2, 10.0), (3, 11.0)]
    assert steps(run, "rare") == []
    assert (run.series["loss"].superseded, run.series["rare"].superseded, run.superseded) == (2, 1, 3)
    assert message(run) == ["resumed at step 2; 3 points superseded"]
    assert [(a.first_step, a.reason) for a in run.attempts] == [(0, "file"), (2, "session-start")]


def test_declared_start_within_a_batch() -> None:
    """R01: the start divides a batch where it stands."""
    run = fed(delivery(ticks([0, 1, 2, 3, 2, 3, 4]), starts=[(4, 2)]))
    assert steps(run) == [0, 1, 2, 3, 4]
    assert run.superseded == 2


def test_purge_step_in_a_second_file() -> None:
    """R01: torch's purge_step opens a new file with a start; 80 + 70 points leave 130 shown."""
    run = fed(
        delivery(ticks(range(80)), OLD, wall=T_OLD),
        delivery(ticks(range(60, 130)), NEW, wall=T_NEW, starts=[(0, 60)]),
    )
    assert (run.series["loss"].count, run.superseded, run.points) == (130, 20, 150)


def test_start_as_first_event_purges_nothing() -> None:
    """R03: a start before any point has nothing to replace, and is no restart."""
    run = fed(delivery(ticks(range(4)), starts=[(0, 2)]))
    assert steps(run) == [0, 1, 2, 3]
    assert (run.superseded, len(run.attempts), message(run)) == (0, 1, [])


@pytest.mark.parametrize("apart", [True, False])
def test_steps_that_go_back_without_a_start(apart: bool) -> None:
    """R02: the newest attempt is shown, the old points are kept, and it is said once with step and count."""
    rows = [*ticks(range(6)), *ticks([3, 4, 5, 6], base=10)]
    parts = [[row] for row in rows] if apart else [rows]
    run = fed(*[delivery(part) for part in parts])
    assert shown(run) == [(0, 0.0), (1, 1.0), (2, 2.0), (3, 10.0), (4, 11.0), (5, 12.0), (6, 13.0)]
    left = run.series["loss"].superseded_points()
    assert list(zip(left.step.tolist(), left.value.tolist(), strict=True)) == [(3, 3.0), (4, 4.0), (5, 5.0)]
    assert message(run) == ["resumed at step 3; 3 points superseded"]
    assert [(a.first_step, a.reason) for a in run.attempts] == [(0, "file"), (3, "rewind")]


def test_last_two_steps_told_again() -> None:
    """R02: rows that repeat the last two steps, and nothing behind them, are an attempt; a lone tag waits."""
    for tags, superseded in ((("loss", "reward"), 4), (("loss",), 0)):
        rows = [*ticks(range(10), tags), *ticks([8, 9], tags, base=100)]
        for parts in ([rows], [[row] for row in rows]):
            run = fed(*[delivery(part) for part in parts])
            assert run.superseded == superseded
            assert (len(run.attempts) > 1) == (superseded > 0)
    run = fed(delivery([*ticks(range(10)), *ticks([8, 9, 10], base=100)]))
    assert shown(run)[-3:] == [(8, 100.0), (9, 101.0), (10, 102.0)]


PAIR = ("loss", "reward")


@pytest.mark.parametrize("stride", [1, 10, 2048])
@pytest.mark.parametrize("timed", [False, True])
def test_last_step_told_again(stride: int, timed: bool) -> None:
    """R02: a resume that repeats the last row and goes on evenly is an attempt, known three steps later."""
    order = [stride * step for step in [*range(20), *range(19, 26)]]
    evaluation = {stride * 5, stride * 10}
    rows = [row for step in order for row in ticks([step], (*PAIR, "eval") if step in evaluation else PAIR)]
    splits = [[rows], [[row] for row in rows], [rows[:41], rows[41:46], rows[46:]]]
    for parts in [[rows[i : i + 1] for i in range(len(rows))]] if timed else splits:
        run = fed(
            *[delivery(part, wall=T_OLD + 9.0 * (i // 2) if timed else None) for i, part in enumerate(parts)]
        )
        assert (run.superseded, [a.reason for a in run.attempts]) == (2, ["file", "rewind"])
        assert run.attempts[1].first_step == 19 * stride
        assert steps(run) == [stride * step for step in range(26)]
        assert message(run) == [f"resumed at step {19 * stride:,}; 2 points superseded"]


def test_one_step_again_and_again() -> None:
    """R02: each crash that repeats a single step is an attempt of its own."""
    run = fed(delivery(ticks([*range(9), *range(8, 15), *range(14, 20)], PAIR)))
    assert steps(run) == list(range(20))
    assert [attempt.first_step for attempt in run.attempts] == [0, 8, 14]


@pytest.mark.parametrize(
    "rows",
    [
        ticks([*range(9), 8, 8, *range(9, 15)], PAIR),
        ticks([*range(9), 8], PAIR),
        ticks([*range(9), 8, 9, 11, 14, 15, 19], PAIR),
        ticks([*range(9), 8, *range(9, 15)]),
        [*ticks(range(9), (*PAIR, "kl", "lr")), *ticks([8], PAIR), *ticks(range(9, 15), (*PAIR, "kl", "lr"))],
        [row for step in range(15) for row in ticks([step, step], PAIR)],
    ],
    ids=["three times", "the end", "unevenly", "one tag", "half a row", "always"],
)
def test_one_step_told_twice_is_no_restart(rows: list[Row]) -> None:
    """R04: where anything speaks against it, a step that is told twice is a step with two points."""
    for parts in ([rows], [[row] for row in rows]):
        run = fed(*[delivery(part) for part in parts])
        assert (run.superseded, len(run.attempts)) == (0, 1)


def test_row_written_twice_at_once_is_no_restart() -> None:
    """R04: between two rows of one step a restart takes as long as a step; a second flush does not."""
    for pause, superseded in ((0.001, 0), (60.0, 2), (300.0, 2)):
        walls = [60.0 * step for step in range(10)]
        walls += [walls[-1] + pause + 60.0 * step for step in range(8)]
        given = [
            delivery(ticks([step], PAIR), wall=T_OLD + wall)
            for step, wall in zip([*range(10), *range(9, 17)], walls, strict=True)
        ]
        assert fed(*given).superseded == superseded


def test_restart_is_told_to_the_judge() -> None:
    """What is fed on says from which step to forget, and then gives the whole new attempt again."""
    store = Store()
    fresh = [
        (list(each.points.step), each.rewound_to)
        for row in [*ticks(range(6)), *ticks([3, 4, 5, 6])]
        for each in store.apply(delivery([row]))[1]
    ]
    assert ([3, 4, 5], 3) in fresh
    assert fresh[-1] == ([6], None)


def test_sparse_tag_goes_back_with_the_run() -> None:
    """R02: an evaluation of the orphaned stretch is superseded though its own next step is no step back."""
    rows = [row for step in range(1, 13) for row in _step(step)] + [
        row for step in range(8, 14) for row in _step(step, 100.0)
    ]
    for parts in ([rows], [[row] for row in rows]):
        run = fed(*[delivery(part) for part in parts])
        assert shown(run, "eval") == [(5, 5.0), (10, 110.0)]
        assert run.series["eval"].superseded == 1


def _step(step: int, base: float = 0.0) -> list[Row]:
    rows: list[Row] = [("loss", step, base), ("reward", step, base)]
    return [*rows, ("eval", step, base + step)] if step % 5 == 0 else rows


def test_duplicate_steps_are_no_restart() -> None:
    """R04: several points of a step, or all points at one step, are all kept and counted."""
    run = fed(delivery(ticks([0, 1, 1, 1, 2, 2])), delivery([("same", 26, float(i)) for i in range(5000)]))
    assert steps(run) == [0, 1, 1, 1, 2, 2]
    same = run.series["same"]
    assert (same.count, same.superseded, same.last_value) == (5000, 0, 4999.0)
    assert same.recent(3).value.tolist() == [4997.0, 4998.0, 4999.0]
    assert same.columns(26, 26, 1).count[0] == 5000
    assert message(run) == []


@pytest.mark.parametrize(
    "order",
    [
        [1, 2, 4, 3, 5, 6, 8, 7, 9],  # swapped pairs
        [100, 1, 101, 2, 102, 3, 103, 4, 104, 5],  # two writers in one file, line by line
        [100, 1, 2, 101, 3, 4, 102, 5, 6, 103],  # one of them twice as fast
        [1, 2, 1, 3, 2, 4, 3, 5, 4, 6],  # two writers of the same steps, one lagging
    ],
)
def test_out_of_order_lines_are_no_restart(order: list[int]) -> None:
    """R05: points out of order are sorted for display, none is superseded."""
    run = fed(*[delivery([row]) for row in ticks(order)])
    assert steps(run) == sorted(order)
    assert (run.superseded, len(run.attempts)) == (0, 1)


def test_tag_with_own_axis_is_no_restart() -> None:
    """R05: seconds (149 points on 7 steps), batches of an epoch and gradient steps leave everything shown."""
    rows: list[Row] = []
    for step in range(149):
        rows += [("loss", step, 0.0), ("reward", step, 0.0), ("lr", step, 0.0)]
        rows += [("reward/time", step // 25, 0.0), ("batch_loss", step % 10, 0.0), ("update", 40 * step, 0.0)]
    for parts in ([rows], [rows[i : i + 7] for i in range(0, len(rows), 7)]):
        run = fed(*[delivery(part) for part in parts])
        assert {tag: series.count for tag, series in run.series.items()} == dict.fromkeys(run.series, 149)
        assert (run.superseded, len(run.attempts)) == (0, 1)


def test_own_axis_tag_does_not_hide_a_later_restart() -> None:
    """R05 and R02: a tag that starts over every epoch is ignored for good, a real restart is still seen."""
    rows: list[Row] = []
    for step in [*range(3000), *range(2500, 2600)]:
        rows += [("loss", step, 0.0), ("reward", step, 0.0), ("lr", step, 0.0), ("batch", step % 10, 0.0)]
    run = fed(delivery(rows))
    assert run.series["loss"].superseded == 500
    assert run.series["loss"].last_step == 2599


@pytest.mark.parametrize("newest_first", [False, True])
def test_later_file_supersedes_from_its_first_step(newest_first: bool) -> None:
    """Files of one run in any order of arrival: the later one is the truth from where it begins."""
    old = delivery(ticks(range(1, 113)), OLD, wall=T_OLD)
    new = delivery(ticks(range(101, 161), base=1000), NEW, wall=T_NEW)
    run = fed(*([new, old] if newest_first else [old, new]))
    assert steps(run) == list(range(1, 161))
    assert run.series["loss"].recent().value[100] == 1000.0
    assert (run.superseded, run.points, run.series["loss"].count) == (12, 172, 160)
    assert message(run) == ["resumed at step 101; 12 points superseded"]


def test_later_file_that_goes_on_is_an_attempt_without_complaint() -> None:
    """A second file whose steps go on (as SB3 makes it) supersedes nothing and says nothing."""
    run = fed(delivery(ticks(range(10)), OLD, wall=T_OLD), delivery(ticks(range(10, 20)), NEW, wall=T_NEW))
    assert steps(run) == list(range(20))
    assert (run.superseded, message(run), len(run.attempts)) == (0, [], 2)


def test_two_full_runs_in_one_folder_become_attempts() -> None:
    """Two complete runs in one folder: the later one is shown, nothing of the earlier one is superseded."""
    run = fed(
        delivery(ticks(range(50)), OLD, wall=T_OLD), delivery(ticks(range(50), base=100), NEW, wall=T_NEW)
    )
    assert (run.series["loss"].count, run.superseded, run.earlier, len(run.attempts)) == (50, 0, 50, 2)
    assert run.series["loss"].last_value == 149.0
    assert message(run, "from-scratch") == [
        "begins at step 0 again; 50 points of earlier trainings are kept apart"
    ]


@pytest.mark.parametrize("piece", [1, 3, 100])
def test_two_live_writers_leave_each_other_alone(piece: int) -> None:
    """Two files written at the same time are no restart of each other, however their points arrive."""
    first = [delivery([row], OLD, wall=T_OLD + i) for i, row in enumerate(ticks(range(30)))]
    second = [delivery([row], NEW, wall=T_OLD + 0.5 + i) for i, row in enumerate(ticks(range(30), base=100))]
    order: list[Delivery] = []
    while first or second:
        order += first[:piece] + second[:piece]
        del first[:piece], second[:piece]
    run = fed(*order)
    assert (run.series["loss"].count, run.superseded, message(run)) == (60, 0, [])


def test_orphaned_evaluation_of_an_older_file() -> None:
    """A tag of which the resumed file says nothing yet goes back with the tags that began with it."""
    old = [row for step in range(1, 113) for row in _step(step)]
    run = fed(delivery(old, OLD, wall=T_OLD), delivery(_step(101) + _step(102) + _step(103), NEW, wall=T_NEW))
    assert steps(run, "eval")[-1] == 100
    assert run.series["eval"].superseded == 2


def test_files_of_other_folders_are_other_things() -> None:
    """A sub-folder of hyperparameters that repeats a metric at step 0 supersedes nothing."""
    run = fed(
        delivery(ticks(range(50)), OLD, wall=T_OLD),
        delivery([("loss", 0, 0.1)], f"hp0/{NEW}", wall=T_NEW),
    )
    assert (run.series["loss"].count, run.superseded) == (51, 0)


def test_rotated_log_is_older_than_its_heir() -> None:
    """metrics.jsonl.1 holds what came before metrics.jsonl."""
    run = fed(delivery(ticks(range(5, 10)), "metrics.jsonl"), delivery(ticks(range(5)), "metrics.jsonl.1"))
    assert (steps(run), run.superseded) == (list(range(10)), 0)


def test_heir_of_a_rotated_log_leaves_other_logs_alone() -> None:
    """A log that goes on where its rotated part ended supersedes nothing, nor of a log beside both."""
    run = fed(
        delivery(ticks(range(30), base=100), OLD, wall=T_OLD),
        delivery(ticks(range(28)), "metrics.jsonl.1"),
        delivery(ticks(range(28, 40)), "metrics.jsonl"),
    )
    assert (run.superseded, run.series["loss"].count) == (0, 70)


def test_replaced_file_is_a_new_attempt() -> None:
    """A file that was truncated and written anew supersedes from the steps that come again."""
    run = fed(delivery(ticks(range(6))), delivery(ticks([2, 3], base=10), kind="restarted"))
    assert shown(run) == [(0, 0.0), (1, 1.0), (2, 10.0), (3, 11.0)]
    assert run.series["loss"].superseded == 4


def test_rewritten_file_is_told_again() -> None:
    """A log that repeats its content supersedes nothing and counts nothing twice."""
    run = fed(delivery(ticks(range(6))), delivery(ticks(range(8)), kind="rewritten"))
    assert (steps(run), run.points, run.superseded) == (list(range(8)), 8, 0)


def test_vanished_file_keeps_what_was_read() -> None:
    """gone: nothing is purged."""
    run = fed(delivery(ticks(range(6))), delivery(kind="gone"))
    assert steps(run) == list(range(6))


def test_many_restarts_in_one_file() -> None:
    """Runs appended to one JSONL 65 times: each is an attempt, counts are exact, the line is told once."""
    rows = [row for attempt in range(65) for row in ticks(range(5 + attempt % 7), base=100.0 * attempt)]
    run = fed(delivery(rows))
    assert run.series["loss"].count + run.earlier == len(rows) == run.points
    assert (run.superseded, message(run)) == (0, [])
    assert len(message(run, "from-scratch")) == 1
    assert "(64 times)" in message(run, "from-scratch")[0]
    assert run.series["loss"].recent().value.min() >= 0


def test_superseded_points_are_kept_up_to_a_bound_and_all_counted() -> None:
    """Restart after restart: the newest superseded points stay, the count is of all."""
    store = Store()
    for attempt in range(40):
        run, _ = store.apply(delivery(ticks(range(100), base=1000.0 * attempt), starts=[(0, 0)]))
    series = run.series["loss"]
    assert (series.count, series.superseded) == (100, 3900)
    left = series.superseded_points()
    assert len(left) == 1024
    assert left.value[-1] == 38_099.0
    assert message(run) == ["resumed at step 0; 3,900 points superseded (restarted 39 times)"]


def test_restart_far_beyond_the_window_is_counted_and_said_to_be_about() -> None:
    """A restart deeper than the exact window: all points stay accounted for, the message says `about`."""
    store = Store(window=32, slots=16)
    rows = ticks(range(1000))
    for begin in range(0, 1000, 50):
        run, _ = store.apply(delivery(rows[begin : begin + 50]))
    run, _ = store.apply(delivery(ticks(range(333, 400))))
    series = run.series["loss"]
    assert series.count + series.superseded == 1067 == run.points
    assert not run.series.superseded.exact
    assert "about" in message(run)[0]
    assert series.last_step == 399


# A tag whose first point since a declared start turns out to be that of the attempt after it.
_STEPS = ["abc0", "abc0", "ab1", "ab2", "abc3", "ab4", "ab5", "ab1", "ab2", "abc0", "ab1", "ab2", "abc0"]
_TAG_OF_THE_NEXT = [
    (tag, int(tags[-1]), float(sum(map(len, _STEPS[:at])) - at + number))
    for at, tags in enumerate(_STEPS)
    for number, tag in enumerate(tags[:-1])
]


@example((_TAG_OF_THE_NEXT, [0, 24, 31], [(17, 1)]))
@given(histories())
def test_batches_do_not_matter(history: tuple[list[Row], list[int], list[tuple[int, int]]]) -> None:
    """Any division of the same points into batches shows the same series and supersedes the same points."""
    rows, cuts, starts = history
    whole = fed(delivery(rows, starts=starts))
    parts = fed(
        *[
            delivery(rows[low:high], starts=[(i - low, step) for i, step in starts if low <= i < high])
            for low, high in pairwise(cuts)
        ]
    )
    assert (whole.superseded, whole.earlier) == (parts.superseded, parts.earlier)
    assert whole.points == parts.points == len(rows)
    assert [a.first_step for a in whole.attempts] == [a.first_step for a in parts.attempts]
    for tag, series in whole.series.items():
        other = parts.series[tag]
        assert np.array_equal(series.recent().step, other.recent().step)
        assert np.array_equal(series.recent().value, other.recent().value, equal_nan=True)
        assert (series.count, series.nonfinite) == (other.count, other.nonfinite)
        assert series.count + series.superseded == sum(row[0] == tag for row in rows)


@st.composite
def _files(draw: st.DrawFn) -> tuple[list[list[Row]], list[int]]:
    """Logs of successive attempts, and an order in which pieces of them arrive."""
    logs: list[list[Row]] = []
    reached = 0
    for number in range(draw(st.integers(2, 4))):
        begin = draw(st.integers(0, reached + 2))
        end = begin + draw(st.integers(1, 12))
        rows = [row for step in range(begin, end) for row in _step(step, 1000.0 * number)]
        logs.append(rows)
        reached = max(reached, end)
    pieces = [index for index in range(len(logs)) for _ in range(draw(st.integers(1, 4)))]
    return logs, draw(st.permutations(pieces))


@given(_files())
def test_order_of_arrival_does_not_matter(history: tuple[list[list[Row]], list[int]]) -> None:
    """Logs of one run read newest first, oldest first or in turns show the same and supersede the same."""
    logs, order = history

    def name(index: int) -> str:
        return f"events.out.tfevents.{1795160000 + 100 * index}.vm"

    def part(index: int, low: int, high: int) -> Delivery:
        return delivery(logs[index][low:high], name(index), wall=1795160000.5 + 100 * index + 0.1 * low)

    straight = fed(*[part(index, 0, len(rows)) for index, rows in enumerate(logs)])
    given_so_far = [0] * len(logs)
    deliveries = []
    left = {index: order.count(index) for index in order}
    for index in order:
        rest = len(logs[index]) - given_so_far[index]
        size = rest if left[index] == 1 else rest // 2
        left[index] -= 1
        if size:
            deliveries.append(part(index, given_so_far[index], given_so_far[index] + size))
            given_so_far[index] += size
    mixed = fed(*deliveries)
    for tag in straight.series:
        assert shown(mixed, tag) == shown(straight, tag)
        assert mixed.series[tag].superseded == straight.series[tag].superseded
    replaced = straight.superseded + straight.earlier
    assert (mixed.points, mixed.superseded + mixed.earlier) == (straight.points, replaced)
    backward = fed(*[part(index, 0, len(rows)) for index, rows in reversed(list(enumerate(logs)))])
    assert (backward.superseded, backward.earlier) == (straight.superseded, straight.earlier)
    total = sum(map(len, logs))
    assert mixed.points == total
    assert sum(series.count + series.superseded for series in mixed.series.values()) == total
