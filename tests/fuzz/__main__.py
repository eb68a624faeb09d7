"""Damaged logs without end: no mutation may raise, hang, or lose what stands before it.

`python -m tests.fuzz [--count N] [--seconds S] [--seed K] [--jobs J] [--only KIND]`. Every case has a number,
and is the same whenever it is run; a failure names it. Ends with status 1 when there was one.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import Future, ProcessPoolExecutor

from tests.fuzz.cases import ODDS, chunk

COUNT = 1_000_000
CHUNK = 500  # cases between two looks at the clock
TOLD = 50_000  # cases between two words about how far it is


def main() -> int:
    """Run cases until the number or the time is reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0, help="the number of the first case")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", choices=tuple(ODDS), help="one kind of logs")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    done, wrong = 0, 0
    with ProcessPoolExecutor(options.jobs) as pool:
        while done < options.count and time.monotonic() < end and wrong < 20:
            row: list[Future[list[str]]] = []
            while len(row) < options.jobs and done < options.count:
                size = min(CHUNK, options.count - done)
                row.append(pool.submit(chunk, options.seed + done, size, options.only))
                done += size
            for future in row:
                for message in future.result():
                    wrong += 1
                    print(message, flush=True)
            if done % TOLD < len(row) * CHUNK:
                print(f"{done:,} so far, {wrong or 'none'} at fault", file=sys.stderr, flush=True)
    print(f"{done:,} damaged logs, {wrong or 'none'} at fault")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
