"""The warp-level matrix moves: ldmatrix, stmatrix, movmatrix, each form as one value (PTX ISA 9.7.14.5.15 to 17)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UnsupportedForm
from ptxloom.isa.load import instruction_spec
from ptxloom.isa.resolution.forms import forms, resolve
from ptxloom.isa.shapes import MatrixShape
from ptxloom.isa.spelling import near_misses
from ptxloom.isa.types import ElementType, element_type

if TYPE_CHECKING:
    from ptxloom.isa.form import Form

MOVES = ("ldmatrix", "stmatrix", "movmatrix")
"""The opcodes that move matrices between the lanes of a warp."""

_BITS_PER_ROW = 128
_BITS_PER_REGISTER_OF_WARP = 32 * 32  # one 32-bit register in each of 32 lanes


@dataclass(frozen=True, slots=True)
class MatrixMove:
    """A form of a warp-level matrix move.

    Attributes:
        opcode: "ldmatrix", "stmatrix" or "movmatrix".
        shape: The shape of one matrix, by its name in the manual.
        num: The number of matrices; 1 for movmatrix.
        trans: Whether it has `.trans`.
        space: "", "shared" or "shared::cta".
        destination: The element type at the destination.
        source: The element type at the source; differs from `destination` for packed formats.
        spelling: The whole spelling, in the manual's order.
    """

    opcode: str
    shape: MatrixShape
    num: int
    trans: bool
    space: str
    destination: ElementType
    source: ElementType
    spelling: str

    @property
    def registers(self) -> int:
        """The number of 32-bit registers of each lane that hold its share of all matrices."""
        return self.num * self.shape.elements * self.held.bits // _BITS_PER_REGISTER_OF_WARP

    @property
    def row_elements(self) -> int:
        """The number of elements in an addressed row: 128 bits, if they are as wide as in registers."""
        return _BITS_PER_ROW // self.held.bits

    @property
    def rows(self) -> int:
        """The number of addressed rows of a matrix in memory; stmatrix m16n8 has 8, as it stores columns."""
        return self.shape.elements // self.row_elements

    @property
    def row_bytes(self) -> int:
        """The number of bytes of an addressed row, which is also the alignment of its address.

        It is 16, or 8 if 4-bit elements are stored without padding: an H200 loads such rows from any multiple of 8.
        """
        in_memory = self.destination if self.stores else self.source
        return (self.row_elements * in_memory.bits + in_memory.padding_bits) // 8

    @property
    def address_lanes(self) -> int:
        """The number of lanes that provide row addresses, from lane 0: row i of matrix m takes lane `rows * m + i`."""
        return 0 if self.opcode == "movmatrix" else self.rows * self.num

    @property
    def stores(self) -> bool:
        """Whether it moves from registers to memory."""
        return self.opcode == "stmatrix"

    @property
    def held(self) -> ElementType:
        """The type of an element in a register."""
        return self.source if self.stores else self.destination

    @property
    def short(self) -> str:
        """The spelling without the parts common to all forms: "m8n8.x4.trans.b16"."""
        words = self.spelling.split(".")[1:]
        return ".".join(word for word in words if word not in ("sync", "aligned") and not word.startswith("shared"))

    def __str__(self) -> str:
        return self.spelling


def matrix_move(text: str, opcode: str | None = None) -> MatrixMove:
    """The matrix move with a spelling, its qualifiers in any order.

    Args:
        text: "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", or the short "m8n8.x4.trans.b16" with `opcode`.
            A short spelling may leave out `.sync` and `.aligned`.
        opcode: The opcode of a short spelling; a full spelling must agree.

    Raises:
        UnsupportedForm: The text is not a form; the message explains why, and names the nearest.

    Example:
        >>> matrix_move("m16n16.x2.trans.b8", "ldmatrix").registers
        4
    """
    first, *rest = text.strip().removesuffix(";").strip().lstrip(".").split(".")
    short = first not in MOVES
    if short and opcode is None:
        near = near_misses(first, MOVES)
        hint = f"did you mean `{near[0]}`?" if near else f"it starts with none of {', '.join(MOVES)}"
        raise UnsupportedForm(f"`{text}` is not a matrix move; {hint}")
    name = first if opcode is None or not short else opcode
    if name not in MOVES or (opcode is not None and name != opcode):
        raise UnsupportedForm(f"`{text}` is not a form of {opcode}")
    words = tuple(rest)
    if short:
        written = tuple(filter(None, (first, *rest)))
        words = (*(word for word in ("sync", "aligned") if word not in written), *written)
    form = resolve(name, words).form
    if form is None:
        from ptxloom.isa.resolution.phrase import reasons  # noqa: PLC0415 - only a miss needs the words

        raise UnsupportedForm(reasons(name, words))
    return of_form(form)


def memory_move(text: str) -> MatrixMove:
    """The matrix move with a spelling; a short one means the ldmatrix, or the stmatrix if no ldmatrix fits.

    Raises:
        UnsupportedForm: The text is not a form; the message explains why, and names the nearest.

    Example:
        >>> memory_move("m8n8.x4.b16").opcode, memory_move("m16n8.x4.trans.b8").opcode
        ('ldmatrix', 'stmatrix')
    """
    if text.strip().split(".")[0] in MOVES:
        return matrix_move(text)
    if not describes_move(text):
        raise UnsupportedForm(f"`{text}` is neither an ldmatrix nor a stmatrix, in full or in short")
    try:
        return matrix_move(text, "ldmatrix")
    except UnsupportedForm as no_load:
        try:
            return matrix_move(text, "stmatrix")
        except UnsupportedForm:
            raise no_load from None


def describes_move(text: str) -> bool:
    """Whether some word of a dotted spelling is an opcode or a qualifier of a matrix move.

    Example:
        >>> describes_move("m8n8.x9"), describes_move("add.s32")
        (True, False)
    """
    words = {*MOVES, *(word for move in MOVES for line in instruction_spec(move).lines for word in line.slots_of)}
    return not words.isdisjoint(text.strip().removesuffix(";").split("."))


@cache
def variants() -> tuple[MatrixMove, ...]:
    """Every ldmatrix and stmatrix, regardless of state space: 30, in the order of the data."""
    return tuple(move for move in spellings() if not move.space)


@cache
def spellings() -> tuple[MatrixMove, ...]:
    """Every ldmatrix and stmatrix with every state space: 90."""
    return tuple(of_form(form) for opcode in ("ldmatrix", "stmatrix") for form in forms(opcode))


def transpose() -> MatrixMove:
    """The only movmatrix.

    Example:
        >>> transpose().spelling
        'movmatrix.sync.aligned.m8n8.trans.b16'
    """
    (form,) = forms("movmatrix")
    return of_form(form)


def of_form(form: Form) -> MatrixMove:
    """A bound form of a matrix move as a value."""
    return _move(form.opcode, form.words)


@cache
def _move(opcode: str, words: tuple[str, ...]) -> MatrixMove:
    form = resolve(opcode, words).form
    if form is None:
        raise UnsupportedForm(f"`{'.'.join((opcode, *words))}` is not a form")
    written = form.qualifiers
    one_type = written.get("type")
    return MatrixMove(
        opcode=form.opcode,
        shape=MatrixShape.parse(written.shape),
        num=int(written.get("num", "x1")[1:]),
        trans=bool(written.get("trans")),
        space=written.get("ss"),
        destination=element_type(one_type or written.dst_fmt),
        source=element_type(one_type or written.src_fmt),
        spelling=form.spelling,
    )
