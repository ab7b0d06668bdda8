"""Control flow: `bra`, `brx.idx`, `call`, `ret`, `exit`, `trap` (PTX ISA 9.7.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine import services
from ptxloom.machine.builder import W
from ptxloom.machine.ir import Value, vector
from ptxloom.machine.program import FRAME_HEAD, align
from ptxloom.machine.runtime import calls, firsts, memory, state
from ptxloom.machine.semantics.family import Family
from ptxloom.machine.symbols import FunctionName, Place, Targets, Variable
from ptxloom.syntax import print_operand, tree

if TYPE_CHECKING:
    from ptxloom.machine.builder import Builder
    from ptxloom.machine.program import FunctionPlan, Op

family: Final = Family()


@family("bra", ends=True)
def bra(b: Builder, op: Op) -> None:
    """Go to a label, each lane for itself."""
    target = _block_of(b, op.operands[0])
    if op.node.predicate is None:
        b.goto(target)
    else:
        b.branch(b.active_mask, target)


@family("brx", ends=True)
def brx(b: Builder, op: Op) -> None:
    """Go to the label that an index picks; past the list's end is undefined, the machine takes the last."""
    names = _targets(b, op.operands[1])
    blocks = [_block_of(b, tree.Name(name)) for name in names]
    index = b.read(op.operands[0], "u32")
    chosen = b.constant(vector("i32"), blocks[-1])
    for number, block in enumerate(blocks[:-1]):
        here = b.compare("eq", index, b.constant(index.type, number))
        chosen = b.select(here, b.constant(chosen.type, block), chosen)
    _scatter(b, chosen)


def _scatter(b: Builder, blocks: Value) -> None:
    """Active lanes go where a vector of block numbers says; the rest of the running lanes falls through."""
    if b.active is not None:
        blocks = b.select(b.lanes(b.active), blocks, b.constant(blocks.type, b.following))
    b.store(blocks, b.scratch(), 64)
    b.resume(b.native_call("scatter", W, b.mask))


def _block_of(b: Builder, operand: tree.Operand) -> int:
    """The number of the block a label names."""
    if isinstance(operand, tree.Name) and isinstance(found := b.find(operand.text), Place):
        return found.block
    raise b.op.unsupported(f"`{print_operand(operand)}` is no label")


def _targets(b: Builder, operand: tree.Operand) -> tuple[str, ...]:
    """The names listed by `.branchtargets`."""
    if isinstance(operand, tree.Name) and isinstance(found := b.find(operand.text), Targets):
        return found.names
    raise b.op.unsupported(f"`{print_operand(operand)}` names no list of targets")


@family("exit", ends=True)
def exit_(b: Builder, op: Op) -> None:
    """The lanes are done."""
    if b.active is None:
        b.ended = True
        b.native_call("leave_whole", W, Value("i32", str(op.site)))
        b.do(f"ret i32 {state.DONE}")
        return
    _if_any(b)
    b.resume(b.native_call("leave", W, b.active_mask, Value("i32", str(b.following)), Value("i32", str(op.site))))


def _if_any(b: Builder) -> None:
    """Fall through at once if no lane executes this instruction."""
    if b.op.node.predicate is None:
        return
    some, none = b.fresh("L"), b.fresh("L")
    empty = b.compare("eq", b.active_mask, Value("i32", "0"))
    b.do(f"br {empty}, label %{none}, label %{some}")
    b.label(none)
    b.goto(b.following)
    b.label(some)


@family("ret", ends=True)
def ret(b: Builder, op: Op) -> None:
    """Go back to the caller; in a kernel, exit."""
    if op.function.is_entry:
        exit_(b, op)
        return
    _if_any(b)
    b.resume(b.runtime(calls.give_back, W, b.active_mask, b.following))


@family("trap", ends=True)
def trap(b: Builder, op: Op) -> None:
    """Abort the kernel."""
    _if_any(b)
    b.runtime(memory.fault, W, state.TRAP, op.site, 0, 0, 0, 0, 0)
    b.do("br label %fault")
    b.ended = True


# -------------------------------------------------------------------------------------------------------------- calls


@family("call", ends=True)
def call(b: Builder, op: Op) -> None:
    """Call a function: arguments go into its frame, which follows the caller's; it returns to the next block."""
    function, arguments = _parts(op)
    _if_any(b)
    caller = op.function
    found = b.find(function.text) if isinstance(function, tree.Name) else None
    if found is None and isinstance(function, tree.Name):
        _service(b, op, function.text, arguments)
        return
    if "initcheck" in b.checks:
        _fresh_frame(b, op, found)
    at = align(FRAME_HEAD, 16)
    targets = _layout(op, found, b.program.functions)
    for operand, (offset, size) in zip(arguments, targets, strict=False):
        _pass(b, operand, caller.frame_bytes + offset, size)
    if caller.recursive:
        _registers(b, caller, restore=False)
    if isinstance(found, FunctionName):
        callee = b.program.functions[found.number]
        blocks = b.constant(vector("i32"), callee.first)
        frame = callee.frame_bytes
    else:
        blocks = _indirect(b, function)
        frame = max((f.frame_bytes for f in b.program.functions if not f.is_entry), default=at)
    entered = b.runtime(
        calls.enter, W, b.active_mask, frame_of(caller), frame + spill_bytes(b, None), b.following, op.site
    )
    b.check(entered)
    if b.active is not None:
        blocks = b.select(b.lanes(b.active), blocks, b.constant(blocks.type, b.following + 1))
    b.store(blocks, b.scratch(), 64)
    b.resume(b.native_call("scatter", W, b.mask))


