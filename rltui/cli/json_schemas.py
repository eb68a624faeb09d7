"""JSON schemas (draft 2020-12) of what `check`, `runs` and `explain` print with `--json`.

Fields may be added to documents, so that no schema forbids those that it does not know.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NONFINITE = ["NaN", "Infinity", "-Infinity"]  # JSON has no such numbers: spelled as strings

_STRING: Schema = {"type": "string"}
_BOOLEAN: Schema = {"type": "boolean"}
_STRINGS: Schema = {"type": "array", "items": _STRING}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"anyOf": [{"type": ["number", "null"]}, {"enum": _NONFINITE}]}
_MAYBE_INTEGER: Schema = {"type": ["integer", "null"]}
_MAYBE_STRING: Schema = {"type": ["string", "null"]}
_RUN_HEALTH: Schema = {"enum": ["ok", "warning", "critical", "unjudged"]}


def _enum(*words: str) -> Schema:
    return {"enum": list(words)}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(required: Schema, optional: Schema | None = None) -> Schema:
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


_EVIDENCE = _object(
    {
        "metric": _STRING,
        "canonical": _MAYBE_STRING,
        "from": _NUMBER,
        "to": _NUMBER,
        "since_step": {"type": "integer"},
    }
)
_FINDING = _object(
    {
        "id": _STRING,
        "severity": _enum("info", "warning", "critical"),
        "pane": _STRING,
        "metrics": _STRINGS,
        "canonical": _STRINGS,
        "since_step": {"type": "integer"},
        "value": _NUMBER,
        "limit": _NUMBER,
        "message": _STRING,
        "advice": _STRING,
        "check_next": _STRINGS,
    },
    {
        "look_next": _STRINGS,
        "title": _STRING,
        "state": _enum("firing", "resolved"),
        "resolved_step": _MAYBE_INTEGER,
        "symptom": _BOOLEAN,
        "explained_by": _MAYBE_STRING,
        "source": _STRING,
        "evidence": _array(_EVIDENCE),
    },
)
_DIAGNOSTIC = _object(
    {"level": _enum("info", "warning", "error"), "code": _STRING, "path": _STRING, "message": _STRING}
)
_RUN = {
    "run": _STRING,
    "framework": _STRING,
    "state": _enum("live", "stalled", "ended"),
    "last_step": _MAYBE_INTEGER,
    "last_wall_time": {"type": ["number", "null"]},
    "points": _COUNT,
    "health": _RUN_HEALTH,
}
_OUTCOME = {
    "metric": _MAYBE_STRING,
    "last": _NUMBER,
    "best": _NUMBER,
    "best_step": _MAYBE_INTEGER,
    "best_step_exact": {"type": ["boolean", "null"]},
    "total_steps": _MAYBE_INTEGER,
    "eta": {"type": ["number", "null"]},
    "why": _STRING,
}
_NOT_OF_ALL = {"message": _STRING, "given_name": _STRING}  # of an unjudged run; of one named in its tracker
_SISTERS = _object(
    {
        "sisters": _STRINGS,
        "kin": _STRING,
        "canonical": _STRING,
        "metric": _STRING,
        "step": {"type": "integer"},
        "value": {"type": "number"},
        "median": {"type": "number"},
        "spread": {"type": "number"},
        "spreads_below": {"type": "number"},
        "since_step": _MAYBE_INTEGER,
    }
)
_SOURCE = _object({"path": _STRING, "format": _STRING, "bytes": _COUNT})

_COMMON = _object(  # what several runs have in common
    {
        "kind": _STRING,
        "severity": _enum("warning", "critical"),
        "title": _STRING,
        "count": _COUNT,
        "runs": _STRINGS,
        "since_step": _MAYBE_INTEGER,
        "since": {"type": ["number", "null"]},
        "host": _MAYBE_STRING,
    }
)

CHECK: Schema = {
    "$schema": _DRAFT,
    "title": "rltui check --json",
    **_object(
        {
            "schema": {"const": 1},
            "logdir": _STRING,
            "logdirs": _STRINGS,
            "health": _enum("ok", "warning", "critical", "unjudged", "unreadable"),
            "runs": _array(
                _object({**_RUN, "findings": _array(_FINDING)}, {**_NOT_OF_ALL, "notes": _array(_FINDING)})
            ),
            "diagnostics": _array(_DIAGNOSTIC),
        },
        {"notes": _array(_DIAGNOSTIC), "common": _array(_COMMON)},
    ),
}
RUNS: Schema = {
    "$schema": _DRAFT,
    "title": "rltui runs --json",
    **_object(
        {
            "schema": {"const": 1},
            "logdir": _STRING,
            "runs": _array(
                _object(
                    {
                        **_RUN,
                        **_OUTCOME,
                        "series": _COUNT,
                        "sources": _array(_SOURCE),
                        "also": _array(_SOURCE),
                    },
                    {
                        **_NOT_OF_ALL,
                        "continues": _object({"run": _STRING, "step": {"type": "integer"}}),
                        "sisters": _SISTERS,
                    },
                )
            ),
        },
        {"diagnostics": _array(_DIAGNOSTIC)},
    ),
}
_RULE = _object({"id": _STRING, "severity": _STRING, "when": _STRING})
EXPLAIN: Schema = {
    "$schema": _DRAFT,
    "title": "one line of rltui explain --json",
    **_object(
        {
            "key": _STRING,
            "framework": _MAYBE_STRING,
            "canonical": _MAYBE_STRING,
            "title": _STRING,
            "pane": _STRING,
            "unit": _STRING,
            "direction": _STRING,
            "meaning": _STRING,
            "healthy": _STRING,
            "watch_for": _STRING,
            "rules": _array(_RULE),
            "check_next": _STRINGS,
            "aliases": {"type": "object", "additionalProperties": _STRINGS},
            "sources": _STRINGS,
        },
        {"others": {"type": "array", "items": {"$ref": "#"}}},
    ),
}

SCHEMAS = {"check": CHECK, "runs": RUNS, "explain": EXPLAIN}  # by command
