"""A conversation with `ptxloom mcp` by a client that shares no code with the protocol's own SDK: chuk-mcp."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra [mcp] is not installed")
chuk = pytest.importorskip("chuk_mcp", reason="chuk-mcp is not installed: pip install chuk-mcp")

SHOWN = Path(__file__).parents[3] / "examples"


def test_a_whole_conversation_by_another_client(tmp_path: Path) -> None:
    """A map, a check, a run that is wrong, and why."""
    folder = tmp_path / "kernels"
    shutil.copytree(SHOWN, folder)
    words = ["-m", "ptxloom", "mcp", str(folder), "--timeout", "300"]
    command = chuk.StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))

    async def main() -> None:
        async with chuk.stdio_client(command) as (read, write):
            begun = await chuk.send_initialize(read, write)
            assert begun.serverInfo.name == "ptxloom"
            listed = await chuk.send_tools_list(read, write)
            assert {"map", "check", "run", "why"} <= {one.name for one in listed.tools}

            async def asked(tool: str, **arguments: Any) -> tuple[str, str]:
                answer = await chuk.send_tools_call(read, write, tool, arguments, timeout=300)
                assert not answer.isError
                said: dict[str, Any] = answer.structuredContent or {}
                return str(said["outcome"]), str(said["text"])

            outcome, text = await asked("map", instruction="ldmatrix.x4.trans")
            assert outcome == "clean"
            assert "matrix 0" in text
            outcome, text = await asked("check", file="broken/missing_trans.ptx")
            assert outcome == "findings"
            assert "missing-trans" in text
            outcome, text = await asked("run", launch="tutorial/wrong.toml")
            assert outcome == "findings"
            assert "ptxloom why tutorial/wrong.toml" in text
            outcome, text = await asked("why", launch="tutorial/wrong.toml", attempt=True)
            assert outcome == "findings"
            assert "trans-missing" in text

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the client leaves streams of its own open
        asyncio.run(main())
        gc.collect()
