"""All formats, in the order in which they are tried, and all kinds of containers."""

from __future__ import annotations

from functools import cached_property

from rltui.common.regex import regex
from rltui.logs.formats.container import Container, Parts
from rltui.logs.formats.interface import Format
from rltui.logs.formats.tfevents import event_format
from rltui.logs.log_file_names import is_json, rotated_from, why_unread
from rltui.logs.sample_layouts.layouts import match_log

# Endings of the paths of containers other than inboxes; compared for every file and folder below LOGDIR.
_CONTAINER_ENDINGS = (".db", ".sqlite", ".sqlite3", ".csv", "/plots", "/scalars", "/meta.yaml", ".npy")


_PLAIN_NAMES = ("x.jsonl", "x.csv", "x.log")  # that say nothing but the kind of format
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LETTER = regex(rb"[A-Za-z\x80-\xff]")


class FormatRegistry:
    """Recognises the format of files. A rotated log (`metrics.jsonl.1`) is matched by its original name."""

    @cached_property
    def formats(self) -> tuple[Format, ...]:
        """All formats. A new one is added here, before those that also match its files."""
        # Imported in the reader thread with the first file that is neither an event file nor JSON, so the
        # first frame of the screen does not wait for them (17 ms).
        from rltui.logs.formats import gzip_and_utf16
        from rltui.logs.formats.documents import arrays_document
        from rltui.logs.formats.lines import csv_table, jsonl
        from rltui.logs.formats.printed_metrics import labelled_console, trainer_console
        from rltui.logs.formats.trackers import swanlab, wandb

        plain: tuple[Format, ...] = (
            event_format.FORMAT,
            wandb.FORMAT,
            swanlab.FORMAT,
            arrays_document.EVALUATIONS,
            arrays_document.ARCHIVE,
            arrays_document.CURVE,
            *self._json_formats,
            csv_table.FORMAT,
            trainer_console.FORMAT,
            labelled_console.FORMAT,
        )
        text = (jsonl.FORMAT, csv_table.FORMAT, trainer_console.FORMAT, labelled_console.FORMAT)
        return (gzip_and_utf16.utf16(text), *plain, gzip_and_utf16.gzipped(plain))

    @cached_property
    def _json_formats(self) -> tuple[Format, ...]:
        """The formats of JSON. Formats that are tried before them match other file names."""
        from rltui.logs.formats.documents import json_document  # as in `formats`: 5 ms
        from rltui.logs.formats.lines import jsonl, sample_log
        from rltui.logs.formats.trackers import clearml

        return clearml.FORMAT, json_document.FORMAT, sample_log.FORMAT, jsonl.FORMAT

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """All kinds of containers, imported with the first path that may be one (12 ms)."""
        from rltui.logs.formats import worker_monitors
        from rltui.logs.formats.documents import epoch_arrays
        from rltui.logs.formats.trackers import (
            exported_table,
            metric_files,
            mlflow,
            sqlite_file,
            trackio,
        )

        return (
            sqlite_file.database(trackio.parts_of_database, mlflow.parts_of_database),
            mlflow.FOLDER,
            metric_files.DVCLIVE,
            exported_table.EXPORTED,
            metric_files.D3RLPY,
            metric_files.SAVED,
            metric_files.TORCHRL,
            epoch_arrays.MUSHROOM,
            trackio.INBOX,
            worker_monitors.MONITORS,
        )

    def could_be_container(self, place: str) -> bool:
        """Whether a path may be a container, by name only."""
        named = place.endswith(_CONTAINER_ENDINGS) or "/inbox/" in place
        return named and any(container.could_be(place) for container in self.containers)

    def parts(self, place: str) -> Parts | None:
        """The parts of a container; None if the path is none. Raises OSError."""
        for container in self.containers:
            if container.could_be(place) and (parts := container.parts(place)) is not None:
                return parts
        return None

    def recognise(self, name: str, head: bytes) -> Format | None:
        """The format of a file with the base name `name` and the first bytes `head`; None if it is no log."""
        name = _original_name(name)
        # By name only, so that the other formats need not be imported.
        if event_format.FORMAT.matches(name, head):
            return event_format.FORMAT
        if is_json(name) and not head.startswith(_UTF16_MARKS):
            known = next((form for form in self._json_formats if form.matches(name, head)), None)
            if known is not None:
                return known
        return next((form for form in self.formats if form.matches(name, head)), None)

    def of_samples(self, path: str, head: bytes) -> Format | None:
        """The format of a file whose path matches a known layout of samples; None for any other."""
        if match_log(path) is None or not head.lstrip().startswith(b"{"):
            return None
        from rltui.logs.formats.lines import sample_log  # as in `formats`

        return sample_log.FORMAT

    def recognise_asked(self, name: str, head: bytes) -> Format | None:
        """The format of a file that the user named, by its first bytes if the name is not sufficient."""
        names = (name, f"{name}.jsonl", f"{name}.csv", f"{name}.log")
        return next((known for each in names if (known := self.recognise(each, head)) is not None), None)

    def recognise_content(self, head: bytes) -> Format | None:
        """The format of a file whose name says nothing, by its first bytes; None for a script."""
        if not head or head.startswith(b"#!"):
            return None
        return next(
            (known for name in _PLAIN_NAMES if (known := self.recognise(name, head)) is not None), None
        )

    def holds_metrics(self, data: bytes) -> Format | None:
        """The console format with a record in `data`, any part of a file."""
        if _LETTER.search(data) is None:  # numbers only: no console
            return None
        from rltui.logs.formats.printed_metrics import labelled_console, trainer_console  # as in `formats`

        if trainer_console.holds_metrics(data):
            return trainer_console.FORMAT
        if labelled_console.holds_metrics(data):
            return labelled_console.FORMAT
        if b"\0" in data[:64] and trainer_console.holds_metrics(data.replace(b"\0", b"")):
            return next(form for form in self.formats if form.name == "utf-16")
        return None

    def could_be_log(self, name: str) -> bool:
        """Whether a file may be a log, by base name only."""
        return self.recognise(name, b"") is not None or bool(self.why_unread(name))

    def why_unread(self, name: str) -> str:
        """Why a file that is clearly a log, by its base name, is not read; empty for others."""
        return why_unread(name, lambda inner: self.recognise(inner, b"") is not None)


REGISTRY = FormatRegistry()


def _original_name(name: str) -> str:
    """The name of a log before rotation, with the ending of a compressed one."""
    base = rotated_from(name)
    return name if base is None else f"{base}.gz" if name.endswith(".gz") else base
