"""CSV and TSV: the tables of Stable-Baselines3, RLlib, Spinning Up and people."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rltui.logs.batch import Batch
from rltui.logs.formats.interface import HEAD
from rltui.logs.formats.lines import csv_table
from rltui.logs.records.parse_number import real, step_of
from tests.support.logs.file_in_memory import MemFile, cut, points, read_in_pieces, read_on, read_whole, rows
from tests.support.shared import BUNDLED

FORM = csv_table.FORMAT


def read(text: str, name: str = "progress.csv") -> Batch:
    """A table read to its end."""
    return read_whole(FORM, MemFile(name, text.encode()))


@pytest.mark.parametrize(
    "text",
    [
        "time/total_timesteps,a,b\n1024,0.5,\n2048,,2\n",
        "time/total_timesteps\ta\tb\n1024\t0.5\t\n2048\t\t2\n",
        "time/total_timesteps;a;b\r\n1024;0.5;\r\n2048;;2\r\n",
        "time/total_timesteps;a;b;note\n1024;0,5;;a,b\n2048;;2;\n",
        "time/total_timesteps;a;b\n1024; 5,0e-1;\n2048;;2,0\n",
        "time/total_timesteps\ta\tb\n1024\t0,5\t\n2048\t\t2\n",
        "\ufefftime/total_timesteps,a,b\n\n1024,0.5,\n2048,,2\n",
        '"time/total_timesteps","a","b"\n1024,"0.5",\n2048,,2\n',
        ",time/total_timesteps,a,b\n0,1024,0.5,\n1,2048,,2\n",
        "a,time/total_timesteps,b,name\n0.5,1024,,x\n,2048,2,True\n",
    ],
)
def test_tables(text: str) -> None:
    """Separators, decimal commas, quotes, CRLF, an index or text column, empty cells change no number."""
    assert rows(read(text)) == [("a", 1024, 0.5), ("b", 2048, 2.0)]


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("run-PPO_1-tag-rollout_ep_rew_mean.csv", "rollout_ep_rew_mean"),
        ("run_._tag_loss.csv", "loss"),
        ("reward.csv", "reward"),
    ],
)
def test_a_series_that_tensorboard_saved_is_called_by_its_file(name: str, tag: str) -> None:
    """The column is called Value; the wall time beside it is no series."""
    for wall_time in ("Wall time", "Walltime"):
        batch = read(f"{wall_time},Step,Value\n1700000000.5,0,1.5\n1700000009.5,2048,2.5\n", f"ppo/{name}")
        assert list(points(batch)) == [(tag, 0, 1700000000.5, 1.5), (tag, 2048, 1700000009.5, 2.5)]


def test_a_table_of_a_run_is_called_by_the_folder_of_its_metric() -> None:
    """Somebody saved one table a run below a folder a metric; a name that tells of a metric itself counts."""
    text = "Wall time,Step,Value\n1700000000.5,5,1.5\n"
    for path, tag in (
        ("plots/MeanReward/sac.csv", "MeanReward"),
        ("reward/critic_loss.csv", "critic_loss"),
    ):
        assert rows(read(text, path)) == [(tag, 5, 1.5)]


@pytest.mark.parametrize("first", ["impression", "generation", "tokens seen"])
def test_a_first_column_that_counts_evenly_is_the_step(first: str) -> None:
    """Whatever its name is; not where it tells of an outcome, falls, or grows by chance."""
    text = f"{first},kl,loss\n" + "".join(f"{200 * k},{k}.5,\n" for k in range(1, 6))
    assert rows(read(text)) == [("kl", 200 * k, k + 0.5) for k in range(1, 6)]
    reader = FORM.open("a.csv")
    assert {step for _, step, *_ in points(reader.newest(MemFile("a.csv", text.encode()), 15))} == {1000}
    for name, cells in (("reward", (5, 10, 15)), ("x", (5, 10, 16)), ("x", (9, 8, 7)), ("idx", (1, 2, 3))):
        found = rows(read(f"{name},kl\n" + "".join(f"{cell},1\n" for cell in cells)))
        assert [(step, value) for tag, step, value in found if tag == name] == [*enumerate(cells, 1)]


@given(st.lists(st.integers(0, 80), max_size=6))
def test_a_first_column_counts_wherever_the_bytes_are_cut(cuts: list[int]) -> None:
    """The rows that decide may come one by one, with the header again among them."""
    data = b"impression,kl\n200,1.5\n400,2.5\nimpression,kl\n600,\n800,nan\n1000,3\n"
    whole = read_whole(FORM, MemFile("a.csv", data))
    pieces = cut(data, cuts)
    assert repr(list(points(read_in_pieces(FORM, "a.csv", pieces, 7)))) == repr(list(points(whole)))
    assert whole.step.tolist() == [200, 400, 800, 1000]


def test_a_column_named_like_a_counter_is_the_step_where_it_counts() -> None:
    """`t` that counts on, wherever it stands and however it goes on later; seconds of that name are none."""
    table = "loss,t\n0.5,0\n0.25,1\n0.125,2\n0.0625,10\n"
    assert [step for _, step, _ in rows(read(table))] == [0, 1, 2, 10]
    seconds = read("loss,t\n0.5,1.5\n0.25,2.25\n0.125,4.5\n")
    assert [step for tag, step, _ in rows(seconds) if tag == "loss"] == [1, 2, 3]


def test_columns_that_wandb_saved_are_called_by_their_metrics() -> None:
    """Of one run its name is left out; where there are several, it tells their columns apart.

    Columns of people are as they wrote them: W&B has the least and the greatest value beside each.
    """
    one = '"Step","ppo-1 - train/kl","ppo-1 - train/kl__MIN","ppo-1 - train/kl__MAX"\n"5","0.5","0.4","0.6"\n'
    assert rows(read(one)) == [("train/kl", 5, 0.5), ("train/kl__MIN", 5, 0.4), ("train/kl__MAX", 5, 0.6)]
    two = '"Step","ppo-1 - train/kl","ppo-2 - train/kl"\n"5","0.5","0.4"\n'
    assert rows(read(two)) == [("ppo-1 - train/kl", 5, 0.5), ("ppo-2 - train/kl", 5, 0.4)]
    own = "step,loss - train,loss - val\n5,0.5,0.4\n"
    assert rows(read(own)) == [("loss - train", 5, 0.5), ("loss - val", 5, 0.4)]


def test_tables_of_things_are_no_logs() -> None:
    """Without steps, rows that begin with names of their own are of things; times and phases are none."""
    things = "graph,stress,loss\nage.28,1,2\nbee.30,3,4\ncat.26,5,6\ndog.7,1,2\n"
    assert not FORM.matches("metrics.csv", things.encode())
    for first in ("a\nb\na\nb", "2024-01-01T10:00\n2024-01-01T10:01\n2024-01-01T10:02\n2024-01-01T10:03"):
        table = "phase,reward\n" + "".join(f"{cell},1.5\n" for cell in first.split("\n"))
        assert FORM.matches("metrics.csv", table.encode())
    results = b"energy,penalty\n0.5,0.1\n0.6,0.1\n"
    assert not FORM.matches("results_3.csv", results) and FORM.matches("train_results.csv", results)
    assert FORM.matches("results.csv", results.replace(b"energy", b"avg_reward"))


def test_data_sets_are_no_logs() -> None:
    """By their names and columns, without a step; scores make a log of it."""
    prices = b"Date,Open,Close\n2024-05-06,1.5,2.5\n2024-05-07,1.5,2.5\n2024-05-08,2.5,2.5\n"
    for name in ("train_data.csv", "training-dataset.csv"):
        assert not FORM.matches(name, prices)
        assert FORM.matches(name, prices.replace(b"Open", b"reward"))
    assert FORM.matches("train_log.csv", prices)


def test_columns_in_a_data_file_are_read() -> None:
    """`.dat`, in a file named after a metric."""
    text = "".join(f"{k} {k}.5\n" for k in range(9))
    assert FORM.matches("rewards.dat", b"") and FORM.matches("rewards.dat", text.encode())
    assert not FORM.matches("points.dat", text.encode())
    assert rows(read(text, "rewards.dat"))[1] == ("rewards", 1, 1.5)


def test_results_of_the_cells_of_a_grid_are_no_log() -> None:
    """One letter names a thing, too; a number with a letter behind it is a step."""
    grid = b"cell,label,tokens_per_sec,final_loss\nA,baseline,6.4,0.82\nB,fused,6.4,0.83\nC,wide,7.9,0.41\n"
    assert not FORM.matches("grid_results.csv", grid)
    assert FORM.matches("train_log.csv", b"at,reward,loss\n1k,6.4,0.82\n2k,6.4,0.83\n3k,7.9,0.41\n")


@pytest.mark.parametrize(
    ("name", "text", "tag"),
    [
        ("rewards.csv", "-2.0e+01\n-1.9e+01\n5\n", "rewards"),
        ("ppo_loss.txt", "\ufeff-20\n-19.0\n5\n", "ppo_loss"),
        ("rewards3.csv", '"Total Reward"\n-20\n-19\n5\n', "Total Reward"),
        ("returns.csv", ",0\n0,-20\n1,-19\n2,5\n", "returns"),
        ("training_log.csv", "reward\n-20\n-19\n5\n", "reward"),
        ("rewards.txt", "----\n-20\n-19\n5\n", "rewards"),
    ],
)
def test_one_column(name: str, text: str, tag: str) -> None:
    """numpy.savetxt and pandas write an array without a name: the file's counts. Lists of data are none."""
    assert FORM.matches(name, text.encode())
    assert rows(read(text, name)) == [(tag, 1, -20.0), (tag, 2, -19.0), (tag, 3, 5.0)]
    assert not FORM.matches("train.txt", b"3\n5\n7\n")
    assert not FORM.matches("training_log.csv", b"user\n3\n5\n7\n")
    assert FORM.matches("training_log.csv", b"reward\n" + b"0.5\n1.0\n" * 9)
    batch = read("foo\nstep,reward\n1,2\n", "rewards.csv")
    assert rows(batch) == [("reward", 1, 2.0)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train_notes.txt", "The reward of people\n" + "0.134\n0.847\n0.5\n" * 9),
        ("train_notes.txt", "reward \x1b]0;x\n" + "0.134\n0.847\n0.5\n" * 9),
        ("train_notes.txt", "reward \x1b[1m\n" + "0.134\n0.847\n0.5\n" * 9),
        ("train_labels.csv", "score\n" + "1\n5\n3\n2\n4\n" * 9),
        ("train_log.csv", "reward; loss\n" + "0.134\n0.847\n0.5\n" * 9),
        ("rewards.txt", "rewards; of people\n" + "0.134\n0.847\n0.5\n" * 9),
    ],
)
def test_numbers_below_a_sentence_and_labels_are_no_column(name: str, text: str) -> None:
    """A column is called by one name, which the parser takes for that of one, and it is a measurement."""
    assert not FORM.matches(name, text.encode())


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
def test_rows_of_numbers_without_a_header(delimiter: str) -> None:
    """A first column that grows is the step; the only other one is called by its file, whose name tells.

    Columns that do not grow are values, and rows their steps. Wide rows are a matrix, others data.
    """
    data = [(100 * k + k * k, 2.5 - k / 4, k) for k in range(9)]
    two, three = ("".join(delimiter.join(map(str, row[:n])) + "\n" for row in data) for n in (2, 3))
    assert FORM.matches("rewards.csv", two.encode()) and FORM.matches("train_loss.txt", two.encode())
    assert not FORM.matches("parking.csv", two.encode())
    assert not FORM.matches("rewards.csv", (delimiter.join("1" * 17) + "\n").encode() * 4)
    assert rows(read(two, "ppo/rewards.csv")) == [("rewards", step, value) for step, value, _ in data]
    found = rows(read(three, "rewards.csv"))
    assert found[:2] == [("rewards/2", 0, 2.5), ("rewards/3", 0, 0.0)] and found[-1][1] == data[-1][0]
    found = rows(read("".join(f"{k % 3}{delimiter}{k}.5\n" for k in range(4)), "loss.csv"))
    assert found[:3] == [("loss/1", 1, 0.0), ("loss/2", 1, 0.5), ("loss/1", 2, 1.0)]


