"""Entry point of `rltui` and `python -m rltui`."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line. Exits the process with the promised code."""
    # Importing makes objects that stay: looking for garbage among them takes a tenth of the start.
    gc.set_threshold(50_000, 10, 10)
    from rltui.cli import run

    run()


if __name__ == "__main__":
    main()
