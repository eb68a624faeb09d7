"""The help texts of all commands as data, and the manual page."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from rltui import __version__
from rltui.cli.exit_codes import EXIT_CODES
from rltui.common.named_tuple import NamedTuple

FILES = (
    ("~/.config/rltui/config.toml", "the configuration; $RLTUI_CONFIG names another one"),
    ("~/.config/rltui/themes/", "themes of your own"),
    ("rltui.toml", "beside the logs: names of metrics, ranges, limits"),
)


class CommandText(NamedTuple):
    """The help of a command. text: paragraphs; examples: shell lines; options: syntax and help."""

    name: str  # including `rltui` and the name of a group
    usage: str
    text: tuple[str, ...]
    examples: tuple[str, ...]
    options: tuple[tuple[str, str], ...]


def command_texts(command: click.Command, above: click.Context | None = None) -> Iterator[CommandText]:
    """A command and its subcommands, in the order of `rltui --help`."""
    context = click.Context(command, above, info_name=command.name if above else "rltui")
    path = context.command_path
    text = f"{command.help or ''}\n\n{command.epilog or ''}".replace(
        "\b", ""
    )  # click's mark for verbatim text
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text)]
    shown = [block for block in blocks if block and not block.startswith("Examples:")]
    examples = [block for block in blocks if block.startswith("Examples:")]
    params = command.params if context.parent else command.get_params(context)
    records = [param.get_help_record(context) for param in params if isinstance(param, click.Option)]
    yield CommandText(
        path,
        " ".join([path, *command.collect_usage_pieces(context)]),
        tuple(" ".join(block.split()) for block in shown),
        tuple(line.strip() for block in examples for line in block.splitlines()[1:]),
        tuple(record for record in records if record is not None),
    )
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from command_texts(below, context)


def manual_page(command: click.Command) -> str:
    """The manual page `rltui(1)` with the macros of man(7)."""
    top, *others = command_texts(command)
    lines = [
        f'.TH RLTUI 1 "" "rltui {__version__}" "User Commands"',
        ".SH NAME",
        r"rltui \- watch reinforcement learning runs in the terminal",
        ".SH SYNOPSIS",
        ".nf",
        *(f".B {_roff(command.usage)}" for command in (top, *others)),
        ".fi",
        ".SH DESCRIPTION",
    ]
    lines += [*_paragraphs(top.text), ".SH OPTIONS", *_definitions(top.options), ".SH COMMANDS"]
    for each in others:
        lines += [f'.SS "{_roff(each.usage)}"', *_paragraphs(each.text), *_definitions(each.options)]
        if each.examples:
            examples = (f"    {_roff(line)}" for line in each.examples)
            lines += [".PP", "Examples:", ".PP", ".nf", *examples, ".fi"]
    lines += [".SH EXIT STATUS", *_definitions(EXIT_CODES), ".SH FILES", *_definitions(FILES)]
    return "\n".join(lines) + "\n"


def _paragraphs(texts: tuple[str, ...]) -> list[str]:
    return [line for text in texts for line in (".PP", _roff(text))][1:]


def _definitions(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [line for term, text in pairs for line in (".TP", rf"\fB{_roff(term)}\fR", _roff(text))]


def _roff(text: str) -> str:
    """Text with escapes for hyphens, backslashes, and dots or quotes at the beginning."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = "".join(char if char.isascii() else rf"\[u{ord(char):04X}]" for char in text)
    return r"\&" + text if text.startswith((".", "'")) else text
