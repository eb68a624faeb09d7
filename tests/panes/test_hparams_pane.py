"""The config pane: settings in columns, what differs, attempts in words; on the screen and without one."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rltui.logs.batch import Text
from rltui.logs.delivery import Delivery, Source
from rltui.panes.context_panes.attempt_history import attempt_lines, history_lines
from rltui.panes.context_panes.hparams_pane import HParamsColumn, columns_of, hparams_pane
from rltui.panes.render.lines.hparams_lines import (
    hparams_lines,
    hparams_markdown,
    hparams_record,
    labels,
    top_lines,
)
from rltui.run_context.hparams.hparams import HParams, hparams_of, merge
from rltui.run_context.hparams.known_hparams import KEY, UNSET, rank, topic
from rltui.screen.app import Monitor
from rltui.screen.pages.hparams_page import hparams
from rltui.screen.start import build
from rltui.screen.threads.hparams_thread import HParamsThread
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.store.restarts.segments import Attempt
from tests.support.commands.in_process import rltui
from tests.support.runs.deliveries import batch, delivery, ticks
from tests.support.runs.made_run import believable
from tests.support.screen.screens import screen_of
from tests.support.shared import BUNDLED

PLAIN = {"seed": 1, "learning_rate": 0.1, "logging_steps": 5, "beta": 0.04, "run_name": None}
OTHER = {"seed": 1, "learning_rate": 0.2, "logging_steps": 5, "gamma": 0.9}


def column(name: str, record: dict[str, Any], note: str = "") -> HParamsColumn:
    """A column of a run."""
    return HParamsColumn(name, hparams_of(record, "f"), note)


def keys(pane: Any) -> list[str]:
    """The keys in the order of the pane."""
    return [row.key for row in pane.hparams]


# ---- the pane


def test_key_settings_come_first_in_their_order() -> None:
    """Learning rate, KL, seed stand at the top; what is not set at the bottom; nothing is left out."""
    pane = hparams_pane([column("a", PLAIN)])
    assert [row.key for row in pane.rows] == [
        KEY, "learning_rate", "beta", "seed", "Logging and saving", "logging_steps", UNSET, "run_name",
    ]  # fmt: skip
    assert pane.total == len(PLAIN) and pane.different == 0


@pytest.mark.parametrize(
    "key",
    [
        "learning_rate", "actor/optim/lr", "learning rate", "algorithm/kl_ctrl/kl_coef", "init_kl_coef",
        "clip_coef", "actor_rollout_ref/rollout/n", "per_device_train_batch_size", "max_completion_length",
        "gae_lambda", "lam",
        "num_generations", "update_epochs", "total_timesteps", "model_name_or_path", "env_id", "seed",
    ],
)  # fmt: skip
def test_frameworks_name_key_settings_differently(key: str) -> None:
    """What matters most is found under the name that each framework gives it."""
    assert rank(key) is not None


@pytest.mark.parametrize(
    "key", ["adam_beta1", "model_config/seed", "logging_steps", "lr_scheduler_kwargs", "n"]
)
def test_lesser_settings_are_no_key_settings(key: str) -> None:
    """Names that only resemble key settings stand under their topic."""
    assert rank(key) is None
    assert topic(key)


def test_only_what_differs() -> None:
    """Two runs: different values and keys that only one has; equal ones are counted, not shown."""
    pane = hparams_pane([column("a", PLAIN), column("b", OTHER)], only_differences=True)
    assert keys(pane) == ["learning_rate", "beta", "gamma"]
    assert (pane.total, pane.different) == (6, 3)
    assert [cell.value if cell else None for cell in pane.hparams[1].cells] == [0.04, None]


def test_a_run_without_settings_differs_in_nothing() -> None:
    """A run that says nothing is named as such; it does not make every key a difference."""
    pane = hparams_pane([column("a", PLAIN), column("silent", {})], only_differences=True)
    assert pane.different == 0 and not pane.hparams
    assert "nothing to compare" in pane.empty
    assert any("silent" in note for note in pane.notes)


def test_equal_runs_and_empty_ones_say_so() -> None:
    """An empty pane says why it is empty."""
    both = [column("a", PLAIN), column("b", PLAIN)]
    assert hparams_pane(both, only_differences=True).empty == "All settings are equal."
    assert "config.json" in hparams_pane([column("a", {})]).empty
    assert "Looking" in hparams_pane([column("a", {})], loading=True).empty


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["x/a/1", "x/b/1"], ["a", "b"]),
        (["runs/1", "runs/2"], ["1", "2"]),
        (["a/1", "a/2", "b/1"], ["a/1", "a/2", "b"]),
        (["a", "a/b"], ["a", "a/b"]),
        (["one/run"], ["one/run"]),
    ],
)
def test_columns_are_named_by_what_tells_them_apart(names: list[str], short: list[str]) -> None:
    """Columns have the short names of the list of runs, without folders that all runs share."""
    assert labels([HParamsColumn(name, HParams()) for name in names]) == short


@pytest.mark.parametrize("width", [20, 40, 80, 100, 140, 250])
def test_lines_fit_every_width(width: int) -> None:
    """No line is wider than asked; runs that do not fit are counted, values are cut in their middle."""
    long = {"model_name": "x" * 300, "a/very/long/key/" + "y" * 90: 1, **PLAIN}
    for count in (1, 2, 9):
        columns = [column(f"run-{n}", {**long, "seed": n}) for n in range(count)]
        lines = hparams_lines(hparams_pane(columns, history=["attempt 1: " + "word " * 40]), width)
        assert max(line.width for line in lines) <= width
        if count == 9 and width < 120:
            assert "not shown" in " ".join(" ".join(line.text for line in lines).split())


def test_markdown_is_one_table_whatever_the_values() -> None:
    """Pipes, backticks and tags in values do not break the table; differing values are bold."""
    pane = hparams_pane([column("a", {"x": "p|q`<b>"}), column("b", {"x": "r"})])
    rows = [one for one in hparams_markdown(pane).splitlines() if one.startswith("|")]
    assert {one.replace("\\|", "").count("|") for one in rows} == {4}
    assert "<b>" not in hparams_markdown(pane) and "**r**" in hparams_markdown(pane)


def test_programs_get_values_not_words() -> None:
    """JSON keeps numbers as numbers and tells nothing said from null."""
    record = hparams_record(hparams_pane([column("a", {"n": 1, "x": None}), column("b", {"n": 2.5})]))
    by_key = {one["key"]: one for one in json.loads(json.dumps(record))["settings"]}
    assert by_key["n"]["values"] == [1, 2.5] and by_key["n"]["differs"]
    assert by_key["x"]["said"] == [True, False] and not by_key["x"]["differs"]


# ---- lineage


@pytest.mark.parametrize(
    ("most", "shown"), [(1, ["again:", "…"]), (3, ["again:"]), (9, ["first:", "again:"])]
)
def test_attempts_are_not_cut_at_their_beginning(most: int, shown: list[str]) -> None:
    """With little room the newest one is told, from its first word on."""
    pane = hparams_pane((), history=["first: " + "word " * 20, "again: " + "word " * 12])
    lines = [line.text for line in top_lines(pane, 40, most)]
    assert 0 < len(lines) <= most and lines[0].startswith(f" ↻ {shown[0]}")
    assert all(word in "\n".join(lines) for word in shown)


def test_attempts_in_words() -> None:
    """A resumed run says where it went back to and how many steps were trained again."""
    attempts = [Attempt(1, 100.0, 112, "file", "a", 0), Attempt(101, 4000.0, 160, "file", "b", 24)]
    assert attempt_lines(attempts) == [
        "attempt 1: steps 1 to 112",
        "attempt 2: resumed at step 101 after 112, 1h 05m after the first start; 12 steps superseded"
        " (24 points); a later log",
    ]
    assert attempt_lines(attempts[:1]) == []
    assert attempt_lines(attempts * 5)[0] == "4 earlier attempts"


def test_a_bundled_resume_is_told() -> None:
    """A real run in two logs: attempts and marks come from the store."""
    (view,) = Session.load([BUNDLED / "torch-purged"]).runs.values()
    lines = "\n".join(history_lines(view))
    assert "resumed at step 60 after 79" in lines and "; 20 steps superseded (20 points)" in lines


def test_earlier_attempts_are_compared_where_they_differ() -> None:
    """Without marked runs, the columns are the attempts that were started otherwise."""

    def columns(first: str) -> Sequence[HParamsColumn]:
        """Two processes, each with settings of its own."""
        session = Session()
        for path, steps, wall, body in (
            ("a", range(1, 10), 1e9, first),
            ("b", range(5, 21), 1e9 + 500, '{"lr": 0.2}'),
        ):
            points = batch(ticks(steps), wall)
            texts = (Text("args", 0, wall, "text", body),)
            session.apply([Delivery(Source("run", path, "tfevents"), replace(points, texts=texts))])
        (view,) = session.ordered()
        return columns_of(view)

    found = columns('{"lr": 0.1}')
    assert [one.note for one in found] == ["", "attempt 1"]
    assert keys(hparams_pane(found, only_differences=True)) == ["lr"]
    assert len(columns('{"lr": 0.2}')) == 1


# ---- files, by a thread


def test_files_are_not_touched_before_somebody_asks(tmp_path: Path) -> None:
    """Opening the monitor reads no settings; asking does, and a second ask has them."""
    (tmp_path / "config.json").write_text('{"lr": 1}')
    hparams_thread, view = HParamsThread([str(tmp_path)]), believable()
    view.lie_at("x.jsonl")
    assert not hparams_thread.loading and hparams_thread.version == 0
    assert not hparams_thread.of(view).entries
    assert hparams_thread.thread.wait(10)
    assert hparams_thread.of(view).entries["lr"].value == 1


def test_planned_steps_beside_a_log_are_known_after_the_thread_has_looked(tmp_path: Path) -> None:
    """Nothing is opened for who asks; what the thread finds makes a silent run one that ended early."""
    (tmp_path / "config.yaml").write_text("train:\n  max_steps: 300\n")
    hparams_thread, session = HParamsThread([str(tmp_path)]), Session()
    session.set_nearby_lookup(hparams_thread.nearby)
    session.apply([delivery([("loss", step, 1.0) for step in range(30)], run="run", wall=1.7e9)])
    view, told = session.runs["run"], threading.Event()
    hparams_thread.thread.ready = told.set
    assert not view.liveness(1.8e9).unfinished and not hparams_thread.thread.started
    hparams_thread.read_nearby()
    assert told.wait(10)
    assert view.liveness(1.8e9 + 1).cut_short and view.liveness(1.8e9 + 1).total == 300


def test_an_error_of_our_own_does_not_end_the_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that break the reader are one problem of that run; the next run's are read as ever."""
    from rltui.run_context.hparams import hparam_files

    real = hparam_files.hparams_near

    def broken(paths: Sequence[str], logdirs: Sequence[str]) -> HParams:
        if paths == ("bad.jsonl",):
            raise ZeroDivisionError
        return real(paths, logdirs)

    monkeypatch.setattr(hparam_files, "hparams_near", broken)
    (tmp_path / "config.json").write_text('{"lr": 1}')
    hparams_thread = HParamsThread([str(tmp_path)])
    bad, good = believable(name="bad"), believable(name="good")
    for view in (bad, good):
        view.lie_at(f"{view.name}.jsonl")
        hparams_thread.of(view)
    assert hparams_thread.thread.wait(10)
    assert "internal error (ZeroDivisionError)" in hparams_thread.of(bad).problems[0].message
    assert hparams_thread.of(good).entries["lr"].value == 1


