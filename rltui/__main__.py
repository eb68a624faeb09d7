"""Entry point of `rltui` and `python -m rltui`."""

from __future__ import annotations


def main() -> None:
    """Run the command line. Exits the process with the promised code."""
    from rltui.cli import run

    run()


if __name__ == "__main__":
    main()
