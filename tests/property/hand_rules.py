"""What an instruction makes of what is known of its operands (PTX ISA 9.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ptxloom.isa.spaces import Owner, spelled
from ptxloom.isa.types import element_type, is_type
from ptxloom.readings import bits
from ptxloom.readings.bits import Bits, Level, fixed, shared, various
from ptxloom.syntax.tree import Address, Name, Vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.syntax.tree import Instruction, Operand


_WIDEST: Final = 64


class Read(Protocol):
    """Looks up what is known of an operand, as a number of `width` bits."""

    def __call__(self, operand: Operand, width: int) -> Bits:
        """The bits of an operand."""
        ...


class KnownOp:
    """An instruction whose operands are known as far as they are."""

    def __init__(
        self,
        instruction: Instruction,
        place: int,
        read: Read,
        kernel_params: frozenset[str],
        is_symbol: Callable[[str], bool],
    ) -> None:
        self.instruction = instruction
        self.is_symbol = is_symbol  # whether a name is not a register that anything writes
        self.place = place  # which destination is asked for
        self.has = frozenset(instruction.qualifiers).__contains__
        self.kernel_params = kernel_params
        self.read = read
        self.types = [name for name in instruction.qualifiers if is_type(name)]
        self.type = self.types[-1] if self.types else "b64"

    @property
    def width(self) -> int:
        """The bits of the operation's type."""
        return min(_WIDEST, element_type(self.type).storage_bits)

    def source(self, at: int, width: int | None = None) -> Bits:
        """The operand at `at`, cut to the operation's width or another."""
        width = self.width if width is None else width
        return bits.cut(self.read(self.instruction.operands[at], width), width)

    def sources(self) -> tuple[Bits, ...]:
        """All operands but the first."""
        return tuple(self.read(one, 64) for one in self.instruction.operands[1:])

    def has_source(self, at: int) -> bool:
        """Whether there is an operand at `at`."""
        return at < len(self.instruction.operands)


def result(op: KnownOp) -> Bits:
    """What an instruction writes to the destination asked for; of one that lacks operands, nothing is known."""
    try:
        return _BY_OPCODE.get(op.instruction.opcode, _plain)(op)
    except (IndexError, ValueError):
        return _plain(op)


def _plain(op: KnownOp) -> Bits:
    """An opaque function of the operands."""
    return bits.opaque(64, *op.sources())


def _predicate(op: KnownOp) -> bool:
    return op.type == "pred"


def _signed(op: KnownOp) -> bool:
    return op.type.startswith("s")


def _integer(op: KnownOp) -> bool:
    return op.type[:1] in {"u", "s", "b"} and op.type[1:].isdigit() and not op.has("cc")


def _logic(table: int) -> Callable[[KnownOp], Bits]:
    def found(op: KnownOp) -> Bits:
        width = 1 if _predicate(op) else op.width
        return bits.combined(table, op.source(1, width), op.source(2, width))

    return found


def _lop3(op: KnownOp) -> Bits:
    table = op.source(4, 8).exact if op.has_source(4) else None
    if table is None or op.has("and") or op.has("or"):
        return _plain(op)
    return bits.combined(table, op.source(1), op.source(2), op.source(3))


def _not(op: KnownOp) -> Bits:
    width = 1 if _predicate(op) else op.width
    return bits.inverted(op.source(1, width), width)


def _add(op: KnownOp) -> Bits:
    return bits.total(op.source(1), op.source(2), op.width) if _integer(op) and not op.has("sat") else _plain(op)


def _sub(op: KnownOp) -> Bits:
    return bits.difference(op.source(1), op.source(2), op.width) if _integer(op) and not op.has("sat") else _plain(op)


def _neg(op: KnownOp) -> Bits:
    return bits.difference(fixed(0), op.source(1), op.width) if _integer(op) else _plain(op)


def _product(op: KnownOp) -> tuple[Bits, int] | None:
    """The product of the first two sources, and its width."""
    if not _integer(op):
        return None
    a, b, width = op.source(1), op.source(2), op.width
    if op.has("wide"):
        if _signed(op):
            a, b = bits.extended(a, width, 2 * width), bits.extended(b, width, 2 * width)
        return _times(a, b, 2 * width), 2 * width
    if op.has("lo") or op.instruction.opcode in {"mul24", "mad24"}:
        return _times(a, b, width), width
    return None


