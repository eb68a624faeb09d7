"""The store: exact windows, bucketed history, columns of any zoom, bounded memory."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltui.common.problem import Problem
from rltui.logs.batch import Batch, Text
from rltui.logs.delivery import Delivery, Source
from rltui.logs.records.record_keys import COMPUTED
from rltui.store.run import Run
from rltui.store.store import Store
from tests.support.runs.deliveries import Row, delivery, ticks

T0 = 1763600000.0


def one(store: Store, rows: list[Row], **more: object) -> Run:
    """Apply one delivery."""
    run, _ = store.apply(delivery(rows, **more))
    return run


def raw(steps: np.ndarray, values: np.ndarray, single: bool = False) -> Delivery:
    """A long delivery of one tag."""
    size = len(steps)
    batch = Batch(
        ("x",), np.zeros(size, np.uint32), steps.astype(np.int64), T0 + steps, values, np.full(size, single)
    )
    return Delivery(Source("run", "m.jsonl", "jsonl"), batch)


def test_small_run_is_exact() -> None:
    """A run that fits its windows is held exactly: steps, wall times, values."""
    run = one(Store(), [("a", 1, 0.5), ("b", 1, -0.0), ("a", 2, 1.5)], wall=T0)
    series = run.series["a"]
    points = series.recent()
    assert (points.step.tolist(), points.value.tolist()) == ([1, 2], [0.5, 1.5])
    assert points.wall_time.tolist() == [T0, T0 + 0.2]
    assert (series.first_step, series.last_step, series.last_value, series.previous_value) == (1, 2, 1.5, 0.5)
    assert (series.exact_from, series.count, series.nonfinite) == (1, 2, 0)
    assert np.signbit(run.series["b"].last_value)
    assert (run.first_wall, run.last_wall, run.last_step) == (T0, T0 + 0.2, 2)


def test_the_trainer_says_which_step_it_is_at() -> None:
    """What rltui makes of samples tells the step only where the trainer logs nothing itself."""
    made = [(f"{COMPUTED}{name}", step, 1.0) for step in range(30) for name in ("score/mean", "length/mean")]
    assert one(Store(), made).last_step == 29
    assert one(Store(), [("loss", 10, 0.5), *made]).last_step == 10


def test_doubles_survive_beside_floats() -> None:
    """float32 tables turn to float64 with the first value that needs it; nothing is rounded."""
    store = Store(window=8, slots=4)
    run = one(store, ticks(range(20), base=0.1), single=False)
    run = one(store, [("loss", 20, 1e308), ("loss", 21, 1 / 3)])
    assert run.series["loss"].recent().value.tolist()[-2:] == [1e308, 1 / 3]
    assert run.series["loss"].columns(0, 30, 1).high[0] == 1e308


def test_steps_are_exact_integers() -> None:
    """N04: steps above 2^53, at both ends of int64, and negative ones stay what they are."""
    steps = [-(2**63), -5, 2**53 + 1, 2**53 + 3, 2**63 - 1]
    run = one(Store(), [("loss", step, 1.0) for step in steps])
    assert run.series["loss"].recent().step.tolist() == steps
    store = Store(window=4, slots=4)
    run = one(store, [("loss", step, float(i)) for i, step in enumerate(range(2**62, 2**62 + 400, 7))])
    assert run.series["loss"].last_step == 2**62 + 399
    far = one(
        Store(window=4, slots=4), [("loss", step, 1.0) for step in (-(2**63), 0, 2**63 - 1) for _ in range(9)]
    )
    assert far.series["loss"].count == 27


def test_non_finite_values_are_counted_and_kept_out_of_extremes() -> None:
    """N01: NaN and infinities are marked per column, never low, high, mean or last."""
    values = [1.0, np.nan, 3.0, np.inf, -np.inf, 2.0]
    for store in (Store(), Store(window=4, slots=64)):
        run = one(store, [("loss", step, value) for step, value in enumerate(values)])
        run = one(store, [("loss", 6 + step, 5.0) for step in range(20)])
        series = run.series["loss"]
        columns = series.columns(0, 5, 1)
        assert (columns.low[0], columns.high[0], columns.mean[0], columns.last[0]) == (1, 3, 2, 2)
        assert (columns.count[0], columns.nonfinite[0]) == (3, 3)
        assert series.nonfinite == 3
        only = series.columns(3, 4, 1)
        assert np.isnan([only.low[0], only.high[0], only.mean[0], only.last[0]]).all()
        assert (only.count[0], only.nonfinite[0]) == (0, 2)


def test_odd_wall_times_are_unknown() -> None:
    """N05: NaN, zero, negative, milliseconds and 1e308 never become the age of a run."""
    store = Store()
    walls = [np.nan, 0.0, -5.0, T0 * 1000, 1e308, T0 + 1, np.inf]
    batch = Batch.of_doubles(("x",), np.zeros(7), np.arange(7), walls, np.arange(7.0))
    run, _ = store.apply(Delivery(Source("run", "m.jsonl", "jsonl"), batch))
    assert (run.first_wall, run.last_wall) == (T0 + 1, T0 + 1)
    assert run.step_walls.tolist() == [[5, T0 + 1]]
    assert run.series["x"].columns(T0, T0 + 2, 2, axis="wall").count.tolist() == [0, 1]


def test_unusable_windows_are_refused() -> None:
    """A window of no width, upside down or not finite is the caller's mistake."""
    series = one(Store(), ticks([1])).series["loss"]
    for low, high, width in ((0, 1, 0), (2, 1, 5), (np.nan, 1, 5), (0, np.inf, 5)):
        with pytest.raises(ValueError, match="no window"):
            series.columns(low, high, width)
    assert series.columns(1, 1, 3).count.sum() == 1


