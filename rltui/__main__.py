"""Entry point of `rltui` and `python -m rltui`."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line. Exits the process with the promised code."""
    # Importing makes objects that stay: looking for garbage among them takes a tenth of the start.
    gc.disable()
    gc.set_threshold(50_000, 10, 10)
    try:
        from rltui.cli import run

        run()
    except KeyboardInterrupt:  # while modules were still being loaded
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