@pytest.mark.parametrize("name", ["results.csv", "training_log.txt"])
def test_rows_without_a_header_in_a_file_named_like_a_log(name: str) -> None:
    """Only if a column counts; what the other columns are is unknown."""
    counted = "".join(f"{k},{k}.5,20\n" for k in range(1, 10))
    assert FORM.matches(name, counted.encode())
    assert rows(read(counted, name))[:2] == [(f"{name[:-4]}/2", 1, 1.5), (f"{name[:-4]}/3", 1, 20.0)]
    assert not FORM.matches(name, b"3.5,7,1\n2.5,3,1\n9.5,5,1\n8.5,6,0\n" * 3)
    assert not FORM.matches("eval_results.csv", counted.encode())


def test_readings_of_a_clock_are_no_steps() -> None:
    """Without a header, too: the column that counts is the step, the only other one is named by its file."""
    text = "".join(f"{k},{1700000000000 + k},{k}.5\n" for k in range(1, 10))
    batch = read(text, "reward.csv")
    assert rows(batch) == [("reward", k, k + 0.5) for k in range(1, 10)]
    assert batch.wall_time[0] == pytest.approx(1700000000.001)


@given(st.lists(st.integers(0, 90), max_size=6))
def test_comments_above_a_header_are_no_rows(cuts: list[int]) -> None:
    """Settings of the run, a line each, and a blank line, wherever the bytes are cut."""
    text = "# learning_rate,0.0001\n# reward_clip,none\n\nepisode,note,reward\n1,a,0.5\n2,b,1.5\n"
    assert FORM.matches("log_2026.csv", text.encode())
    found = read_in_pieces(FORM, "log_2026.csv", cut(text.encode(), cuts))
    assert rows(found) == [("reward", 1, 0.5), ("reward", 2, 1.5)]