@st.composite
def _series(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Steps that go forward in odd strides, values with spikes and holes."""
    size = draw(st.integers(1, 400))
    strides = draw(st.sampled_from([(1,), (0, 1), (1, 7), (100, 3, 0), (2**40, 1)]))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    steps = draw(st.integers(-50, 50)) + np.cumsum(generator.choice(strides, size))
    values = generator.normal(size=size)
    values[generator.random(size) < 0.05] = np.nan
    values[generator.random(size) < 0.02] = np.inf
    values[generator.integers(size)] = 1e9
    return steps, values


@given(_series(), st.integers(1, 40), st.integers(0, 3), st.floats(0, 0.9), st.floats(0.05, 1.2))
def test_columns_of_a_window_that_is_exact(
    series: tuple[np.ndarray, np.ndarray], width: int, size: int, begin: float, share: float
) -> None:
    """Within the exact window every column equals brute force: extremes, sums, counts, marks, last values."""
    steps, values = series
    store = Store()
    run, _ = store.apply(raw(steps, values))
    span = max(int(steps[-1] - steps[0]), 1)
    low = float(steps[0]) + begin * span
    high = low + share * span + size
    columns = run.series["x"].columns(low, high, width)
    places = steps.astype(object)  # exact comparison of Python integers with floats
    for index in range(width):
        bottom, top = columns.edges[index], columns.edges[index + 1]
        last = index == width - 1
        inside = np.array([bottom <= s and (s <= top if last else s < top) for s in places])
        chosen = values[inside]
        finite = chosen[np.isfinite(chosen)]
        assert columns.count[index] == len(finite)
        assert columns.nonfinite[index] == len(chosen) - len(finite)
        if len(finite):
            assert (columns.low[index], columns.high[index]) == (finite.min(), finite.max())
            assert columns.last[index] == finite[-1]
            assert np.isclose(columns.mean[index], finite.mean(), rtol=1e-9, atol=1e-9)
        else:
            assert np.isnan(columns.low[index])


@given(_series(), st.lists(st.integers(0, 400), max_size=12), st.integers(1, 50))
def test_nothing_is_lost_between_window_and_buckets(
    series: tuple[np.ndarray, np.ndarray], cuts: list[int], width: int
) -> None:
    """However points were batched and folded, the whole range holds each once, and every spike."""
    steps, values = series
    tables = []
    bounds = sorted({0, *[cut for cut in cuts if cut < len(steps)], len(steps)})
    for places in ([0, len(steps)], bounds):
        store = Store(window=16, slots=8)
        for low, high in pairwise(places):
            run, _ = store.apply(raw(steps[low:high], values[low:high]))
        series_x = run.series["x"]
        columns = series_x.columns(float(steps[0]), float(steps[-1]), width)
        finite = values[np.isfinite(values)]
        assert columns.count.sum() == len(finite)
        assert columns.nonfinite.sum() == len(values) - len(finite) == series_x.nonfinite
        assert (np.nanmin(columns.low), np.nanmax(columns.high)) == (finite.min(), finite.max())
        assert series_x.extent() == (finite.min(), finite.max())
        total = np.nansum(np.where(columns.count > 0, columns.mean, 0) * columns.count)
        assert np.isclose(total, finite.sum(), rtol=1e-9, atol=1e-6)
        recent = series_x.recent()
        assert np.array_equal(recent.value, values[len(values) - len(recent) :], equal_nan=True)
        assert len(recent) == len(values) or len(recent) >= 12
        known = steps >= series_x.exact_from
        assert np.array_equal(recent.value[recent.step >= series_x.exact_from], values[known], equal_nan=True)
        tables.append((columns, recent))
    for name in ("low", "high", "last", "count", "nonfinite"):
        assert np.array_equal(getattr(tables[0][0], name), getattr(tables[1][0], name), equal_nan=True)
    assert np.array_equal(tables[0][1].step, tables[1][1].step)


@given(st.permutations(range(60)), st.lists(st.integers(0, 60), max_size=8))
def test_points_in_any_order_are_counted_once(order: list[int], cuts: list[int]) -> None:
    """Out-of-order points of two live writers are sorted in, whatever has left the window before."""
    store = Store(window=16, slots=8)
    bounds = sorted({0, *cuts, 60})
    half = {step: index % 2 for index, step in enumerate(order)}
    for low, high in pairwise(bounds):
        for writer in (0, 1):
            part = [step for step in sorted(order[low:high]) if half[step] == writer]
            if part:
                path = f"events.out.tfevents.176360000{writer}.vm"
                rows = [("loss", step, float(step)) for step in part]
                run = one(store, rows, path=path, wall=T0 + low)
    series = run.series["loss"]
    assert series.count + series.superseded == 60
    steps = series.recent().step
    assert (np.diff(steps) >= 0).all()
    assert series.columns(0, 60, 1).count[0] == series.count


def test_spike_in_old_history_survives_any_folding() -> None:
    """One spike among a million points is in the columns of every zoom that covers its bucket."""
    steps = np.arange(200_000)
    values = np.zeros(len(steps))
    values[12_345] = 77.0
    store = Store()
    for low in range(0, len(steps), 9_999):
        run, _ = store.apply(raw(steps[low : low + 9_999], values[low : low + 9_999], single=True))
    series = run.series["x"]
    for width in (7, 100, 333):
        columns = series.columns(0, 200_000, width)
        assert np.nanmax(columns.high) == 77.0
        at = int(np.nanargmax(columns.high))
        assert abs(columns.edges[at] - 12_345) <= 200_000 / width + 1024
    assert len(series.recent()) >= 1024
    assert series.exact_from <= 200_000 - 1024


def test_wide_buckets_colour_what_they_cover() -> None:
    """Zoomed into old history, columns within one bucket repeat it; the count stands once."""
    store = Store(window=8, slots=4)
    run, _ = store.apply(raw(np.arange(1000), np.arange(1000.0)))
    columns = run.series["x"].columns(100, 120, 20)
    assert not np.isnan(columns.low).any()
    assert columns.count.sum() <= 1000


def test_wall_axis() -> None:
    """Columns over wall time hold every point once, in window and buckets."""
    store = Store(window=16, slots=32)
    run, _ = store.apply(raw(np.arange(500), np.arange(500.0)))
    columns = run.series["x"].columns(T0, T0 + 499, 10, axis="wall")
    assert columns.count.sum() == 500
    assert (np.nanmin(columns.low), np.nanmax(columns.high)) == (0.0, 499.0)
    assert columns.last[-1] == 499


def test_memory_is_flat() -> None:
    """A hundred thousand steps of ten tags take no more than a thousand-odd did."""
    store = Store(window=64, slots=32)
    sizes = []
    tags = [f"t{i}" for i in range(10)]
    for begin in range(0, 20_000, 500):
        run = one(store, ticks(range(begin, begin + 500), tags), single=True)
        sizes.append(store.nbytes)
    assert sizes[3] == sizes[-1]
    assert run.series["t0"].count == 20_000


def test_memory_of_full_and_small_series() -> None:
    """At the usual sizes a full series takes under 50 KiB, a run of a few points under 1 KiB a series."""
    store = Store()
    for begin in range(0, 40_000, 1000):
        store.apply(raw(np.arange(begin, begin + 1000), np.zeros(1000), single=True))
    assert store.nbytes < 50 * 1024
    small = Store()
    one(small, ticks(range(10), [f"t{i}" for i in range(60)]), single=True)
    assert small.nbytes / 60 < 1024


def test_memory_of_very_many_series() -> None:
    """Thousands of series of one run hold less each, whatever the focus; nothing is lost."""
    store = Store()
    tags = [f"layer{i}" for i in range(2100)]
    for first in (0, 200, 400):
        run = one(store, ticks(range(first, first + 200), tags), single=True)
    store.focus({"run"})
    assert store.nbytes / len(tags) < 14 * 1024
    series = run.series["layer0"]
    assert (series.count, series.columns(0, 600, 1).count[0]) == (600, 600)
    assert len(series.recent()) >= 256


def test_focus_shrinks_the_others_truthfully() -> None:
    """Runs that nobody looks at hold less, and say from where they are exact."""
    store = Store()
    for run in ("a", "b"):
        one(store, ticks(range(2000)), run=run)
    store.focus({"a"})
    one(store, ticks(range(2000, 2100)), run="b")
    a, b = store.runs["a"].series["loss"], store.runs["b"].series["loss"]
    assert len(a.recent()) >= 1024
    assert 128 <= len(b.recent()) <= 160
    assert b.exact_from == 2100 - len(b.recent())
    assert b.columns(0, 2100, 10).count.sum() == 2100
    store.focus({"b"})
    one(store, ticks(range(2100, 4000)), run="b")
    assert b.count == 4000
    assert len(b.recent()) >= 1024


def test_preview_gives_way_to_history() -> None:
    """The end of a log is shown at once, history takes its place, nothing counts twice."""
    store = Store()
    run = one(store, ticks(range(90, 100)), kind="newest", size=1000)
    series = run.series["loss"]
    assert run.previewing
    assert (series.count, series.last_step, run.points) == (10, 99, 0)
    for begin in range(0, 100, 20):
        run = one(store, ticks(range(begin, begin + 20)), size=1000, read=10 * (begin + 20))
        assert series.last_step == 99
        assert series.count == max(begin + 20, 0) + min(10, 100 - begin - 20)
    assert not run.previewing
    assert (series.count, run.points, series.columns(0, 99, 1).count[0]) == (100, 100, 100)


def test_duplicates_are_named_and_not_counted() -> None:
    """A duplicate log is a source of its run and gives no points."""
    store = Store()
    one(store, ticks(range(5)))
    run = one(store, ticks(range(5)), path="progress.csv", duplicate_of="run")
    assert (run.points, run.series["loss"].count) == (5, 5)
    assert set(run.sources) == {"metrics.jsonl", "progress.csv"}


def test_problems_texts_and_plans() -> None:
    """Problems are replaced by newer ones and withdrawn when healed; plans and parameters are read."""
    store = Store()
    source = Source("run", "m.jsonl", "jsonl")
    bad = Problem("warning", "torn-tail", "m.jsonl", "torn", 7)
    texts = (
        Text("total", 0, T0, "total-steps", "500"),
        Text("hp", 0, T0, "hparams", '{"lr": 0.1}'),
        Text("note", 3, T0, "text", "hello"),
    )
    run, fresh = store.apply(Delivery(source, Batch(problems=(bad,), texts=texts), "state"))
    assert list(run.problems.values()) == [bad]
    assert (run.total_steps, run.hparams, run.texts["note"].body, len(fresh)) == (
        500,
        {"lr": 0.1},
        "hello",
        0,
    )
    version = run.version
    healed = Problem("warning", "torn-tail", "m.jsonl", "torn", 7, healed=True)
    run, _ = store.apply(Delivery(source, Batch(problems=(healed,)), "state"))
    assert not run.problems
    assert run.version > version


def test_fresh_points_by_tag_in_order_of_arrival() -> None:
    """The evaluator gets each new shown point once, by tag, in order of arrival."""
    store = Store()
    rows = [("a", 1, 1.0), ("b", 1, 2.0), ("a", 2, 3.0), ("a", 2, 4.0), ("b", 2, 5.0)]
    _, fresh = store.apply(delivery(rows))
    assert [(f.tag, f.points.value.tolist(), f.rewound_to) for f in fresh] == [
        ("a", [1.0, 3.0, 4.0], None),
        ("b", [2.0, 5.0], None),
    ]


def test_last_step_is_what_several_series_agree_on() -> None:
    """One tag on unix time does not decide where the training is."""
    run = one(Store(), [*ticks([1, 2, 3], ["a", "b", "c"]), ("clock", 1763600000, 1.0)])
    assert run.last_step == 3
    assert one(Store(), ticks([4])).last_step == 4


def test_last_step_does_not_fall_while_a_step_is_half_read() -> None:
    """Wherever a delivery ends among the tags of one step, the training is no earlier than it was."""
    rows = ticks([512, 1024], ["lr", "loss", "kl", "entropy"])
    rows[4:4] = ticks([700, 815], ["return", "length"])
    rows += ticks([1100, 1230, 1371], ["return", "length"])
    store = Store()
    seen = [one(store, [row]).last_step for row in rows]
    assert seen == sorted(seen)


@settings(max_examples=12)
@given(
    st.integers(1, 5),
    st.integers(0, 400),
    st.integers(0, 60),
    st.sampled_from([0, -(2**31) - 9, 2**31 - 20, 2**60]),
)
def test_tags_in_turns_are_held_as_if_they_came_singly(tags: int, size: int, cut: int, base: int) -> None:
    """However turns are cut, and where steps outgrow 32 bits, the same points are held as one by one."""
    names = [f"t{number}" for number in range(tags)]
    rows = [
        (names[at % tags], base + at // tags, np.nan if at % 17 == 16 else float(at))
        for at in range(size + 1)
    ]
    whole, single = Store(window=16, slots=8), Store(window=16, slots=8)
    for part in (rows[:cut], rows[cut:]):
        if part:
            one(whole, part, wall=T0)
    for row in rows:
        one(single, [row], wall=T0)
    for name, series in whole.runs["run"].series.items():
        other = single.runs["run"].series[name]
        mine, theirs = series.recent(), other.recent()
        assert mine.step.tolist() == theirs.step.tolist()
        assert np.array_equal(mine.value, theirs.value, equal_nan=True)
        assert (series.count, series.nonfinite, series.first_step) == (
            other.count, other.nonfinite, other.first_step,
        )  # fmt: skip
        ours, columns = (each.columns(base, base + size + 1, 3) for each in (series, other))
        assert ours.count.tolist() == columns.count.tolist()
        assert ours.nonfinite.tolist() == columns.nonfinite.tolist()
        assert np.array_equal(ours.low, columns.low, equal_nan=True)
        assert np.array_equal(ours.last, columns.last, equal_nan=True)


def test_times_that_cannot_be_meant_are_said_once() -> None:
    """N05: negative, far and infinite times leave the points, count as unknown, and are told with a count."""
    store = Store()
    for wall in (1.7e9, -5.0, float("inf"), 1.7e12, float("nan")):
        run, _ = store.apply(delivery(ticks(range(3)), wall=wall))
    found = [problem for problem in run.problems.values() if problem.code == "odd-times"]
    assert [(problem.level, problem.count) for problem in found] == [("warning", 9)]
    assert found[0].message.endswith("the first: -5")
    assert (run.points, run.last_wall) == (15, 1.7e9 + 0.2)
    run, _ = store.apply(delivery(ticks(range(3)), kind="rewritten"))
    assert not run.problems


def test_runs_that_nobody_looks_at_hold_no_objects_for_their_series() -> None:
    """A thousand runs of sixty tags are rows of tables; a series is made once, when somebody asks for it."""
    run = one(Store(), [("a", 1, 0.5), ("b", 1, 1.0), ("a", 2, 0.7), ("b", 2, 1.0), ("a", 3, 0.6)])
    assert (run.last_step, list(run.series), len(run.series), "c" in run.series) == (3, ["a", "b"], 2, False)
    assert not run.series._made
    asked = run.series["b"]
    assert asked is run.series["b"] is run.series.get("b") is dict(run.series.items())["b"]
    assert [series.tag for series in run.series._made.values()] == ["b", "a"]


def test_tags_that_come_later_get_rows_behind_the_others() -> None:
    """The order of series is that of their first points, whichever log and delivery brings them."""
    store = Store()
    run = one(store, [("b", 1, 1.0), ("a", 1, 2.0)])
    one(store, [("c", 2, 3.0), ("a", 2, 2.5)], path="second.jsonl")
    one(store, [("b", 2, 1.5), ("d", 2, 4.0), ("a", 3, 2.7)])
    assert list(run.series) == ["b", "a", "c", "d"]
    assert [series.last_value for series in run.series.values()] == [1.5, 2.7, 3.0, 4.0]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_ticks_of_the_same_tags_are_held_in_any_order_of_rows(order: tuple[int, ...]) -> None:
    """Live steps repeat their tags: in the order of the rows or another, with one more, with one late."""
    store = Store(window=8, slots=8)
    tags = "abc"
    run = one(store, [(tag, 0, 0.0) for tag in tags])
    for step in range(1, 30):
        one(store, [(tags[place], step, float(place * 100 + step)) for place in order])
    one(store, [(tags[order[0]], 30, -1.0)])
    one(store, [(tags[place], 31, float(place)) for place in order])
    for place, tag in enumerate(tags):
        late = tag == tags[order[0]]
        series = run.series[tag]
        assert (series.count, series.last_value, series.last_step) == (31 + late, float(place), 31)
        assert series.recent(3).step.tolist() == [29, 30, 31] if late else [28, 29, 31]
        assert series.columns(0, 29, 1).high[0] == place * 100 + 29


def test_steps_of_a_log_that_is_none_any_more_are_not_counted() -> None:
    """A run counts episodes if its logs do, whatever a file counted that is no log of it now."""
    run = Run("run", 1024, 64)
    for path, key in (("train.csv", "episode"), ("other.csv", "step")):
        given = delivery([("reward", 1, 0.5)], path)
        run.apply(given._replace(batch=replace(given.batch, step_key=key)))
    assert not run.counts_episodes
    run.sources.pop("other.csv")
    assert run.counts_episodes
