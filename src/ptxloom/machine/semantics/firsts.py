"""What initcheck is told of instructions: of memory they read and write, and of registers that may be unwritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.assignment import COPIES, key_of, names_read, names_written, unsure_registers
from ptxloom.machine.builder import ALL, W
from ptxloom.machine.constants import evaluate
from ptxloom.machine.ir import Value
from ptxloom.machine.runtime import firsts, hazards, state
from ptxloom.machine.runtime.marks import PARAMETERS, init_name
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from ptxloom.machine.builder import Builder
    from ptxloom.machine.program import Op

_SELECTOR_DIGITS: Final = range(0, 16, 4)  # where the digits of `prmt`'s selector lie
_SECOND: Final = 4  # a digit of which this bit is set means a byte of the second operand


def is_watched(b: Builder, space: int) -> bool:
    """Whether initcheck watches a state space in this run."""
    near, far = "initcheck" in b.checks, "initcheck:global" in b.checks
    match space:
        case state.SHARED | state.LOCAL:
            return near
        case state.GLOBAL:
            return far
        case state.GENERIC:
            return near or far
        case _:
            return False


def access(
    b: Builder,
    addresses: Value,
    offset: int,
    *,
    reads: bool,
    writes: bool,
    space: int,
    size: int,
    wide: bool,
    mask: Value | None = None,
) -> None:
    """Tell of an access of `size` bytes a lane that is about to be made; see `watch.access`."""
    if not is_watched(b, space):
        return
    lanes = b.active_mask if mask is None else mask
    for verb, wanted in (("read", reads), ("write", writes)):
        if not wanted:
            continue
        if space == state.SHARED:
            name = init_name(verb, "wide" if wide else "shared", size)
            b.accesses.add(name)
            b.declarations[name] = f"declare void @{name}({PARAMETERS})"
            b.do(f"call void @{name}({W}, {addresses}, i64 {offset}, {lanes}, i32 {b.op.site})")
        elif verb == "read":
            b.runtime(firsts.read_lanes, W, addresses, offset, lanes, space, size, b.op.site)
        else:
            b.runtime(firsts.written_lanes, W, addresses, offset, lanes, space, size)


def registers(b: Builder) -> None:
    """Note the registers that the instruction reads and that some lane has not written; then what it writes."""
    op = b.op
    if "initcheck" not in b.checks or op.site not in unsure_registers(b.program).sites:
        return
    copied = op.operands[1:3] if op.opcode in COPIES else ()
    unseen = {id(node) for operand in copied for node in walk(operand)}
    for number, name in names_read(op):
        place = None if id(name) in unseen else _place(b, op, name.text)
        if place is not None:
            guard = number == 0 and op.node.predicate is not None
            _read(b, place, b.mask if guard else _executing(b), number)
    known = _handed_on(b, op, copied)
    for name in names_written(op):
        place = _place(b, op, name)
        if place is not None:
            _written(b, place, known)


def _executing(b: Builder) -> Value:
    """The lanes that execute the instruction, even where its result is one value for all."""
    return b.mask if b.op.site in b.program.knowledge.uniform_ops else b.active_mask


def _read(b: Builder, place: Value, lanes: Value, number: int) -> None:
    """Lanes read a register: note those that have not written it."""
    held = b.load("i32", place, 4)
    missing = b.apply("and", lanes, b.apply("xor", held, Value("i32", "-1")))
    some = b.compare("ne", missing, Value("i32", "0"))
    facts = (state.UNWRITTEN_REGISTER, b.op.site, missing, Value("i64", "0"), number)
    b.when(some, lambda: b.runtime(hazards.note, W, *facts))


def _handed_on(b: Builder, op: Op, copied: tuple[tree.Operand, ...]) -> Value:
    """The lanes to which an instruction gives something that was written."""
    match op.opcode:
        case "selp":
            first, second = (_known(b, op, (operand,)) for operand in copied)
            chosen = b.read_mask(op.operands[3])
            rest = b.apply("xor", chosen, Value("i32", "-1"))
            return b.apply("or", b.apply("and", chosen, first), b.apply("and", rest, second))
        case "prmt":
            return _known(b, op, _selected(op))
        case "mov":
            return _known(b, op, tuple(e for o in copied for e in (o.elements if isinstance(o, tree.Vector) else (o,))))
        case _:
            return ALL


def _selected(op: Op) -> tuple[tree.Operand, ...]:
    """The operands of which `prmt` takes bytes, as far as the text says it."""
    _, first, second, selector = op.operands
    code = evaluate(selector) if len(op.qualifiers) == 1 else None
    if code is None:
        return first, second
    wanted = {code >> place & _SECOND for place in _SELECTOR_DIGITS}
    return tuple(operand for part, operand in ((0, first), (_SECOND, second)) if part in wanted)


def _known(b: Builder, op: Op, operands: tuple[tree.Operand, ...]) -> Value:
    """The lanes that have written any part of a value put together from operands.

    Compilers leave the parts that nobody uses unwritten, and compute with the whole.
    """
    known: Value | None = None
    for operand in operands:
        place = _place(b, op, operand.text) if isinstance(operand, tree.Name) else None
        if place is None:
            return ALL
        held = b.load("i32", place, 4)
        known = held if known is None else b.apply("or", known, held)
    return ALL if known is None else known


def _written(b: Builder, place: Value, known: Value) -> None:
    """The active lanes write a register: with something written, if they are in `known`."""
    held = b.load("i32", place, 4)
    lanes = _executing(b)
    kept = b.apply("and", held, b.apply("xor", lanes, Value("i32", "-1")))
    b.store(b.apply("or", kept, b.apply("and", lanes, known)), place, 4)


def _place(b: Builder, op: Op, name: str) -> Value | None:
    """Where the lanes that have written a register are kept; None if it needs no watching."""
    key = key_of(op.scope, name)
    number = None if key is None else unsure_registers(b.program).numbers.get(key)
    return None if number is None else b.offset(W, state.REGISTERS + b.program.register_bytes + 4 * number)
