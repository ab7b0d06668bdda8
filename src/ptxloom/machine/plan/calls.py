"""The arguments and results of every call, their places, and a check against the callee (PTX ISA 7.1).

Results and parameters are in the callee's frame, in order, after its head. A call and a function that disagree in
number or size are refused; a call through an address is checked against its prototype here, and against the function
when it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.binding.call_graph import call_of, reached_from
from ptxloom.binding.sizes import alignment_of, size_of
from ptxloom.machine.program.model import CallSite, SavedRegister, cells_of
from ptxloom.machine.program.signatures import SERVICES, Service, signature_of
from ptxloom.machine.program.symbols import FunctionName, Variable
from ptxloom.syntax import print_operand, tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ptxloom.machine.analysis.register_allocation import Life, Placement
    from ptxloom.machine.plan.register_parameters import Formals
    from ptxloom.machine.program.model import FunctionPlan, Op
    from ptxloom.machine.program.signatures import FrameSlot, Signature

_VERBS: Final = {"result": "gives", "argument": "takes"}


def plan_calls(
    functions: Sequence[FunctionPlan], ops: Sequence[Op], formals: Mapping[int, Formals], placement: Placement
) -> Mapping[int, CallSite]:
    """Every call of a program, by site.

    Args:
        functions: The program's functions, with their places.
        ops: Its instructions.
        formals: The declaration of a call's function, prototype or list of targets, by site, if known.
        placement: The places of its registers.

    Raises:
        UnsupportedInstruction: A call and its function disagree.
    """
    ops = [op for op in ops if op.opcode == "call"]
    calls = {op.site: _call(op, functions, formals.get(op.site)) for op in ops}
    reached = reached_from(_edges(functions, ops, calls))
    for op in ops:
        again = any(op.function.number in reached[number] for number in _targets(functions, calls[op.site]))
        if again:
            calls[op.site] = _keeping(calls[op.site], placement.alive_across(op.site))
    return calls


def _call(op: Op, functions: Sequence[FunctionPlan], formals: Formals | None) -> CallSite:
    named = call_of(op.node)
    if named is None:
        raise op.unsupported("it names no function")
    function = named.callee
    given = tuple(_variable(op, each, "a result") for each in named.results)
    passed = tuple(_variable(op, each, "an argument") for each in named.passed)
    found = op.scope.find(function.text) if isinstance(function, tree.Name) else None
    callee: FunctionPlan | Service | None = None
    name = f"`{print_operand(function)}`"
    if isinstance(found, FunctionName):
        callee = functions[found.number]  # the last one for another kernel, as it is a kernel, too
        if callee.is_entry:
            raise op.unsupported(f"{name} is a kernel, and a call reaches functions only")
        signature = callee.signature
    elif found is None and isinstance(function, tree.Name):
        callee = SERVICES.get(function.text)
        if callee is None:
            raise op.unsupported(f"no function {name} is defined")
        signature = callee.signature
    else:
        name = "the function called"
        signature = _declared(formals) if formals is not None else signature_of(_sizes(given), _sizes(passed))
    _agree(op, name, "result", signature.returns, given)
    _agree(op, name, "argument", signature.params, passed)
    return CallSite(callee, function, signature, given, passed)


def _variable(op: Op, operand: tree.Operand, what: str) -> Variable:
    found = op.scope.find(operand.text) if isinstance(operand, tree.Name) else None
    if not isinstance(found, Variable) or found.space != "local":  # the space of `.param` variables of functions
        raise op.unsupported(f"{what} is not a `.param` variable")
    return found


def _sizes(variables: Iterable[Variable]) -> Iterable[tuple[int, int]]:
    return ((variable.size, variable.alignment) for variable in variables)


def _declared(formals: Formals) -> Signature:
    returns, params = (
        [(size_of(d, each), alignment_of(d)) for d in declarations for each in d.declarators]
        for declarations in (formals.returns, formals.params)
    )
    return signature_of(returns, params)


def _agree(op: Op, name: str, what: str, slots: tuple[FrameSlot, ...], given: tuple[Variable, ...]) -> None:
    verb = _VERBS[what]
    if len(slots) != len(given):
        plural = "s" * (len(slots) != 1)
        raise op.unsupported(f"{name} {verb} {len(slots)} {what}{plural}, and this call has {len(given)}")
    for number, (slot, variable) in enumerate(zip(slots, given, strict=True), 1):
        if slot.size != variable.size:
            has = f"and `{variable.name}` has {variable.size:,}"
            raise op.unsupported(f"{name} {verb} {slot.size:,} bytes as {what} {number}, {has}")


def _targets(functions: Sequence[FunctionPlan], call: CallSite) -> Iterable[int]:
    """The functions that a call may enter, by number: a call through an address any that matches."""
    match call.callee:
        case Service():
            return ()
        case None:
            return [f.number for f in functions if not f.is_entry and f.signature == call.signature]
        case callee:
            return (callee.number,)


def _edges(
    functions: Sequence[FunctionPlan], ops: Sequence[Op], calls: Mapping[int, CallSite]
) -> Mapping[int, set[int]]:
    edges: dict[int, set[int]] = {f.number: set() for f in functions}
    for op in ops:
        edges[op.function.number].update(_targets(functions, calls[op.site]))
    return edges


def _keeping(call: CallSite, lives: Iterable[Life]) -> CallSite:
    kept: list[SavedRegister] = []
    cell = 0
    for life in lives:
        kept.append(SavedRegister(life.place, life.size, cell))
        cell += cells_of(life.size)
    return CallSite(call.callee, call.function, call.signature, call.results, call.arguments, tuple(kept))
