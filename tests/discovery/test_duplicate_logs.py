"""One training in several logs, and sub-runs that belong to the run above them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rltui.logs.follow.read_all import read_all
from rltui.logs.run_names import RunFilter
from rltui.session.session import Session
from tests.support.logs import tfwriter
from tests.support.logs.live_logs import Delivered, Live, append, delivered_once, event_bytes, points, write
from tests.support.logs.record_logs import WANDB, history, record_log, stats
from tests.support.shared import LOGS, needs_shared

EVENTS = "events.out.tfevents.1.host"


def once(*logdirs: Path, all_sources: bool = False) -> Delivered:
    """Everything, read once."""
    return delivered_once(logdirs, all_sources=all_sources)


def rows(seed: int, steps: Sequence[int], rate: float = 0.001) -> list[tuple[int, dict[str, float]]]:
    """Rows of a training: what differs between seeds, and a learning rate that does not."""
    said = []
    for step in steps:
        noise = ((step * 7919 + seed * 104_729) % 1000) / 1000
        said.append(
            (step, {"loss": 2 + noise, "reward": step / 7 - noise, "kl": noise / 9, "lr": rate + step / 1e6})
        )
    return said


def as_events(said: list[tuple[int, dict[str, float]]], prefix: str = "train/") -> bytes:
    """Rows as an event file."""
    body = b"".join(
        tfwriter.event(step, tfwriter.simple(prefix + tag, value))
        for step, row in said
        for tag, value in row.items()
    )
    return tfwriter.version() + body


def as_lines(said: list[tuple[int, dict[str, float]]]) -> str:
    """Rows as JSON lines."""
    return "".join(json.dumps({"step": step, **row}) + "\n" for step, row in said)


def test_same_values_in_two_formats(tmp_path: Path) -> None:
    """Equal values at equal steps under other names are one run; the event file is its main source."""
    said = rows(1, range(30))
    write(tmp_path / f"tb/run/{EVENTS}", as_events(said))
    write(tmp_path / "logs/run.jsonl", as_lines(said))
    for delivered in (once(tmp_path), _live(tmp_path)):
        assert delivered.runs() == {"tb/run": ["logs/run.jsonl", f"tb/run/{EVENTS}"]}
        assert delivered.sources["logs/run.jsonl"].duplicate_of == "tb/run"
        assert delivered.sources[f"tb/run/{EVENTS}"].duplicate_of is None
        assert not delivered.points["logs/run.jsonl"]
    every = once(tmp_path, all_sources=True)
    assert len(every.points["logs/run.jsonl"]) == len(every.points[f"tb/run/{EVENTS}"]) == 120


@pytest.mark.parametrize(("table", "lines"), [("log.csv", "log.jsonl"), ("progress.csv", "metrics.json")])
def test_json_lines_in_a_file_named_as_a_table_are_a_duplicate(
    tmp_path: Path, table: str, lines: str
) -> None:
    """They are one of the log beside them that has the same lines under a proper name, and of no other."""
    for folder, seed in (("same", 1), ("other", 2)):
        write(tmp_path / folder / table, as_lines(rows(1, range(30))))
        write(tmp_path / folder / lines, as_lines(rows(seed, range(30))))
    for delivered in (once(tmp_path), _live(tmp_path)):
        assert delivered.sources[f"same/{table}"].duplicate_of == delivered.sources[f"same/{lines}"].run
        assert len(delivered.points[f"same/{lines}"]) == 120 and not delivered.points[f"same/{table}"]
        assert len(delivered.points[f"other/{lines}"]) == len(delivered.points[f"other/{table}"]) == 120


def test_the_richest_log_wins_whatever_its_name(tmp_path: Path) -> None:
    """JSON lines in a file named as a table are the main log if they have more steps or columns."""
    said = rows(1, range(60))
    fewer = [(step, {"loss": values["loss"]}) for step, values in said]
    for folder, poorer in (("end", said[:40]), ("columns", fewer), ("steps", said[::3])):
        write(tmp_path / folder / "log.csv", as_lines(said))
        write(tmp_path / folder / "metrics.jsonl", as_lines(poorer))
    for delivered in (once(tmp_path), _live(tmp_path)):
        for folder in ("end", "columns", "steps"):
            table, lines = f"{folder}/log.csv", f"{folder}/metrics.jsonl"
            assert delivered.sources[lines].duplicate_of == delivered.sources[table].run == folder
            assert len(delivered.points[table]) == 240 and not delivered.points[lines]


def test_the_longer_of_two_logs_without_steps_wins(tmp_path: Path) -> None:
    """Rows without steps are all read, though the end of a long log does not count them."""
    lines = [json.dumps(values) + "\n" for _, values in rows(1, range(6_000))]
    for folder, written in (("same", 6_000), ("less", 4_000)):
        write(tmp_path / folder / "log.csv", "".join(lines))
        write(tmp_path / folder / "metrics.jsonl", "".join(lines[:written]))
    delivered = once(tmp_path)
    assert len(delivered.points["less/log.csv"]) == len(delivered.points["same/metrics.jsonl"]) == 24_000
    assert not (delivered.points["same/log.csv"] or delivered.points["less/metrics.jsonl"])


def test_logs_that_each_have_more_are_both_read(tmp_path: Path) -> None:
    """No point is lost where one of two logs of a training ends later, and the other has more in another way.

    One that is a record behind is still a duplicate: the other was written first.
    """
    said = rows(1, range(60))
    fewer = [(step, {"loss": values["loss"]}) for step, values in said]
    cases = {
        "begins": (said[40:], said[:50]),
        "columns": (fewer, said[:50]),
        "behind": (fewer, said[:59]),
    }
    for folder, (table, lines) in cases.items():
        write(tmp_path / folder / "log.csv", as_lines(table))
        write(tmp_path / folder / "log.jsonl", as_lines(lines))
    delivered = once(tmp_path)
    for folder in ("begins", "columns"):
        for name, its in zip(("log.csv", "log.jsonl"), cases[folder], strict=True):
            source = f"{folder}/{name}"
            assert len(delivered.points[source]) == sum(len(values) for _, values in its)
            assert delivered.sources[source].run == folder
            assert delivered.sources[source].duplicate_of is None
    assert delivered.sources["behind/log.csv"].duplicate_of == "behind"


def _live(*logdirs: Path) -> Delivered:
    live = Live(*logdirs)
    live.after(10)
    return live.delivered


def test_other_seed_is_another_run(tmp_path: Path) -> None:
    """Runs that share a learning rate and little else are no duplicates, in one folder or in two."""
    write(tmp_path / f"a/{EVENTS}", as_events(rows(1, range(30))))
    write(tmp_path / "b/metrics.jsonl", as_lines(rows(2, range(30))))
    write(tmp_path / f"c/{EVENTS}", as_events(rows(3, range(30))))
    write(tmp_path / "c/metrics.jsonl", as_lines(rows(4, range(30))))
    delivered = once(tmp_path)
    assert sorted(delivered.runs()) == ["a", "b", "c"]
    assert all(source.duplicate_of is None for source in delivered.sources.values())
    assert len(delivered.points["c/metrics.jsonl"]) == 120


def test_trainings_that_only_begin_alike_are_two_runs(tmp_path: Path) -> None:
    """Two trainings with one seed have the same values until the first update: their ends tell them apart."""
    common = rows(1, range(20))
    write(tmp_path / f"a/{EVENTS}", as_events(common + rows(2, range(20, 60))))
    write(tmp_path / "b/metrics.jsonl", as_lines(common + rows(3, range(20, 60))))
    for delivered in (once(tmp_path), _live(tmp_path)):
        assert sorted(delivered.runs()) == ["a", "b"]
        assert len(delivered.points["b/metrics.jsonl"]) == 240


def test_a_log_that_ends_earlier_is_a_duplicate(tmp_path: Path) -> None:
    """The end of a log of the same training that ends earlier cannot be compared, and says nothing."""
    said = rows(1, range(4000))
    write(tmp_path / f"a/{EVENTS}", as_events(said))
    write(tmp_path / "b/metrics.jsonl", as_lines(said[:60]))
    assert list(once(tmp_path).runs()) == ["a"]


def test_each_finds_its_own_duplicate(tmp_path: Path) -> None:
    """Of many runs with event files in one tree and JSON lines in another each pair finds together."""
    for seed in range(12):
        said = rows(seed, range(20))
        write(tmp_path / f"tensorboard_log/proj/exp{seed}/{EVENTS}", as_events(said))
        write(tmp_path / f"proj/exp{seed}.jsonl", as_lines(said))
    delivered = once(tmp_path)
    for seed in range(12):
        assert delivered.sources[f"proj/exp{seed}.jsonl"].duplicate_of == f"tensorboard_log/proj/exp{seed}"


@pytest.mark.parametrize("glob", ["*jsonl_side*", "train", "other", "*"])
def test_glob_for_the_name_of_a_duplicate(tmp_path: Path, glob: str) -> None:
    """A duplicate is no run of its own where its run was not asked for, read once or followed."""
    write(tmp_path / f"train/{EVENTS}", as_events(rows(1, range(30))))
    write(tmp_path / "jsonl_side/train_3.jsonl", as_lines(rows(1, range(30))))
    write(tmp_path / "other/metrics.jsonl", as_lines(rows(2, range(30))))
    live, read = Live(tmp_path, runs=RunFilter(glob)), Delivered()
    live.poll()
    read.take(read_all([tmp_path], run_glob=glob))
    asked = {name for name in ("train", "other") if glob in (name, "*")}
    assert set(live.delivered.runs()) == set(read.runs()) == asked
    assert not any(source.run == "jsonl_side/train_3" for source in live.delivered.sources.values())


def test_three_formats_have_one_main(tmp_path: Path) -> None:
    """Of a table, JSON lines and an event file of one training the event file is the main source."""
    said = rows(1, range(20))
    write(tmp_path / f"run/{EVENTS}", as_events(said))
    write(tmp_path / "run/progress.json", as_lines(said))
    keys = list(said[0][1])
    table = "\n".join(
        [",".join(["step", *keys]), *(",".join(map(str, [s, *row.values()])) for s, row in said)]
    )
    write(tmp_path / "run/progress.csv", table + "\n")
    delivered = once(tmp_path)
    assert {path: source.duplicate_of for path, source in delivered.sources.items()} == {
        f"run/{EVENTS}": None,
        "run/progress.csv": "run",
        "run/progress.json": "run",
    }


def test_duplicate_that_comes_first(tmp_path: Path) -> None:
    """JSON lines shown before the event file was flushed are withdrawn when they are its duplicate."""
    said = rows(1, range(20))
    write(tmp_path / f"tb/run/{EVENTS}", tfwriter.version())
    write(tmp_path / "run.jsonl", as_lines(said[:3]))
    live = Live(tmp_path)
    live.after(2)
    assert len(live.delivered.points["run.jsonl"]) == 12
    write(tmp_path / f"tb/run/{EVENTS}", as_events(said[:5]))
    append(tmp_path / "run.jsonl", as_lines(said[3:5]))
    live.after(2)
    assert live.delivered.sources["run.jsonl"].duplicate_of == "tb/run"
    assert live.delivered.points["run.jsonl"] == []
    assert len(live.delivered.points[f"tb/run/{EVENTS}"]) == 20
    withdrawn = [
        delivery.source.run for delivery in live.delivered.deliveries if delivery.kind == "rewritten"
    ]
    assert withdrawn == ["run"]
    live.after(60)
    append(tmp_path / "run.jsonl", as_lines(said[5:9]))
    live.after(60)
    assert live.delivered.points["run.jsonl"] == []


def test_duplicate_goes_on_when_the_main_log_is_gone(tmp_path: Path) -> None:
    """When the main log was deleted and its duplicate goes on growing, the duplicate is read."""
    said = rows(1, range(40))
    main = write(tmp_path / f"tb/run/{EVENTS}", as_events(said[:20]))
    log = write(tmp_path / "run.jsonl", as_lines(said[:20]))
    live = Live(tmp_path)
    live.after(2)
    main.unlink()
    live.after(60)
    assert live.delivered.points["run.jsonl"] == []
    append(log, as_lines(said[20:30]))
    live.after(60)
    assert len(live.delivered.points["run.jsonl"]) == 120
    assert live.delivered.sources["run.jsonl"].duplicate_of is None


def test_whole_numbers_in_one_folder(tmp_path: Path) -> None:
    """Returns and lengths that are whole numbers tell duplicates in one folder, but not across folders."""
    steps = range(50, 500, 50)
    said = [
        (step, {"return": -48.0 + step % 7, "length": 50.0, "episodes": float(step // 50)}) for step in steps
    ]
    write(tmp_path / f"a/{EVENTS}", as_events(said))
    write(tmp_path / "a/metrics.jsonl", as_lines(said))
    write(tmp_path / "b/metrics.jsonl", as_lines(said))
    delivered = once(tmp_path)
    assert delivered.sources["a/metrics.jsonl"].duplicate_of == "a"
    assert delivered.sources["b/metrics.jsonl"].duplicate_of is None


def as_console(said: list[tuple[int, dict[str, float]]]) -> str:
    """Rows as console lines."""
    return "".join(
        f"step:{step} - " + " - ".join(f"{tag}:np.float64({value!r})" for tag, value in row.items()) + "\n"
        for step, row in said
    )


@pytest.mark.parametrize("again", [11, 1], ids=["from a checkpoint", "from the start"])
def test_log_that_a_restart_cut_off(tmp_path: Path, again: int) -> None:
    """A restart of veRL truncates its JSON lines, the console goes on: they are duplicates by their ends."""
    first, second = rows(1, range(1, 16)), rows(2, range(again, 26))
    write(tmp_path / "train.log", as_console(first + second))
    write(tmp_path / "train.jsonl", as_lines(second))
    main, duplicate, said = ("log", "jsonl", 120) if again > 1 else ("jsonl", "log", 100)
    for delivered in (once(tmp_path), _live(tmp_path)):  # the one that goes farther back is shown
        assert delivered.runs() == {"train": ["train.jsonl", "train.log"]}
        assert delivered.sources[f"train.{main}"].duplicate_of is None
        assert delivered.sources[f"train.{duplicate}"].duplicate_of == "train"
        assert len(delivered.points[f"train.{main}"]) == said


def test_logs_of_one_run_that_end_otherwise(tmp_path: Path) -> None:
    """Two logs of one name that say other things at their ends, too, are both read."""
    write(tmp_path / "train.log", as_console(rows(1, range(1, 30))))
    write(tmp_path / "train.jsonl", as_lines(rows(2, range(20, 40))))
    delivered = once(tmp_path)
    assert delivered.runs() == {"train": ["train.jsonl", "train.log"]}
    assert {source.duplicate_of for source in delivered.sources.values()} == {None}


def test_torch_add_scalars(tmp_path: Path) -> None:
    """`<main>_<key>/` with the main tag alone in it is a curve `main/key` of the run above."""
    write(tmp_path / f"run/{EVENTS}", event_bytes(range(5), tag="other"))
    for key in ("train", "eval"):
        write(tmp_path / f"run/loss_total_{key}/{EVENTS}", event_bytes(range(5), tag="loss/total"))
    for delivered in (once(tmp_path), _live(tmp_path)):
        assert list(delivered.runs()) == ["run"]
        assert delivered.points[f"run/loss_total_eval/{EVENTS}"] == points(range(5), tag="loss/total/eval")


def test_a_curve_with_the_name_of_its_main_tag(tmp_path: Path) -> None:
    """`add_scalars("agent0/loss", {"agent0/loss": 1.0})`, as in HARL, is the series `agent0/loss`."""
    write(tmp_path / EVENTS, event_bytes(range(5), tag="other"))
    write(tmp_path / f"agent0_loss_agent0/loss/{EVENTS}", event_bytes(range(5), tag="agent0/loss"))
    delivered = once(tmp_path)
    assert list(delivered.runs()) == ["."]
    assert delivered.points[f"agent0_loss_agent0/loss/{EVENTS}"] == points(range(5), tag="agent0/loss")


def test_tensorboardx_add_scalars(tmp_path: Path) -> None:
    """`<main>/<key>/` with the main tag alone in it is folded as well."""
    write(tmp_path / EVENTS, event_bytes(range(5), tag="other"))
    write(tmp_path / f"losses/pg/{EVENTS}", event_bytes(range(5), tag="losses"))
    delivered = once(tmp_path)
    assert list(delivered.runs()) == ["."]
    assert delivered.points[f"losses/pg/{EVENTS}"] == points(range(5), tag="losses/pg")


@pytest.mark.parametrize(
    ("folder", "tag"),
    [("eval", "loss"), ("loss_a", "reward"), ("lossa", "loss"), ("x/loss", "loss")],
)
def test_folder_that_only_looks_like_a_curve(tmp_path: Path, folder: str, tag: str) -> None:
    """A sub-folder is a run of its own unless name and content both say that it is a curve."""
    write(tmp_path / EVENTS, event_bytes(range(5), tag="other"))
    write(tmp_path / f"{folder}/{EVENTS}", event_bytes(range(5), tag=tag))
    delivered = once(tmp_path)
    assert sorted(delivered.runs()) == [".", folder]


def test_curve_folder_without_a_run_above(tmp_path: Path) -> None:
    """Without event files above there is no run to belong to."""
    write(tmp_path / f"loss_a/{EVENTS}", event_bytes(range(5), tag="loss"))
    assert list(once(tmp_path).runs()) == ["loss_a"]


def test_hparams_folder(tmp_path: Path) -> None:
    """The folder that add_hparams names by the time belongs to the run above, tags unchanged."""
    write(tmp_path / f"run/{EVENTS}", event_bytes(range(5)))
    write(tmp_path / f"run/1712345678.123/{EVENTS}", event_bytes([0], tag="hparam/reward"))
    delivered = once(tmp_path)
    assert list(delivered.runs()) == ["run"]
    assert delivered.points[f"run/1712345678.123/{EVENTS}"] == points([0], tag="hparam/reward")


def test_hparams_that_come_while_we_follow(tmp_path: Path) -> None:
    """A folder of hparams without points is no run either, though its file was seen half written."""
    write(tmp_path / f"run/{EVENTS}", event_bytes(range(5)))
    file = tfwriter.version() + tfwriter.event(0, tfwriter.hparams({"lr": 0.5}))
    log = write(tmp_path / f"run/1712345678.123/{EVENTS}", file[:60])
    live = Live(tmp_path)
    live.after(3)
    append(log, file[60:])
    live.after(5)
    session = Session()
    session.apply(live.delivered.deliveries)
    assert list(session.runs) == ["run"]


def test_curve_that_starts_while_we_follow(tmp_path: Path) -> None:
    """A curve folder that appears in a followed run never shows up as a run of its own."""
    write(tmp_path / f"run/{EVENTS}", event_bytes(range(5), tag="other"))
    live = Live(tmp_path)
    live.after(2)
    log = write(tmp_path / f"run/loss_a/{EVENTS}", tfwriter.version())
    live.after(5)
    append(log, event_bytes(range(3), tag="loss", head=False))
    live.after(5)
    assert live.delivered.points[f"run/loss_a/{EVENTS}"] == points(range(3), tag="loss/a")
    assert {delivery.source.run for delivery in live.delivered.deliveries if len(delivery.batch)} == {"run"}


@needs_shared
@pytest.mark.parametrize("framework", ["trl", "verl", "sb3", "rllib"])
def test_real_frameworks(framework: str) -> None:
    """In the collection every log beside another format's log of the same training is its duplicate."""
    delivered = once(LOGS / framework)
    doubles = ("progress.csv", "progress.json", "trainer_state.json", "console.log")
    main = [path for path, source in delivered.sources.items() if source.duplicate_of is None]
    assert [path for path in main if path.endswith(doubles)] == []
    if framework == "trl":
        assert sum("grpo-qwen-resume" in run for run in delivered.runs()) == 2
    if framework == "verl":
        assert len(delivered.runs()) == 4
    if framework == "rllib":
        assert [path.rpartition("/")[2] for path in main] == ["result.json"]