# ---- the screen


def screen(tmp_path: Path, **options: Any) -> Monitor:
    """Two runs, each with a file of settings beside it."""
    runs = []
    for name, record in (("first", PLAIN), ("second", OTHER)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(record))
        run = believable(name=name)
        run.lie_at(f"{name}/x.jsonl")
        runs.append(run)
    session = Session()
    session.runs.update({run.name: run for run in runs})
    return build(session, [str(tmp_path)], clock=lambda: runs[0].modified + 4, **options)


def shown(app: Monitor, size: tuple[int, int]) -> str:
    """What the screen draws, once the files are read."""
    screen_of(app).frame(*size)
    assert app.state.threads.hparams.thread.wait(10)
    return "\n".join(line.text for line in screen_of(app).frame(*size).lines)


@pytest.mark.parametrize("size", [(140, 45), (100, 30), (80, 24), (40, 12), (20, 5)])
async def test_the_pane_by_key(tmp_path: Path, size: tuple[int, int]) -> None:
    """`c` shows the settings at every size; the most important one is in sight at once."""
    app = screen(tmp_path)
    async with app.run_test(size=size) as pilot:
        await pilot.press("c")
        text = shown(app, size)
        assert app.state.selection.pane == "config"
        assert ("learning_rate" if size[0] > 20 else "lear") in text
        assert max(len(line) for line in text.splitlines()) <= size[0]


