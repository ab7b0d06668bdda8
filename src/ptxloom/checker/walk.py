"""The static judge: walks a module in the order of the text and applies every rule to every known instruction."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from ptxloom.checker.control_flow.aligned import divergent
from ptxloom.checker.control_flow.factors import factors
from ptxloom.checker.control_flow.lints import hints as asides
from ptxloom.checker.core.context import Platform, Site
from ptxloom.checker.core.scope import VisibleNames
from ptxloom.checker.core.signature import signature
from ptxloom.checker.findings.cascades import without_guesses
from ptxloom.checker.findings.grouping import of_series
from ptxloom.checker.findings.suppression import heed
from ptxloom.checker.instruction.availability import registers_suffice, still_there, target_suffices, version_suffices
from ptxloom.checker.instruction.calls import call, given_back
from ptxloom.checker.instruction.opcode import stranger
from ptxloom.checker.instruction.operands import each_operand, guard, operand_count
from ptxloom.checker.instruction.qualifiers import form_exists, tolerated
from ptxloom.checker.instruction.special_registers import special_registers_exist
from ptxloom.checker.instruction.texture_mode import texturing_mode
from ptxloom.checker.module.aliases import aliases
from ptxloom.checker.module.head import head, platform_of
from ptxloom.checker.module.labels import branch, targets
from ptxloom.checker.module.limits import limits
from ptxloom.checker.module.line_info import lines
from ptxloom.checker.module.names import names
from ptxloom.checker.module.performance import function_directives
from ptxloom.checker.module.variables import variables
from ptxloom.diagnostics import Findings, in_order, must_be
from ptxloom.flow import flow_graphs
from ptxloom.isa.load import instruction_classes, judged, known
from ptxloom.syntax.bind import bind
from ptxloom.syntax.module import A_MODULE, Module
from ptxloom.syntax.tree import Block, BranchTargets, Declaration, Function, Instruction

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.isa import PtxVersion, Target
    from ptxloom.syntax.tree import Statement

RULES: tuple[Callable[[Site], Iterator[Diagnostic]], ...] = (
    form_exists,
    tolerated,
    version_suffices,
    registers_suffice,
    target_suffices,
    still_there,
    guard,
    operand_count,
    each_operand,
    texturing_mode,
    special_registers_exist,
    call,
)
"""The rules for every instruction that the ISA data describes, in this order."""


MODULE_RULES: tuple[Callable[[Module, Platform], Iterator[Diagnostic]], ...] = (
    names,
    variables,
    limits,
    function_directives,
    aliases,
    lines,
)
"""The rules for every module as a whole."""
_BRANCHES = frozenset(("bra", "brx"))


def check(
    module: Module,
    target: Target | str | None = None,
    ptx_version: PtxVersion | str | None = None,
    *,
    hints: bool = False,
) -> Findings:
    r"""Everything that is wrong with a module, or may go wrong: what the parser found, then what the rules find.

    Args:
        module: What to check, however broken.
        target: Judge it for this architecture ("sm_120a") instead of the one it names.
        ptx_version: Judge it for this PTX version ("9.0") instead of the one it states.
        hints: Whether to report also unused names, code that control never reaches and a missing `ret`.

    Returns:
        The findings in the order of the text.

    Raises:
        UsageError: `module` is not a `Module`, or `target` or `ptx_version` is not spelled like one.

    Example:
        >>> from ptxloom.syntax import parse
        >>> m = parse(".version 9.0\n.target sm_90\n.entry k() { ldmatrix.sync.m8n8.x1.b16 {a}, [b]; }")
        >>> [found.rule for found in check(m)]
        ['missing-aligned']
    """
    must_be(Module, "module", module, A_MODULE)
    platform = platform_of(module, target, ptx_version)
    findings = [*module.diagnostics, *head(module, platform)]
    findings += _statements(module.statements, platform)
    for rule in MODULE_RULES:
        findings += rule(module, platform)
    graphs = flow_graphs(module)
    findings += divergent(graphs)
    findings += factors(graphs)
    notes = asides(module, graphs)
    if hints:
        findings += notes
    findings = of_series(module, in_order(without_guesses(module, findings)))
    return Findings(in_order(heed(module, findings, notes)))


def _statements(statements: tuple[Statement, ...], platform: Platform) -> Iterator[Diagnostic]:
    """The findings about statements and all that is nested in them, without recursion: blocks may nest deep."""
    scope, strangers = VisibleNames(), dict[str, str]()
    sound: set[Hashable] = set()
    waiting = [iter(statements)]
    while waiting:
        statement = next(waiting[-1], None)
        match statement:
            case None:
                waiting.pop()
                scope.close()
            case Instruction():
                yield from _any_instruction(statement, scope, platform, sound, strangers)
            case Declaration():
                scope.declare(statement)
            case Block(inner):
                scope.open(inner)
                waiting.append(iter(inner))
            case BranchTargets():
                yield from targets(statement, scope)
            case Function():
                inner = statement.body.statements if statement.body else ()
                scope.enter(statement)
                waiting.append(iter(inner))
            case _:
                pass


def _any_instruction(
    instruction: Instruction, scope: VisibleNames, platform: Platform, sound: set[Hashable], strangers: dict[str, str]
) -> Iterable[Diagnostic]:
    """The findings about an instruction that the data may not describe."""
    opcode = instruction.opcode
    if known(opcode):
        found = _instruction(instruction, scope, platform, sound) if judged(opcode) else ()
        return chain(found, branch(instruction, scope)) if opcode in _BRANCHES else found
    return () if opcode in instruction_classes() else (stranger(instruction, strangers),)


def _instruction(
    instruction: Instruction, scope: VisibleNames, platform: Platform, sound: set[Hashable]
) -> Iterator[Diagnostic]:
    """The findings about one instruction; if its signature is in `sound`, only the guard is checked."""
    like = signature(instruction, scope)
    if like in sound and instruction.predicate is None:
        return
    site = Site(bind(instruction), scope, platform)
    if like in sound:
        yield from guard(site)
        return
    findings = [finding for rule in RULES for finding in rule(site)]
    for name in given_back(instruction):
        scope.give_back(name)
    if not findings and like is not None:
        sound.add(like)
    yield from findings
