"""Points as lines of JSON or CSV. For speed, numbers are formatted by column and joined to lines."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, repeat

import numpy as np
import orjson
from numpy.typing import NDArray

from rltui.cli.export.export_points import Exporter, PointSelection
from rltui.cli.export.export_summary import Exported, ExportSummary
from rltui.cli.options.sharding import Work
from rltui.cli.output.output_file import binary_output
from rltui.common.arrays import Bools
from rltui.common.display_text import clean
from rltui.logs.batch import Batch
from rltui.logs.delivery import Source
from rltui.logs.records.tag_table import written_tag
from rltui.many_runs.plan import RunPlan, Shard

CSV_HEAD = b"run,tag,step,wall_time,value,source,superseded,series\n"
CHUNK = 1 << 15  # lines per block


def export_lines(selection: PointSelection, form: str, output: str | None, how: Work) -> None:
    """Write points as lines of JSON or CSV. Ends the command with 1 if no tag matches the globs."""
    exported = Exported(selection)
    plan = exported.plan(how)
    with binary_output(output, selection.logdirs) as out:
        out.write((CsvWriter if form == "csv" else JsonlWriter).head)
        if how.engine.name == "local":
            exported.take(_write_lines(plan.runs, selection, form, out.write))
        else:
            task = partial(_packed_lines, selection=selection, form=form)
            for packed, summary in exported.of_shards(plan, how.engine, task):
                out.write(zlib.decompress(packed))
                exported.take(summary)
    exported.finish()


def _write_lines(
    runs: Sequence[RunPlan], selection: PointSelection, form: str, write: Callable[[bytes], object]
) -> ExportSummary:
    exporter = Exporter(selection, runs)
    writer = CsvWriter() if form == "csv" else JsonlWriter()
    generations: dict[str, int] = {}
    for points in exporter.batches():
        path = points.source.path
        if generations.setdefault(path, points.generation) != points.generation:
            writer.forget(path)
            generations[path] = points.generation
        for block in writer.lines(points.source, points.batch, points.superseded):
            write(block)
    return ExportSummary.of(exporter)


def _packed_lines(shard: Shard, selection: PointSelection, form: str) -> tuple[bytes, ExportSummary]:
    """The compressed lines of a shard, for sending between processes."""
    import tempfile  # imports random and shutil, which only engines need

    with tempfile.TemporaryFile() as file:
        packer = zlib.compressobj(1)
        summary = _write_lines(shard, selection, form, lambda block: file.write(packer.compress(block)))
        file.write(packer.flush())
        file.seek(0)
        return file.read(), summary


def _numbers(array: NDArray[np.generic]) -> list[bytes]:
    """The shortest JSON text of each number that is parsed to the same bits; NaN as null."""
    if not len(array):
        return []
    text = orjson.dumps(np.ascontiguousarray(array), option=orjson.OPT_SERIALIZE_NUMPY)
    return text[1:-1].split(b",")


def _values(batch: Batch, at: slice, names: tuple[bytes, bytes, bytes]) -> list[bytes]:
    """The values of a slice of a batch. names: texts of NaN, Infinity and -Infinity."""
    value, single = batch.value[at], batch.single[at]
    if single.all():
        texts = _numbers(value.astype(np.float32))
    elif not single.any():
        texts = _numbers(value)
    else:
        texts = _numbers(value)
        narrow = np.flatnonzero(single)
        for index, text in zip(narrow.tolist(), _numbers(value[narrow].astype(np.float32)), strict=True):
            texts[index] = text
    for index in np.flatnonzero(~np.isfinite(value)).tolist():
        odd = value[index]
        texts[index] = names[0] if np.isnan(odd) else names[1] if odd > 0 else names[2]
    return texts


def _join(
    heads: list[bytes], tails: Sequence[tuple[bytes, bytes]], middle: tuple[bytes, bytes], none: bytes,
    names: tuple[bytes, bytes, bytes], batch: Batch, superseded: Bools | None,
) -> Iterable[bytes]:  # fmt: skip
    """Blocks of lines. heads: by tag. tails: by tag or one for all; each plain and superseded."""
    for begin in range(0, len(batch), CHUNK):
        at = slice(begin, begin + CHUNK)
        walls = _numbers(batch.wall_time[at])
        if none != b"null":
            walls = [none if wall == b"null" else wall for wall in walls]
        tags = batch.tag[at].tolist()
        ends: Iterable[bytes] = repeat(tails[0][0])
        if superseded is not None or len(tails) > 1:
            flags = repeat(False) if superseded is None else superseded[at].tolist()
            pairs = map(tails.__getitem__, tags) if len(tails) > 1 else repeat(tails[0])
            ends = [pair[flag] for pair, flag in zip(pairs, flags, strict=False)]
        parts = zip(
            map(heads.__getitem__, tags), _numbers(batch.step[at]), repeat(middle[0]),
            walls, repeat(middle[1]), _values(batch, at, names), ends,
        )  # fmt: skip
        yield b"".join(chain.from_iterable(parts))


class LineWriter:
    """Formats points as lines. Caches the beginnings of lines by tag."""

    def __init__(self) -> None:
        self._heads: dict[str, list[bytes]] = {}

    def forget(self, path: str) -> None:
        """Drop the cache of a log that was replaced."""
        self._heads.pop(path, None)


class JsonlWriter(LineWriter):
    """Formats points as JSON lines in ASCII."""

    head = b""
    _names = (b'"NaN"', b'"Infinity"', b'"-Infinity"')

    def lines(self, source: Source, batch: Batch, superseded: Bools | None) -> Iterable[bytes]:
        """Blocks of complete lines."""
        heads = self._heads.setdefault(source.path, [])
        run = json.dumps(source.run)
        tags = [f'"tag": {json.dumps(tag)}' for tag in spelled(batch, len(heads))]
        if batch.written:  # the curves of `add_scalars` have one tag
            series = batch.tags[len(heads) :]
            tags = [f'{tag}, "series": {json.dumps(name)}' for tag, name in zip(tags, series, strict=True)]
        heads += [f'{{"run": {run}, {tag}, "step": '.encode() for tag in tags]
        end = f', "source": {json.dumps(source.path)}'
        tails = [(f"{end}}}\n".encode(), f'{end}, "superseded": true}}\n'.encode())]
        return _join(
            heads, tails, (b', "wall_time": ', b', "value": '), b"null", self._names, batch, superseded
        )


class CsvWriter(LineWriter):
    """Formats points as CSV (RFC 4180 quoting, UTF-8, NaN and Infinity as words, an unknown time empty).

    The last column is the name of the curve in the run, if not the tag.
    """

    head = CSV_HEAD
    _names = (b"NaN", b"Infinity", b"-Infinity")

    def lines(self, source: Source, batch: Batch, superseded: Bools | None) -> Iterable[bytes]:
        """Blocks of complete lines."""
        heads = self._heads.setdefault(source.path, [])
        run = quoted(source.run)
        # Tags are sanitised, since CSV has no escapes and may be printed on a terminal.
        heads += [run + b"," + quoted(clean(tag)) + b"," for tag in spelled(batch, len(heads))]
        end = b"," + quoted(source.path)
        named = [quoted(name) for name in batch.tags] if batch.written else [b""]
        tails = [(end + b",false," + name + b"\n", end + b",true," + name + b"\n") for name in named]
        return _join(heads, tails, (b",", b","), b"", self._names, batch, superseded)


def spelled(batch: Batch, first: int = 0) -> list[str]:
    """The tags from index `first` on, exactly as in the log and in full length."""
    return [written_tag(tag) for tag in (batch.written or batch.tags)[first:]]


def quoted(text: str) -> bytes:
    """A text as CSV field."""
    if any(char in text for char in ',"\r\n'):
        text = '"' + text.replace('"', '""') + '"'
    return text.encode("utf-8", "backslashreplace")