def test_settings_that_arrive_while_the_pane_is_made_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pane made of what was known before the files were read is not kept as if it were made after."""
    state = screen(tmp_path).state
    files = state.threads.hparams
    ask = files.of

    def late(view: RunView) -> HParams:
        known = ask(view)
        assert files.thread.wait(10)  # the answer comes between the question and the drawing
        return known

    monkeypatch.setattr(files, "of", late)
    first, second = hparams(state), hparams(state)
    assert first is not None and not first.hparams
    assert second is not None and "learning_rate" in keys(second)


async def test_marked_runs_are_compared(tmp_path: Path) -> None:
    """With a marked run the pane shows what differs; `D` shows all, `D` again the differences."""
    app = screen(tmp_path)
    app.state.selection.marked_runs.append("second")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("c")
        text = shown(app, (80, 24))
        assert "learning_rate" in text and "0.1" in text and "0.2" in text and "seed" not in text
        assert "3 of 6 differ" in text
        await pilot.press("D")
        assert "seed" in shown(app, (80, 24))
        await pilot.press("D")
        assert "seed" not in shown(app, (80, 24))


async def test_one_run_keeps_its_settings_where_differences_are_asked_for(tmp_path: Path) -> None:
    """`D` says what there is to compare with; nothing disappears, also not where a mark is taken away."""
    app = screen(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("c", "D")
        assert "seed" in shown(app, (80, 24)) and "nothing to compare with" in app.state.message
        app.state.selection.marked_runs.append("second")
        shown(app, (80, 24))
        await pilot.press("D", "D")
        assert "seed" not in shown(app, (80, 24))
        app.state.selection.marked_runs.clear()
        assert "seed" in shown(app, (80, 24))


async def test_the_baseline_is_named(tmp_path: Path) -> None:
    """`--baseline` puts its settings beside the run's, under its name."""
    app = screen(tmp_path, baseline="second")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("c")
        text = shown(app, (80, 24))
        assert "baseline" in text and "second" in text


