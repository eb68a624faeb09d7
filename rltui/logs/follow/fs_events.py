"""File-system events, which only shorten the time until the next search for new logs.

There are none for changes by other hosts, after limits are reached, and without watchdog. Changes of files
are not watched: growing logs are polled anyway, and writing a checkpoint would cause thousands of events.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent
    from watchdog.observers.api import BaseObserver, ObservedWatch

_CHECK_INTERVAL = 5.0  # seconds between two checks whether a LOGDIR exists, and is still the watched one


class FileSystemEvents:
    """Watches folders in a thread. `state` is "on", "off", or why there are no events.

    changed: called when a folder, or a file with the name of a log, was created, moved or deleted.
    """

    def __init__(
        self, folders: Sequence[str], changed: Callable[[], None], could_be_log: Callable[[str], bool]
    ) -> None:
        self._folders = tuple(dict.fromkeys(folders))
        self._changed = changed
        self._could_be_log = could_be_log
        self._stopping = threading.Event()
        self._watched: dict[str, tuple[ObservedWatch, tuple[int, int]]] = {}
        self.state = "off"

    def start(self) -> None:
        """Start watching. Returns at once; watching a large tree takes a while to begin."""
        threading.Thread(target=self._run, name="rltui-events", daemon=True).start()

    def stop(self) -> None:
        """Stop reporting, without waiting."""
        self._stopping.set()

    def handle(self, event: FileSystemEvent) -> None:
        """Call `changed` if the event is about a folder or a file with the name of a log."""
        names = [os.fsdecode(path).rpartition("/")[2] for path in (event.src_path, event.dest_path) if path]
        if any(
            not name.startswith(".") and (event.is_directory or self._could_be_log(name)) for name in names
        ):
            self._changed()

    def _run(self) -> None:
        try:
            from watchdog.observers import Observer  # 28 ms; in this thread nothing waits
        except ImportError:
            self.state = "watchdog is not installed"
            return
        # It logs errors about folders that are deleted while it walks them.
        import logging

        logging.getLogger("watchdog").setLevel(logging.CRITICAL)
        observer = Observer()
        observer.daemon = True
        try:
            observer.start()
            while True:
                for folder in self._folders:
                    self._watch(folder, observer)
                if self._watched:
                    self.state = "on"
                if self._stopping.wait(_CHECK_INTERVAL):
                    break
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EMFILE)
            self.state = "the limit of watches is reached" if full else (error.strerror or "inotify failed")
        observer.unschedule_all()
        observer.stop()

    def _watch(self, folder: str, observer: BaseObserver) -> None:
        from watchdog.events import (  # as in `_run`
            DirCreatedEvent,
            DirDeletedEvent,
            DirMovedEvent,
            FileCreatedEvent,
            FileDeletedEvent,
            FileMovedEvent,
            FileSystemEventHandler,
        )

        events = self

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                events.handle(event)

        try:
            status = os.stat(folder)  # noqa: PTH116 - a string is what is kept
        except OSError:
            status = None
        number = (status.st_dev, status.st_ino) if status else None
        watch, watched = self._watched.get(folder, (None, None))
        if number == watched:
            return
        if watch is not None:
            del self._watched[folder]
            observer.unschedule(watch)
        if number is None:
            return
        kinds: list[type[FileSystemEvent]] = [DirCreatedEvent, DirDeletedEvent, DirMovedEvent]
        kinds += [FileCreatedEvent, FileDeletedEvent, FileMovedEvent]
        try:
            made = observer.schedule(Handler(), folder, recursive=True, event_filter=kinds)
        except FileNotFoundError:
            return
        self._watched[folder] = (made, number)
        self._changed()  # files may have been created before the watch began
