"""The Model Context Protocol over standard input and output; only this module knows it."""

# ruff: noqa: TC001, TC003 - types of arguments are read when tools are made

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal

import anyio
import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from ptxloom import __version__
from ptxloom.diagnostics import PtxloomError
from ptxloom.tool_server.asking import COULD_NOT_RUN, Answer
from ptxloom.tool_server.tools import Desk

_SIDE_BY_SIDE: Final = 2
_ABOUT: Final = (
    "ptxloom reads, checks and runs NVIDIA PTX without a GPU, with the bits that hardware computes. Start with `check` "
    "for PTX, `run` for a kernel with its launch file, `why` if a result is wrong, `explain` for any word of PTX, rule "
    "or hazard in a result. Names of files are relative to the folder that the server was started for."
)

Instruction = Annotated[str, Field(description="in full or in short: ldmatrix.x4.trans, mma.m16n8k16.f32.f16.f16.f32")]
Operand = Annotated[
    Literal["a", "b", "c", "d", "e", "sfa", "sfb"] | None, Field(description="which operand of a product")
]
File = Annotated[str, Field(description="a file, relative to the folder")]
Launch = Annotated[str, Field(description="a launch file (TOML): which kernel runs on which arrays")]
Target = Annotated[str | None, Field(description="an architecture, such as sm_90a")]
Numbers = Annotated[str | None, Field(pattern=r"^(0[xX])?[0-9a-fA-F,xX]*$", description="numbers, comma-separated")]


class Said(BaseModel):
    """The result of a tool."""

    outcome: Annotated[str, Field(description="clean, or findings")]
    text: Annotated[str, Field(description="as ptxloom prints it")]
    is_cut: Annotated[bool, Field(description="whether the result was cut")] = False


def served(desk: Desk) -> MCPServer[Any]:
    """A server whose tools a desk carries out."""
    server: MCPServer[Any] = MCPServer("ptxloom", instructions=_ABOUT, version=__version__, log_level="ERROR")
    slots = anyio.CapacityLimiter(_SIDE_BY_SIDE)
    tools = Tools(desk)
    for name in (name for name in vars(Tools) if not name.startswith("_")):
        server.add_tool(_waiting(getattr(tools, name), slots), name=name.rstrip("_"), structured_output=True)
    return server


def serve(desk: Desk) -> None:
    """Speak the protocol until the client hangs up."""
    served(desk).run("stdio")


def _said(answer: Answer) -> Said:
    """A result in the form of the protocol.

    Raises:
        ToolError: The verb could not run.
    """
    if answer.outcome == COULD_NOT_RUN:
        raise ToolError(answer.text)
    return Said(outcome=answer.outcome, text=answer.text, is_cut=answer.is_cut)


def _waiting(tool: Callable[..., Said], slots: anyio.CapacityLimiter) -> Callable[..., Any]:
    """A tool beside which the server goes on to read; wrong questions are errors of the tool."""

    @functools.wraps(tool)
    async def waited(**arguments: Any) -> Said:
        try:
            return await anyio.to_thread.run_sync(functools.partial(tool, **arguments), limiter=slots)
        except PtxloomError as error:
            raise ToolError(str(error)) from None

    return waited