@needs_shared
def test_real_sub_runs() -> None:
    """The collection's add_scalars and add_hparams folders are folded into their runs, ranks are known."""
    delivered = once(LOGS / "odd/odd-torch")
    assert sorted(delivered.runs()) == ["purged", "tbx", "torch_all"]
    tags = {tag for path, said in delivered.points.items() if path.startswith("tbx") for tag, _, _ in said}
    assert {"losses/pg", "losses/v"} <= tags
    tags = {
        tag for path, said in delivered.points.items() if path.startswith("torch_all") for tag, _, _ in said
    }
    assert {"reward/train", "reward/eval", "hparam/kl"} <= tags


def test_session_drops_a_run_that_was_none(tmp_path: Path) -> None:
    """A log that was shown as a run and turns out to be a duplicate leaves no empty run behind."""
    said = rows(1, range(20))
    write(tmp_path / f"tb/run/{EVENTS}", tfwriter.version())
    write(tmp_path / "run.jsonl", as_lines(said[:3]))
    live, session = Live(tmp_path), Session()
    session.apply(live.after(2))
    assert sorted(session.runs) == ["run", "tb/run"]
    write(tmp_path / f"tb/run/{EVENTS}", as_events(said[:5]))
    session.apply(live.after(2))
    assert list(session.runs) == ["tb/run"]
    sources = session.runs["tb/run"].run.sources
    assert {path: source.duplicate_of for path, source in sources.items()} == {
        f"tb/run/{EVENTS}": None,
        "run.jsonl": "tb/run",
    }