@pytest.mark.parametrize("head", ["episode reward loss", "# episode reward loss"])
@given(cuts=st.lists(st.integers(0, 120), max_size=6))
def test_words_above_rows_of_numbers_are_their_names(head: str, cuts: list[int]) -> None:
    """With blanks between them, wherever the bytes are cut; a single name of two words is none of this."""
    data = (head + "\n" + "".join(f"{k} {k}.5 0.1\n" for k in range(1, 9))).encode()
    assert FORM.matches("train_log.txt", data) and not FORM.matches("train_log.txt", b"a b c\n1 2 3\n")
    found = read_in_pieces(FORM, "train_log.txt", cut(data, cuts), 9)
    assert rows(found)[:2] == [("reward", 1, 1.5), ("loss", 1, 0.1)] and found.step.max() == 8
    assert rows(read("Episode reward\n1.5\n2.5\n", "rewards.txt"))[0] == ("Episode reward", 1, 1.5)


@given(st.lists(st.integers(0, 90), max_size=6))
def test_rows_without_a_header_decide_wherever_the_bytes_are_cut(cuts: list[int]) -> None:
    """Eight rows tell whether the first numbers grow, though they come one by one."""
    data = b"".join(b"%d,%d.5\n" % (k * k, k) for k in range(12))
    pieces = read_in_pieces(FORM, "rewards.csv", cut(data, cuts), 7)
    assert list(points(pieces)) == list(points(read_whole(FORM, MemFile("rewards.csv", data))))
    assert pieces.step.tolist() == [k * k for k in range(12)]


