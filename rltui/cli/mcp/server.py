"""The MCP server, with the official SDK."""

from __future__ import annotations

import json
from collections.abc import Sequence

import anyio
import click
import jsonschema
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from rltui import __version__
from rltui.cli.mcp.tool_results import ANSWERS
from rltui.cli.mcp.tools import Tool, tools
from rltui.cli.output.printing import to_json
from rltui.common import crash
from rltui.common.display_text import clean

_HINTS = types.ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def make_server(logdirs: Sequence[str]) -> Server:
    """A server whose tools only access the runs below these LOGDIRs."""
    reading = anyio.CapacityLimiter(2)  # concurrent calls that read logs
    waiting = anyio.CapacityLimiter(16)
    by_name = {tool.name: tool for tool in tools().tool}

    async def list_tools(
        _: ServerRequestContext, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(tool) for tool in by_name.values()])

    async def call_tool(_: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = by_name.get(params.name)
        if tool is None:
            return _error(f"no tool named {clean(params.name)!r}; tools: {', '.join(by_name)}")
        limiter = waiting if tool.name == "wait" else reading
        arguments = params.arguments or {}
        return await anyio.to_thread.run_sync(
            lambda: call(tool, logdirs, arguments), limiter=limiter, abandon_on_cancel=True
        )

    return Server(
        "rltui",
        version=__version__,
        title="rltui",
        instructions=tools().instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def call(tool: Tool, logdirs: Sequence[str], arguments: dict[str, object]) -> types.CallToolResult:
    """Call a tool. An error becomes an error result of one line."""
    try:
        jsonschema.validate(arguments, tool.input_schema)
    except jsonschema.ValidationError as error:
        place = "/".join(map(str, error.absolute_path)) or "arguments"
        known = "" if error.absolute_path else f"; {tool.name} takes {', '.join(tool.arguments)}"
        return _error(f"{place}: {error.message}{known}")
    try:
        text = to_json(ANSWERS[tool.name](logdirs, {**tool.defaults, **arguments}))
    except click.ClickException as error:
        return _error(error.format_message())
    except OSError as error:
        return _error(f"{error.filename or 'a log'}: {error.strerror or error}")
    except Exception as error:  # noqa: BLE001 - the server must not end
        return _error(crash.report(error))
    # Parsed from the text, so that non-finite numbers are strings in both.
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=json.loads(text)
    )


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=_HINTS,
    )


def _error(message: str) -> types.CallToolResult:
    line = clean(message, 1000)
    return types.CallToolResult(content=[types.TextContent(type="text", text=line)], is_error=True)


def serve(logdirs: Sequence[str]) -> None:
    """Serve standard input and output until the input ends."""

    async def run() -> None:
        server = make_server(logdirs)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(run)
