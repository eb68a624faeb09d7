"""Every key of the screen in one table: what it does, what help says about it, where it works."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from rltui.panes.pane_list import PANES as OF_A_RUN
from rltui.problem import Problem
from rltui.text import clean, in_sentence


class KeyEvent(Protocol):
    """A key as Textual reports it."""

    key: str
    character: str | None


class Command(NamedTuple):
    """An action of the table or of a clickable spot, and its argument."""

    action: str
    argument: str = ""


class Bind(NamedTuple):
    """One action and its keys. `where`: any, list, chart, runs, samples, console; `hint`: word in the footer.

    `also` are other words that the palette finds it by.
    """

    action: str
    keys: tuple[str, ...]
    words: str
    group: str
    where: str = "any"
    hint: str = ""
    also: str = ""


MOVE, LOOK, PANES, TIME = "Moving", "Looking closer", "Panes", "Time"
RUNS, SHARE, PROGRAM, CHART = "Runs", "Sharing", "Program", "Large chart"
SAMPLES, CONSOLE, FINDINGS = "Samples", "Console", "Findings"


_MORE = {
    "samples": "; from a finding or a chart's cursor: those of its step; again: back",
    "console": "; from a finding or a chart's cursor: the lines of its time",
}


BINDINGS: tuple[Bind, ...] = (
    Bind("up", ("up", "k"), "previous metric", MOVE),
    Bind("down", ("down", "j"), "next metric", MOVE),
    Bind("left", ("left", "h"), "previous card, or pane; closes an open row", MOVE),
    Bind("right", ("right", "l"), "next card, or pane; opens a row with ▸", MOVE),
    Bind("page-up", ("pageup", "ctrl+b"), "a screen up", MOVE),
    Bind("page-down", ("pagedown", " ", "ctrl+f"), "a screen down", MOVE),
    Bind("half-up", ("ctrl+u",), "half a screen up", MOVE),
    Bind("half-down", ("ctrl+d",), "half a screen down", MOVE),
    Bind("home", ("home", "g"), "to the top", MOVE),
    Bind("end", ("end", "G"), "to the end", MOVE),
    Bind("next-pane", ("tab",), "next pane", MOVE),
    Bind("previous-pane", ("shift+tab",), "previous pane", MOVE),
    Bind("open", ("enter",), "large chart of the metric; opens a row with ▸; in a list, go there", LOOK,
         hint="chart"),
    Bind("explain", ("e",), "what the metric means, what is healthy, what is next", LOOK, hint="explain"),
    Bind("problems", ("E",), "problems: what they mean, what to look at, what to do; terms", LOOK,
         also="table symptoms definitions glossary"),
    Bind("filter", ("/",), "filter metrics or runs: words, glob with *, or /regex/", LOOK, hint="filter"),
    Bind("next-finding", ("n",), "jump to the next metric with a finding; after a search: next match", LOOK),
    Bind("previous-finding", ("N",), "to the one before; after a search: previous match", LOOK),
    Bind("acknowledge", ("A",), "in findings: acknowledge: dim it, count it no more while it lasts", LOOK),
    Bind("snooze", ("Z",), "in findings: snooze: the same for half an hour", LOOK),
    Bind("back", ("escape", "backspace"), "back; clears a filter", LOOK),
    Bind("pin", ("*",), "pin the metric: to the top of its pane, and beside the other pinned ones", LOOK),
    Bind("together", ("M",), "mark the metric for large charts of others; in a chart, add one", LOOK),
    Bind("log", ("L",), "logarithmic or linear axis", LOOK),
    Bind("outliers", ("X",), "outliers: cut off where they flatten the curve, or all shown", LOOK),
    Bind("density", ("a",), "density: auto, compact, full", LOOK),
    Bind("smoother", ("+", "="), "smooth charts more", LOOK),
    Bind("rougher", ("-",), "smooth charts less", LOOK),
    *(
        Bind(f"pane:{pane.id}", (pane.key,), in_sentence(pane.title) + _MORE.get(pane.id, ""), PANES,
             hint="findings" if pane.id == "findings" else "")
        for pane in OF_A_RUN.values()
    ),
    Bind("hide", ("V",), "hide the pane from the tabs; again to show it", PANES),
    Bind("pause", ("p",), "pause: freeze what is shown while data goes on being read", TIME),
    Bind("earlier", ("[",), "back in time: the run as it was a twentieth of it earlier", TIME),
    Bind("later", ("]",), "forward in time again", TIME),
    Bind("crosshair-back", ("(",), "crosshair on all charts of a pane: back; Esc removes it", TIME),
    Bind("crosshair-on", (")",), "crosshair: on", TIME),
    Bind("window", ("w",), "steps shown: all, last quarter, last sixteenth", TIME),
    Bind("runs", ("r",), "list of runs", RUNS, hint="runs"),
    Bind("next-run", (">", "."), "next run", RUNS),
    Bind("previous-run", ("<", ","), "previous run", RUNS),
    Bind("mark", ("x",), "mark a run for comparison on charts", RUNS),
    Bind("sort", ("S", ">"), "in the list of runs: sort by the next column", RUNS, where="runs"),
    Bind("sort-back", ("<",), "in the list of runs: sort by the column before", RUNS, where="runs"),
    Bind("reverse", ("R",), "in the list of runs: the other way round", RUNS, where="runs"),
    Bind("group", ("g",), "in the list of runs: group by framework, project or a setting", RUNS,
         where="runs"),
    Bind("columns", ("C",), "in the list of runs: add a setting or metric as a column; again: remove it",
         RUNS,
         where="runs"),
    Bind("differences", ("D",), "config: only settings that differ between runs, or all", RUNS),
    Bind("snapshot", ("s",), "write the pane (a chart: as picture, too) to the current folder; copy it",
         SHARE, hint="snapshot"),
    Bind("copy", ("y",), "copy the key of the metric", SHARE),
    Bind("axis", ("x",), "x axis: step, relative time, wall time, tokens or episodes if counted", CHART,
         where="chart"),
    Bind("spread", ("b",), "band of a distribution: fitted to the curve, whole, none", CHART, where="chart"),
    Bind("overlap", ("O",), "points of earlier attempts, dimmed", CHART, where="chart"),
    Bind("zoom-in", ("z", "i"), "zoom in round the cursor", CHART, where="chart"),
    Bind("zoom-out", ("Z", "o"), "zoom out", CHART, where="chart"),
    Bind("reset", ("0",), "the whole run again", CHART, where="chart"),
    Bind("next-evidence", ("tab",), "next evidence of the finding", FINDINGS, where="findings"),
    Bind("previous-evidence", ("shift+tab",), "the evidence before", FINDINGS, where="findings"),
    Bind("unfold", ("z",), "show or fold what the finding explains", FINDINGS, where="findings"),
    Bind("sample-sort", ("S",), "sort by the next column", SAMPLES, where="samples"),
    Bind("sample-reverse", ("R",), "the other way round", SAMPLES, where="samples"),
    Bind("sample-step-back", ("[",), "step before; over a sample: its prompt at the step before", SAMPLES,
         where="samples"),
    Bind("sample-step-on", ("]",), "step after; over a sample: its prompt at the step after", SAMPLES,
         where="samples"),
    Bind("sample-best", ("b",), "to the sample with the best reward", SAMPLES, where="samples"),
    Bind("sample-worst", ("w",), "to the one with the worst reward", SAMPLES, where="samples"),
    Bind("sample-longest", ("L",), "to the longest", SAMPLES, where="samples"),
    Bind("sample-truncated", ("X",), "to one that ended at the length limit", SAMPLES, where="samples"),
    Bind("sample-typical", ("Y",), "to the most typical one", SAMPLES, where="samples"),
    Bind("sample-groups", ("D",), "to the group whose rewards differ most; again: the next group", SAMPLES,
         where="samples"),
    Bind("sample-compare", ("C",), "over a sample: difference to the next answer of its group", SAMPLES,
         where="samples"),
    Bind("sample-fold", ("z",), "over a sample: show or fold its reasoning", SAMPLES, where="samples"),
    Bind("sample-match-back", ("N",), "over a sample: previous place of what / searches; n: next", SAMPLES,
         where="samples"),
    Bind("console-level", ("L",), "all lines, errors and warnings, errors", CONSOLE, where="console"),
    Bind("console-chart", ("x",), "to the chart, at the time of the line", CONSOLE, where="console"),
    Bind("console-before", ("[",), "the run's console before", CONSOLE, where="console"),
    Bind("console-after", ("]",), "the run's next console", CONSOLE, where="console"),
    Bind("palette", (":", "ctrl+p"), "everything by name: panes, metrics, runs, commands", PROGRAM),
    Bind("theme", ("t",), "next theme", PROGRAM),
    Bind("redraw", ("ctrl+l",), "draw the whole screen again, when something else wrote on it", PROGRAM),
    Bind("help", ("?", "H", "f1"), "the keys of what is shown, then all others", PROGRAM, hint="help"),
    Bind("quit", ("q",), "quit; over the panes: close what is on top", PROGRAM, hint="quit",
         also="exit leave close"),
    Bind("interrupt", ("ctrl+c",), "leave with exit code 130", PROGRAM),
)  # fmt: skip

# What keys that work anywhere do in one place, where that is something else.
IN_PLACE: Mapping[str, Mapping[str, str]] = {
    "chart": {
        "left": "cursor to the left", "right": "cursor to the right", "home": "cursor to the start",
        "end": "cursor to the newest point", "page-up": "back by half of what is shown",
        "page-down": "on by half of what is shown", "half-up": "back by a quarter",
        "half-down": "on by a quarter", "up": "metric before", "down": "next metric",
        "next-pane": "next metric", "previous-pane": "metric before", "open": "close the chart",
        "back": "close the chart",
        "filter": "chart of another metric", "next-finding": "next metric with a finding",
        "previous-finding": "the one before", "together": "draw another metric beside it",
        "crosshair-back": "cursor to the left", "crosshair-on": "cursor to the right",
        "smoother": "smooth more", "rougher": "smooth less",
        "outliers": "show outliers, or cut them off where they flatten the curve",
        "snapshot": "write it to a file; copy it", "pane:samples": "the samples of the step at the cursor",
        "pane:console": "the lines of the run's console at the cursor's time",
        "explain": "what the metric means",
    },
    "runs": {
        "up": "previous run", "down": "next run", "open": "show the run", "mark": "mark it for comparison",
        "filter": "filter runs by words", "back": "close the list",
    },
    "console": {
        "up": "line before", "down": "next line", "end": "follow the end", "home": "to the first line",
        "open": "show the whole line or traceback; fold it again", "filter": "search",
        "next-finding": "next match; without a search the next error",
        "previous-finding": "the one before", "copy": "copy the line or traceback",
        "back": "all lines again; out of the search",
    },
    "findings": {
        "up": "previous finding", "down": "next finding", "open": "chart of the evidence, where it began",
        "acknowledge": "acknowledge: dim it, count it no more while it lasts",
        "snooze": "snooze: the same for half an hour", "explain": "what the metric means",
        "pane:samples": "the samples of its step", "pane:console": "the lines of the console at its time",
        "next-finding": "jump to the next metric with a finding",
    },
}  # fmt: skip
# How keys are written for people.
SHOWN = {
    "up": "↑", "down": "↓", "left": "←", "right": "→", "pageup": "PgUp", "pagedown": "PgDn", "home": "Home",
    "end": "End", "tab": "Tab", "shift+tab": "Shift-Tab", "enter": "Enter", "escape": "Esc", " ": "Space",
    "backspace": "Backspace", "f1": "F1",
}  # fmt: skip


def shown(key: str) -> str:
    """A key as people know it."""
    if key.startswith("ctrl+"):
        return f"Ctrl-{key[5:].upper()}"
    return SHOWN.get(key, key)


class Keys:
    """The bindings in force: the table, with a user's own keys over it."""

    def __init__(self, own: Mapping[str, object] | None = None) -> None:
        self.problems: list[Problem] = []
        known = {bind.action for bind in BINDINGS}
        changed: dict[str, tuple[str, ...]] = {}
        for action, keys in (own or {}).items():
            listed = [keys] if isinstance(keys, str) else keys
            if action not in known:
                self._fault(f"keys: no action is called '{clean(str(action), 40)}'")
            elif not isinstance(listed, list | tuple) or not all(
                isinstance(key, str) and key for key in listed
            ):
                self._fault(f"keys.{action}: a key or a list of keys is needed")
            else:
                changed[action] = tuple(str(key) for key in listed)
        self.binds = tuple(bind._replace(keys=changed.get(bind.action, bind.keys)) for bind in BINDINGS)
        self._by_key: dict[tuple[str, str], str] = {}
        # A user's own key wins over the same key of the table.
        for bind in sorted(self.binds, key=lambda bind: bind.action in changed):
            for key in bind.keys:
                self._by_key[bind.where, key] = bind.action

    def _fault(self, message: str) -> None:
        self.problems.append(Problem("warning", "bad-key", "config", message))

    def action(self, key: str, where: str) -> str | None:
        """What a key does in a place; what it does everywhere if the place has nothing of its own."""
        return self._by_key.get((where, key)) or self._by_key.get(("any", key))

    def hint_of(self, action: str) -> str:
        """The first key of an action, as people know it."""
        bind = next((bind for bind in self.binds if bind.action == action), None)
        return shown(bind.keys[0]) if bind is not None and bind.keys else ""


def key_name(event: KeyEvent) -> str:
    """A key as the table of bindings writes it: the character itself, or a name."""
    if event.character is not None and event.character.isprintable() and "ctrl+" not in event.key:
        return event.character
    return {"ctrl+h": "backspace", "ctrl+i": "tab", "ctrl+m": "enter", "ctrl+j": "enter"}.get(
        event.key, event.key
    )
