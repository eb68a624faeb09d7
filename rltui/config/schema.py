"""What may stand in a configuration file, as data: the checks and the JSON schema are both made of it."""

from __future__ import annotations

from typing import Any

from rltui.batch import SEVERITIES
from rltui.data.schema import Either, Flag, Interval, Kind, Many, Map, Number, Table, Text

DIRECTIONS = ("up", "down", "flat", "near0", "near1", "none")
STATISTICS = ("mean", "min", "max", "std")

_ID = Text(
    pattern=r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+",
    permitted="lower-case words joined by dots, such as policy.kl_ref",
)
_PANE = Text(pattern=r"[a-z][a-z0-9-]*", permitted="a pane id: lower-case letters, digits and '-'")

_METRIC = Table(
    {
        "id": _ID,
        "title": Text(),
        "pane": _PANE,
        "unit": Text(),
        "direction": Text(DIRECTIONS),
        "meaning": Text(),
        "healthy": Text(),
        "watch_for": Text(),
        "check_next": Many(_ID),
        "sources": Many(Text()),
        "group": Text(),
        "statistic": Text(STATISTICS),
        "smooth": Flag(),
        "bounds": Interval(),
        "range": Interval(),
        "band": Interval(),
        "aliases": Many(
            Text(), single=True, about="names that mean this metric; * ** <n> {a,b} as wildcards"
        ),
    },
    needed=("id", "title"),
    about="a metric of your own; unit defaults to 'varies', direction to 'none', pane to 'other'",
)

_ALIAS = Either(
    _ID,
    Table(
        {
            "is": _ID,
            "unit": Text(),
            "scale": Number(),
            "offset": Number(),
            "statistic": Text(STATISTICS),
            "caveat": Text(),
        },
        needed=("is",),
    ),
    about="name as written (wildcards: * ** <n> {a,b}) -> canonical id",
)

_RANGES = Map(Interval(), about="canonical id or name as written -> [low, high]; the scale of charts only")

DISPLAY: dict[str, Kind] = {
    "metrics": Many(_METRIC),
    "aliases": Map(_ALIAS),
    "panes": Map(
        Table({"title": Text(), "metrics": Many(Text(), single=True)}, one_of=("title", "metrics")),
        about="pane id -> its title and the metrics (ids or names, * allowed) that go there",
    ),
    "thresholds": Many(
        Table(
            {
                "metric": Text(about="canonical id or name as written, * allowed"),
                "above": Number(),
                "below": Number(),
                "for": Number(1, 1_000_000, whole=True, about="points in a row"),
                "severity": Text(SEVERITIES),
                "message": Text(),
                "title": Text(),
            },
            needed=("metric",),
            one_of=("above", "below"),
        )
    ),
    "metrics_ranges": _RANGES,
    "environments": Map(
        Table(
            {"reward_min": Number(), "reward_max": Number(), "metrics_ranges": _RANGES},
            one_of=("reward_min", "reward_max", "metrics_ranges"),
        ),
        about="environment -> ranges of its reward and its sample metrics; the scale of charts only",
    ),
    "frameworks": Map(Text(), about="run (* allowed) -> the framework that wrote it"),
    "total_steps": Map(
        Number(1, 2**62, whole=True), about="run (* allowed) -> planned steps, for the time that is left"
    ),
}

PRIVATE: dict[str, Kind] = {
    "theme": Text(),
    "smoothing": Number(0, 0.999, about="weight of the past in a moving average"),
    "poll": Number(0.05, 3600, about="seconds between looks at the logs"),
    "pane": _PANE,
    "ascii": Flag(),
    "color": Flag(),
    "mouse": Flag(),
    "keys": Map(Many(Text(), single=True), about="action -> key or keys"),
    "alerts": Table(
        {
            "bell": Flag(),
            "notify": Text(("off", "osc9", "osc777")),
            "command": Many(Text(), about="argument vector, no shell; findings as JSON on standard input"),
            "webhook": Text(
                pattern=r"https://\S+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/\S*)?|\$\{?\w+\}?",
                permitted="an https:// address (http:// on localhost only) or $NAME of the environment",
                secret=True,
            ),
            "headers": Map(Text(secret=True), about="header -> value; $NAME is taken from the environment"),
            "severity": Text(SEVERITIES, about="least severity that alerts"),
            "severities": Table(
                {way: Text(SEVERITIES) for way in ("terminal", "command", "webhook")},
                about="least severity for one way out",
            ),
            "runs": Many(Text(), single=True, about="runs that alert, * allowed"),
            "dwell": Number(0, 86_400, about="seconds that a finding must last"),
            "dwell_steps": Number(0, 10**12, whole=True, about="steps that it must last as well"),
            "clear": Number(0, 86_400, about="seconds that it must be gone to count as resolved"),
            "cooldown": Number(0, 86_400 * 30, about="seconds between alerts of one cause"),
            "timeout": Number(0.1, 60, about="seconds for one delivery, connecting included"),
            "resolved": Flag(about="tell also that something is over"),
            "ended": Flag(about="also runs that were over when rltui started"),
        }
    ),
}


def json_schema() -> dict[str, Any]:
    """The user's own file as JSON schema (draft 2020-12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rltui configuration",
        "description": "rltui.toml beside the logs may hold: " + ", ".join(DISPLAY),
        **Table({**DISPLAY, **PRIVATE}).schema(),
    }