def test_session_judges_a_run_with_a_torn_tail(tmp_path: Path) -> None:
    """A half-written last record is no history that is still to be read: the run is not held back."""
    write(tmp_path / f"run/{EVENTS}", as_events(rows(1, range(20)))[:-7])
    live, session = Live(tmp_path), Session()
    session.apply(live.after(2))
    assert not session.runs["run"].loading


def test_a_console_with_few_digits_is_a_duplicate(tmp_path: Path) -> None:
    """Each of its values rounds to one of the other log's, at the same steps; other seeds don't."""

    def values(step: int, seed: int) -> dict[str, float]:
        return {f"train/v{k}": (step + k + 1) ** (0.7 - seed / 9) * 0.1234567 for k in range(4)}

    rows = [{"time/total_timesteps": step, **values(step, 0)} for step in range(1, 12)]
    header = ",".join(rows[0])
    lines = [",".join(map(str, row.values())) for row in rows]
    (tmp_path / "progress.csv").write_text("\n".join([header, *lines, ""]))
    for seed in (0, 1):
        tables = "".join(
            "----------\n| time/               |      |\n"
            f"|    total_timesteps  | {step}    |\n| train/              |      |\n"
            + "".join(f"|    {key[6:]}     | {value:<6.3g} |\n" for key, value in values(step, seed).items())
            + "----------\n"
            for step in range(1, 12)
        )  # fmt: skip
        (tmp_path / f"seed{seed}.log").write_text(tables)
    delivered = delivered_once([tmp_path])
    assert delivered.runs() == {".": ["progress.csv", "seed0.log"], "seed1": ["seed1.log"]}