def test_a_row_is_shown_at_once_where_no_column_can_count() -> None:
    """A live table without steps waits for further rows only while its first numbers may be steps."""
    file = MemFile("rewards.csv", b"name,reward,size\nx,0.5,1\n", b"y,1.5,1\n")
    log = FORM.open(file.path)
    assert [rows(batch) for batch in read_on(log, file)] == [[("reward", 1, 0.5), ("size", 1, 1.0)]]


def test_steps_of_an_environment_are_no_log() -> None:
    """What was seen and done at each step, and a table of the values of actions, tell of no training."""
    assert not FORM.matches("rewards.csv", b"episode,step,state,action,reward\n1,1,3,0,0.5\n")
    assert not FORM.matches("scores.csv", b"State,Action,Q_Value\n3,0,0.5\n")
    assert not FORM.matches("episodes.csv", b"episode,step,action,reward,done\n1,1,3,0.5,False\n")
    assert FORM.matches("rewards.csv", b"episode,step,actions,reward\n1,1,3,0.5\n")


def test_a_tensor_over_several_lines_is_one_cell() -> None:
    """Its lines may have as many numbers as there are columns; a quote that was torn costs its own row."""
    tensor = '"tensor([[0.5, 1.5,\n        2.0, 3.5, 4.5,\n2.5, 3.0, 4.5,\n 9.5]], grad_fn=<A>)"'
    batch = read(
        f'step,reward,q,x\n1,0.5,{tensor},2\n2,1.5,"torn\n3,2.5,a,4\n'.replace("4.5,\n", "4.5, 1.0\n")
    )
    assert rows(batch) == [("reward", 1, 0.5), ("x", 1, 2.0), ("reward", 3, 2.5), ("x", 3, 4.0)]
    assert [problem.count for problem in batch.problems] == [1]


