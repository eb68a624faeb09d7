"""The schema of configuration files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rltui.common.problem import SEVERITIES
from rltui.config.user_config import (
    RECEIVERS,
    AlertConfig,
    Environment,
    RemoteConfig,
    Threshold,
    UserHardware,
    UserMetric,
    UserPane,
)
from rltui.schema.fields import (
    BoolField,
    Field,
    IntervalField,
    ListField,
    MapField,
    NumberField,
    TableField,
    TextField,
    as_dict,
    table_of,
)
from rltui.schema.metric import PANE_ID, Metric, checked_metric, entry_field, metric_fields


def _user_metric(aliases: tuple[str, ...] = (), **values: Any) -> UserMetric:
    return UserMetric(checked_metric(Metric(**values)), aliases)


_METRIC = TableField(
    {
        **metric_fields(),
        "aliases": ListField(
            TextField(), single=True, description="names that mean this metric; * ** <n> {a,b} as wildcards"
        ),
    },
    _user_metric,
    required=("id", "title"),
    aliases={"band": "healthy_range"},
    description="a metric of your own; unit defaults to 'varies', direction to 'none', pane to 'other'",
)

_RANGES = MapField(
    IntervalField(), description="canonical id or name as written -> [low, high]; scale of charts only"
)

DISPLAY: dict[str, Field[object]] = {
    "metrics": ListField(_METRIC, description="metrics of your own"),
    "aliases": MapField(
        entry_field(), description="name as written (wildcards: * ** <n> {a,b}) -> canonical id"
    ),
    "panes": MapField(
        replace(
            table_of(
                UserPane,
                title=TextField(description="the name on its tab"),
                metrics=ListField(TextField(), single=True, description="ids or names, * allowed"),
            ),
            one_of=("title", "metrics"),
        ),
        description="pane id -> its title and the metrics (ids or names, * allowed) that go there",
    ),
    "thresholds": ListField(
        replace(
            table_of(
                Threshold,
                without=("where",),
                descriptions={
                    "above": "fires while values are higher",
                    "below": "fires while values are lower",
                    "severity": "whether it is a remark, a warning or critical",
                    "message": "the sentence of the finding; made of the limit by default",
                    "title": "a short name of the finding; the metric's by default",
                },
                metric=TextField(description="canonical id or name as written, * allowed"),
                for_=NumberField(1, 1_000_000, integer=True, description="points in a row"),
            ),
            one_of=("above", "below"),
        ),
        description="limits of your own: a finding while a metric is beyond one",
    ),
    "metrics_ranges": _RANGES,
    "environments": MapField(
        replace(
            table_of(
                Environment,
                metrics_ranges=_RANGES,
                reward_min=NumberField(description="the lowest reward of an episode or a response"),
                reward_max=NumberField(description="the highest one"),
            ),
            one_of=Environment._fields,
        ),
        description="environment -> ranges of its reward and its sample metrics; the scale of charts only",
    ),
    "frameworks": MapField(TextField(), description="run (* allowed) -> the framework that wrote it"),
    "total_steps": MapField(
        NumberField(1, 2**62, integer=True),
        description="run (* allowed) -> planned steps, for the time that is left",
    ),
    "hardware": MapField(
        table_of(
            UserHardware,
            gpus=NumberField(1, 1_000_000, integer=True, description="number of accelerators"),
            gpu=TextField(description="name of the accelerator, such as H100"),
            peak_tflops=NumberField(0.001, 1e6, description="of one accelerator, dense 16-bit"),
            parameters=NumberField(1, 1e15, description="of the model"),
            active_parameters=NumberField(1, 1e15, description="used for a token, of a mixture"),
        ),
        description="run (* allowed) -> what it trains on, for estimates of MFU and GPU-hours",
    ),
}

PRIVATE: dict[str, Field[object]] = {
    "theme": TextField(description="name of a theme; `rltui watch --help` lists those that come with it"),
    "smoothing": NumberField(0, 0.999, description="weight of the past in a moving average"),
    "poll": NumberField(0.05, 3600, description="seconds between looks at the logs"),
    "pane": PANE_ID.described("id of the pane to open first"),
    "ascii": BoolField(description="draw with ASCII characters only"),
    "color": BoolField(description="false: without colours"),
    "mouse": BoolField(description="false: leave the mouse to the terminal"),
    "keys": MapField(ListField(TextField(), single=True), description="action -> key or keys"),
    "alerts": replace(
        table_of(
            AlertConfig,
            descriptions={
                "bell": "ring the bell of the terminal",
                "notify": "notify through the terminal, by this escape sequence",
            },
            command=ListField(TextField(), description="argument vector, no shell; JSON on standard input"),
            webhook=TextField(
                pattern=r"https://\S+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/\S*)?|\$\{?\w+\}?",
                permitted="an https:// address (http:// on localhost only) or $NAME of the environment",
                secret=True,
                description="address that receives JSON by POST: https://, or $NAME of the environment",
            ),
            headers=MapField(
                TextField(secret=True), description="header -> value; $NAME comes from the environment"
            ),
            severity=TextField(SEVERITIES, description="least severity that alerts"),
            severities=TableField(
                {
                    name: TextField(SEVERITIES, description=f"least severity for the {name}")
                    for name in RECEIVERS
                },
                as_dict,
                description="least severity for one receiver",
            ),
            runs=ListField(TextField(), single=True, description="runs that alert, * allowed"),
            for_=NumberField(0, 86_400, description="seconds that a finding must fire before it alerts"),
            for_steps=NumberField(0, 10**12, integer=True, description="steps that it must fire as well"),
            resolve_after=NumberField(
                0, 86_400, description="seconds that it must be gone to count as resolved"
            ),
            repeat_interval=NumberField(
                0, 86_400 * 30, description="seconds between alerts of one finding id in one run"
            ),
            timeout=NumberField(0.1, 60, description="seconds for one delivery, connecting included"),
            resolved=BoolField(description="tell also that something is over"),
            ended=BoolField(description="also runs that were over when rltui started"),
        ),
        aliases={
            "dwell": "for",
            "dwell_steps": "for_steps",
            "clear": "resolve_after",
            "cooldown": "repeat_interval",
        },
        description="where findings of live runs are sent; nowhere by default",
    ),
    "remote": replace(
        table_of(
            RemoteConfig,
            poll=NumberField(1, 86_400, description="seconds between looks while something changes"),
            requests_per_hour=NumberField(
                10, 10**9, integer=True, description="requests to one remote folder in an hour at most"
            ),
            disk_megabytes=NumberField(
                1, 10**9, integer=True, description="MB of the cache for what is fetched of all of them"
            ),
            timeout=NumberField(1, 3600, description="seconds for one answer"),
        ),
        description="remote folders such as s3://bucket/runs",
    ),
}


def file_field(*, own: bool) -> TableField[dict[str, Any]]:
    """The field of a file: the user's own, or one next to the logs."""
    return TableField({**DISPLAY, **PRIVATE} if own else DISPLAY, as_dict)


def json_schema() -> dict[str, Any]:
    """The JSON schema (draft 2020-12) of the user's own file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rltui configuration",
        "description": "rltui.toml beside the logs may hold: " + ", ".join(DISPLAY),
        **file_field(own=True).json_schema(),
    }
