"""All formats, in the order in which they are asked whether a file is theirs."""

from __future__ import annotations

from functools import cached_property

from rltui.logs.formats.container import Container, Parts
from rltui.logs.formats.interface import Format
from rltui.logs.formats.tfevents import event_format
from rltui.logs.log_file_names import is_json, rotated_from
from rltui.logs.sample_layouts.layouts import log_place

# What the path of a container ends with, but for an inbox. Every file and folder below LOGDIR is asked.
_CONTAINER_ENDINGS = (".db", ".sqlite", ".sqlite3", ".csv", "/plots", "/scalars", "/meta.yaml")


_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class FormatRegistry:
    """Which format a file is of. A rotated log (`metrics.jsonl.1`) counts under the name it had."""

    @cached_property
    def formats(self) -> tuple[Format, ...]:
        """Every format that is read. A new one is entered here, before those that also match its files."""
        # Imported when the first file is looked at that is neither an event file nor one of JSON, which is in
        # the reader thread: the first frame of the screen does not wait for them (17 ms).
        from rltui.logs.formats import gzip_and_utf16
        from rltui.logs.formats.documents import curve_arrays, evaluation_arrays
        from rltui.logs.formats.lines import csv_table, jsonl
        from rltui.logs.formats.printed_metrics import labelled_console, trainer_console
        from rltui.logs.formats.trackers import swanlab, wandb

        plain: tuple[Format, ...] = (
            event_format.FORMAT,
            wandb.FORMAT,
            swanlab.FORMAT,
            evaluation_arrays.FORMAT,
            curve_arrays.FORMAT,
            *self._json_formats,
            csv_table.FORMAT,
            trainer_console.FORMAT,
            labelled_console.FORMAT,
        )
        text = (jsonl.FORMAT, csv_table.FORMAT, trainer_console.FORMAT, labelled_console.FORMAT)
        return (gzip_and_utf16.utf16(text), *plain, gzip_and_utf16.gzipped(plain))

    @cached_property
    def _json_formats(self) -> tuple[Format, ...]:
        """Those of JSON, whose files the formats that are asked before them take by other names alone."""
        from rltui.logs.formats.documents import json_document
        from rltui.logs.formats.lines import jsonl, sample_log
        from rltui.logs.formats.trackers import clearml, optuna_journal

        return optuna_journal.FORMAT, clearml.FORMAT, json_document.FORMAT, sample_log.FORMAT, jsonl.FORMAT

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """Every kind of container: files and folders that hold several runs, or one in many files.

        Imported when the first path is looked at that may be one (12 ms).
        """
        from rltui.logs.formats import worker_monitors
        from rltui.logs.formats.trackers import databases, exported_table, metric_files, mlflow, trackio

        return (
            databases.DATABASE,
            mlflow.FOLDER,
            metric_files.DVCLIVE,
            exported_table.EXPORTED,
            metric_files.D3RLPY,
            metric_files.SAVED,
            metric_files.TORCHRL,
            trackio.INBOX,
            worker_monitors.MONITORS,
        )

    def could_be_container(self, place: str) -> bool:
        """Whether a path is worth a look by `parts`. Touches no file."""
        named = place.endswith(_CONTAINER_ENDINGS) or "/inbox/" in place
        return named and any(container.could_be(place) for container in self.containers)

    def parts(self, place: str) -> Parts | None:
        """The runs of a container; None for what is none. Raises OSError."""
        for container in self.containers:
            if container.could_be(place) and (parts := container.parts(place)) is not None:
                return parts
        return None

    def recognise(self, name: str, head: bytes) -> Format | None:
        """The format of a file of the base name `name` that starts with `head`; None when it is no log."""
        name = _original_name(name)
        # By the name: the others need not be imported.
        if event_format.FORMAT.matches(name, head):
            return event_format.FORMAT
        if is_json(name) and not head.startswith(_UTF16_MARKS):
            known = next((form for form in self._json_formats if form.matches(name, head)), None)
            if known is not None:
                return known
        return next((form for form in self.formats if form.matches(name, head)), None)

    def of_samples(self, path: str, head: bytes) -> Format | None:
        """The format of a file whose path is one of a known layout of samples; None for any other path."""
        if log_place(path) is None or not head.lstrip().startswith(b"{"):
            return None
        from rltui.logs.formats.lines import sample_log

        return sample_log.FORMAT

    def recognise_asked(self, name: str, head: bytes) -> Format | None:
        """The format of a file that the user named, by its first bytes where its name says nothing."""
        names = (name, f"{name}.jsonl", f"{name}.csv", f"{name}.log")
        return next((known for each in names if (known := self.recognise(each, head)) is not None), None)

    def holds_metrics(self, data: bytes) -> Format | None:
        """The format whose first record `data`, from anywhere in a file, may hold; the others say at once."""
        from rltui.logs.formats.printed_metrics import labelled_console, trainer_console

        if trainer_console.holds_metrics(data):
            return trainer_console.FORMAT
        if labelled_console.holds_metrics(data):
            return labelled_console.FORMAT
        if b"\0" in data[:64] and trainer_console.holds_metrics(data.replace(b"\0", b"")):
            return next(form for form in self.formats if form.name == "utf-16")
        return None

    def could_be_log(self, name: str) -> bool:
        """Whether a file of that base name is worth opening. Nothing is opened."""
        return self.recognise(name, b"") is not None or self.is_unread(name)

    def is_unread(self, name: str) -> bool:
        """Whether a base name is plainly that of a log in a compression that is not read."""
        from rltui.logs.formats import gzip_and_utf16

        return gzip_and_utf16.is_unread(name, lambda inner: self.recognise(inner, b"") is not None)


REGISTRY = FormatRegistry()


def _original_name(name: str) -> str:
    """The name that a log had before it was rotated; a compressed one keeps its ending."""
    base = rotated_from(name)
    return name if base is None else f"{base}.gz" if name.endswith(".gz") else base
