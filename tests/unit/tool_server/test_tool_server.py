"""`ptxloom mcp`: a conversation by the client of the protocol's own SDK, and questions that mean harm."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import string
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

mcp = pytest.importorskip("mcp", reason="the extra [mcp] is not installed")
from mcp import Client, StdioServerParameters  # noqa: E402 - as above
from mcp.client.stdio import stdio_client  # noqa: E402 - likewise

from ptxloom.tool_server.folder import Folder, OutOfFolder  # noqa: E402 - likewise

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

SHOWN = Path(__file__).parents[3] / "examples"
ENDLESS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry endless() { $again: bra $again; }
"""
GREEDY = 'ptx = "endless.ptx"\nkernel = "endless"\n[[args]]\nzeros = { shape = [99999, 99999], dtype = "f64" }\n'
TOOLS = {
    *("check", "explain", "map", "where", "banks", "swizzle", "descriptor", "tensormap"),
    *("run", "why", "judge"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "kernels"
    shutil.copytree(SHOWN, root)
    (root / "endless.ptx").write_text(ENDLESS, encoding="utf-8")
    (root / "endless.toml").write_text('ptx = "endless.ptx"\nkernel = "endless"\n', encoding="utf-8")
    (root / "greedy.toml").write_text(GREEDY, encoding="utf-8")
    (root / "outside.toml").write_text('ptx = "../secret.ptx"\nkernel = "k"\n', encoding="utf-8")
    (tmp_path / "secret.ptx").write_text("a secret", encoding="utf-8")
    (root / "link.ptx").symlink_to(tmp_path / "secret.ptx")
    return root


def spoken(folder: Path, talk: Callable[[Client], Awaitable[None]], *words: str) -> None:
    """Hold a conversation with a server of its own."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "ptxloom", "mcp", str(folder), *words], env=dict(os.environ)
    )

    async def main() -> None:
        async with Client(stdio_client(command)) as client:
            await talk(client)

    asyncio.run(main())


async def asked(client: Client, tool: str, **arguments: Any) -> tuple[bool, str, str]:
    """What a tool answers: whether it is an error, the outcome, the text."""
    answer = await client.call_tool(tool, arguments)
    said: dict[str, Any] = answer.structured_content or {}
    text = str(said.get("text", "")) or "".join(getattr(one, "text", "") for one in answer.content)
    return bool(answer.is_error), said.get("outcome", ""), text


def test_a_whole_conversation(folder: Path) -> None:
    async def talk(client: Client) -> None:
        listed = (await client.list_tools()).tools
        assert {one.name for one in listed} == TOOLS
        assert all(one.description and one.input_schema["type"] == "object" for one in listed)
        assert all(part.get("description") or part.get("title") for one in listed
                   for part in one.input_schema["properties"].values())  # fmt: skip
        error, outcome, text = await asked(client, "map", instruction="ldmatrix.x4.trans")
        assert (error, outcome) == (False, "clean")
        assert "matrix 0" in text
        error, outcome, text = await asked(client, "check", file="broken/missing_trans.ptx")
        assert (error, outcome) == (False, "findings")
        assert "missing-trans" in text
        error, outcome, text = await asked(client, "check", text=(folder / "saxpy.ptx").read_text(encoding="utf-8"))
        assert (error, outcome) == (False, "clean")
        error, outcome, text = await asked(client, "run", launch="tutorial/wrong.toml")
        assert (error, outcome) == (False, "findings")
        assert "ptxloom why tutorial/wrong.toml" in text
        error, outcome, text = await asked(client, "why", launch="tutorial/wrong.toml", attempt=True)
        assert (error, outcome) == (False, "findings")
        assert "trans-missing" in text
        error, outcome, text = await asked(client, "explain", word="trans-missing")
        assert (error, outcome) == (False, "clean")

    spoken(folder, talk, "--timeout", "300")


def test_what_is_drawn_and_derived(folder: Path) -> None:
    async def talk(client: Client) -> None:
        for tool, arguments, says in (
            ("where", {"instruction": "ldmatrix.m8n8.x4.b16", "lane": 5}, "5"),
            ("banks", {"instruction": "ldmatrix.m8n8.x4.b16", "pitch": 128}, "conflict"),
            ("swizzle", {"tile": "64x64", "element": "f16", "accesses": ["cp.async", "ldmatrix.x4.trans"]}, "wizzle"),
            ("descriptor", {"tile": "128x64", "element": "bf16", "major": "mn", "swizzle": "64B"}, "64B"),
            ("tensormap", {"data_type": "FLOAT16", "global_dim": "64,32", "box_dim": "64,8"}, "FLOAT16"),
        ):
            error, _, text = await asked(client, tool, **arguments)
            assert not error, text
            assert says in text, text

    spoken(folder, talk, "--timeout", "300")


def test_what_leads_out_or_does_not_end_is_a_sentence(folder: Path, tmp_path: Path) -> None:
    async def talk(client: Client) -> None:
        for tool, arguments, says in (
            ("check", {"file": "../secret.ptx"}, "leads out of the folder"),
            ("check", {"file": str(tmp_path / "secret.ptx")}, "leads out of the folder"),
            ("check", {"file": "link.ptx"}, "leads out of the folder"),
            ("check", {"file": "/etc/passwd"}, "leads out of the folder"),
            ("check", {"file": "."}, "there is no such file"),
            ("check", {"file": "a\0b"}, "holds a zero"),
            ("check", {"file": "x" * 100_000}, "too long"),
            ("check", {"file": "hgemm.cu"}, "without `--trust`"),
            ("check", {}, "either `file` or `text`"),
            ("check", {"text": "x" * (5 << 20)}, "4,194,304 characters"),
            ("check", {"file": "saxpy.ptx", "target": "sm_1\n--fix"}, "sm_1"),
            ("run", {"launch": "outside.toml"}, "leads out of the folder"),
            ("run", {"launch": "saxpy.ptx"}, "is not a launch file"),
            ("run", {"launch": "greedy.toml"}, "memory"),
            ("explain", {"word": "--help"}, "begins as an option"),
            ("map", {"instruction": "-o/tmp/x"}, "begins as an option"),
            ("map", {"instruction": "nope"}, "nope"),
            ("banks", {"instruction": "ld.shared.b32", "addresses": "/etc/passwd"}, "pattern"),
            ("judge", {"kernel": "saxpy.ptx", "against": "saxpy.py"}, "without `--trust`"),
            ("map", {"instruction": 3}, "string"),
            ("map", {}, "instruction"),
            ("nope", {}, "nope"),
        ):
            error, _, text = await asked(client, tool, **arguments)
            assert error, (tool, arguments, text)
            assert says in text, (tool, text)
            assert "Traceback" not in text
        error, _, text = await asked(client, "run", launch="endless.toml")
        assert "time" in text
        error, outcome, text = await asked(client, "map", instruction="ldmatrix.x4")
        assert (error, outcome) == (False, "clean")

    spoken(folder, talk, "--timeout", "20")


def test_a_kernel_is_judged_where_the_folder_is_trusted(folder: Path) -> None:
    async def talk(client: Client) -> None:
        error, outcome, text = await asked(client, "judge", kernel="saxpy.ptx", against="saxpy.py", seeds=1)
        assert (error, outcome) == (False, "clean"), text
        assert "passed" in text

    spoken(folder, talk, "--trust", "--timeout", "300")


def test_lines_that_are_no_messages_do_not_end_the_server(folder: Path) -> None:
    chance = random.Random(7)
    begin = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    noise = [
        *("", "{", "[]", "null", "3", '"x"', "{}", '{"jsonrpc": "2.0"}', "[" * 10_000, "\x00\x01", "\ud800"),
        json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call"}),
        json.dumps({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": ["map"], "arguments": 3}}),
        json.dumps({"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/call", "params": {"name": "map"}}),
        json.dumps({"jsonrpc": "2.0", "id": 7, "method": "x" * 100_000, "params": {"a": "b" * 1_000_000}}),
        *("".join(chance.choices(string.printable.replace("\n", ""), k=200)) for _ in range(50)),
    ]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        *noise,
        json.dumps({"jsonrpc": "2.0", "id": 99, "method": "tools/list"}),
    ]
    command = [sys.executable, "-m", "ptxloom", "mcp", str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("\n".join(lines).encode("utf-8", "surrogatepass") + b"\n")
        server.stdin.flush()
        answers: dict[str, Any] = {}
        for line in server.stdout:
            said = json.loads(line)
            answers[str(said.get("id"))] = said
            if said.get("id") == 99:
                break
        server.stdin.close()
        assert server.wait(60) == 0
    assert {one["name"] for one in answers["99"]["result"]["tools"]} == TOOLS


@pytest.mark.parametrize("name", ["", "..", "../kernels/../secret.ptx", "a" * 5000, "link.ptx", "no/../../secret.ptx"])
def test_no_name_leads_out_of_the_folder(folder: Path, name: str) -> None:
    with pytest.raises(OutOfFolder):
        Folder(folder.resolve()).file(name)
    for key in ('ptx = "{}"', '[[args]]\nnpy = "{}"', '[[args]]\nsave = "{}"', '[[compare]]\nequals = "{}"'):
        (folder / "l.toml").write_text(key.format("../secret.ptx"), encoding="utf-8")
        with pytest.raises(OutOfFolder):
            Folder(folder.resolve()).launch("l.toml")
