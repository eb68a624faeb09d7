"""Entry point of `rltui` and `python -m rltui`."""

from __future__ import annotations

from rltui.common import interpreter_settings


def main() -> None:
    """Run the command line. Exits the process with the promised code."""
    interpreter_settings.prepare_start()
    try:
        from rltui.cli import run  # after `prepare_start`, and Ctrl-C during it is caught

        run()
    except KeyboardInterrupt:  # while modules were still being loaded
        raise SystemExit(130) from None
    finally:
        interpreter_settings.skip_last_collection()


if __name__ == "__main__":
    main()
