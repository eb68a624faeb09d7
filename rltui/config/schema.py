"""What may stand in a configuration file, as data: the checks and the JSON schema are both made of it."""

from __future__ import annotations

from typing import Any

from rltui.batch import SEVERITIES
from rltui.data.schema import (
    AnyOfField,
    BoolField,
    Field,
    IntervalField,
    ListField,
    MapField,
    NumberField,
    TableField,
    TextField,
    as_dict,
)

DIRECTIONS = ("up", "down", "flat", "near0", "near1", "none")
STATISTICS = ("mean", "min", "max", "std")

_ID = TextField(
    pattern=r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+",
    permitted="lower-case words joined by dots, such as policy.kl_ref",
)
_PANE = TextField(pattern=r"[a-z][a-z0-9-]*", permitted="a pane id: lower-case letters, digits and '-'")

_METRIC = TableField(
    {
        "id": _ID,
        "title": TextField(),
        "pane": _PANE,
        "unit": TextField(),
        "direction": TextField(DIRECTIONS),
        "meaning": TextField(),
        "healthy": TextField(),
        "watch_for": TextField(),
        "check_next": ListField(_ID),
        "sources": ListField(TextField()),
        "group": TextField(),
        "statistic": TextField(STATISTICS),
        "smooth": BoolField(),
        "bounds": IntervalField(),
        "range": IntervalField(),
        "band": IntervalField(),
        "aliases": ListField(
            TextField(), single=True, description="names that mean this metric; * ** <n> {a,b} as wildcards"
        ),
    },
    as_dict,
    required=("id", "title"),
    description="a metric of your own; unit defaults to 'varies', direction to 'none', pane to 'other'",
)

_ALIAS: AnyOfField[Any] = AnyOfField(
    (
        _ID,
        TableField(
            {
                "is": _ID,
                "unit": TextField(),
                "scale": NumberField(),
                "offset": NumberField(),
                "statistic": TextField(STATISTICS),
                "caveat": TextField(),
            },
            as_dict,
            required=("is",),
        ),
    ),
    _ID.permitted,
    description="name as written (wildcards: * ** <n> {a,b}) -> canonical id",
)

_RANGES = MapField(
    IntervalField(), description="canonical id or name as written -> [low, high]; scale of charts only"
)

DISPLAY: dict[str, Field[Any]] = {
    "metrics": ListField(_METRIC),
    "aliases": MapField(_ALIAS),
    "panes": MapField(
        TableField(
            {"title": TextField(), "metrics": ListField(TextField(), single=True)},
            as_dict,
            one_of=("title", "metrics"),
        ),
        description="pane id -> its title and the metrics (ids or names, * allowed) that go there",
    ),
    "thresholds": ListField(
        TableField(
            {
                "metric": TextField(description="canonical id or name as written, * allowed"),
                "above": NumberField(),
                "below": NumberField(),
                "for": NumberField(1, 1_000_000, integer=True, description="points in a row"),
                "severity": TextField(SEVERITIES),
                "message": TextField(),
                "title": TextField(),
            },
            as_dict,
            required=("metric",),
            one_of=("above", "below"),
        )
    ),
    "metrics_ranges": _RANGES,
    "environments": MapField(
        TableField(
            {"reward_min": NumberField(), "reward_max": NumberField(), "metrics_ranges": _RANGES},
            as_dict,
            one_of=("reward_min", "reward_max", "metrics_ranges"),
        ),
        description="environment -> ranges of its reward and its sample metrics; the scale of charts only",
    ),
    "frameworks": MapField(TextField(), description="run (* allowed) -> the framework that wrote it"),
    "total_steps": MapField(
        NumberField(1, 2**62, integer=True),
        description="run (* allowed) -> planned steps, for the time that is left",
    ),
}

PRIVATE: dict[str, Field[Any]] = {
    "theme": TextField(),
    "smoothing": NumberField(0, 0.999, description="weight of the past in a moving average"),
    "poll": NumberField(0.05, 3600, description="seconds between looks at the logs"),
    "pane": _PANE,
    "ascii": BoolField(),
    "color": BoolField(),
    "mouse": BoolField(),
    "keys": MapField(ListField(TextField(), single=True), description="action -> key or keys"),
    "alerts": TableField(
        {
            "bell": BoolField(),
            "notify": TextField(("off", "osc9", "osc777")),
            "command": ListField(
                TextField(), description="argument vector, no shell; JSON on standard input"
            ),
            "webhook": TextField(
                pattern=r"https://\S+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/\S*)?|\$\{?\w+\}?",
                permitted="an https:// address (http:// on localhost only) or $NAME of the environment",
                secret=True,
            ),
            "headers": MapField(
                TextField(secret=True), description="header -> value; $NAME comes from the environment"
            ),
            "severity": TextField(SEVERITIES, description="least severity that alerts"),
            "severities": TableField(
                {way: TextField(SEVERITIES) for way in ("terminal", "command", "webhook")},
                as_dict,
                description="least severity for one way out",
            ),
            "runs": ListField(TextField(), single=True, description="runs that alert, * allowed"),
            "dwell": NumberField(0, 86_400, description="seconds that a finding must last"),
            "dwell_steps": NumberField(
                0, 10**12, integer=True, description="steps that it must last as well"
            ),
            "clear": NumberField(0, 86_400, description="seconds that it must be gone to count as resolved"),
            "cooldown": NumberField(0, 86_400 * 30, description="seconds between alerts of one cause"),
            "timeout": NumberField(0.1, 60, description="seconds for one delivery, connecting included"),
            "resolved": BoolField(description="tell also that something is over"),
            "ended": BoolField(description="also runs that were over when rltui started"),
        },
        as_dict,
    ),
}


def json_schema() -> dict[str, Any]:
    """The user's own file as JSON schema (draft 2020-12)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rltui configuration",
        "description": "rltui.toml beside the logs may hold: " + ", ".join(DISPLAY),
        **TableField({**DISPLAY, **PRIVATE}, as_dict).json_schema(),
    }
