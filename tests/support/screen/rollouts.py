"""Rollouts beside a run, as trainers write them, and a screen that has read them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from rltui.screen.threads.samples_thread import SamplesThread
from tests.support.logs.live_logs import write_rows
from tests.support.screen.screens import Screen, press_and_draw

HOSTILE = "\x1b]52;c;aGk=\x07 \u202eevil\u200b [link](http://x) \x9b2J"
SECONDS = 20.0  # that a thread has on a busy machine


def rollout(step: int, question: int, answer: int) -> dict[str, object]:
    """One answer: wrong ones are short, every third one is cut at the limit."""
    right = (question + answer) % 2 == 0
    words = "so I add them up and check the result " * (3 + answer)
    text = f"<think>\nThe numbers are {question} and {step}.\n{words}\n</think>\n"
    text += f"The answer is {question + step}." if right else "I do not know."
    return {
        "input": f"user\nWhat is {question} + {step}?\nassistant\n" if question else "user\nSay hello.\n",
        "output": text + (f"\n{HOSTILE}" if question == 1 else ""),
        "score": 1.0 if right else 0.1 * answer,
        "step": step,
        "format": 1.0 if right else 0.0,
        "response_length": 40 + 30 * answer,
        "finish_reason": "length" if answer == 2 else "stop",
        "uid": f"{step}-{question}",
        "gts": str(question + step),
    }


def write_step(folder: Path, step: int, questions: int = 4, answers: int = 4) -> None:
    """The rollouts of a step below the folder of a run."""
    place = folder / "rollouts"
    place.mkdir(parents=True, exist_ok=True)
    rows = [rollout(step, question, answer) for question in range(questions) for answer in range(answers)]
    write_rows(place / f"{step}.jsonl", rows)


def attach(screen: Screen, logdir: Path) -> Screen:
    """The screen with the samples below a folder; nothing is read yet."""
    screen.state.threads.samples = SamplesThread((str(logdir),))
    return screen


def read_and_draw(screen: Screen, width: int = 100, height: int = 30) -> str:
    """What the screen shows when everything that it asks for has been read."""
    files = screen.state.threads.samples
    while True:
        screen.frame(width, height)
        before = files.version
        assert files.thread.wait(SECONDS), "samples were not read"
        if files.version == before:
            return screen.text(width, height)


press = partial(press_and_draw, read_and_draw)