class Tools:
    """Every tool: its signature is its schema, its docstring the description for clients."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def _verb(self, verb: str, *words: str, **options: object) -> Said:
        return _said(self._desk.verb(verb, *words, **options))

    def check(
        self,
        file: Annotated[str | None, Field(description="a PTX file")] = None,
        text: Annotated[str | None, Field(description="PTX, instead of a file")] = None,
        target: Target = None,
    ) -> Said:
        """Is PTX legal? Errors and warnings, each with its line, its reason and its repair."""
        return _said(self._desk.check(file, text, target))

    def explain(
        self, word: Annotated[str, Field(description="an opcode, a rule, a hazard, %laneid, .reqntid")]
    ) -> Said:
        """The page of a word of PTX: an instruction's forms, what a rule or a hazard means and what to do."""
        return self._verb("explain", word)

    def map_(self, instruction: Instruction, operand: Operand = None) -> Said:
        """Which lane and register holds which element of a matrix."""
        return self._verb("map", instruction, operand=operand)

    def where(
        self,
        instruction: Instruction,
        operand: Operand = None,
        *,
        lane: int | None = None,
        row: int | None = None,
        column: int | None = None,
        matrix: int | None = None,
    ) -> Said:
        """What one lane holds, or who holds a row or an element."""
        return self._verb("where", instruction, operand=operand, lane=lane, row=row, column=column, matrix=matrix)

    def banks(
        self,
        instruction: Instruction,
        *,
        pitch: Annotated[int | None, Field(description="bytes from one row of the tile to the next")] = None,
        stride: Annotated[int | None, Field(description="lane l accesses address l * stride")] = None,
        addresses: Numbers = None,
        swizzle: Annotated[str | None, Field(description="B,M,S of CuTe's Swizzle on 16-bit elements")] = None,
    ) -> Said:
        """The bank conflicts of one access to shared memory."""
        return self._verb("banks", instruction, pitch=pitch, stride=stride, addresses=addresses, swizzle=swizzle)

    def swizzle(
        self,
        tile: Annotated[str, Field(description="ROWSxCOLUMNS in elements, such as 64x64")],
        element: Annotated[str, Field(description="such as f16")],
        accesses: Annotated[list[str], Field(description="such as cp.async, tma, ldmatrix.x4.trans", max_length=8)],
        pitch: int | None = None,
    ) -> Said:
        """The swizzles and paddings of a tile in shared memory that avoid every bank conflict."""
        return _said(self._desk.swizzle(tile, element, accesses, pitch))

    def descriptor(
        self,
        bits: Annotated[str | None, Field(description="64 bits to read, or a tcgen05.mma")] = None,
        *,
        tile: Annotated[str | None, Field(description="MNxK in elements")] = None,
        element: Annotated[str | None, Field(description="the type of an element, such as bf16")] = None,
        major: Literal["k", "mn"] | None = None,
        swizzle: Literal["none", "32B", "64B", "128B", "128B_ATOM_32B"] | None = None,
        kind: Annotated[str | None, Field(description="bits are the instruction descriptor of this kind")] = None,
    ) -> Said:
        """The 64 bits of a matrix descriptor of wgmma or tcgen05: read, or made for a tile."""
        words = () if bits is None else (bits,)
        return self._verb("descriptor", *words, tile=tile, type=element, major=major, swizzle=swizzle, kind=kind)

    def tensormap(
        self,
        digits: Annotated[str | None, Field(pattern=r"^[0-9a-fA-F]{256}$", description="a map, to be read")] = None,
        *,
        data_type: Annotated[str | None, Field(description="such as FLOAT16")] = None,
        global_dim: Numbers = None,
        global_strides: Numbers = None,
        box_dim: Numbers = None,
        swizzle: Annotated[str | None, Field(description="none, 32B, 64B, 128B")] = None,
        coordinate: Annotated[str | None, Field(description="of a copy's first element: what the copy does")] = None,
    ) -> Said:
        """The 128 bytes of a tensor map: read, or made; and what a copy through it does."""
        words = () if digits is None else (digits,)
        made = {"data_type": data_type, "global_dim": global_dim, "global_strides": global_strides, "box_dim": box_dim}
        return self._verb("tensormap", *words, **made, swizzle=swizzle, coordinate=coordinate)

    def run(
        self,
        launch: Launch,
        checks: Annotated[str | None, Field(description="the tools that watch, comma-separated, or all")] = "all",
        seed: Annotated[int, Field(ge=0, description="another order of warps for each number")] = 0,
    ) -> Said:
        """Run a kernel on the CPU, bit for bit, under the sanitizers; compare what comes out."""
        return _said(self._desk.run(launch, checks, seed))

    def why(
        self,
        launch: Launch,
        attempt: Annotated[bool, Field(description="also run the kernel with the repair")] = False,
    ) -> Said:
        """Why the result of a kernel is wrong: the operand, the line, the cause, the repair."""
        return _said(self._desk.why(launch, attempt=attempt))

    def judge(
        self,
        kernel: Annotated[str, Field(description="PTX; CUDA C++ or Python, where the server trusts the folder")],
        against: Annotated[str, Field(description="a Python file with inputs(seed, shape), reference(...), shapes")],
        seeds: Annotated[int, Field(ge=1, le=100)] = 3,
        first_seed: int = 0,
    ) -> Said:
        """Whether a kernel computes what a reference does, or only seems to; tricks by name."""
        return _said(self._desk.judge(kernel, against, seeds, first_seed))
