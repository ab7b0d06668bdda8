"""From the tree to a program: functions split into blocks, names resolved to places, calls to functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ptxloom.binding.call_graph import reachable
from ptxloom.binding.names import labelled
from ptxloom.binding.sizes import OPAQUE, align, alignment_of, parameters, size_of
from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import LOCAL_BYTES, PARAMETER_BYTES, SHARED_BYTES
from ptxloom.isa.types import is_type
from ptxloom.machine.analysis.address_sums import find_sums
from ptxloom.machine.analysis.register_allocation import Placement, place_registers
from ptxloom.machine.analysis.uniform_values import analyse
from ptxloom.machine.native import interrupts
from ptxloom.machine.plan.calls import plan_calls
from ptxloom.machine.plan.kept_effects import learn_effects
from ptxloom.machine.plan.register_parameters import Formals, entering, leaving, lowered, place_of
from ptxloom.machine.program.model import RESERVED, RESERVED_BYTES, BasicBlock, FunctionPlan, Op, Parameter, Program
from ptxloom.machine.program.parts import LOADS, used_bytes
from ptxloom.machine.program.series import Mentioned
from ptxloom.machine.program.signatures import FRAME_HEAD, FrameSlot, Signature
from ptxloom.machine.program.symbols import (
    ELSEWHERE,
    BlockLabel,
    BranchTable,
    FunctionName,
    Mark,
    Register,
    Scope,
    Variable,
)
from ptxloom.machine.program.unsupported import UnsupportedInstruction
from ptxloom.machine.program.variables import function_codes, module_variables
from ptxloom.meaning.types import ptx_type
from ptxloom.readings.effects import has_frames
from ptxloom.syntax import print_statements, tree

if TYPE_CHECKING:
    from ptxloom.machine.program.boundaries import Boundaries
    from ptxloom.syntax.module import Module

_LISTS: Final = (tree.CallTargets, tree.CallPrototype)  # label targets that are not for branches


def plan(module: Module, name: str, boundaries: Boundaries, target: str = "sm_90") -> Program:
    """Split a kernel and all functions that it can reach into blocks.

    Args:
        module: The parsed module.
        name: The kernel's name.
        boundaries: The instructions that start or end a block.
        target: The architecture of the tensor cores.

    Raises:
        UsageError: The module has no kernel of this name.
        UnsupportedInstruction: Something in it cannot be run.
    """
    function = module.functions.get(name)
    if function is None or function.kind != "entry" or function.body is None:
        raise UsageError("name", name, f"a kernel of the module: {', '.join(module.kernels) or 'it has none'}")
    return _Planner(module, function, boundaries).run(target)


class _Planner:
    def __init__(self, module: Module, entry: tree.Function, boundaries: Boundaries) -> None:
        self.module = module
        self.boundaries = boundaries
        self.outer = Scope()
        self.scopes: list[Scope] = [self.outer]
        self.shared = 0
        self.dynamic: list[tuple[Scope, str, tree.Declaration]] = []
        self.registers = 0
        self.frame_alignment = FRAME_HEAD  # of all frames, so that variables are aligned
        self.formals: dict[int, Formals] = {}  # of calls, by their sites
        self.used = -1  # by the next instruction
        self.inner: dict[int, Variable] = {}  # global and const variables by their declarators' identity
        reached = reachable(module, entry)
        self.plans = tuple(FunctionPlan(f, n, Scope(self.outer), f is entry) for n, f in enumerate(reached))
        self.scopes += [p.scope for p in self.plans]
        self.mentioned = Mentioned(reached)
        self.blocks: list[BasicBlock] = []
        self.ops: list[Op] = []
        self.tables: list[BranchTable] = []  # of the current function
        self.reserved_bytes = 0
        self.parameters: tuple[Parameter, ...] = ()
        self.parameter_bytes = 0

    def run(self, target: str) -> Program:
        self._module_names()
        for function in self.plans:
            self._function(function)
        if any(_names_reserved(op) for op in self.ops):
            self._reserve()
        shared_bytes = self.shared
        for scope, name, declaration in self.dynamic:
            at = align(self.shared, max(alignment_of(declaration), 16))
            _check_shared(declaration, at)
            declared = scope.names[name]
            assert isinstance(declared, Variable)
            scope.names[name] = replace(declared, offset=at)
            shared_bytes = max(shared_bytes, at)
        for function in self.plans:
            function.frame_bytes = align(function.frame_bytes, self.frame_alignment)
        learn_effects(op.opcode for op in self.ops)
        known = analyse(self.ops)
        sums = find_sums(self.blocks, known.uniform)
        placement = place_registers(self.blocks, known.uniform, sums)
        self._move_registers(placement)
        return Program(
            self.module, self.plans[-1], self.plans, target, tuple(self.blocks), tuple(self.ops),
            register_bytes=align(max(placement.size, 64), 64),
            shared_bytes=shared_bytes,
            reserved_bytes=self.reserved_bytes,
            parameters=self.parameters,
            parameter_bytes=self.parameter_bytes,
            calls=plan_calls(self.plans, self.ops, self.formals, placement),
            sums=sums,
            knowledge=placement.moved(known),
            has_calls=any(has_frames(op.node) for op in self.ops),
            is_paired=any(op.has("cta_group::2") for op in self.ops),
        )  # fmt: skip

    def _reserve(self) -> None:
        """Reserve the start of shared memory for the system: all variables move up."""
        shared = [
            (scope, name, variable)
            for scope in self.scopes
            for name, variable in scope.names.items()
            if isinstance(variable, Variable) and variable.space == "shared"
        ]
        by = align(RESERVED_BYTES, max((variable.alignment for _, _, variable in shared), default=1))
        for scope, name, variable in shared:
            scope.names[name] = replace(variable, offset=variable.offset + by)
        self.shared += by
        self.reserved_bytes = by

    def _move_registers(self, placement: Placement) -> None:
        """Assign one place to registers that are never live together, and drop those never mentioned."""
        places = placement.places
        for scope in self.scopes:
            for name, symbol in scope.names.items():
                if isinstance(symbol, Register) and symbol.offset in places:
                    scope.names[name] = replace(symbol, offset=places[symbol.offset])

    def _module_names(self) -> None:
        for number, kept in enumerate(module_variables(self.module)):
            name = kept.declarator.name
            variable = _variable(name, kept.declaration, number, size_of(kept.declaration, kept.declarator))
            self.inner[id(kept.declarator)] = variable
            if not kept.owner:
                self.outer.declare(name, variable)
        for statement in self.module.statements:
            if isinstance(statement, tree.Declaration) and statement.space not in {"global", "const"}:
                self._declare(statement, self.outer, None)
        codes = function_codes(self.module)
        for function in self.plans:
            self.outer.declare(function.name, FunctionName(function.name, function.number, codes[function.name]))
        for name in self.module.kernels:  # which the kernel may launch
            if name != self.plans[-1].name:
                self.outer.declare(name, FunctionName(name, ELSEWHERE, codes[name]))
        for statement in self.module.statements:
            if isinstance(statement, tree.Alias) and (target := self.outer.names.get(statement.target)):
                self.outer.declare(statement.name, target)

    def _function(self, function: FunctionPlan) -> None:
        function.first = len(self.blocks)
        if function.is_entry:
            self._entry_parameters(function)
        else:
            returns = self._frame_parameters(function, function.node.returns)
            function.signature = Signature(returns, self._frame_parameters(function, function.node.params))
        assert function.node.body is not None
        blocks: list[list[Op]] = [[]]
        if not function.is_entry:
            for load in entering(function.node.params):
                self._instruction(load, function.scope, function, blocks)
        self._statements(function.node.body.statements, function.scope, function, blocks)
        self._statement(tree.Instruction(None, "ret"), function.scope, function, blocks)  # falling off the end
        blocks.pop()
        for table in self.tables:
            table.resolve()
        self.tables.clear()
        called: Op | None = None
        for ops in blocks:
            self.blocks.append(BasicBlock(len(self.blocks), tuple(ops), function, called))
            called = ops[-1] if ops and ops[-1].opcode == "call" else None

    def _entry_parameters(self, function: FunctionPlan) -> None:
        placed = parameters(function.node.params)
        found: list[Parameter] = []
        for declaration, declarator, at, size in placed:
            variable = _variable(declarator.name, declaration, at, size)
            type_ = ptx_type("b64" if declaration.type in OPAQUE else declaration.type)
            array = bool(declarator.dimensions)
            found.append(Parameter(declarator.name, type_, at, size, array, variable.alignment))
            function.scope.declare(declarator.name, variable)
            if at + size > PARAMETER_BYTES:
                raise _refused(declaration, f"a kernel has no more than {PARAMETER_BYTES:,} bytes of parameters")
        self.parameters = tuple(found)
        self.parameter_bytes = placed[-1].end if placed else 0

    def _frame_parameters(
        self, function: FunctionPlan, declarations: tuple[tree.Declaration, ...]
    ) -> tuple[FrameSlot, ...]:
        slots: list[FrameSlot] = []
        for declaration in declarations:
            for declarator in declaration.declarators:
                name = declarator.name
                if declaration.space == "reg":
                    if declaration.type == "pred":
                        raise _refused(declaration, "a predicate cannot be a parameter here")
                    self._registers(declaration, declarator, function.scope)
                    name = place_of(name)
                variable = self._in_frame(declaration, declarator.replace(name=name), function.scope, function)
                if not variable.size:
                    raise _refused(
                        declaration, "the machine calls no function with a variable number of arguments: give it a size"
                    )
                slots.append(FrameSlot(variable.offset, variable.size))
        return tuple(slots)

    def _in_frame(
        self, declaration: tree.Declaration, declarator: tree.Declarator, scope: Scope, function: FunctionPlan
    ) -> Variable:
        at = align(function.frame_bytes, alignment_of(declaration))
        size = size_of(declaration, declarator)
        if at + size - FRAME_HEAD > LOCAL_BYTES:
            raise _refused(declaration, f"a thread has no more than {LOCAL_BYTES:,} bytes of local memory")
        variable = replace(_variable(declarator.name, declaration, at, size), space="local")
        self.frame_alignment = max(self.frame_alignment, variable.alignment)
        function.frame_bytes = at + size
        scope.declare(declarator.name, variable)
        return variable

    def _declare(self, declaration: tree.Declaration, scope: Scope, function: FunctionPlan | None) -> Scope:
        """Place declared names; returns the scope of later instructions, as earlier ones keep their meaning."""
        for declarator in declaration.declarators:
            name = declarator.name
            inner = scope if function is None else scope.behind(name, declarator.count)
            if inner is not scope:
                self.scopes.append(inner)
                scope = inner
            size = 0 if declaration.space == "reg" else size_of(declaration, declarator)
            match declaration.space:
                case "reg":
                    self._registers(declaration, declarator, scope)
                case "shared" if not size:
                    self.dynamic.append((scope, name, declaration))
                    scope.declare(name, _variable(name, declaration, 0, 0))
                case "shared":
                    self.shared = align(self.shared, alignment_of(declaration))
                    scope.declare(name, _variable(name, declaration, self.shared, size))
                    self.shared += size
                    _check_shared(declaration, self.shared)
                case "local" | "param" if function is not None:
                    self._in_frame(declaration, declarator, scope, function)
                case "global" | "const":
                    scope.declare(name, self.inner[id(declarator)])
                case space:
                    raise _refused(declaration, f"a variable in .{space} here")
        return scope

    def _registers(self, declaration: tree.Declaration, declarator: tree.Declarator, scope: Scope) -> None:
        type_ = ptx_type(declaration.type)
        vector = max(declaration.vector, 1)
        one = Register(type_, 0).bytes
        at = align(self.registers, min(one, 64))
        for name in self.mentioned.members(declarator):
            scope.declare(name, Register(type_, at, vector))
            at += one * vector
        if declarator.count is not None:
            scope.declare(declarator.name, None, declarator.count)
        self.registers = at

    def _statements(
        self, statements: tuple[tree.Statement, ...], scope: Scope, function: FunctionPlan, blocks: list[list[Op]]
    ) -> None:
        labels = scope.labels
        for name, after in labelled(statements):
            if isinstance(after, tree.BranchTargets):
                labels[name] = table = BranchTable(after, scope)
                self.tables.append(table)
            elif isinstance(after, _LISTS):
                labels[name] = after
        for statement in statements:
            interrupts.check()
            match statement:
                case tree.Label(name):
                    if name not in labels:
                        self._label(name, labels, function, blocks)
                case tree.Declaration():
                    scope = self._declare(statement, scope, function)
                case _:
                    self._statement(statement, scope, function, blocks)

    def _statement(
        self, statement: tree.Statement, scope: Scope, function: FunctionPlan, blocks: list[list[Op]]
    ) -> None:
        match statement:
            case tree.Block():
                self.scopes.append(Scope(scope))
                self._statements(statement.statements, self.scopes[-1], function, blocks)
            case tree.Instruction(opcode="call"):
                self._call(statement, scope, function, blocks)
            case tree.Instruction():
                if statement.opcode == "ret" and not function.is_entry:
                    for store in leaving(statement, function.node.returns):
                        self._instruction(store, scope, function, blocks)
                self._instruction(statement, scope, function, blocks)
            case tree.Pragma(strings=strings):
                self.used = used_bytes(strings)
            case tree.Malformed():
                raise UnsupportedInstruction(statement.span.line, statement.text.strip(), "it could not be read")
            case _:
                pass

    def _label(self, name: str, labels: dict[str, Mark], function: FunctionPlan, blocks: list[list[Op]]) -> None:
        if blocks[-1] or (len(blocks) > 1 and blocks[-2] and blocks[-2][-1].opcode == "call"):
            blocks.append([])
        labels[name] = BlockLabel(function.first + len(blocks) - 1)

    def _call(self, node: tree.Instruction, scope: Scope, function: FunctionPlan, blocks: list[list[Op]]) -> None:
        """Plan a call; arguments and results in registers get places in the caller's frame."""

        def in_memory(operand: tree.Operand) -> bool:
            return isinstance(operand, tree.Name) and isinstance(scope.find(operand.text), Variable)

        formals = self._formals(node, scope)
        lists = [o.elements for o in node.operands if isinstance(o, tree.Arguments)]
        if formals is None or all(in_memory(element) for elements in lists for element in elements):
            self._instruction(node, scope, function, blocks)
            return
        call = lowered(node, formals, in_memory)
        inner = Scope(scope)
        self.scopes.append(inner)
        for name, declaration in call.places:
            self._in_frame(declaration, tree.Declarator(name), inner, function)
        for one in (*call.before, call.call, *call.after):
            self._instruction(one, inner, function, blocks)

    def _formals(self, node: tree.Instruction, scope: Scope) -> Formals | None:
        """The formals of a call's function, or of its prototype or list of targets."""
        for operand in node.operands:
            if isinstance(operand, tree.Name):
                named = scope.label(operand.text)
                name = named.names[0].text if isinstance(named, tree.CallTargets) else operand.text
                known = named if isinstance(named, tree.CallPrototype) else self.module.functions.get(name)
                if known is not None:
                    return Formals(known.returns, known.params)
        return None

    def _instruction(
        self, node: tree.Instruction, scope: Scope, function: FunctionPlan, blocks: list[list[Op]]
    ) -> None:
        types = tuple(ptx_type(q) for q in node.qualifiers if is_type(q))
        used, self.used = self.used, -1
        op = Op(node, scope, len(self.ops), types, function, used if node.opcode in LOADS else -1)
        self.ops.append(op)
        if self.boundaries.starts(op) and blocks[-1]:
            blocks.append([])
        blocks[-1].append(op)
        if self.boundaries.ends(op):
            blocks.append([])
        if op.opcode == "call":
            blocks.append([])  # the callee returns into a block of its own
            formals = self._formals(node, scope)
            if formals is not None:
                self.formals[op.site] = formals


def _variable(name: str, declaration: tree.Declaration, offset: int, size: int) -> Variable:
    alignment = alignment_of(declaration)
    if alignment & alignment - 1:
        raise _refused(declaration, f"{alignment} is not a power of two, as alignments are")
    return Variable(name, declaration.space, offset, size, alignment, declaration.type)


def _check_shared(declaration: tree.Declaration, end: int) -> None:
    if end > SHARED_BYTES:
        raise _refused(declaration, f"a CTA has no more than {SHARED_BYTES} bytes of shared memory")


def _names_reserved(op: Op) -> bool:
    """Whether an instruction reads the address of the system's part of shared memory."""
    return any(isinstance(o, tree.Name) and o.text.startswith(RESERVED) for o in op.operands)


def _refused(declaration: tree.Declaration, why: str) -> UnsupportedInstruction:
    text = " ".join(print_statements((declaration,)).split())
    return UnsupportedInstruction(declaration.span.line, text, why)
