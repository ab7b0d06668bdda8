"""A kernel made ready for translation: its functions cut into blocks, every name resolved to a place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.machine.analysis import Knowledge, analyse
from ptxloom.machine.folding import Sum, find_sums
from ptxloom.machine.parts import LOADS, used_bytes
from ptxloom.machine.passing import Formals, entering, is_named_by_us, leaving, lowered, place_of
from ptxloom.machine.placement import place_registers
from ptxloom.machine.reach import mark_recursion, reachable
from ptxloom.machine.symbols import FunctionName, Place, Register, Scope, Targets, Variable
from ptxloom.machine.types import Type, is_type, ptx_type
from ptxloom.machine.variables import align, alignment_of, function_codes, module_variables, size_of
from ptxloom.syntax import print_statements, tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine.assignment import Unsure
    from ptxloom.machine.flow import Boundaries
    from ptxloom.machine.provenance import Provenance
    from ptxloom.syntax.module import Module

SHARED_LIMIT = 227 * 1024  # bytes a CTA may have
RESERVED_BYTES = 1024  # the system's own at the start of shared memory, from sm_80 on (PTX ISA 10.29)
RESERVED = "%reserved_smem_offset_"  # how the registers begin that tell of it
_LONGEST = 200  # characters of an instruction that a message shows
FRAME_HEAD = 16  # bytes at a frame's start: block to return to, caller's frame bytes


class UnsupportedInstruction(PtxloomError):  # noqa: N818 - says what was met, as UnsupportedForm does
    """The machine cannot run an instruction (or directive); nothing has been run.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> text = ".version 9.0 .target sm_90a .entry k() { wgmma.fence.sync.aligned; ret; }"
        >>> try:
        ...     kernel(parse(text), "k")
        ... except UnsupportedInstruction as error:
        ...     print(error)
        line 1: `wgmma.fence.sync.aligned;` cannot run: the products of warpgroups are not supported
    """

    def __init__(self, line: int, text: str, why: str = "the machine does not know it") -> None:
        line_of_it = " ".join(text.split())
        shown = line_of_it if len(line_of_it) <= _LONGEST else f"{line_of_it[:_LONGEST]}…"
        super().__init__(f"line {line}: `{shown}` cannot run: {why}")
        self.line = line
        self.text = text


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One instruction in its place: what semantics are given.

    Attributes:
        node: The instruction of the tree.
        scope: Where its names are looked up.
        site: Its number in the program, from 0: run-time reports carry it.
        types: Its type qualifiers in order.
        used: Bit by bit the bytes of a load that are used, where `.pragma "used_bytes_mask"` says so; else all are.
    """

    node: tree.Instruction
    scope: Scope
    site: int
    types: tuple[Type, ...]
    function: FunctionPlan
    used: int = -1

    @property
    def opcode(self) -> str:
        """Such as `ld`."""
        return self.node.opcode

    @property
    def qualifiers(self) -> tuple[str, ...]:
        """Such as ("global", "nc", "v4", "f32")."""
        return self.node.qualifiers

    @property
    def operands(self) -> tuple[tree.Operand, ...]:
        """As written: destinations first."""
        return self.node.operands

    @property
    def type(self) -> Type:
        """Its last type qualifier: the one that most instructions compute in."""
        if not self.types:
            raise self.unsupported("it names no type")
        return self.types[-1]

    @property
    def line(self) -> int:
        """The PTX line."""
        return self.node.span.line

    @property
    def text(self) -> str:
        """The instruction as PTX, on one line; as written if names of ours stand in it."""
        text = print_statements((self.node,))
        if is_named_by_us(text):
            text = self.node.source.text[self.node.start : self.node.end]
        return " ".join(text.split())

    def has(self, *qualifiers: str) -> bool:
        """Whether it carries any of these qualifiers."""
        return any(q in self.node.qualifiers for q in qualifiers)

    def one_of(self, qualifiers: Iterable[str], default: str = "") -> str:
        """The first of its qualifiers that is among these."""
        known = frozenset(qualifiers)
        return next((q for q in self.node.qualifiers if q in known), default)

    def unsupported(self, why: str = "the machine does not know this form") -> UnsupportedInstruction:
        """The exception to raise for a form that is not implemented."""
        return UnsupportedInstruction(self.line, self.text, why)


@dataclass(frozen=True, slots=True, eq=False)
class BasicBlock:
    """Instructions that run one after the other; only the last one may go elsewhere."""

    number: int
    ops: tuple[Op, ...]
    function: FunctionPlan
    after: Op | None = None  # the call whose callee returns here