def test_non_finite_and_odd_cells() -> None:
    """Non-finite cells are values; text, booleans and trial ids such as 1_000 are none."""
    batch = read("step,a,b,c,d\n1,nan,inf,True,1_000\n2,-inf,1e400,x,null\n")
    assert rows(batch) == [("a", 1, None), ("b", 1, math.inf), ("a", 2, -math.inf), ("b", 2, math.inf)]


def test_steps_of_tables() -> None:
    """Large steps stay exact; Spinning Up counts epochs; fractions of an epoch are no steps, rows are.

    Steps of a mean over runs, or of a figure, are rounded.
    """
    assert rows(read("step,a\n9007199254740993,1\n")) == [("a", 9007199254740993, 1.0)]
    assert rows(read("Epoch\tAverageEpRet\n0\t1.5\n1\t2\n", "progress.txt")) == [
        ("AverageEpRet", 0, 1.5),
        ("AverageEpRet", 1, 2.0),
    ]
    assert rows(read("game,score\n1,9\n2,3\n")) == [("score", 1, 9.0), ("score", 2, 3.0)]
    assert rows(read("Episode,Time_step,win\n8,668,0.5\n")) == [("Episode", 668, 8.0), ("win", 668, 0.5)]
    assert rows(read("epcount,tcount,eprew\n3,512,0.5\n")) == [("epcount", 512, 3.0), ("eprew", 512, 0.5)]
    logbook = rows(read("gen\tavg     \tmax\n0  \t-316.25\t144\n", "fitness.tsv"))
    assert logbook == [("avg", 0, -316.25), ("max", 0, 144.0)]
    figure = rows(read("iteration,nash\n1,9\n3.75,3\n7.25,1\n"))
    assert [(step, value) for _, step, value in figure] == [(1, 9.0), (4, 3.0), (7, 1.0)]
    batch = read("epoch,loss\n0.5,3\n1.0,2\n")
    assert rows(batch) == [("epoch", 1, 0.5), ("loss", 1, 3.0), ("epoch", 2, 1.0), ("loss", 2, 2.0)]
    assert [problem.code for problem in batch.problems] == ["no-step"]


def test_monitor_files() -> None:
    """An SB3 monitor row is an episode: its step is the sum of lengths, its wall time start plus elapsed."""
    text = '#{"t_start": 1614619328.25, "env_id": "CartPole-v1"}\nr,l,t\n10.0,10,0.5\n20.0,25,1.5\n'
    found = points(read(text, "0.monitor.csv"))
    assert found[:3] == [
        ("r", 10, 1614619328.75, 10.0),
        ("l", 10, 1614619328.75, 10.0),
        ("t", 10, 1614619328.75, 0.5),
    ]
    assert found[3] == ("r", 35, 1614619329.75, 20.0)


def test_damaged_monitor_files() -> None:
    """Absurd starts and lengths in a monitor file cost their own value, not the rows after them."""
    big = "9" * 400
    text = f'#{{"t_start": {big}}}\nr,l,t\n1,1e300,0\n2,nan,0\n3,-5,0\n4,{big},0\n5,10,0.5\n'
    batch = read(text, "0.monitor.csv")
    assert ("r", 10, 5.0) in rows(batch)
    assert batch.step.max() == 10


def test_rewritten_with_more_columns() -> None:
    """A table whose header grew reads the same under a new log, with the old rows' new cells missing."""
    before = read("a,step\n1,10\n")
    after = read("a,step,b\n1,10,\n2,20,5\n")
    assert rows(after)[: len(before)] == rows(before)
    assert rows(after)[len(before) :] == [("a", 20, 2.0), ("b", 20, 5.0)]
    assert FORM.rewrites