def _times(a: Bits, b: Bits, width: int) -> Bits:
    """A product; one by a number that only divisions by multiplication use says nothing of what lanes share."""
    found = bits.multiplied(a, b, width)
    for one in (a, b):
        if one.exact is not None and _MAGIC_BITS < (one.exact >> one.even).bit_length() < width - _MAGIC_BITS // 2:
            return bits.made(found.zeros, found.ones, found.varies, Level.UNKNOWN)
    return found


_MAGIC_BITS: Final = 14
"""A factor this long stands in for a division."""


def _mul(op: KnownOp) -> Bits:
    found = _product(op)
    if found is not None and op.instruction.opcode == "mul":
        return found[0]
    plain = _plain(op)
    return various(64, Level.UNKNOWN) if op.has("hi") and plain.varies else plain


def _mad(op: KnownOp) -> Bits:
    found = _product(op)
    if found is not None and op.instruction.opcode == "mad":
        return bits.total(found[0], op.source(3, found[1]), found[1])
    plain = _plain(op)
    return various(64, Level.UNKNOWN) if op.has("hi") and plain.varies else plain


def _division(op: KnownOp) -> Bits:
    if not _integer(op):
        return _plain(op)
    a, b = op.source(1), op.source(2)
    top = 1 << op.width - 1
    if _signed(op) and not (a.zeros & top and b.zeros & top):
        return bits.opaque(op.width, a, b)
    return bits.quotient(a, b, op.width) if op.instruction.opcode == "div" else bits.remainder(a, b, op.width)


def _shift(op: KnownOp) -> Bits:
    a, by = op.source(1), op.source(2, 32).exact
    if by is None:
        return bits.opaque(op.width, a, op.source(2, 32))
    if op.instruction.opcode == "shl":
        return bits.moved(a, by, op.width)
    if _signed(op):
        return bits.shifted_signed(a, by, op.width)
    return bits.moved(a, -by, op.width) if by < op.width else fixed(0)


def _extract(op: KnownOp) -> Bits:
    at, length = op.source(2, 32).exact, op.source(3, 32).exact
    if at is None or length is None or _signed(op):
        return _plain(op)
    return bits.cut(bits.moved(op.source(1), -(at & 0xFF), op.width), min(length & 0xFF, op.width))


def _copy(op: KnownOp) -> Bits:
    """`mov`: also of a vector into a register, lowest element first, or the other way round."""
    destination, source = op.instruction.operands[:2]
    if _predicate(op):
        return op.source(1, 1)
    if element_type(op.type).storage_bits > _WIDEST:
        return _plain(op)
    if isinstance(source, Vector):
        return _packed(op, source)
    if isinstance(destination, Vector):
        part = op.width // len(destination.elements)
        return bits.cut(bits.moved(op.source(1), -part * op.place, 64), part)
    return op.source(1)


def _packed(op: KnownOp, source: Vector) -> Bits:
    part = op.width // max(1, len(source.elements))
    whole = fixed(0)
    for at, element in enumerate(source.elements):
        piece = bits.moved(bits.cut(op.read(element, part), part), part * at, 64)
        whole = bits.combined(0b11111100, whole, piece)
    return whole


def _convert(op: KnownOp) -> Bits:
    if len(op.types) < 2 or any(not one[1:].isdigit() or one[0] not in "us" for one in op.types[-2:]) or op.has("sat"):
        return _plain(op)
    to, width = element_type(op.types[-2]).bits, element_type(op.type).bits
    a = op.source(1, width)
    a = bits.extended(a, width, 64) if _signed(op) else a
    return bits.cut(a, to)


def _compare(op: KnownOp) -> Bits:
    """`setp`: the comparison, perhaps combined with a predicate; the second destination is the opposite."""
    found = _comparison(op)
    if op.place == 1:
        found = bits.inverted(found, 1)
    if not op.has_source(3):
        return found
    table = 0b11000000 if op.has("and") else 0b11111100 if op.has("or") else 0b00111100
    return bits.combined(table, found, op.source(3, 1))


