"""The plan of a kernel, and listings of it on its way to machine code, for debugging the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.machine.compile.hot_variant import hot_plan, hot_variant
from ptxloom.machine.compile.variant import translate
from ptxloom.machine.hot.refusal import NotHot
from ptxloom.machine.native import llvm, translation
from ptxloom.machine.native.closure import ATTRIBUTES
from ptxloom.machine.runtime import library
from ptxloom.machine.semantics import ROWS
from ptxloom.readings.computed import multiplies_operands
from ptxloom.syntax import print_statements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ptxloom.machine.kernel import Kernel
    from ptxloom.machine.program.model import BasicBlock, Op, Program
    from ptxloom.machine.program.parameters import KernelParameter
    from ptxloom.meaning.family import Row

__all__ = ["Plan", "PlannedBlock", "listing", "planned", "rows_of"]


@dataclass(frozen=True, slots=True)
class PlannedInstruction:
    """An instruction in its place.

    Attributes:
        site: Its number in the program, from 0.
        line: Its PTX line.
        text: As PTX.
        known: What the planner determined, in words.
    """

    site: int
    line: int
    text: str
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlannedBlock:
    """Instructions that run one after the other.

    Attributes:
        number: The block's, from 0.
        function: The name of the function that it is of.
        after: The line of the call whose callee returns here; 0 if none does.
        instructions: In order.
    """

    number: int
    function: str
    after: int
    instructions: tuple[PlannedInstruction, ...]


@dataclass(frozen=True, slots=True)
class PlannedFunction:
    """A function that the kernel calls.

    Attributes:
        name: The function's.
        first: The number of its first block.
        frame_bytes: Its frame in local memory, a thread.
    """

    name: str
    first: int
    frame_bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A kernel as the machine has planned it.

    Attributes:
        name: The kernel's.
        target: The architecture whose tensor cores compute.
        register_bytes: Registers, a warp.
        shared_bytes: Static shared memory, a CTA.
        parameters: In order.
        functions: Those that it calls.
        blocks: All blocks, in the order of their numbers.
    """

    name: str
    target: str
    register_bytes: int
    shared_bytes: int
    parameters: tuple[KernelParameter, ...]
    functions: tuple[PlannedFunction, ...]
    blocks: tuple[PlannedBlock, ...]


def planned(kernel: Kernel) -> Plan:
    """The plan of a kernel.

    Args:
        kernel: The kernel; `kernel.fused` for one whose products and sums are fused.
    """
    program = kernel.program
    functions = tuple(
        PlannedFunction(one.name, one.first, one.frame_bytes) for one in program.functions if not one.is_entry
    )
    return Plan(
        program.entry.name, str(program.target), program.register_bytes, program.shared_bytes, kernel.parameters,
        functions, tuple(_block(kernel, program, block) for block in program.blocks),
    )  # fmt: skip


def _block(kernel: Kernel, program: Program, block: BasicBlock) -> PlannedBlock:
    instructions = (PlannedInstruction(op.site, op.line, op.text, (*_known(kernel, program, op),)) for op in block.ops)
    return PlannedBlock(block.number, block.function.name, block.after.line if block.after else 0, (*instructions,))


def _known(kernel: Kernel, program: Program, op: Op) -> Iterator[str]:
    """What the planner determined about an instruction."""
    if op.site in program.knowledge.uniform_ops:
        yield "the same in all lanes"
    if op.site in program.sums:
        yield f"its address is the sum made at {program.sums[op.site].site}"
    fusion = kernel.fusions.get(op.node.start) if multiplies_operands(op.node) else None
    if fusion is not None:
        product, sum_ = (" ".join(print_statements((one,)).split()) for one in (fusion.product, fusion.sum))
        yield f"`{sum_}` fused with `{product}` of line {fusion.product.span.line}"


def listing(kernel: Kernel, stage: str, *, checks: Sequence[str] = (), whole: bool = True) -> str:
    """One stage of a kernel's code as text.

    Args:
        kernel: The kernel.
        stage: `ir`, its LLVM IR before LLVM has seen it; `hot`, what becomes of it in hot code, and the IR of that;
            `asm`, the host's assembly; `runtime`, the LLVM IR of every function of the run-time that it calls by
            itself, in the order of their names.
        checks: The tools that are compiled into it.
        whole: The code of whole warps, else that of warps of which lanes are missing; hot code is of whole ones.

    Raises:
        UsageError: There is no such stage.
    """
    made = _STAGES.get(stage)
    if made is None:
        raise UsageError("stage", stage, f"one of {', '.join(_STAGES)}")
    return made(kernel.program, whole, frozenset(checks))


def _ir(program: Program, whole: bool, checks: frozenset[str]) -> str:
    return translate(program, whole=whole, checks=checks).ir


def _assembly(program: Program, whole: bool, checks: frozenset[str]) -> str:
    return llvm.assembly(_ir(program, whole, checks), 0)


def _hot(program: Program, _whole: bool, checks: frozenset[str]) -> str:
    plan = "".join(f"; {line}\n" for line in hot_plan(program, checks).splitlines())
    try:
        return plan + hot_variant(program, checks).ir
    except NotHot:
        return plan


def _runtime(program: Program, whole: bool, checks: frozenset[str]) -> str:
    builder = translate(program, whole=whole, checks=checks).builder
    made = {native.signature.name: native.ir for native in map(translation.translate, builder.natives.values())}
    made |= {name: library.made(name)[0] for name in builder.accesses} | builder.helpers
    return "\n".join(f"; {name}\n{made[name].strip()}\n" for name in sorted(made)) + ATTRIBUTES


_STAGES: Final[dict[str, Callable[[Program, bool, frozenset[str]], str]]] = {
    "ir": _ir,
    "hot": _hot,
    "asm": _assembly,
    "runtime": _runtime,
}


def rows_of(opcode: str) -> tuple[Row[Any, Any], ...]:
    """The rows that define what an opcode does, in the order in which they are asked; empty if it is not known."""
    return tuple(ROWS.get(opcode, ()))