def _fresh_frame(b: Builder, op: Op, found: object) -> None:
    """Tell initcheck that nothing is written in the callee's frame."""
    functions = b.program.functions
    if isinstance(found, FunctionName):
        size = functions[found.number].frame_bytes
    else:
        size = max((f.frame_bytes for f in functions if not f.is_entry), default=FRAME_HEAD)
    b.runtime(firsts.clear_frame, W, b.active_mask, frame_of(op.function), size)


def _service(b: Builder, op: Op, name: str, arguments: tuple[tree.Operand, ...]) -> None:
    """A call of CUDA's device run-time: Python does it, then the lanes go on."""
    number = services.NAMES.get(name)
    if number is None:
        raise op.unsupported(f"no function `{name}` is defined")
    for operand, (offset, size) in zip(arguments, _layout(op, None, ()), strict=True):
        _pass(b, operand, op.function.frame_bytes + offset, size)
    b.runtime(calls.request, W, b.active_mask, number, frame_of(op.function), op.site)
    blocks = b.constant(vector("i32"), b.following)
    if b.active is not None:
        blocks = b.select(b.lanes(b.active), blocks, b.constant(blocks.type, b.following + 1))
    b.store(blocks, b.scratch(), 64)
    b.native_call("scatter", W, b.mask)
    b.do(f"ret i32 {state.SERVICE}")
    b.ended = True


def after_call(b: Builder, op: Op) -> None:
    """In the block a callee returns to: take the results out of its frame, restore what it may have overwritten."""
    caller = op.function
    if caller.recursive:
        _registers(b, caller, restore=True)
    at = FRAME_HEAD
    for operand in _results(op):
        variable = b.find(operand.text) if isinstance(operand, tree.Name) else None
        if not isinstance(variable, Variable):
            raise op.unsupported("a result that is no .param variable")
        at = align(at, variable.alignment)
        b.runtime(calls.copy_in_frames, W, b.mask, variable.offset, frame_of(caller) + at, variable.size)
        at += variable.size


def frame_of(function: FunctionPlan) -> int:
    """The bytes of a function's frame, spilled registers included."""
    return function.frame_bytes + spill_bytes(None, function)


def spill_bytes(b: Builder | None, function: FunctionPlan | None) -> int:
    """What a recursive function keeps of its registers in its frame; of any function if none is named."""
    if function is None:
        assert b is not None
        return max((spill_bytes(None, f) for f in b.program.functions), default=0)
    return function.spill_bytes if function.recursive else 0


def _results(op: Op) -> tuple[tree.Operand, ...]:
    """The operands that take a call's results."""
    match op.operands:
        case (tree.Arguments(elements=elements), tree.Name(), *_):
            return elements
        case _:
            return ()


def _parts(op: Op) -> tuple[tree.Operand, tuple[tree.Operand, ...]]:
    """The function operand and the arguments of a call."""
    match op.operands:
        case (tree.Arguments(), function, tree.Arguments(elements=arguments), *_):
            return function, arguments
        case (tree.Arguments(), function, *_):
            return function, ()
        case (function, tree.Arguments(elements=arguments), *_):
            return function, arguments
        case (function, *_):
            return function, ()
        case _:
            raise op.unsupported("it names no function")


def _layout(op: Op, found: object, functions: tuple[FunctionPlan, ...]) -> tuple[tuple[int, int], ...]:
    """Where each argument goes in the callee's frame, and its bytes."""
    if isinstance(found, FunctionName):
        return tuple((v.offset, v.size) for v in functions[found.number].params)
    at = FRAME_HEAD
    out: list[tuple[int, int]] = []
    results = _results(op)
    for operand in (*results, *_parts(op)[1]):
        variable = op.scope.find(operand.text) if isinstance(operand, tree.Name) else None
        if not isinstance(variable, Variable):
            raise op.unsupported("an argument that is no .param variable")
        at = align(at, variable.alignment)
        out.append((at, variable.size))
        at += variable.size
    return tuple(out[len(results) :])


def _pass(b: Builder, operand: tree.Operand, offset: int, size: int) -> None:
    variable = b.find(operand.text) if isinstance(operand, tree.Name) else None
    if not isinstance(variable, Variable):
        raise b.op.unsupported("an argument that is no .param variable")
    spilled = spill_bytes(None, b.op.function)
    length = min(size, variable.size)
    b.check(b.runtime(calls.pass_argument, W, b.active_mask, offset + spilled, variable.offset, length, b.op.site))


def _registers(b: Builder, function: FunctionPlan, *, restore: bool) -> None:
    at = function.frame_bytes
    lanes = b.mask if restore else b.active_mask
    for offset, bytes_ in function.kept:
        b.runtime(calls.keep_register, W, lanes, state.REGISTERS + offset, bytes_, at, int(restore))
        at += max(bytes_, 4)


def _indirect(b: Builder, function: tree.Operand) -> Value:
    """The block of each lane's function, by its address."""
    b.store(b.read(function, "u64"), b.scratch(), 64)
    b.check(b.runtime(calls.find_functions, W, b.active_mask, b.scratch(), b.scratch(256), b.op.site))
    return b.load(vector("i32"), b.scratch(256), 64)
