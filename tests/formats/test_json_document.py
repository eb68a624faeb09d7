"""JSON documents: trainer_state.json, arrays and pretty-printed records, whole and cut."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rltui.logs.batch import Batch
from rltui.logs.formats.documents import document, json_document
from rltui.logs.records import record_keys
from rltui.logs.records.parse_number import step_of
from tests.support.logs.file_in_memory import MemFile, points, read_on, read_whole, rows
from tests.support.shared import BUNDLED

FORM = json_document.FORMAT
HISTORY = [
    {"loss": 0.5, "step": 1, "x": None},
    {"eval_loss": 0.25, "step": 2},
    {"train_runtime": 6.5, "step": 2},
]
POINTS = [("loss", 1, None, 0.5), ("eval_loss", 2, None, 0.25), ("train_runtime", 2, None, 6.5)]


def read(text: str) -> Batch:
    """A document read to its end."""
    return read_whole(FORM, MemFile("trainer_state.json", text.encode()))


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"best_metric": None, "log_history": HISTORY, "max_steps": 0}, indent=2),
        json.dumps({"log_history": HISTORY}),
        json.dumps(HISTORY),
        json.dumps(HISTORY, indent=4),
        "\ufeff" + json.dumps(HISTORY),
        "\n".join(json.dumps(record, indent=2) for record in HISTORY),
        ",\n".join(json.dumps(record, indent=2) for record in HISTORY),
        json.dumps([*HISTORY, {"step": 3, "loss": float("nan")}]).replace(', {"step": 3, "loss": NaN}', ""),
    ],
)
def test_shapes_of_documents(text: str) -> None:
    """Every way to put records in one document gives the same points."""
    batch = read(text)
    assert points(batch) == POINTS
    assert batch.problems == ()


def test_bare_tokens_and_planned_steps() -> None:
    """NaN and Infinity, which transformers writes bare, are values; max_steps is handed up."""
    text = '{"log_history": [{"step": 1, "a": NaN, "b": -Infinity}], "max_steps": 300}'
    batch = read(text)
    assert points(batch) == [("a", 1, None, None), ("b", 1, None, float("-inf"))]
    assert [(text.kind, text.body) for text in batch.texts] == [("total-steps", "300")]


def test_a_document_waits_until_it_is_whole() -> None:
    """While a document is being written nothing is taken; then everything, once."""
    data = (BUNDLED / "trl-onlinedpo" / "trainer_state.json").read_bytes()
    whole = read_whole(FORM, MemFile("trainer_state.json", data))
    file = MemFile("trainer_state.json", data[:1000], data[1000:50_000], data[50_000:])
    log = FORM.open(file.path)
    assert read_on(log, file) == []
    file.grow()
    assert read_on(log, file) == []
    assert log.offset == 0
    file.grow()
    (batch,) = read_on(log, file)
    assert points(batch) == points(whole)
    assert log.offset == len(data)


def test_a_growing_array_gives_only_what_is_new() -> None:
    """When a document is rewritten longer, the records that were given are not given again."""
    file = MemFile("history.json", json.dumps(HISTORY[:1]).encode())
    log = FORM.open(file.path)
    assert [points(batch) for batch in read_on(log, file)] == [POINTS[:1]]
    file.replace(json.dumps(HISTORY).encode())
    assert [points(batch) for batch in read_on(log, file)] == [POINTS[1:]]
    assert read_on(log, file) == []


def test_a_cut_document_gives_its_complete_records() -> None:
    """At the end of reading, the complete records of a cut document count, and the cut is said."""
    for text in (json.dumps({"log_history": HISTORY}, indent=2), json.dumps(HISTORY)):
        place = text.index("train_runtime")
        batch = read(text[:place])
        assert points(batch) == POINTS[:2]
        assert [problem.code for problem in batch.problems] == ["torn-tail"]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "{}", "[]", "[1, 2]", "\0" * 100, "", "{"])
def test_absurd_documents_are_survived(text: str) -> None:
    """Deep nesting, empty documents and rubbish give no points and raise nothing."""
    assert len(read(text)) == 0


def test_a_huge_document_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A document beyond the cap is never read into memory; that is said once."""
    monkeypatch.setattr(document, "RECORD_CAP", 1000)
    file = MemFile("trainer_state.json", b"[" + b" " * 2000 + b"]")
    log = FORM.open(file.path)
    found: list[Any] = [problem.code for batch in read_on(log, file) for problem in batch.problems]
    found += [problem.code for problem in log.finish(file).problems]
    assert found == ["too-large"]
    assert file.reads == []