@dataclass(slots=True, eq=False)
class FunctionPlan:
    """A function with its names placed.

    Attributes:
        frame_bytes: What it needs of each lane's local memory.
        first: The number of its first block.
        returns: Its return parameters in its frame, in order; likewise `params` (the entry's lie elsewhere).
    """

    node: tree.Function
    number: int
    scope: Scope
    is_entry: bool
    frame_bytes: int = FRAME_HEAD
    first: int = 0
    returns: tuple[Variable, ...] = ()
    params: tuple[Variable, ...] = ()
    recursive: bool = False
    kept: tuple[tuple[int, int], ...] = ()  # its registers: place in the file, bytes a lane (0: a predicate)

    @property
    def spill_bytes(self) -> int:
        """What all its registers take in a frame."""
        return align(sum(max(size, 4) for _, size in self.kept), 16)

    @property
    def name(self) -> str:
        """As written."""
        return self.node.name


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A parameter of the entry: where it lies and how it is declared."""

    name: str
    type: Type
    offset: int
    size: int
    is_array: bool
    alignment: int


@dataclass(slots=True, eq=False)
class Program:
    """A kernel with every function it can reach.

    Attributes:
        arch: Whose tensor cores compute: `sm_75` to `sm_90`.
        reserved_bytes: The system's part at the start of shared memory, in a program that can name it; nobody can
            tell in others, which therefore have none.
    """

    module: Module
    entry: FunctionPlan
    functions: tuple[FunctionPlan, ...]
    arch: str = "sm_90"
    blocks: list[BasicBlock] = field(default_factory=list[BasicBlock])
    ops: list[Op] = field(default_factory=list[Op])
    register_bytes: int = 64
    shared_bytes: int = 0
    reserved_bytes: int = 0
    parameters: tuple[Parameter, ...] = ()
    parameter_bytes: int = 0
    unsure: Unsure | None = None  # found when initcheck asks
    provenance: Provenance | None = None  # found when memcheck asks
    sums: dict[int, Sum] = field(default_factory=dict[int, Sum])  # of addresses, by the sites that use them
    knowledge: Knowledge = Knowledge({}, frozenset(), frozenset())  # noqa: RUF009 - immutable

    @property
    def has_calls(self) -> bool:
        """Whether any function calls another, or asks for memory on the stack."""
        return any(op.opcode in {"call", "alloca"} for op in self.ops)


def plan(module: Module, name: str, boundaries: Boundaries) -> Program:
    """Cut a kernel and all it can reach into blocks.

    Args:
        module: The parsed module.
        name: The kernel's name.
        boundaries: Which instructions start or end a block.

    Raises:
        UsageError: No kernel of the module has this name.
        UnsupportedInstruction: Something in it cannot be run.
    """
    function = module.functions.get(name)
    if function is None or function.kind != "entry" or function.body is None:
        kernels = [f.name for f in module.functions.values() if f.kind == "entry"]
        raise UsageError("name", name, f"a kernel of the module: {', '.join(kernels) or 'it has none'}")
    return _Planner(module, function, boundaries).run()


class _Planner:
    def __init__(self, module: Module, entry: tree.Function, boundaries: Boundaries) -> None:
        self.module = module
        self.boundaries = boundaries
        self.outer = Scope()
        self.scopes: list[Scope] = [self.outer]
        self.shared = 0
        self.dynamic: list[tuple[Scope, str, int]] = []
        self.registers = 0
        self.kept: list[tuple[int, int]] = []
        self.prototypes: dict[str, tree.CallPrototype] = {}  # of this function, by their labels
        self.targets: dict[str, str] = {}  # likewise the first of a list of targets
        self.used = -1  # of the instruction that follows
        self.inner: dict[int, Variable] = {}  # global and const variables by their declarators' identity
        reached = reachable(module, entry)
        self.plans = tuple(FunctionPlan(f, n, Scope(self.outer), f is entry) for n, f in enumerate(reached))
        self.scopes += [p.scope for p in self.plans]
        self.program = Program(module, self.plans[-1], self.plans)

    def run(self) -> Program:
        self._module_names()
        for function in self.plans:
            self._function(function)
        if any(_names_reserved(op) for op in self.program.ops):
            self._reserve()
        self.program.shared_bytes = self.shared
        for scope, name, alignment in self.dynamic:
            at = align(self.shared, max(alignment, 16))
            declared = scope.names[name]
            assert isinstance(declared, Variable)
            scope.names[name] = replace(declared, offset=at)
            self.program.shared_bytes = max(self.program.shared_bytes, at)
        self._place_registers()
        mark_recursion(self.program)
        return self.program

    def _reserve(self) -> None:
        """Leave the start of shared memory to the system: every variable moves up."""
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
        self.program.reserved_bytes = by

    def _place_registers(self) -> None:
        """Move registers that are never needed together to one place, and drop those never mentioned."""
        knowledge = analyse(self.program.ops)
        self.program.sums = find_sums(self.program.blocks, knowledge.uniform)
        placement = place_registers(self.program.blocks, knowledge.uniform, self.program.sums)
        places = placement.places
        self.program.register_bytes = align(max(placement.size, 64), 64)
        self.program.knowledge = knowledge.moved(placement)
        for scope in self.scopes:
            for name, symbol in scope.names.items():
                if isinstance(symbol, Register) and symbol.offset in places:
                    scope.names[name] = replace(symbol, offset=places[symbol.offset])
        for function in self.plans:
            function.kept = tuple(dict.fromkeys((places[at], size) for at, size in function.kept if at in places))

    def _module_names(self) -> None:
        for number, kept in enumerate(module_variables(self.module)):
            name = kept.declarator.name
            variable = _variable(name, kept.declaration, number, size_of(kept.declaration, kept.declarator))
            self.inner[id(kept.declarator)] = variable
            if not kept.owner:
                self.outer.names[name] = variable
        for statement in self.module.statements:
            if isinstance(statement, tree.Declaration) and statement.space not in {"global", "const"}:
                self._declare(statement, self.outer, None)
        codes = function_codes(self.module)
        for function in self.plans:
            self.outer.names[function.name] = FunctionName(function.name, function.number, codes[function.name])
        for statement in self.module.statements:
            if isinstance(statement, tree.Alias) and (target := self.outer.names.get(statement.target)):
                self.outer.names[statement.name] = target

    def _function(self, function: FunctionPlan) -> None:
        self.kept = []
        self.prototypes, self.targets = {}, {}
        function.first = len(self.program.blocks)
        if function.is_entry:
            self._entry_parameters(function)
        else:
            function.returns = self._frame_parameters(function, function.node.returns)
            function.params = self._frame_parameters(function, function.node.params)
        assert function.node.body is not None
        blocks: list[list[Op]] = [[]]
        if not function.is_entry:
            for load in entering(function.node.params):
                self._instruction(load, function.scope, function, blocks)
        self._statements(function.node.body.statements, function.scope, function, blocks)
        self._statement(tree.Instruction(None, "ret"), function.scope, function, blocks)  # falling off the end
        blocks.pop()
        called: Op | None = None
        for ops in blocks:
            self.program.blocks.append(BasicBlock(len(self.program.blocks), tuple(ops), function, called))
            called = ops[-1] if ops and ops[-1].opcode == "call" else None
        function.frame_bytes = align(function.frame_bytes, 16)
        function.kept = tuple(self.kept)

    def _entry_parameters(self, function: FunctionPlan) -> None:
        at = 0
        parameters: list[Parameter] = []
        for declaration in function.node.params:
            for declarator in declaration.declarators:
                alignment = alignment_of(declaration)
                at = align(at, alignment)
                size = size_of(declaration, declarator)
                type_ = Type("b64", "b", 64, "i64") if declaration.type.endswith("ref") else ptx_type(declaration.type)
                array = bool(declarator.dimensions)
                parameters.append(Parameter(declarator.name, type_, at, size, array, alignment))
                function.scope.names[declarator.name] = _variable(declarator.name, declaration, at, size)
                at += size
        self.program.parameters = tuple(parameters)
        self.program.parameter_bytes = at

    def _frame_parameters(
        self, function: FunctionPlan, declarations: tuple[tree.Declaration, ...]
    ) -> tuple[Variable, ...]:
        variables: list[Variable] = []
        for declaration in declarations:
            for declarator in declaration.declarators:
                name = declarator.name
                if declaration.space == "reg":
                    if declaration.type == "pred":
                        raise _refused(declaration, "a predicate cannot be a parameter here")
                    self._registers(declaration, declarator, function.scope)
                    name = place_of(name)
                place = declarator.replace(name=name)
                variables.append(self._in_frame(declaration, place, function.scope, function))
        return tuple(variables)

    def _in_frame(
        self, declaration: tree.Declaration, declarator: tree.Declarator, scope: Scope, function: FunctionPlan
    ) -> Variable:
        at = align(function.frame_bytes, alignment_of(declaration))
        size = size_of(declaration, declarator)
        variable = replace(_variable(declarator.name, declaration, at, size), space="local")
        function.frame_bytes = at + variable.size
        scope.names[declarator.name] = variable
        return variable

    def _declare(self, declaration: tree.Declaration, scope: Scope, function: FunctionPlan | None) -> None:
        for declarator in declaration.declarators:
            name = declarator.name
            size = 0 if declaration.space == "reg" else size_of(declaration, declarator)
            match declaration.space:
                case "reg":
                    self._registers(declaration, declarator, scope)
                case "shared" if not size:
                    self.dynamic.append((scope, name, alignment_of(declaration)))
                    scope.names[name] = _variable(name, declaration, 0, 0)
                case "shared":
                    self.shared = align(self.shared, alignment_of(declaration))
                    scope.names[name] = _variable(name, declaration, self.shared, size)
                    self.shared += size
                    if self.shared > SHARED_LIMIT:
                        raise _refused(declaration, f"a CTA has no more than {SHARED_LIMIT} bytes of shared memory")
                case "local" | "param" if function is not None:
                    self._in_frame(declaration, declarator, scope, function)
                case "global" | "const":
                    scope.names[name] = self.inner[id(declarator)]
                case space:
                    raise _refused(declaration, f"a variable in .{space} here")

    def _registers(self, declaration: tree.Declaration, declarator: tree.Declarator, scope: Scope) -> None:
        type_ = ptx_type(declaration.type)
        vector = max(declaration.vector, 1)
        if declarator.count is None:
            names = [declarator.name]
        else:
            names = [f"{declarator.name}{n}" for n in range(declarator.count)]
        one = Register(type_, 0).bytes
        at = align(self.registers, min(one, 64))
        for name in names:
            scope.names[name] = Register(type_, at, vector)
            self.kept += [(at + n * one, one // 32) for n in range(vector)]
            at += one * vector
        self.registers = at

    def _statements(
        self, statements: tuple[tree.Statement, ...], scope: Scope, function: FunctionPlan, blocks: list[list[Op]]
    ) -> None:
        named: tree.Label | None = None
        for statement in statements:
            label, named = named, None
            match statement:
                case tree.Label():
                    if label is not None:
                        self._label(label, scope, function, blocks)
                    named = statement
                    continue
                case tree.BranchTargets() | tree.CallTargets() if label is not None:
                    scope.names[label.name] = Targets(tuple(n.text for n in statement.names))
                    self.targets[label.name] = statement.names[0].text
                    continue
                case tree.CallPrototype() if label is not None:
                    scope.names[label.name] = Targets(())
                    self.prototypes[label.name] = statement
                    continue
                case _:
                    pass
            if label is not None:
                self._label(label, scope, function, blocks)
            self._statement(statement, scope, function, blocks)
        if named is not None:
            self._label(named, scope, function, blocks)

    def _statement(
        self, statement: tree.Statement, scope: Scope, function: FunctionPlan, blocks: list[list[Op]]
    ) -> None:
        match statement:
            case tree.Declaration():
                self._declare(statement, scope, function)
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

    def _label(self, label: tree.Label, scope: Scope, function: FunctionPlan, blocks: list[list[Op]]) -> None:
        if blocks[-1] or (len(blocks) > 1 and blocks[-2] and blocks[-2][-1].opcode == "call"):
            blocks.append([])
        scope.names[label.name] = Place(function.first + len(blocks) - 1)

    def _call(self, node: tree.Instruction, scope: Scope, function: FunctionPlan, blocks: list[list[Op]]) -> None:
        """A call; what it passes in registers is given places in the caller's frame."""

        def in_memory(operand: tree.Operand) -> bool:
            return isinstance(operand, tree.Name) and isinstance(scope.find(operand.text), Variable)

        formals = self._formals(node)
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

    def _formals(self, node: tree.Instruction) -> Formals | None:
        """What the function takes that a call names, or the prototype or list of targets that it does."""
        for operand in node.operands:
            if isinstance(operand, tree.Name):
                name = operand.text
                known = self.module.functions.get(self.targets.get(name, name)) or self.prototypes.get(name)
                if known is not None:
                    return Formals(known.returns, known.params)
        return None

    def _instruction(
        self, node: tree.Instruction, scope: Scope, function: FunctionPlan, blocks: list[list[Op]]
    ) -> None:
        types = tuple(ptx_type(q) for q in node.qualifiers if is_type(q))
        used, self.used = self.used, -1
        op = Op(node, scope, len(self.program.ops), types, function, used if node.opcode in LOADS else -1)
        self.program.ops.append(op)
        if self.boundaries.starts(op) and blocks[-1]:
            blocks.append([])
        blocks[-1].append(op)
        if self.boundaries.ends(op):
            blocks.append([])
        if op.opcode == "call":
            blocks.append([])  # the callee returns into a block of its own


def _variable(name: str, declaration: tree.Declaration, offset: int, size: int) -> Variable:
    return Variable(name, declaration.space, offset, size, alignment_of(declaration), declaration.type)


def _names_reserved(op: Op) -> bool:
    """Whether an instruction reads where the system's part of shared memory lies."""
    return any(isinstance(o, tree.Name) and o.text.startswith(RESERVED) for o in op.operands)


def _refused(declaration: tree.Declaration, why: str) -> UnsupportedInstruction:
    text = " ".join(print_statements((declaration,)).split())
    return UnsupportedInstruction(declaration.span.line, text, why)
