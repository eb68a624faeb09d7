"""All commands with their options: what each is told by, and the manual page made of it."""

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
    """One command. text: paragraphs; examples: lines of shell; options: how each is written, and its help."""

    name: str  # with `rltui`, and the name of a group before that of a command of it
    usage: str
    text: tuple[str, ...]
    examples: tuple[str, ...]
    options: tuple[tuple[str, str], ...]


def command_texts(command: click.Command, above: click.Context | None = None) -> Iterator[CommandText]:
    """A command and those below it, in the order of `rltui --help`."""
    context = click.Context(command, above, info_name=command.name if above else "rltui")
    path = context.command_path
    blocks = [
        _plain(block) for block in re.split(r"\n\s*\n", f"{command.help or ''}\n\n{command.epilog or ''}")
    ]
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


def _plain(block: str) -> str:
    """A paragraph without click's mark for text that is not to be wrapped."""
    return block.replace("\b", "").strip()


def manual_page(command: click.Command) -> str:
    """The page `rltui(1)` in the macros of man(7)."""
    top, *others = command_texts(command)
    lines = [
        f'.TH RLTUI 1 "" "rltui {__version__}" "User Commands"',
        ".SH NAME",
        r"rltui \- watch reinforcement learning runs in the terminal",
        ".SH SYNOPSIS",
        ".nf",
        *(f".B {_roff(each.usage)}" for each in (top, *others)),
        ".fi",
        ".SH DESCRIPTION",
    ]
    for number, paragraph in enumerate(top.text):
        lines += [*([".PP"] if number else []), _roff(paragraph)]
    lines += [".SH OPTIONS", *_definitions(top.options), ".SH COMMANDS"]
    for each in others:
        lines += [f'.SS "{_roff(each.usage)}"']
        for number, paragraph in enumerate(each.text):
            lines += [*([".PP"] if number else []), _roff(paragraph)]
        lines += _definitions(each.options)
        if each.examples:
            lines += [
                ".PP",
                "Examples:",
                ".PP",
                ".nf",
                *(f"    {_roff(line)}" for line in each.examples),
                ".fi",
            ]
    lines += [".SH EXIT STATUS", *_definitions(EXIT_CODES), ".SH FILES", *_definitions(FILES)]
    return "\n".join(lines) + "\n"


def _definitions(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    return [line for term, text in pairs for line in (".TP", rf"\fB{_roff(term)}\fR", _roff(text))]


def _roff(text: str) -> str:
    """Text whose hyphens, backslashes, and dots or quotes at the beginning mean themselves."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = "".join(char if char.isascii() else rf"\[u{ord(char):04X}]" for char in text)
    return r"\&" + text if text.startswith((".", "'")) else text
