"""The page of what compilers were found to do, made from the recordings beside this file.

`ptxas_programs.json`: programs of `ptxloom fuzz`, shrunk, with what each compiler's code left on an H200.
`fuzzx.json`: what the programs of SemiAnalysisAI/FuzzX left in ptxloom and on an H200; the programs are theirs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
PAGE: Final = FOLDER.parents[2] / "docs" / "ptxas-bugs.md"
RECORDED: Final[dict[str, Any]] = json.loads((FOLDER / "ptxas_programs.json").read_text(encoding="utf-8"))
FUZZX: Final[dict[str, Any]] = json.loads((FOLDER / "fuzzx.json").read_text(encoding="utf-8"))
_FRAME: Final = re.compile(
    r"\.(version|target|address_size|shared|visible|reg \.b64 %(in|y))|mov\.u32 %t|ld\.param\.u64"
    r"|mad\.(wide|lo)\.u32 %(in|n)|bar\.sync 0;$|ret;|(ld|st)\.(global|shared)\.v[24]|mul\.wide\.u32 %as"
    r"|and\.b32 %(n|y)|\{ \.reg \.b32 %y<4>"
)
_HEAD: Final = """# What ptxas gets wrong

[`ptxloom fuzz`](fuzz.md) compares programs with a GPU, which runs both unoptimised and optimised code. This page lists
every kind of difference that it found on an H200, shrunk, and says whose fault it is. Each program was then compiled by
the driver (CUDA 13.0) and by two ptxas, and run on the H200; a level is listed if its result differs from
ptxloom's.

"""
_OPEN: Final = """
## What PTX leaves open

None of these results is wrong: PTX bounds the error of approximations, or not even that, and compilers compute in
advance what they know.

"""
_GUARDS: Final = """
## Guards that are not respected

6,269 forms of instructions that one lane executes were run on an H200, each under a guard that was false. It wrote the
result of 1,046 nevertheless, at both `-O0` and `-O3`: 1,032 forms of `set`, all 12 of `testp`, and `vadd4` and `vsub4`
with `.add`.
"""
_FUZZX: Final = """
## FuzzX

[SemiAnalysisAI/FuzzX]({source}) lists 87 programs that ptxas miscompiles, or crashes on. ptxloom ran all of them
(commit {commit}), and {compiler} compiled them for an
{device}. The result is the hash that a program prints, or one of its output. Of the programs that have a result, all
but one have the same in ptxloom as on the GPU without optimisation.

| program | ptxloom | GPU, -O0 | GPU, optimised |
| --- | --- | --- | --- |
"""


def statements(program: dict[str, Any]) -> str:
    """What a program does, without what loads and stores its frame."""
    ptx = program["ptx"]
    body = ptx[ptx.index("{") + 1 : max(at for at, line in enumerate(ptx) if line == "}")]
    lines = [line for line in body if line.strip() and not _FRAME.match(line)]
    return "\n".join(lines)


def wrong(program: dict[str, Any]) -> str:
    """Whose code differs, and at which levels."""
    parts: list[str] = []
    for compiler, levels in program["wrong"].items():
        said = "every level" if levels == [0, 1, 2, 3] else ", ".join(f"-O{level}" for level in levels) or "no level"
        parts.append(f"{compiler}: {said}")
    return "; ".join(parts)


def _listed(kind: str) -> str:
    rows = [one for one in RECORDED["programs"] if one["kind"] == kind]
    return "\n".join(f"- {one['title']}.\n  {wrong(one)}.\n\n  ```ptx\n{_indented(one)}\n  ```\n" for one in rows)


def _indented(program: dict[str, Any]) -> str:
    return "\n".join(f"  {line}" for line in statements(program).splitlines())


def page() -> str:
    """The page."""
    rows = [
        f"| {one['id']} | `{one['ptxloom']}` | {one['unoptimised']} | {one['optimised']} |" for one in FUZZX["programs"]
    ]
    head = _FUZZX.format(**{name: FUZZX[name] for name in ("source", "commit", "compiler", "device")})
    listed = "\n".join(rows)
    return f"{_HEAD}{_listed('bug').rstrip()}\n{_GUARDS}{_OPEN}{_listed('open').rstrip()}\n{head}{listed}\n"
