"""Large deliveries cut into parts that can be applied between two keys."""

from __future__ import annotations

import dataclasses

from rltui.batch import SessionStart
from rltui.logs.delivery import Delivery

PIECE = 20_000  # points that are applied or judged without a look at the clock


def pieces(delivery: Delivery) -> list[Delivery]:
    """A large delivery in parts of at most `PIECE` points, so that none keeps the screen waiting.

    Only the first part says that the log starts anew; a preview is small and stays whole.
    """
    batch = delivery.batch
    if len(batch) <= PIECE or delivery.kind == "newest":
        return [delivery]
    parts = []
    for low in range(0, len(batch), PIECE):
        high = low + PIECE
        last = high >= len(batch)
        part = dataclasses.replace(
            batch,
            tag=batch.tag[low:high],
            step=batch.step[low:high],
            wall_time=batch.wall_time[low:high],
            value=batch.value[low:high],
            single=batch.single[low:high],
            starts=tuple(
                SessionStart(start.index - low, start.step)
                for start in batch.starts
                if low <= start.index < high or (last and start.index >= high)
            ),
            texts=batch.texts if low == 0 else (),
            problems=batch.problems if low == 0 else (),
        )
        parts.append(dataclasses.replace(delivery, batch=part, kind="points" if low else delivery.kind))
    return parts