def _comparison(op: KnownOp) -> Bits:  # noqa: PLR0911 - one return a comparison
    a, b, width = op.source(1), op.source(2), op.width
    if not _integer(op):
        return bits.opaque(1, a, b)
    if _signed(op):
        a, b = bits.signed(a, width), bits.signed(b, width)
    asked = op.instruction.qualifiers[0]
    match asked:
        case "eq":
            return bits.equal(a, b)
        case "ne":
            return bits.inverted(bits.equal(a, b), 1)
        case "lt" | "lo":
            return bits.less(a, b)
        case "gt" | "hi":
            return bits.less(b, a)
        case "le" | "ls":
            return bits.inverted(bits.less(b, a), 1)
        case "ge" | "hs":
            return bits.inverted(bits.less(a, b), 1)
        case _:
            return bits.opaque(1, a, b)


def _select(op: KnownOp) -> Bits:
    a, b, which = op.source(1), op.source(2), op.source(3, 1)
    if which.exact is not None:
        return a if which.exact else b
    return bits.mixed(a, b, which.level)


def _load(op: KnownOp) -> Bits:
    """A load gives all lanes the same if they read from one place that is not each thread's own."""
    address = op.instruction.operands[1]
    where = op.source(1, 64)
    if op.has("param") or any(one.startswith("param") for one in op.instruction.qualifiers):
        base = address.base if isinstance(address, Address) else address
        foreign = isinstance(base, Name) and op.is_symbol(base.text) and base.text not in op.kernel_params
        return various(64, Level.UNKNOWN) if foreign or not op.kernel_params else bits.opaque(64, where)
    if where.varies:
        return various(64, where.level)
    if op.has("local") or not _SPACES.intersection(op.instruction.qualifiers):
        return various(64, Level.UNKNOWN)
    return shared(64)


_SPACES: Final = spelled(Owner.MODULE, Owner.CTA)


def _atomic(op: KnownOp) -> Bits:
    """What was in memory before: lanes come one after the other."""
    return various(64, Level.DIVERGENT if op.has("add") or op.has("inc") or op.has("dec") else Level.UNKNOWN)


def _shuffle(op: KnownOp) -> Bits:
    """A value of another lane: the same for all if it is the same in all, or if all ask the same lane."""
    a = op.source(1, 32)
    if op.place == 0 and a.uniform:
        return a
    clamp, lane = op.source(3, 32).exact, op.source(2, 32)
    if op.has("idx") and lane.uniform and clamp is not None and clamp >> 8 & 31 == 0:
        return bits.made(a.zeros, a.ones, 0, Level.UNIFORM) if op.place == 0 else shared(1)
    return various(32 if op.place == 0 else 1, Level.UNKNOWN)


def _elect(op: KnownOp) -> Bits:
    return shared(32) if op.place == 0 else various(1, Level.DIVERGENT)


def _match(op: KnownOp) -> Bits:
    return various(32, Level.UNKNOWN) if op.has("any") else shared(64)


def _same(op: KnownOp) -> Bits:
    """A result that all lanes get."""
    return shared(op.width if op.type != "pred" else 1)


def _unknown(_: KnownOp) -> Bits:
    return various(64, Level.UNKNOWN)


_BY_OPCODE: dict[str, Callable[[KnownOp], Bits]] = {
    "mov": _copy,
    "and": _logic(0b11000000),
    "or": _logic(0b11111100),
    "xor": _logic(0b00111100),
    "not": _not,
    "lop3": _lop3,
    "add": _add,
    "sub": _sub,
    "neg": _neg,
    "mul": _mul,
    "mad": _mad,
    "div": _division,
    "rem": _division,
    "shl": _shift,
    "shr": _shift,
    "bfe": _extract,
    "cvt": _convert,
    "setp": _compare,
    "selp": _select,
    "ld": _load,
    "ldu": _load,
    "atom": _atomic,
    "shfl": _shuffle,
    "elect": _elect,
    "match": _match,
    **dict.fromkeys(("vote", "redux", "activemask", "bar", "barrier"), _same),
    **dict.fromkeys(
        (
            *("addc", "subc", "madc", "alloca", "stacksave", "call", "mbarrier", "tcgen05", "clusterlaunchcontrol"),
            *("ldmatrix", "movmatrix", "mma", "wmma", "wgmma", "multimem"),
        ),
        _unknown,
    ),
}