MONITOR = '#{"t_start": 1700000000.0, "env_id": "CartPole-v1"}\nr,l,t\n9.0,9,0.1\n12.5,12,0.3\n'


@pytest.mark.parametrize("name", ["monitor.csv", "0.monitor.csv"])
def test_episodes_belong_to_the_only_training_below(tmp_path: Path, name: str) -> None:
    """A monitor beside one event folder is of its run; beside two of them it is of neither."""
    write(tmp_path / name, MONITOR)
    live = Live(tmp_path)
    live.after(10)
    alone = ".".join(name.split(".")[:-1]) if name[0] == "0" else "."
    assert live.delivered.runs() == {alone: [name]}
    write(tmp_path / f"tb/PPO_1/{EVENTS}", as_events(rows(1, range(30))))
    live.after(60)
    for delivered in (live.delivered, once(tmp_path)):
        assert delivered.runs() == {"tb/PPO_1": [name, f"tb/PPO_1/{EVENTS}"]}
        assert delivered.sources[name].duplicate_of is None
        assert len(delivered.points[name]) == 6
    write(tmp_path / f"tb/PPO_2/{EVENTS}", as_events(rows(2, range(30))))
    live.after(60)
    for delivered in (live.delivered, once(tmp_path)):
        assert sorted(delivered.runs()) == sorted([alone, "tb/PPO_1", "tb/PPO_2"])
        assert len(delivered.points[name]) == 6


