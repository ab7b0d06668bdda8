"""What a module holds: its kernels, what they use, and every matrix move with its form, legality and fragment."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from ptxloom.binding.sizes import declared_bytes
from ptxloom.checker import check
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, Severity
from ptxloom.fragments import Fragment, fragment, fragment_operands
from ptxloom.fragments.derive import HOLDERS
from ptxloom.isa import judged
from ptxloom.isa.matrix import MOVES
from ptxloom.survey import declarations, limits, parameter_texts, registers
from ptxloom.syntax import instructions
from ptxloom.syntax.places import origins_in
from ptxloom.syntax.tree import Declaration, Function, Instruction, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax import Module
    from ptxloom.syntax.origins import Origins, SourceLine

MATRIX_MOVES: Final = (*MOVES, "mma")
"""The opcodes all of whose forms hold matrices; of others those instructions count that do."""


@dataclass(frozen=True, slots=True)
class Move:
    """One instruction that moves or multiplies matrices.

    Attributes:
        instruction: The statement.
        verdict: "legal", "warning" or "error" by the checker; for an opcode without rules, "known form" or
            "not judged".
        fragments: Its operands' fragments; empty if ptxloom describes no such form.
        origin: The source line it was compiled from, if the file records it.
    """

    instruction: Instruction
    verdict: str
    fragments: tuple[Fragment, ...]
    origin: SourceLine | None

    @property
    def spelling(self) -> str:
        """Opcode and qualifiers as the file has them."""
        return self.instruction.spelling


@dataclass(frozen=True, slots=True)
class FunctionSummary:
    """A kernel or function with a body, and what it declares.

    Attributes:
        function: The statement.
        parameters: Its parameters as text: ".u64 a".
        registers: (type, how many) as declared; the hardware allocates fewer.
        shared_bytes: Shared memory that it declares itself.
        local_bytes: Local memory that it declares itself.
        limits: Its performance directives as text: ".maxntid 128, 1, 1".
        instructions: How many instructions its body has.
        moves: Its matrix moves in order.
    """

    function: Function
    parameters: tuple[str, ...]
    registers: tuple[tuple[str, int], ...]
    shared_bytes: int
    local_bytes: int
    limits: tuple[str, ...]
    instructions: int
    moves: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """A module and what was found in it."""

    module: Module
    functions: tuple[FunctionSummary, ...]
    shared_bytes: int  # declared outside functions
    dynamic_shared: bool  # whether the launch decides on more shared memory
    findings: tuple[Diagnostic, ...]


def inspect(module: Module, *, target: str | None = None, ptx_version: str | None = None) -> Inspection:
    """Look a module over.

    Args:
        module: As `parse` gave it.
        target: Judge for this target instead of the module's own.
        ptx_version: Judge for this version instead of the module's own.
    """
    findings = check(module, target=target, ptx_version=ptx_version)
    origins = origins_in(module)
    outside = [s for s in module.statements if isinstance(s, Declaration) and s.space == "shared"]
    return Inspection(
        module,
        tuple(_function(module, s, origins, findings) for s in module.statements if isinstance(s, Function) and s.body),
        sum(map(declared_bytes, outside)),
        any(s.linkage == "extern" for s in outside),
        findings,
    )


def _function(module: Module, function: Function, origins: Origins, findings: Sequence[Diagnostic]) -> FunctionSummary:
    """What one function declares and does."""
    inside = tuple(instructions(function))
    declared = declarations(function)
    return FunctionSummary(
        function=function,
        parameters=parameter_texts(module, function),
        registers=registers(declared),
        shared_bytes=sum(declared_bytes(d) for d in declared if d.space == "shared"),
        local_bytes=sum(declared_bytes(d) for d in declared if d.space == "local"),
        limits=limits(function),
        instructions=len(inside),
        moves=tuple(_moves(inside, origins, findings)),
    )


def _moves(inside: Sequence[Instruction], origins: Origins, findings: Sequence[Diagnostic]) -> Iterator[Move]:
    """The matrix moves of a body, each with the line it was compiled from."""
    for node in inside:
        if node.opcode not in HOLDERS:
            continue
        fragments = _fragments(node)
        if fragments or node.opcode in MATRIX_MOVES:
            verdict = _verdict(node, findings, "known form" if fragments else "not judged")
            yield Move(node, verdict, fragments, origins.at(node.start))


def _verdict(instruction: Instruction, findings: Sequence[Diagnostic], otherwise: str) -> str:
    """The worst finding of the checker about an instruction; `otherwise` if it has no rules about the opcode."""
    first = bisect_left(findings, instruction.start, key=_start)
    last = bisect_left(findings, instruction.end, first, key=_start)
    said = {finding.severity for finding in findings[first:last]}
    if Severity.ERROR in said:
        return "error"
    if Severity.WARNING in said:
        return "warning"
    return "legal" if judged(instruction.opcode) else otherwise


def _start(finding: Diagnostic) -> int:
    """Findings stand in this order."""
    return finding.span.start


def _fragments(instruction: Instruction) -> tuple[Fragment, ...]:
    """The fragments of an instruction's matrix operands; empty if it names no form."""
    try:
        operands = fragment_operands(instruction)
        if instruction.opcode == "wgmma" and not isinstance(instruction.operands[1], Vector):
            operands = tuple(operand for operand in operands if operand != "a")  # a descriptor gives its address
        return tuple(fragment(instruction, operand) for operand in operands)
    except PtxloomError:
        return ()