REWARDS = [n / 2 for n in range(12)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    ("name", "document", "expected"),
    [
        ("training_history.json", {"config": {"lr": 0.1}, "rewards": REWARDS, "losses": [None, *REWARDS]},
         {"rewards": [(1, 0.0), (12, 5.5)], "losses": [(2, 0.0), (13, 5.5)]}),
        ("metrics.json", {"step": [*range(10, 130, 10)], "kl": REWARDS, "eval": {"score": REWARDS[:10]}},
         {"kl": [(10, 0.0), (120, 5.5)], "eval/score": [(1, 0.0), (10, 4.5)]}),
        ("training_metrics.json", {"progress": {"iterations": [*range(12)], "reward": REWARDS}},
         {"progress/reward": [(0, 0.0), (11, 5.5)]}),
        ("history.json", {"rewards": REWARDS, "steps": [9, 7] * 6},
         {"rewards": [(1, 0.0), (12, 5.5)], "steps": [(1, 9.0), (12, 7.0)]}),
        ("metrics.json", {"loss": {"steps": [5, 9], "timestamps": [], "values": [0.5, {"value": 0.25}]}},
         {"loss": [(5, 0.5), (9, 0.25)]}),
        ("info.json", {"return_mean": [0.5, {"dtype": "float64", "value": 2.5}], "return_mean_T": [5, 9]},
         {"return_mean": [(5, 0.5), (9, 2.5)]}),
    ],
)  # fmt: skip
def test_columns(
    name: str, document: dict[str, object], expected: dict[str, list[tuple[int, float]]], indent: int | None
) -> None:
    """An object of columns is a log: each has the steps of a column of its length, or its own rows."""
    data = json.dumps(document, indent=indent).encode()
    assert FORM.matches(name, data[:4096])
    found: dict[str, list[tuple[int, float]]] = {}
    for tag, step, _, value in points(read_whole(FORM, MemFile(name, data))):
        if value is not None:
            found.setdefault(tag, []).append((step, value))
    assert {tag: [each[0], each[-1]] for tag, each in found.items()} == expected


def test_times_of_sacred() -> None:
    """They are UTC, though they do not say so; a metric that grows gives what is new."""
    first = {"loss": {"steps": [5], "timestamps": ["2021-07-05T14:04:39"], "values": [0.5]}}
    file = MemFile("metrics.json", json.dumps(first).encode())
    log = FORM.open(file.path)
    assert points(log.read(file)) == [("loss", 5, 1625493879.0, 0.5)]
    second = {"loss": {"steps": [5, 9], "timestamps": ["", "2021-07-05T14:04:40"], "values": [0.5, 2.5]}}
    file.replace(json.dumps(second).encode())
    assert points(log.read(file)) == [("loss", 9, 1625493880.0, 2.5)]
    assert not FORM.matches("info.json", b'{"codebase_version": "v2.1", "fps": 30}')


def test_columns_grow_each_by_itself() -> None:
    """A column that is shorter than others, and grows later, loses nothing."""
    file = MemFile("history.json", json.dumps({"reward": REWARDS, "loss": REWARDS[:10]}).encode())
    log = FORM.open(file.path)
    first = points(log.read(file))
    file.replace(json.dumps({"reward": [*REWARDS, 9.0], "loss": REWARDS}).encode())
    second = points(log.read(file))
    assert len(first) == 22
    assert second == [("reward", 13, None, 9.0), ("loss", 11, None, 5.0), ("loss", 12, None, 5.5)]


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("eval_results.json", {"rewards": REWARDS}),
        ("results.json", {"scores": REWARDS[:5]}),
        ("training_data.json", {"ages": REWARDS}),
        ("points.json", {"reward": REWARDS}),
    ],
    ids=["one evaluation", "a few results", "no training", "no log by its name"],
)
def test_columns_of_something_else(name: str, document: dict[str, object]) -> None:
    """Lists that tell of no training make no run."""
    assert not FORM.matches(name, json.dumps(document).encode())