def test_evaluations_in_another_folder_are_those_of_the_event_file(tmp_path: Path) -> None:
    """Each evaluations.npz is a duplicate of the event file with the same means, few as its steps are."""
    for number in (1, 2):
        said = rows(number, range(100, 6_000, 100), rate=0.001 * number)
        steps = np.arange(500, 6_000, 500)
        returns = np.array([[[step / 9 + number], [step / 7]] for step in steps.tolist()]).reshape(-1, 2)
        means = zip(steps.tolist(), returns.mean(axis=1).tolist(), strict=True)
        evaluated = [(step, {"mean_reward": mean}) for step, mean in means]
        write(tmp_path / f"PPO_{number}/{EVENTS}", as_events(said) + as_events(evaluated, "eval/"))
        (tmp_path / f"at_{number}").mkdir()
        np.savez(tmp_path / f"at_{number}/evaluations.npz", timesteps=steps, results=returns)
    delivered = once(tmp_path)
    assert sorted(delivered.runs()) == ["PPO_1", "PPO_2"]
    for number in (1, 2):
        assert delivered.sources[f"at_{number}/evaluations.npz"].duplicate_of == f"PPO_{number}"


EVALUATED = range(500, 6_500, 500)


def _keep_evaluations(path: Path, results: dict[int, float]) -> None:
    """The file of EvalCallback for evaluations of five equal episodes, all of 200 steps."""
    path.parent.mkdir(parents=True, exist_ok=True)
    returns = np.repeat(np.array(list(results.values()))[:, None], 5, axis=1)
    np.savez(path, timesteps=list(results), results=returns, ep_lengths=np.full(returns.shape, 200))


def _evaluating(results: dict[int, float], tag: str = "eval/mean_reward", steps: int = 6_000) -> bytes:
    """The event file of a training with these evaluations."""
    evaluated = [(step, {tag: value, "eval/mean_ep_length": 200.0}) for step, value in results.items()]
    return as_events(rows(1, range(100, steps, 100))) + as_events(evaluated, "")


_CLIMB = {step: step / 9 for step in EVALUATED}
_FAILING = dict.fromkeys(EVALUATED, -200.0)
_SOLVED = {step: 500.0 if step > 1_000 else 480 + step / 100 for step in EVALUATED}


@pytest.mark.parametrize(
    ("logged", "kept"),
    [
        (_FAILING, _FAILING),
        (_FAILING, {**_FAILING, 500: -110.0, 1_000: -120.0, 1_500: -130.0}),
        (_SOLVED, {**_SOLVED, 500: 150.0, 1_000: 200.0}),
        (_CLIMB, {**_CLIMB, 3_000: 3_000 / 8}),
        (_CLIMB, {step: step / 19 for step in EVALUATED}),  # in another environment
    ],
    ids=["constant", "lost", "solved", "one_differs", "all_differ"],
)
def test_evaluations_of_another_training_are_no_duplicate(
    tmp_path: Path, logged: dict[int, float], kept: dict[int, float]
) -> None:
    """Equal returns of trainings that fail or solve their task tell nothing; one that differs does."""
    write(tmp_path / f"tb/PPO_1/{EVENTS}", _evaluating(logged))
    _keep_evaluations(tmp_path / "other/evaluations.npz", kept)
    for delivered in (once(tmp_path), _live(tmp_path)):
        assert sorted(delivered.runs()) == ["other", "tb/PPO_1"]
        assert delivered.points["other/evaluations.npz"]


def test_returns_of_a_training_are_not_its_evaluations(tmp_path: Path) -> None:
    """Only evaluations are compared: equal returns of exploring episodes are those of another training."""
    write(tmp_path / f"tb/PPO_1/{EVENTS}", _evaluating(_CLIMB, "rollout/ep_rew_mean"))
    _keep_evaluations(tmp_path / "other/evaluations.npz", _CLIMB)
    assert sorted(once(tmp_path).runs()) == ["other", "tb/PPO_1"]


@pytest.mark.parametrize(
    ("logged", "runs"),
    [
        (_CLIMB, ["tb"]),
        ({**_CLIMB, 3_000: 3_000 / 8}, ["other", "tb"]),
        ({step: step / 9 for step in (500, 1_000, 1_500)}, ["other", "tb"]),
        (_FAILING, ["other", "tb"]),
    ],
    ids=["same", "one_differs", "few", "constant"],
)
def test_evaluations_may_have_any_name_in_the_log(
    tmp_path: Path, logged: dict[int, float], runs: list[str]
) -> None:
    """A series of a log without names of evaluations is them if it agrees at all steps with enough values."""
    said = [
        {"time/total_timesteps": step, "loss": 1 / step, "mean_reward": value, "mean_ep_length": 200.0}
        for step, value in logged.items()
    ]
    table = "".join(",".join(map(str, row.values())) + "\n" for row in said)
    write(tmp_path / "tb/progress.csv", ",".join(said[0]) + "\n" + table)
    _keep_evaluations(tmp_path / "other/evaluations.npz", _FAILING if logged is _FAILING else _CLIMB)
    for delivered in (once(tmp_path), _live(tmp_path)):
        assert sorted(delivered.runs()) == runs


