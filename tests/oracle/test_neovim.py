"""The configuration for Neovim, in a Neovim without windows: it starts the server and shows what that says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls", reason="pygls, with which the language server speaks, is not installed")

ROOT = Path(__file__).parents[2]
PTX = """\
.version 8.7
.target sm_90
.visible .entry k()
{
    .reg .b32 %r<9>;
    /* 𝄞 */ stmatrix.sync.aligned.m16n8.x4.b8 [%r1], {%r2,%r3,%r4,%r5};
    ret;
}
"""
SCRIPT = """
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 20)
local found = {}
for _, one in ipairs(vim.diagnostic.get(0)) do
  table.insert(found, { one.lnum, one.col, one.code })
end
vim.api.nvim_win_set_cursor(0, { 6, 20 })
local said = vim.lsp.buf_request_sync(0, "textDocument/hover", vim.lsp.util.make_position_params(), 60000)
local hover
for _, one in pairs(said) do hover = one.result.contents.value end
vim.fn.writefile({ vim.fn.json_encode({ found = found, filetype = vim.bo.filetype, hover = hover }) }, "said.json")
vim.cmd("qa!")
"""


@pytest.mark.oracle
@pytest.mark.skipif(shutil.which("nvim") is None, reason="nvim is not installed")
def test_neovim_shows_what_the_server_says(tmp_path: Path) -> None:
    plugins = tmp_path / "nvim" / "plugin"
    plugins.mkdir(parents=True)
    shutil.copy(ROOT / "editors" / "neovim" / "ptxloom.lua", plugins)
    program = tmp_path / "bin" / "ptxloom"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ptxloom "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    (tmp_path / "k.ptx").write_text(PTX, encoding="utf-8")
    (tmp_path / "ask.lua").write_text(SCRIPT, encoding="utf-8")
    homes = {f"XDG_{name}_HOME": str(tmp_path) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **homes, "PATH": path, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run(
        ["nvim", "--headless", "k.ptx", "-c", "luafile ask.lua"],
        cwd=tmp_path,
        env=environment,
        timeout=300,
        check=True,
        capture_output=True,
    )
    said: Any = json.loads((tmp_path / "said.json").read_text(encoding="utf-8"))
    column = len(PTX.splitlines()[5].encode().partition(b".m16n8")[0])  # Neovim counts bytes
    assert said["found"] == [[5, column, "missing-trans"]]
    assert said["filetype"] == "ptx"
    assert said["hover"].startswith("**stmatrix**")