def test_a_list_of_results() -> None:
    """One or two results without steps are no log, nor is what the items of their lists count."""
    result = {"model": "a", "checkpoint": "x/9", "reward": 0.5, "log": [{"step": 1, "loss": 2.0}] * 200}
    short = {"model": "a", "reward": 0.5}
    assert not FORM.matches("metrics_all.json", json.dumps([short] * 2, indent=1).encode())
    assert not FORM.matches("parallel.json", json.dumps([result] * 2, indent=1).encode()[:4096])
    assert FORM.matches("metrics_all.json", json.dumps([short] * 3, indent=1).encode())
    assert FORM.matches("parallel.json", json.dumps([{"step": 1, **result}] * 2, indent=1).encode()[:4096])


@pytest.mark.parametrize(
    ("keys", "steps"),
    [
        (["100", "250", "0"], [0, 100, 250]),
        (["step_7", "step_8"], [7, 8]),
        (["episode_1", "episode_2"], [1, 2]),
        ([str(k) for k in range(12)], None),  # nothing in it tells of a training
        (["0", "1", "2"], None),  # names of examples
        (["4711", "2013"], None),
    ],
)
def test_what_was_measured_by_step(keys: list[str], steps: list[int] | None) -> None:
    """An object with the results of each checkpoint is a log, one of examples by their number is none."""
    text = json.dumps({key: {"em": len(key) / 4, "model": "a"} for key in keys}, indent=1)
    assert FORM.matches("eval_curve.json", text.encode()) == (steps is not None)
    if steps is not None:
        batch = read_whole(FORM, MemFile("eval_curve.json", text.encode()))
        assert [(name, step) for name, step, _, _ in points(batch)] == [("em", step) for step in steps]


@pytest.mark.parametrize("word", record_keys.log_keys().numbered_steps)
def test_every_word_of_steps_names_one_in_keys_and_texts(word: str) -> None:
    """The words of the table name the step of an object as well as that of a text such as `Epoch 3`."""
    text = json.dumps({f"{word}_{step}": {"em": step / 4, "model": "a"} for step in (7, 8)}, indent=1)
    assert FORM.matches("eval_curve.json", text.encode())
    assert step_of(f"global_{word} 12") == step_of(f"{word.upper()}-12") == 12


def test_episodes_by_their_numbers() -> None:
    """Enough of them that count on, with a name typical of training in them, are no names of examples."""
    text = json.dumps({str(k): {"reward": k + 0.5} for k in range(12)})
    assert FORM.matches("training_log.json", text.encode())
    assert not FORM.matches(
        "training_log.json", json.dumps({"0": {"reward": 1}, "1": {"reward": 2}}).encode()
    )
    batch = read_whole(FORM, MemFile("training_log.json", text.encode()))
    assert rows(batch) == [("reward", k, k + 0.5) for k in range(12)]


def test_results_by_step_of_each_seed() -> None:
    """marl-eval, which Mava and Stoix use: below environment, task, algorithm and seed."""
    steps = {
        f"step_{k}": {"step_count": 1000 * k, "episode_return": [k / 2], "win": [0, k]} for k in (0, 1, 2)
    }
    seed = {**steps, "absolute_metrics": {"episode_return": [9.0]}}
    for seeds, prefix in ((["1"], ""), (["1", "2"], "Smax/3m/ppo/seed_2/")):
        whole = {"Smax": {"3m": {"ppo": {f"seed_{each}": seed for each in seeds}}}}
        data = json.dumps(whole, indent=4).encode()
        assert FORM.matches("metrics.json", data[:4096])
        found = rows(read_whole(FORM, MemFile("metrics.json", data)))
        assert [(step, value) for tag, step, value in found if tag == f"{prefix}episode_return"] == [
            (0, 0.0), (1000, 0.5), (2000, 1.0)
        ]  # fmt: skip
        assert (f"{prefix}win/mean", 2000, 1.0) in found


def _read_lists(whole: dict[str, object]) -> list[tuple[Any, ...]]:
    return points(read_whole(FORM, MemFile("training_log.json", json.dumps(whole, indent=1).encode())))