def test_a_header_in_the_middle() -> None:
    """A writer that starts again in the same file repeats its header, perhaps with other columns."""
    assert rows(read("step,a,c\n1,1,1\nstep,a,c\n1,3,4\nstep,a,b,c\n2,5,6,7\n")) == [
        ("a", 1, 1.0),
        ("c", 1, 1.0),
        ("a", 1, 3.0),
        ("c", 1, 4.0),
        ("a", 2, 5.0),
        ("b", 2, 6.0),
        ("c", 2, 7.0),
    ]


def test_rows_that_do_not_fit_are_counted() -> None:
    """Rows with another number of cells are skipped and counted once; the others are read."""
    batch = read("step,a,b\n1,2,3\n4,5\n6,7,8,9\njunk\n2,3,4\n")
    assert rows(batch) == [("a", 1, 2.0), ("b", 1, 3.0), ("a", 2, 3.0), ("b", 2, 4.0)]
    assert [(problem.code, problem.count, problem.offset) for problem in batch.problems] == [
        ("bad-row", 3, 15)
    ]


def test_rows_that_lack_their_last_cells() -> None:
    """Settings stand in the first row alone; a row that lacks cells without another one behind it is torn."""
    text = "step,reward,lr,gamma,\n1,0.5,0.1,7,\n2,1.5\n3,2.5\n4,3.5\n"
    expected = [("reward", 1, 0.5), ("lr", 1, 0.1), ("gamma", 1, 7.0)]
    expected += [("reward", step, step - 0.5) for step in (2, 3, 4)]
    assert rows(read(text)) == expected and not read(text).problems
    assert rows(read_in_pieces(FORM, "progress.csv", cut(text.encode(), [36, 40, 44, 47]))) == expected
    torn = read("step,a,b\n1,2,3\n2,3\n3,4,5\n4,5\n")
    assert [step for _, step, _ in rows(torn)] == [1, 1, 3, 3]
    assert [(problem.code, problem.count) for problem in torn.problems][-1] == ("bad-row", 2)
    middle = read("step,a,b,c\n1,2,3,4\n2,2,3,4\n3,3,4\n4,3,4\n5,2,3,4\n")
    assert {step for _, step, _ in rows(middle)} == {1, 2, 5}  # which cells are missing is unknown
    assert [(problem.code, problem.count) for problem in middle.problems] == [("bad-row", 2)]
    live = read("step,a,b\n1,2,3\n2,3\n3,4")
    assert rows(live)[2:] == [("a", 2, 3.0)] and [each.code for each in live.problems] == ["torn-tail"]


def test_steps_that_have_not_begun() -> None:
    """Offline algorithms of rlkit explore nothing: their epochs count, or their rows."""
    rlkit = "exploration/num steps total,loss,Epoch\n0,5,0\n0,4,1\n1000,3,2\n"
    loss = [(step, value) for tag, step, value in rows(read(rlkit)) if tag == "loss"]
    assert loss == [(0, 5.0), (1, 4.0), (1000, 3.0)]
    without = "exploration/num steps total,loss\n0,5\n0,4\n"
    assert [step for tag, step, _ in rows(read(without)) if tag == "loss"] == [1, 2]


def test_quoted_fields_over_lines() -> None:
    """A quoted text that holds newlines and separators is one cell, however the bytes arrive."""
    text = 'step,note,a\n1,"two\nlines, and ""quotes""",5\n2,x,6\n'
    assert rows(read(text)) == [("a", 1, 5.0), ("a", 2, 6.0)]
    pieces = cut(text.encode(), range(0, len(text), 3))
    assert rows(read_in_pieces(FORM, "progress.csv", pieces)) == [("a", 1, 5.0), ("a", 2, 6.0)]


def test_a_last_row_without_end_is_not_trusted() -> None:
    """A row without its newline may be cut inside a number: it waits, and at the end it is reported."""
    file = MemFile("progress.csv", b"step,a\n1,2\n2,3", b"5\n")
    log = FORM.open(file.path)
    assert [rows(batch) for batch in read_on(log, file)] == [[("a", 1, 2.0)]]
    file.grow()
    assert [rows(batch) for batch in read_on(log, file)] == [[("a", 2, 35.0)]]
    batch = read("step,a\n1,2\n2,3")
    assert rows(batch) == [("a", 1, 2.0)]
    assert [problem.code for problem in batch.problems] == ["torn-tail"]