async def test_moving_filtering_and_a_whole_value(tmp_path: Path) -> None:
    """Arrows select a setting, Enter shows it in full, `/` filters by key and value, `y` copies it."""
    app = screen(tmp_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("c")
        shown(app, (80, 24))
        await pilot.press("down", "y")
        assert app.state.message == "copied beta = 0.04"
        await pilot.press("enter")
        assert "said by first/config.json" in shown(app, (80, 24))
        await pilot.press("escape", "end", "slash", *"logging", "enter")
        text = shown(app, (80, 24))
        assert "logging_steps" in text and "learning_rate" not in text
        await pilot.press("escape")
        assert "learning_rate" in shown(app, (80, 24))


async def test_a_stuck_file_system_stops_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the files of settings cannot be read, the pane says so and other panes go on."""
    gate = threading.Event()

    def stuck(*_: object) -> HParams:
        gate.wait(20)
        return HParams()

    monkeypatch.setattr("rltui.run_context.hparams.hparam_files.hparams_near", stuck)
    app = screen(tmp_path)
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press("c")
            assert "Looking for settings" in "\n".join(
                line.text for line in screen_of(app).frame(80, 24).lines
            )
            await pilot.press("3")
            assert app.state.selection.pane == "policy"
    finally:
        gate.set()
    assert app.state.threads.hparams.thread.wait(10)


# ---- a restarted run on charts


async def test_superseded_points_on_demand() -> None:
    """`O` in the large chart shows what a restart replaced, and says how many points; once more hides it."""
    session = Session.load([BUNDLED / "torch-purged"])
    app = build(session, [])
    async with app.run_test(size=(100, 24)) as pilot:
        await pilot.press("9", "enter")
        before = [line.text for line in screen_of(app).frame(100, 24).lines]
        assert "started again at 60, 20 points superseded: O" in before[1]
        await pilot.press("O")
        after = [line.text for line in screen_of(app).frame(100, 24).lines]
        assert "20 points superseded" in after[1]
        assert after[2:20] != before[2:20]
        await pilot.press("O")
        assert [line.text for line in screen_of(app).frame(100, 24).lines][1] == before[1]


def test_restarts_are_marked_on_rows_and_cards() -> None:
    """The place of a restart is marked over the rows' curves and below the cards' curves, in its column."""
    app = build(Session.load([BUNDLED / "torch-purged"]), [])
    screen_of(app).go("all")
    head = next(line.text for line in screen_of(app).frame(100, 30).lines if "min … max" in line.text)
    low, high = head.index("step 0"), head.index("129") + 3
    assert abs((head.index("↻") - low) / (high - low) - 60 / 130) < 0.05
    screen_of(app).go("overview")
    marked = [line.text for line in screen_of(app).frame(100, 30).lines if "↻" in line.text]
    (steps,) = marked
    low, high = steps.index("└") + 1, len(steps.rstrip())
    assert not steps.strip("└─↻ 0129") and abs((steps.index("↻") - low) / (high - low) - 60 / 130) < 0.05


# ---- without a screen


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two runs with settings beside them."""
    for name, record in (("good", PLAIN), ("bad", OTHER)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "metrics.jsonl").write_text(
            '{"step": 1, "reward": 0.5}\n{"step": 2, "reward": 0.6}\n'
        )
        (tmp_path / name / "config.json").write_text(json.dumps(record))
        os.utime(tmp_path / name / "metrics.jsonl", (1e9, 1e9 if name == "good" else 1e9 - 100))
    return tmp_path


def run(*args: str) -> str:
    """Standard output of a command that must succeed."""
    done = rltui(*args)
    assert done.code == 0, done.err
    return done.out


def test_snapshot_of_the_pane(logs: Path) -> None:
    """`snapshot --pane config` prints settings with their source as text, Markdown and JSON."""
    text = run("snapshot", str(logs), "--pane", "config")
    assert "learning_rate" in text and "good/config.json" in text
    assert max(map(len, text.splitlines())) <= 100
    assert "| `learning_rate` | 0.1 |" in run(
        "snapshot", str(logs), "--pane", "config", "--format", "markdown"
    )
    record = json.loads(run("snapshot", str(logs), "--pane", "config", "--format", "json"))
    assert (record["schema"], record["pane"], record["run"]) == (1, "config", "good")
    assert {one["key"]: one["values"] for one in record["settings"]}["seed"] == [1]


def test_compare_settings(logs: Path) -> None:
    """`compare --config` prints what differs from the baseline, `--all` everything, JSON for programs."""
    args = ("compare", str(logs), "--baseline", "good", "--config")
    text = run(*args)
    assert "learning_rate" in text and "seed" not in text and "baseline" in text
    assert "seed" in run(*args, "--all")
    assert "| `learning_rate` | 0.1 | 0.2 |" in run(*args, "--format", "markdown")
    record = json.loads(run(*args, "--json"))
    assert (record["baseline"], record["runs"], record["settings_different"]) == ("good", ["bad"], 3)
    assert record["settings"][0]["values"] == [0.1, 0.2]


def test_joined_settings_keep_their_problems() -> None:
    """A file that could not be read is told beside the settings of the others."""
    bad = hparams_of({str(n): 0 for n in range(4000)}, "huge.json")
    pane = hparams_pane([HParamsColumn("a", merge([hparams_of({"lr": 1}, "f"), bad]))])
    assert "huge.json" in "\n".join(line.text for line in hparams_lines(pane, 100)[:2])


def test_the_pane_by_both_names(logs: Path, tmp_path: Path) -> None:
    """`--pane hparams` is the pane `config`, in `snapshot` and in `watch`."""
    pane = ("snapshot", str(logs), "--format", "json", "--pane")
    assert json.loads(run(*pane, "hparams"))["pane"] == json.loads(run(*pane, "config"))["pane"] == "config"
    assert screen(tmp_path, pane="hparams").state.selection.pane == "config"
