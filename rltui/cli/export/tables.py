"""Tables as JSON lines, CSV (with lists as JSON) or Parquet."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, BinaryIO

from rltui.cli.export.point_lines import quoted
from rltui.cli.output.output_file import binary_output
from rltui.cli.output.printing import to_json

ROWS = 1024  # per row group
Row = dict[str, Any]  # values by column


def write_table(
    rows: Iterable[Row], columns: Mapping[str, str], form: str, output: str | None, logdirs: Sequence[str]
) -> None:
    """Write rows as JSON lines, CSV or one Parquet file. columns: name -> kind of values."""
    with binary_output(output, logdirs) as out:
        if form == "parquet":
            _write_parquet(rows, columns, out)
        elif form == "csv":
            out.write(",".join(columns).encode() + b"\n")
            out.writelines(b",".join(_cell(row[name]) for name in columns) + b"\n" for row in rows)
        else:
            out.writelines(f"{to_json(row)}\n".encode() for row in rows)


def _write_parquet(rows: Iterable[Row], columns: Mapping[str, str], out: BinaryIO) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "flag": pa.bool_(),
        "texts": pa.list_(pa.string()),
        "numbers": pa.list_(pa.float64()),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in columns.items()])
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        left = iter(rows)
        while held := list(islice(left, ROWS)):
            writer.write_table(pa.Table.from_pylist(held, schema=schema))


def _cell(value: object) -> bytes:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return b"" if value is None else b"NaN"
    if isinstance(value, list | tuple):
        return quoted(json.dumps(value))
    return quoted(value if isinstance(value, str) else repr(value))