def test_newest_rows() -> None:
    """The newest rows are read under the header of the first line; nothing is moved."""
    data = (BUNDLED / "sb3-sac" / "progress.csv").read_bytes()
    file = MemFile("progress.csv", data)
    log = FORM.open(file.path)
    newest = points(log.newest(file, 700))
    assert log.offset == 0
    everything = points(read_whole(FORM, file))
    assert newest == everything[-len(newest) :]
    assert len(newest) > 20


@given(
    st.lists(st.tuples(st.floats(), st.one_of(st.none(), st.floats(), st.text(max_size=4))), max_size=8),
    st.lists(st.integers(0, 300), max_size=5),
    st.integers(1, 100),
)
def test_any_pieces_give_the_same(
    content: list[tuple[float, object]], places: list[int], budget: int
) -> None:
    """The same bytes, cut anywhere and read with any budget, give the same scalars."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["step", "a", "b"])
    writer.writerows([number, *row] for number, row in enumerate(content))
    data = out.getvalue().encode()
    whole = read_whole(FORM, MemFile("progress.csv", data))
    assert points(read_in_pieces(FORM, "progress.csv", cut(data, places), budget)) == points(whole)


def test_quoted_field_over_lines_in_the_first_row() -> None:
    """A table is recognised by its first row even where a text in it runs over lines."""
    head = b'step,note,loss\n1,"a\nb\nc",2\n2,x,3\n'
    assert FORM.matches("metrics.csv", head)
    assert FORM.matches("metrics.csv", head[:18])
    assert not FORM.matches("notes.csv", b'step,note,text\n1,"a\nb\nc",d\n')
    assert rows(read_whole(FORM, MemFile("metrics.csv", head))) == [("loss", 1, 2.0), ("loss", 2, 3.0)]


def test_quote_that_never_closes_costs_its_row() -> None:
    """A torn quote loses the row that it stands in; a text over lines is still one field."""
    batch = read('step,note,loss\n1,"a\nb",2\n2,"torn,3\n3,x,4\n4,"y\n5,z\n",5\n5,,6\n')
    assert rows(batch) == [("loss", 1, 2.0), ("loss", 3, 4.0), ("loss", 4, 5.0), ("loss", 5, 6.0)]
    assert [(problem.code, problem.offset, problem.count) for problem in batch.problems] == [
        ("bad-row", 25, 1)
    ]


_cells = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**21), 10**21).map(str),
    st.sampled_from(["", "nan", "-0", "-0.0", "1e400", "1_0", "+1", "007", ".5", "1.", " 2", "true", "null"]),
    st.sampled_from(["[1", "2]", "x", '"1"', "{}", "1 2"]),
)


@given(st.lists(_cells, min_size=3, max_size=3), st.sampled_from([",", "\t", ";"]))
@example(["-9007199254740993", "-0", "0"], ";")
def test_rows_of_plain_numbers_are_read_as_all_others(cells: list[str], delimiter: str) -> None:
    """The fast way is taken for rows only that it reads as the patient one does, steps and signs included."""
    header = csv_table.TableHeader.of(delimiter.join(["step", "loss", "kl"]).encode())
    assert header is not None
    line = delimiter.join(cells).encode()
    found = header.numeric_record(line)
    if found is not None:
        patient = header.record(header.cells(line))
        for name in header.names:
            assert repr(real(found[name])) == repr(real(patient[name]))  # numbers
        assert step_of(found["step"]) == step_of(patient["step"])


def test_seeds_of_one_table_are_no_restarts() -> None:
    """Rows of each seed are series of their own; a seed that never changes is none."""
    seeds = "step,reward,seed\n0,1,1\n100,2,1\n0,3,2\n100,4,2\n"
    found = [row for row in rows(read(seeds)) if "reward" in row[0]]
    assert found == [
        ("reward", 0, 1.0),
        ("reward", 100, 2.0),
        ("seed_2/reward", 0, 3.0),
        ("seed_2/reward", 100, 4.0),
    ]
    again = [row for row in rows(read("step,reward,seed\n0,1,7\n100,2,7\n0,3,7\n")) if row[0] != "seed"]
    assert again == [("reward", 0, 1.0), ("reward", 100, 2.0), ("reward", 0, 3.0)]


def test_rows_of_one_environment_are_no_training() -> None:
    """Each step of some episodes, and the episodes of one evaluation; those of a training are one."""
    step = "episode,step,x,action_0,reward\n" + "".join(f"{k // 9},{k % 9},0.5,1,0\n" for k in range(20))
    assert not FORM.matches("log.csv", step.encode())
    results = "episode,reward,length\n" + "".join(f"{k},{k % 3}.5,9\n" for k in range(12))
    for name, is_log in (("eval_results.csv", False), ("rewards.csv", True)):
        assert FORM.matches(name, results.encode()) is is_log
    table = "policy,episode,reward,seed\n" + "".join(f"p{k // 5},{k % 5},0.5,{k // 5}\n" for k in range(12))
    assert not FORM.matches("eval_results.csv", table.encode())
    checkpoints = results.replace("\n", "00\n").replace("length00", "length")  # of a training, every so often
    assert FORM.matches(
        "eval_results.csv", checkpoints.replace("00\n", "\n").replace("\n1,", "\n100,").encode()
    )


def test_a_table_between_blanks_may_have_times() -> None:
    """A date with its time is the wall time of a row, and no reason to take the file for another one."""
    head = " Episode    Step   Epsilon     MeanReward                Time\n"
    row = "       {0}    {0}059     0.990       -{0}85.000 2025-05-24T10:35:2{0}\n"
    text = head + "".join(row.format(number) for number in range(1, 8))
    assert FORM.matches("log.txt", text.encode())
    batch = read(text, "log.txt")
    assert [each for each in rows(batch) if each[0] == "MeanReward"] == [
        ("MeanReward", number * 1000 + 59, -100.0 * number - 85) for number in range(1, 8)
    ]
    assert np.diff(np.unique(batch.wall_time)).tolist() == [1.0] * 6
    assert not FORM.matches("log.txt", text.replace("2025-05-24T", "noon").encode())


def test_a_row_of_settings_is_no_log() -> None:
    """One row without a step and a metric says how a training was made; a second row makes a log of it."""
    hparams = "n_epoch,batch_size,gamma\n100,128,0.99\n"
    assert not FORM.matches("training_info.csv", hparams.encode())
    assert FORM.matches("training_info.csv", f"{hparams}101,128,0.99\n".encode())
    assert FORM.matches("training_info.csv", b"batch_size,loss\n128,0.5\n")


def test_a_first_row_is_one_of_a_log() -> None:
    """Under a name that trainers write it needs no metric; of a wide table the others are not in the head."""
    assert FORM.matches("progress.csv", b"total_steps,lr,gamma\n0,0.1,0.99\n")
    assert FORM.matches("train.csv", b"avg,fps\n0.5,60\n")
    assert FORM.matches("0.monitor.csv", b'#{"t_start": 1.5}\nr,l,t\n10.0,10,0.8\n')
    columns = ",".join(f"quantity_{k}" for k in range(150))
    table = columns + ("\n" + ",".join(f"{k / 7!r}" for k in range(150))) * 60 + "\n"
    assert FORM.matches("training_info.csv", table.encode()[:HEAD])


def test_results_of_settings_are_no_log() -> None:
    """Names in the first columns that differ from row to row; an evaluation needs steps to be a curve."""
    table = "algorithm,reward_config,reward_mean\n" + "".join(
        f"{a},{b},0.5\n" for a in ("ppo", "sac") for b in "xy"
    )
    assert not FORM.matches("reward_effects.csv", table.encode())
    phases = "phase,loss,reward\n" + "train,0.5,1\nval,0.4,1\n" * 3
    assert FORM.matches("train_log.csv", phases.encode())
    for first, is_log in (("version", True), ("score", False)):
        rows_of = "".join(f"{k},{k % 2}.5\n" if is_log else f"{-k},1.5\n" for k in range(1, 6))
        assert FORM.matches("evaluation_results.csv", f"{first},mean_reward\n{rows_of}".encode()) is is_log