def test_evaluations_at_the_beginning_of_a_long_log_count(tmp_path: Path) -> None:
    """Trainings whose last evaluations are equal are told apart by their first ones."""
    every = range(500, 500_500, 500)
    ends = {step: step / 9 for step in every}
    logged = as_events(
        [(step, {"eval/mean_reward": ends[step] - (step < 2_000), "train/loss": 1 / step}) for step in every],
        "",
    ) + as_events(rows(1, range(490_000, 500_000, 500)))
    for name, kept in (("other", ends), ("same", {step: ends[step] - (step < 2_000) for step in every})):
        _keep_evaluations(tmp_path / f"{name}/evaluations.npz", kept)
    padding = as_events(rows(2, range(400_000, 490_000, 25)))
    write(tmp_path / f"tb/PPO_1/{EVENTS}", logged[: len(logged) // 2] + padding + logged[len(logged) // 2 :])
    assert sorted(once(tmp_path).runs()) == ["other", "tb/PPO_1"]


def test_evaluations_that_begin_to_vary_are_found_to_be_repeated(tmp_path: Path) -> None:
    """Equal evaluations tell nothing, so that a followed file is compared again when there are more."""
    flat = dict.fromkeys(range(500, 10_500, 500), -200.0)
    risen = {**flat, **{step: -200 + step / 900 for step in range(10_500, 15_000, 500)}}
    write(tmp_path / f"PPO_1/{EVENTS}", _evaluating(flat))
    _keep_evaluations(tmp_path / "at/evaluations.npz", flat)
    live = Live(tmp_path)
    live.after(10)
    assert sorted(live.delivered.runs()) == ["PPO_1", "at"]
    write(tmp_path / f"PPO_1/{EVENTS}", _evaluating(risen))
    live.after(60)
    _keep_evaluations(tmp_path / "at/evaluations.npz", risen)
    live.after(60)
    assert sorted(live.delivered.runs()) == ["PPO_1"]
    assert live.delivered.sources["at/evaluations.npz"].duplicate_of == "PPO_1"


def test_episodes_of_several_wrappers_stay_apart(tmp_path: Path) -> None:
    """They have the same tags: in one run nobody could tell them apart. Evaluations have their own."""
    for name in ("train.monitor.csv", "eval.monitor.csv"):
        write(tmp_path / name, MONITOR)
    write(tmp_path / f"PPO_1/{EVENTS}", as_events(rows(1, range(30))))
    assert sorted(once(tmp_path).runs()) == ["PPO_1", "eval.monitor", "train.monitor"]


def test_a_folder_of_evaluations_belongs_to_the_training_beside_it(tmp_path: Path) -> None:
    """`eval_logs/monitor.csv` is of the only training beside it; `a/monitor.csv` is one of its own."""
    write(tmp_path / f"PPO_1/{EVENTS}", as_events(rows(1, range(30))))
    write(tmp_path / "eval_logs/monitor.csv", MONITOR)
    write(tmp_path / "a/monitor.csv", MONITOR)
    found = once(tmp_path).runs()
    assert found == {"PPO_1": [f"PPO_1/{EVENTS}", "eval_logs/monitor.csv"], "a": ["a/monitor.csv"]}


def test_logs_of_the_parts_of_a_training(tmp_path: Path) -> None:
    """Acme's actor, learner and evaluator are one run, whose tags say which of them speaks."""
    for part, header in {"actor": "actor_steps", "evaluator": "actor_steps,evaluator_steps"}.items():
        cells = ",".join("2" for _ in header.split(","))
        write(tmp_path / f"7f/logs/{part}/logs.csv", f"{header},episode_return\n{cells},1.5\n")
    delivered = once(tmp_path)
    assert sorted(delivered.runs()) == ["7f"]
    assert once(tmp_path / "7f").runs().keys() == once(tmp_path / "7f/logs").runs().keys() == {"."}
    assert delivered.points["7f/logs/actor/logs.csv"] == [("actor/episode_return", 2, 1.5)]
    write(tmp_path / "8a/logs/agent_0/logs.csv", "actor_steps,episode_return\n2,1.5\n")
    assert sorted(once(tmp_path).runs()) == ["7f", "8a"]
    assert ("evaluator/episode_return", 2, 1.5) in delivered.points["7f/logs/evaluator/logs.csv"]


def test_evaluations_beside_a_training_are_of_its_run(tmp_path: Path) -> None:
    """`train.csv` and `eval.csv` of one folder are one run; a group of the part has its name already."""
    write(tmp_path / "s1/train.csv", "step,episode_reward\n1000,1.5\n2000,2.5\n")
    write(tmp_path / "s1/eval.csv", "step,episode_reward,evaluation/success\n1000,0.5,1\n")
    write(tmp_path / "s2/train.csv", "step,episode_reward\n1000,1.5\n")
    delivered = once(tmp_path)
    assert delivered.runs() == {"s1": ["s1/eval.csv", "s1/train.csv"], "s2": ["s2/train.csv"]}
    assert [tag for tag, _, _ in delivered.points["s1/train.csv"]] == ["episode_reward"] * 2
    assert [tag for tag, _, _ in delivered.points["s1/eval.csv"]] == [
        "eval/episode_reward",
        "evaluation/success",
    ]


def test_a_table_that_repeats_a_column_of_another(tmp_path: Path) -> None:
    """It is a duplicate, unless it has the same columns: those are of trainings of one program."""
    rewards = [-3.25 * at % 7 for at in range(1, 30)]
    tables = {
        "a/rewards": ("episode,total_reward", "{0},{1}"),
        "a/results": ("episode,reward,epsilon", "{0},{1},{2}"),
        "b/dqn": ("episode,reward,epsilon", "{0},{1},{2}"),
        "b/ddqn": ("episode,reward,epsilon", "{0},{1},{2}"),
        "c/run_1": ("episode,reward,epsilon", "{0},{1},{2}"),
        "c/run_2": ("episode,total_reward", "{0},{1}"),
    }
    for name, (header, row) in tables.items():
        lines = [row.format(at, reward, 0.99**at) for at, reward in enumerate(rewards, 1)]
        write(tmp_path / f"{name}.csv", "\n".join([header, *lines, ""]))
    assert sorted(once(tmp_path).runs()) == ["a", "b/ddqn", "b/dqn", "c/run_1", "c/run_2"]


@pytest.mark.parametrize("first", [0, 1])
def test_a_list_of_returns_beside_a_table_is_a_duplicate(tmp_path: Path, first: int) -> None:
    """It has no steps and fewer series: the table is shown. A list of other values is a run of its own."""
    returns = [-3.25 * at % 7 for at in range(30)]
    table = "".join(f"{at},{value},{0.99**at}\n" for at, value in enumerate(returns, first))
    write(tmp_path / "training_log.csv", "episode,total_reward,epsilon\n" + table)
    write(tmp_path / "episode_returns.json", json.dumps(returns))
    write(tmp_path / "old/training_log.csv", "episode,total_reward,epsilon\n" + table)
    write(tmp_path / "old/episode_returns.json", json.dumps([value / 2 for value in returns]))
    delivered = once(tmp_path)
    assert delivered.runs() == {
        ".": ["episode_returns.json", "training_log.csv"],
        "old": ["old/training_log.csv"],
        "old/episode_returns": ["old/episode_returns.json"],
    }
    assert {tag for tag, _, _ in delivered.points["training_log.csv"]} == {"total_reward", "epsilon"}


def test_a_console_without_steps_is_a_duplicate(tmp_path: Path) -> None:
    """Its rows are compared with those of the other log one by one."""
    said = rows(1, range(10, 400, 10))
    write(tmp_path / "grpo.jsonl", as_lines(said))
    printed = [{**{key: round(value, 4) for key, value in row.items()}, "epoch": 0.1} for _, row in said]
    write(tmp_path / "train.log", "".join(f"{row}\n" for row in printed))
    assert once(tmp_path).runs() == {"grpo": ["grpo.jsonl", "train.log"]}


def test_a_console_is_no_duplicate_of_evaluations(tmp_path: Path) -> None:
    """TD-MPC2 prints training and evaluations, and keeps the latter in eval.csv."""
    steps = range(1, 30)
    printed = "".join(
        f" {role}   E: 1   I: {i},000   R: {i / 3:.1f}   T: 0:00:01\n"
        for i in steps
        for role in ("train", "eval")
    )
    write(tmp_path / "train.log", printed)
    write(tmp_path / "eval.csv", "step,episode_reward\n" + "".join(f"{i}000,{i / 3}\n" for i in steps))
    delivered = once(tmp_path)
    assert sorted(delivered.runs()) == [".", "train"]
    assert {tag for tag, _, _ in delivered.points["train.log"]} == {
        "train/episode_reward",
        "eval/episode_reward",
    }


def test_a_console_of_another_number_is_no_duplicate(tmp_path: Path) -> None:
    """`exp8.log` is the console of no `stats_exp7.json`, though it lies beside it; `exp7.log` is."""
    for number in (7, 8):
        lines = "".join(f"Step {i} | loss: {i / number:.3f}\n" for i in range(1, 30))
        write(tmp_path / f"grpo_exp{number}_5123{number}.log", lines)
    write(tmp_path / "stats_exp7.json", json.dumps({"losses": [i / 9 for i in range(30)]}))
    delivered = once(tmp_path)
    assert delivered.runs() == {
        "stats_exp7": ["grpo_exp7_51237.log", "stats_exp7.json"],
        "grpo_exp8_51238": ["grpo_exp8_51238.log"],
    }


def test_logs_that_count_other_things_are_duplicates(tmp_path: Path) -> None:
    """RLlib's event file has steps of the environment, its result.json iterations; seeds stay apart."""
    said = rows(1, range(1, 30))
    write(tmp_path / f"a/{EVENTS}", as_events([(step * 4000, row) for step, row in said]))
    write(tmp_path / "a/result.json", as_lines(said))
    write(tmp_path / f"b/{EVENTS}", as_events([(step * 4000, row) for step, row in rows(2, range(1, 30))]))
    delivered = once(tmp_path)
    assert delivered.runs() == {"a": [f"a/{EVENTS}", "a/result.json"], "b": [f"b/{EVENTS}"]}
    assert delivered.sources[f"a/{EVENTS}"].duplicate_of == "a"


def test_a_console_that_says_more_is_not_left_out(tmp_path: Path) -> None:
    """One series of a document is no substitute for a console of three."""
    printed = "".join(
        f"Step {i} | loss: {i / 7:.3f} kl: {i / 9:.3f} reward: {i / 8:.3f}\n" for i in range(30)
    )
    write(tmp_path / "train.log", printed)
    write(tmp_path / "history.json", json.dumps({"losses": [i / 70 for i in range(30)]}))
    assert sorted(once(tmp_path).runs()) == [".", "train"]


def test_schedules_make_no_copies_of_consoles(tmp_path: Path) -> None:
    """Trainings whose exploration falls alike differ in their rewards, whole numbers though they are."""
    for seed in (3, 5):
        lines = (f"Episode {k} reward -{k * seed % 11}.000 eps {0.99**k:.3f}\n" for k in range(40))
        write(tmp_path / f"log_{seed}.txt", "".join(lines))
    assert sorted(once(tmp_path).runs()) == ["log_3", "log_5"]


def test_trainings_that_learn_nothing_are_no_copies(tmp_path: Path) -> None:
    """What stays the same, and schedules, are equal in all of them; so are seeds in names no copies."""
    for name in ("base_seed1", "base_seed2", "other_seed1"):
        lines = (
            f"{{'loss': 0.0, 'reward': 0.0, 'learning_rate': {1e-5 * (40 - k)}, 'epoch': {k / 40}}}\n"
            for k in range(40)
        )
        write(tmp_path / f"{name}.log", "".join(lines))
    assert sorted(once(tmp_path).runs()) == ["base_seed1", "base_seed2", "other_seed1"]


def test_consoles_that_differ_in_numbers_alone(tmp_path: Path) -> None:
    """Trainings with one seed print the same; so do the workers of one training, which are one run."""
    lines = [f"Episode {k} reward -{k * 5 % 11}.250 loss {k * 7 % 13}.750\n" for k in range(40)]
    for name in ("log_20251103_103715", "log_20251103_104702", "rank_0", "rank_1"):
        write(tmp_path / ("b" if "rank" in name else "a") / f"{name}.log", "".join(lines))
    assert len(once(tmp_path / "a").runs()) == 2
    assert len(once(tmp_path / "b").runs()) == 1


def test_a_console_of_whole_numbers_is_a_duplicate_in_its_folder(tmp_path: Path) -> None:
    """Tables of Baselines' DQN have one decimal, and many have none: they count where the log lies beside."""
    said = [(997 * k + 11 * k * k, 10 + k // 3, 100 * k) for k in range(1, 12)]
    table = "-----\n| episodes      | {2}  |\n| mean reward   | {1} |\n| steps         | {0} |\n-----\n"
    write(tmp_path / "log.txt", "".join(table.format(*row) for row in said))
    rows = "".join(f"{episodes},{reward}.0,{steps}\n" for steps, reward, episodes in said)
    write(tmp_path / "progress.csv", f"episodes,mean reward,steps\n{rows}")
    assert once(tmp_path).runs() == {".": ["log.txt", "progress.csv"]}


def test_the_history_of_a_trainer_comes_before_its_console(tmp_path: Path) -> None:
    """trainer_state.json has the steps; the console counts its rows, though its file be longer."""
    history = [{"loss": 2 / k, "grad_norm": k / 7, "epoch": k / 4, "step": 10 * k} for k in range(1, 12)]
    write(tmp_path / "out/trainer_state.json", json.dumps({"log_history": history, "global_step": 110}))
    printed = [{key: round(value, 4) for key, value in row.items() if key != "step"} for row in history]
    write(tmp_path / "dpo.log", "".join(f"{row}\n" for row in printed) + "saved\n" * 2000)
    delivered = once(tmp_path)
    assert delivered.runs() == {"out": ["dpo.log", "out/trainer_state.json"]}
    assert delivered.sources["dpo.log"].duplicate_of == "out"


@pytest.mark.parametrize("name", ["monitor{}.csv", "events.out.tfevents.1.host{}.0"])
def test_numbered_copies_are_the_log_beside_them(tmp_path: Path, name: str) -> None:
    """A browser calls a second download `monitor (1).csv`; other contents under such a name stay."""

    def content(seed: int) -> bytes:
        monitor = MONITOR + "".join(f"{seed * k % 7}.5,{k},{k}.5\n" for k in range(3, 20))
        return monitor.encode() if name.endswith("csv") else as_events(rows(seed, range(20)))

    for copy in ("", "(1)", " (2)"):
        write(tmp_path / name.format(copy), content(1))
    delivered = once(tmp_path)
    assert len(delivered.runs()) == 1
    assert sum(source.duplicate_of is not None for source in delivered.sources.values()) == 2
    assert delivered.sources[name.format("")].duplicate_of is None
    write(tmp_path / name.format("(1)"), content(3))
    assert sum(source.duplicate_of is not None for source in once(tmp_path).sources.values()) == 1


def test_folders_of_runs_that_were_copied_are_listed_apart(tmp_path: Path) -> None:
    """Somebody who copies a run to keep it as a baseline asks for it by the name of the copy."""
    for name in ("new", "good_run"):
        write(tmp_path / name / "events.out.tfevents.1627487260.host", as_events(rows(1, range(20))))
    assert sorted(once(tmp_path).runs()) == ["good_run", "new"]


def test_two_consoles_in_one_folder_are_two_programs(tmp_path: Path) -> None:
    """One in words of its own gives way to a log, not to the tables that another program printed."""
    tables = "".join(
        f"-----\n| time/              |      |\n|    total_timesteps | {k}000 |\n"
        f"| train/loss         | 0.{k}1 |\n-----\n"
        for k in range(1, 8)
    )
    write(tmp_path / "ppo.log", tables)
    write(tmp_path / "selfplay.log", "".join(f"Episode {k} | reward: {k % 3}\n" for k in range(20)))
    assert sorted(once(tmp_path).runs()) == ["ppo", "selfplay"]


def test_the_console_that_wandb_keeps_is_that_of_its_run(tmp_path: Path) -> None:
    """Its steps may be others. It stands for the run where the rows are of the machine alone."""
    for key, row in {"a1b": {"train/loss": 0.5}, "c2d": None}.items():
        folder = tmp_path / f"wandb/run-20260101_000000-{key}"
        body = [history({**row, "_step": k}, k) for k in range(9)] if row else [stats({"cpu": 5.0}, 1)]
        write(folder / f"run-{key}.wandb", record_log(WANDB, body))
        lines = (f"{{'loss': 0.{k}1, 'epoch': 0.{k}}}\n" for k in range(1, 9))
        write(folder / "files/output.log", "".join(lines))
    delivered = once(tmp_path)
    also = {
        path: source.duplicate_of for path, source in delivered.sources.items() if path.endswith("output.log")
    }
    assert sorted(delivered.runs()) == ["wandb/a1b", "wandb/c2d"]
    assert [also[path] for path in sorted(also)] == ["wandb/a1b", None]
