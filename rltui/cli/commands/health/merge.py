"""`rltui merge`: merge the documents of shards."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import orjson

from rltui.cli.options.arguments import FAIL_ON
from rltui.cli.output.printing import emit_json, fail, leave
from rltui.common.display_text import clean

if TYPE_CHECKING:
    from rltui.cli.documents.check_exit_code import FailOn


@click.command(name="merge")
@click.argument("files", metavar="FILE ...", nargs=-1, required=True, type=click.Path())
@FAIL_ON
def command(files: tuple[str, ...], fail_on: FailOn | None) -> None:
    """Print the documents of `check --json --shard I/N` as the one that a single `check --json` prints.

    The exit code is that of a single run, too; 2 where a shard is missing or lost runs.

    \b
    Examples:
      rltui check runs/ --json --shard "$SLURM_ARRAY_TASK_ID/40" > part-$SLURM_ARRAY_TASK_ID.json
      rltui merge part-*.json > all.json
    """
    from rltui.cli.documents import check_document, check_exit_code  # not for `--help`
    from rltui.cli.output.file_problems import note_problems

    documents = [_read(file) for file in files]
    try:
        evaluated = check_document.from_documents(documents)
    except (KeyError, TypeError, AttributeError, IndexError):
        fail("not made by `rltui check --json --shard I/N`, or by another release; make them again")
    except ValueError as error:
        fail(f"{error}; give the documents of --shard 1/N to N/N, each once")
    note_problems(problem for problem in evaluated.problems if problem.code.startswith("shard-"))
    if not evaluated.verdicts and not evaluated.lost:
        fail("no run in any of the shards")
    with contextlib.suppress(BrokenPipeError):
        emit_json(check_document.streamed_report(evaluated, documents[0]["logdirs"]))
    leave(check_exit_code.exit_code(evaluated, fail_on or "critical"))


def _read(file: str) -> dict[str, Any]:
    try:
        document = orjson.loads(Path(file).read_bytes())
    except OSError as error:
        fail(f"{clean(file)}: cannot be read: {error.strerror}")
    except ValueError as error:
        fail(f"{clean(file)}: not a JSON document: {clean(str(error))}; was its command interrupted?")
    if not isinstance(document, dict) or "shard" not in document:
        fail(f"{clean(file)}: not the document of a shard; `rltui check --json --shard I/N` makes those")
    return document
