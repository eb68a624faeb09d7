"""Failures are named by the console's end, and healthy consoles name none."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import pytest

from rltui.metrics.glossary_files import glossary
from rltui.run_context.console.failure_search import _hits, find_failures, without_consequences
from rltui.run_context.console.failures import EVERYTHING, Failure, console_facts, is_console

FAILURES = console_facts().failure
EXCERPTS = tomllib.loads((Path(__file__).parent / "excerpts.toml").read_text())["excerpt"]


def _named(text: str) -> list[str]:
    return [
        found.failure.id for found in without_consequences(find_failures(text.encode())) if not found.over
    ]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.id)
def test_examples_of_a_failure_match_and_quiet_lines_do_not(failure: Failure) -> None:
    """Every example in the table is this failure; no quiet line is."""
    assert failure.examples and failure.quiet
    for line in failure.examples:
        assert _hits(line.encode(), failure), line
        assert failure.general or failure.id in _named(line), line
    for line in failure.quiet:
        assert not _hits(line.encode(), failure), line
        assert _named(line) == [], line


def test_what_to_look_at_next_is_a_metric() -> None:
    """A failure leads to metrics; out of memory to the heaviest load and the longest sequences."""
    facts = {failure.id: failure for failure in console_facts().failure}
    assert {name for failure in facts.values() for name in failure.check_next} <= set(glossary().metrics)
    first = facts["cuda-out-of-memory"].check_next[:3]
    assert first == ("load.seqlen.max", "lengths.response.max", "lengths.prompt.max")


def test_causes_are_failures_of_the_table_and_no_circle() -> None:
    """`caused_by` names failures that exist, and two failures never explain each other away."""
    by_id = {failure.id: failure for failure in FAILURES}
    for failure in FAILURES:
        causes = failure.caused_by - {EVERYTHING}
        assert causes <= by_id.keys() - {failure.id}
        assert all(failure.id not in by_id[cause].caused_by for cause in causes), failure.id


@pytest.mark.parametrize(
    "place", range(len(EXCERPTS)), ids=lambda place: f"{place}-{EXCERPTS[place]['names']}"
)
def test_the_end_of_a_failed_run_is_named_as_a_person_names_it(place: int) -> None:
    """The one failure that explains the others is told, and nothing else."""
    assert _named(EXCERPTS[place]["text"]) == [EXCERPTS[place]["names"]]


def test_there_are_thirty_excerpts_of_all_kinds() -> None:
    """Enough real ends are tested, of nearly all failures."""
    assert len(EXCERPTS) >= 30
    assert {failure.id for failure in FAILURES} - {each["names"] for each in EXCERPTS} <= {"job-node-failed"}


def test_a_failure_after_which_the_training_goes_on_is_over() -> None:
    """Metrics or a bar that advances after a failure mean that it ended nothing."""
    line = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB.\n"
    rows = "".join(f"step:{step} - actor/loss:0.1 - critic/score:0.4\n" for step in range(5))
    bars = "".join(f"train:  {n}%|#    | {n}/100 [00:0{n}<01:00, 1.0s/it]\r" for n in range(1, 8)) + "\n"
    assert _named(line) == ["cuda-out-of-memory"]
    assert _named(rows + line) == ["cuda-out-of-memory"]
    assert _named(line + rows) == []
    assert _named(line + bars) == []
    assert _named(rows + line + "  5%|#    | 5/100 [00:05<01:00, 1.0s/it]\n") == ["cuda-out-of-memory"]


def test_an_exception_that_was_caught_is_none() -> None:
    """A traceback in the middle of ordinary lines did not end the program."""
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nValueError: no JSON\n'
    assert _named(trace) == ["exception"]
    assert _named(trace + "".join(f"INFO scored sample {n}\n" for n in range(100))) == []
    assert _named(trace.replace("ValueError: no JSON", "KeyboardInterrupt")) == []


@pytest.mark.parametrize(
    ("line", "over"),
    [
        ("Training completed. Do not forget to share your model", True),
        ("`Trainer.fit` stopped: `max_steps=200` reached.", True),
        ("INFO finished training in 300 s", True),
        ("training is not yet done", False),
        ("Epoch 3 of 10: training done", False),
        ("waiting for 3 workers until the run is done", False),
        ("training failed; job finished with code 1", False),
        ("step 40 done, reward 0.6", False),
    ],
)
def test_the_last_line_says_that_a_training_is_over(line: str, over: bool) -> None:
    """Words of a training that is over are known, those of a part of it are not."""
    assert (console_facts().finished.search(line) is not None) is over


def test_healthy_consoles_name_no_failure() -> None:
    """Ordinary lines of trainers and engines, a few megabytes of them, give no finding at all."""
    generator = random.Random(7)
    kinds = [
        "INFO 05-04 11:02:10 [core.py:77] Avg prompt throughput: {n} tokens/s, GPU KV cache usage: 3.1%",
        "(TaskRunner pid={n}) step:{n} - actor/loss:0.1 - perf/max_memory_allocated_gb:61.2",
        "WARNING huggingface_hub.utils._http: 'Read timed out. (read timeout=10)' thrown, retry {n}",
        "{{'loss': 0.{n}, 'grad_norm': 1.1, 'learning_rate': 1e-06, 'epoch': 0.{n}}}",
        "node1:{n}:726 [1] NCCL INFO comm 0x5573 rank 9 nranks 16 - Init COMPLETE",
        "UserWarning: expandable_segments not supported, errors: 0, killed: {n}",
        " {n}%|####   | {n}/10000 [00:10<01:00, 2.1it/s]\r {n}%|####   | {n}/10000 [00:11<01:00]",
        "error_rate: 0.{n} exception_count: 0 oom: 0 timeouts: {n}",
    ]
    lines = [generator.choice(kinds).format(n=generator.randrange(10_000)) for _ in range(25_000)]
    assert find_failures("\n".join(lines).encode()) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("slurm-4711.out", True),
        ("slurm-12_3.err", True),
        ("output.log", True),
        ("worker-0a-01000000-77.out", True),
        ("train.log", True),
        ("stderr", True),
        ("debug-internal.log", False),
        ("requirements.txt", False),
        ("metrics.jsonl", False),
        ("events.out.tfevents.1733467018.host.1.0", False),
    ],
)
def test_consoles_are_known_by_their_names(name: str, told: bool) -> None:
    """Names of consoles are, those of a tracker's own logs and of other formats are not."""
    assert is_console(name) is told
