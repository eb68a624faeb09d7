"""Run the benchmarks: all of them, or those whose names are given. `python -m tests.bench [NAME ...]`."""

from __future__ import annotations

import importlib
import runpy
import sys
import time
from pathlib import Path


def main(names: list[str]) -> int:
    """Run `main()` of every `bench_NAME.py`; returns the number of those that failed to run."""
    here = Path(__file__).parent
    found = sorted(path.stem.removeprefix("bench_") for path in here.glob("bench_*.py"))
    unknown = [name for name in names if name not in found]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(found)}", file=sys.stderr)
        return 2
    failed = 0
    del sys.argv[1:]  # a benchmark that takes arguments of its own must not take these names for them
    for name in names or found:
        print(f"\n== {name}", flush=True)
        began = time.monotonic()
        try:
            module = importlib.import_module(f"tests.bench.bench_{name}")
            if hasattr(module, "main"):
                module.main()
            else:
                runpy.run_path(str(module.__file__), run_name="__main__")
        except Exception as error:  # noqa: BLE001 - one broken benchmark must not keep the others from running
            failed += 1
            print(f"{name} failed: {error!r}", file=sys.stderr)
        print(f"({time.monotonic() - began:.0f} s)", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