def test_each_list_of_records_is_read_at_its_steps() -> None:
    """Histories of training and evaluation in one object: tags begin with the name of their list."""
    whole = {
        "seed": 3,
        "eval_history": [{"step": 100 * k, "mean_return": k / 8} for k in (1, 2, 3)],
        "loss_history": [{"critic_loss": k / 4, "step": k} for k in (1, 2, 3, 4)],
        "best": [{"mean_return": 1.0}],
    }
    assert sorted(_read_lists(whole)) == sorted(
        [("eval/mean_return", 100 * k, None, k / 8) for k in (1, 2, 3)]
        + [("loss/critic_loss", k, None, k / 4) for k in (1, 2, 3, 4)]
    )


def test_a_list_that_is_only_of_steps_names_no_tag() -> None:
    """`steps` says nothing of what its records hold, and the trainer is known by its own names."""
    whole = {"total_steps": 3, "steps": [{"step": k, "reward": k / 8} for k in (1, 2, 3)]}
    assert _read_lists(whole) == [("reward", k, None, k / 8) for k in (1, 2, 3)]


def test_columns_beside_a_list_of_records_are_read() -> None:
    """A column of returns and a list of evaluations in one object: nothing is left out."""
    whole = {
        "training_returns": [k / 2 for k in range(12)],
        "evaluations": [{"step": 4 * k, "score": k / 8} for k in (1, 2, 3)],
    }
    assert sorted(_read_lists(whole)) == sorted(
        [("training_returns", k + 1, None, k / 2) for k in range(12)]
        + [("evaluations/score", 4 * k, None, k / 8) for k in (1, 2, 3)]
    )


def test_an_evaluation_with_fewer_columns_than_training_is_no_copy() -> None:
    """Values at the same steps that differ are those of another list, whatever its columns are."""
    whole = {
        "train_log": [{"step": k, "loss": k / 4, "kl": k / 8} for k in (1, 2, 3, 4)],
        "eval_log": [{"step": k, "loss": k / 2} for k in (1, 2, 3)],
    }
    assert [point for point in _read_lists(whole) if point[0].startswith("eval/")] == [
        ("eval/loss", k, None, k / 2) for k in (1, 2, 3)
    ]


def test_lists_of_steps_and_values_are_series_of_their_names() -> None:
    """Wherever they are in the object; equal values make no copy of another series."""
    series = [{"step": k, "value": 0.5} for k in (1, 2, 3)]
    whole = {"metadata": {"seed": 3}, "metrics": {"A/loss": series, "B_gaming/loss": series}, "kl": series}
    assert sorted(_read_lists(whole)) == [
        (tag, k, None, 0.5) for tag in ("A/loss", "B_gaming/loss", "kl") for k in (1, 2, 3)
    ]


def test_lists_that_grow_keep_their_tags() -> None:
    """Each state of a document gives a part of what its last one gives."""
    states = [
        {
            "history": [{"step": k, "loss": k / 4} for k in range(1, count + 1)],
            "eval_history": [{"step": k, "loss": 0.0} for k in range(2, count + 1, 2)],
        }
        for count in range(3, 9)
    ]
    whole = {*_read_lists(states[-1])}
    assert {tag for tag, *_ in whole} == {"loss", "eval/loss"}
    assert all({*_read_lists(state)} <= whole for state in states)


def test_a_list_that_repeats_columns_of_another_is_no_second_series() -> None:
    """Of a whole history and the lists of some of its columns, the history is read, without a prefix."""
    rows = [{"step": k, "loss": k / 4, "kl": k / 8} for k in (1, 2, 3, 4)]
    columns = {key: [{"step": row["step"], key: row[key]} for row in rows] for key in ("loss", "kl")}
    assert _read_lists({**columns, "log": rows, "records": rows}) == [
        (tag, row["step"], None, row[tag]) for row in rows for tag in ("loss", "kl")
    ]


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("training_log.json", {"steps": [{"title": "a"}, {"title": "b"}, {"title": "c"}]}),
        ("results.json", {"samples": [{"prompt": "a", "reward": k} for k in range(4)]}),
        ("model.json", {"layers": [{"step": k, "size": k} for k in range(4)]}),
    ],
)
def test_other_lists_of_objects_are_no_logs(name: str, whole: dict[str, object]) -> None:
    """Records without steps and numbers, and names that are not those of logs."""
    assert not FORM.matches(name, json.dumps(whole, indent=1).encode())
