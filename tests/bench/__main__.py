"""Run all benchmarks, or those that are named: `python -m tests.bench [NAME [ARGUMENT ...] ...]`."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path


def main(words: list[str]) -> int:
    """Run `main` of every `bench_NAME.py`; returns the number of those that failed.

    Words after a name that are no names are its arguments.
    """
    here = Path(__file__).parent
    known = sorted(path.stem.removeprefix("bench_") for path in here.glob("bench_*.py"))
    chosen: dict[str, list[str]] = {} if words else {name: [] for name in known}
    for word in words:
        if word in known:
            chosen[word] = []
        elif not chosen:
            print(f"no benchmark {word}; there are {', '.join(known)}", file=sys.stderr)
            return 2
        else:
            chosen[list(chosen)[-1]].append(word)
    failed = 0
    for name, arguments in chosen.items():
        print(f"\n== {name}", flush=True)
        began = time.monotonic()
        try:
            failed += bool(importlib.import_module(f"tests.bench.bench_{name}").main(*arguments))
        except Exception as error:  # noqa: BLE001 - one broken benchmark must not keep the others from running
            failed += 1
            print(f"{name} failed: {error!r}", file=sys.stderr)
        print(f"({time.monotonic() - began:.0f} s)", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
