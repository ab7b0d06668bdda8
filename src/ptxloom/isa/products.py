"""The matrix products, each form as one value: `mma`, `wmma.mma` and `wgmma.mma_async`, dense and sparse.

Realises PTX ISA 9.7.14.4 to 9.7.14.6 and 9.7.15. Legal combinations of shapes, types and qualifiers are in the ISA data
alone; the number of registers of an operand follows from its extent, here.
"""

from __future__ import annotations

from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Final, Literal, cast

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UnsupportedForm, UsageError, must_be
from ptxloom.isa.limits import LANES
from ptxloom.isa.load import instruction_spec
from ptxloom.isa.resolution.forms import forms, resolve
from ptxloom.isa.shapes import MmaShape, is_shape
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from ptxloom.isa.form import Form
    from ptxloom.isa.spec import Feature

Order = Literal["row", "col"]

PRODUCTS: Final = ("mma", "wmma", "wgmma")
"""The opcodes whose operands are in registers, distributed over lanes."""

OPERANDS: Final = ("d", "a", "b", "c")

_BYTE_KINDS: Final = ("f8f6f4", "mxf8f6f4")  # kinds in which every element, however narrow, takes a byte
LEADS: Final = {"mma": (), "wmma": ("mma",), "wgmma": ("mma_async",)}
"""The word that makes an instruction of the opcode a product."""
_WARPS: Final = {"wgmma": 4}
_WMMA_HALVES: Final = 8  # registers of a factor of halves in `wmma`, whatever its shape (9.7.14.4.1)
_STEP_REGISTERS: Final = 4  # registers that hold 32 bytes of each of 16 rows
_GROUP_BITS: Final = 4  # of metadata, for one chunk of a sparse row


@dataclass(frozen=True, slots=True)
class MatrixForm:
    """One form of a matrix product: D (m x n) = A (m x k) * B (k x n) + C (m x n).

    Types are named without a dot. Fields that a form does not have are empty.

    Attributes:
        opcode: `mma`, `wmma` or `wgmma`.
        m, n, k: Rows of A, columns of B, and the length of the dot products.
        a_layout, b_layout: The layouts of the factors. In `wgmma`, operands select them; these are the ones for
        operands of 0.
        d_type, a_type, b_type, c_type: Element types; `wgmma` adds to D itself.
        kind: Such as `f8f6f4`.
        scale_vector: `1X`, `2X` or `4X` for block-scaled forms.
        scale_type: The type of the scales.
        bit_operation: `xor` or `and`, for single-bit forms.
        satfinite: Integer results saturate at the limits of `.s32` instead of wrapping.
        rounding: `rn`, `rz`, `rm` or `rp`, if one is written.
        sparse: `sp` or `sp::ordered_metadata`: half of each row of A is stored, in pairs of 4-bit elements.

    Example:
        >>> form = matrix_form("wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16")
        >>> form.m, form.n, form.k, form.warps, form.registers("d"), form.registers("a")
        (64, 24, 16, 4, 12, 4)
    """

    opcode: str
    m: int
    n: int
    k: int
    a_layout: Order
    b_layout: Order
    d_type: str
    a_type: str
    b_type: str
    c_type: str
    kind: str = ""
    scale_vector: str = ""
    scale_type: str = ""
    bit_operation: str = ""
    satfinite: bool = False
    rounding: str = ""
    sparse: str = ""

    @property
    def shape(self) -> str:
        """The shape as PTX spells it, such as `m16n8k16`."""
        return f"m{self.m}n{self.n}k{self.k}"

    @property
    def warps(self) -> int:
        """The number of warps that hold the operands together: four for `wgmma`."""
        return _WARPS.get(self.opcode, 1)

    @property
    def is_opaque(self) -> bool:
        """Whether the manual leaves the fragments' layout unspecified: only its own loads and stores know it."""
        return self.opcode == "wmma"

    @property
    def quad_pairs(self) -> bool:
        """Whether a warp computes four products, each by a pair of quads: `mma.m8n8k4` with f16 multiplicands."""
        return self.opcode == "mma" and self.m == 8 and self.a_type == "f16"

    @property
    def register_bits(self) -> int:
        """Width of one register of an operand: 64 for `.f64`, else 32."""
        return 64 if self.a_type == "f64" else 32

    @property
    def stored_k(self) -> int:
        """Stored elements of a row of A: half of `k` if A is sparse."""
        return self.k // 2 if self.sparse else self.k

    @property
    def chunk(self) -> int:
        """Columns of a sparse row described by one group of four bits of metadata (9.7.14.6.1)."""
        return {32: 2, 4: 8}.get(self.container_bits("a"), 4)

    @property
    def scales(self) -> int:
        """The number of scales per row of A and column of B; 0 if the form does not scale.

        The scale vector states the number for 32 bytes of a row.
        """
        return int(self.scale_vector.removesuffix("X") or 0) * self.registers("a") // _STEP_REGISTERS

    @property
    def selectors(self) -> int:
        """The number of sparsity selectors: the lanes of a group of four over those that hold metadata."""
        if not self.sparse:
            return 1
        metadata_bits = self.m // self.warps * self.k // self.chunk * _GROUP_BITS
        return LANES * self.register_bits // metadata_bits

    @property
    def spelling(self) -> str:
        """The instruction in the manual's order of qualifiers."""
        said = self._said()
        return ".".join((self.opcode, *(word for slot in _slots(self.opcode) if (word := said.get(slot, slot)))))

    def _said(self) -> dict[str, str]:
        """The words in the slots of the data that differ between forms."""
        types = {"dtype": self.d_type, "atype": self.a_type, "btype": self.b_type, "ctype": self.c_type}
        if self.opcode == "wmma" and self.a_type == "f16":
            types |= {"atype": "", "btype": ""}
        return types | {
            "shape": self.shape,
            "alayout": self.a_layout,
            "blayout": self.b_layout,
            "kind": self.kind and f"kind::{self.kind}",
            "block_scale": self.scale_vector and "block_scale",
            "scale_vec_size": self.scale_vector and f"scale_vec::{self.scale_vector}",
            "stype": self.scale_type,
            "bitOp": self.bit_operation,
            "op": self.bit_operation,
            "popc": self.bit_operation and "popc",
            "satfinite": "satfinite" if self.satfinite else "",
            "rnd": self.rounding,
            "sparse": self.sparse,
            "sp": self.sparse,
        }

    def type_of(self, operand: str) -> str:
        """The element type of operand `a`, `b`, `c` or `d`."""
        types = {"a": self.a_type, "b": self.b_type, "c": self.c_type, "d": self.d_type}
        if operand not in types:
            raise UsageError("operand", operand, "'a', 'b', 'c' or 'd'")
        return types[operand]

    def extent(self, operand: str) -> tuple[int, int]:
        """Rows and columns of operand `a`, `b`, `c` or `d`; for a sparse A, as stored."""
        d = (self.m, self.n)
        extents = {"a": (self.m, self.stored_k), "b": (self.k, self.n), "c": d, "d": d}
        if operand not in extents:
            raise UsageError("operand", operand, "'a', 'b', 'c' or 'd'")
        return extents[operand]

    def container_bits(self, operand: str) -> int:
        """The register bits of one element of an operand, padding included."""
        found = element_type(self.type_of(operand))
        return found.container_bits if operand in ("a", "b") and self.kind in _BYTE_KINDS else found.packed_bits

    def payload_shift(self, operand: str) -> int:
        """The first bit of an element in its container: `.e2m1` in a byte is in bits [5:2], others start at bit 0."""
        return 2 if self.type_of(operand) == "e2m1" and self.container_bits(operand) == 8 else 0

    def registers(self, operand: str) -> int:
        """The length of an operand's vector expression; 0 for B of `wgmma`, which is in shared memory."""
        rows, columns = self.extent(operand)
        if self.opcode == "wgmma" and operand == "b":
            return 0
        if self.opcode == "wmma" and operand in ("a", "b") and self.type_of(operand) == "f16":
            return _WMMA_HALVES
        products = 4 if self.quad_pairs else 1
        width = 64 if self.type_of(operand) == "f64" else 32
        return rows * columns * products * self.container_bits(operand) // (LANES * self.warps * width)

    @property
    def vector_lengths(self) -> tuple[int, int, int, int]:
        """Registers of each operand in one lane: `(d, a, b, c)`."""
        d, a, b, c = (self.registers(operand) for operand in OPERANDS)
        return d, a, b, c


@cache
def _slots(opcode: str) -> tuple[str, ...]:
    """The slots of an opcode's products in the manual's order, over all its syntax lines."""
    order: TopologicalSorter[str] = TopologicalSorter()
    for line in instruction_spec(opcode).lines:
        names = [slot.name for slot in line.slots]
        if set(LEADS[opcode]).issubset(names):
            for before, name in zip([None, *names], names, strict=False):
                order.add(name, *filter(None, [before]))
    return tuple(order.static_order())


def matrix_form(text: str) -> MatrixForm:
    """Read the spelling of a matrix product, its qualifiers in any order.

    Args:
        text: `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` in full, or short: from the shape on, or without
            `.sync.aligned`. A short one without opcode is the `mma` that has such a shape, else the `wmma` or `wgmma`.

    Raises:
        UnsupportedForm: The spelling is not a form of the manual.

    Example:
        >>> matrix_form("m16n8k16.row.col.f32.f16.f16.f32").registers("a")
        4
        >>> matrix_form("m64n8k16.f32.f16.f16").opcode
        'wgmma'
    """
    must_be(str, "text", text, "a spelling such as mma.m16n8k16.row.col.f32.f16.f16.f32")
    words = written = tuple(word for word in text.strip().split(".") if word)
    opcode = words[0] if words[:1] and words[0] in PRODUCTS else opcode_of(words)
    words = words[words[:1] == (opcode,) :]
    leads, rest = (tuple(word for word in said if word not in words) for said in (LEADS[opcode], ("sync", "aligned")))
    words = (*leads, *words, *rest)
    form = resolve(opcode, words).form
    if form is None:
        from ptxloom.isa.resolution.phrase import reasons  # noqa: PLC0415 - only a miss needs the words

        if written and {opcode, *LEADS[opcode], "sync", "aligned"}.issuperset(written):  # right as far as it goes
            raise UnsupportedForm(f"`{text}` is not the whole of a form: {reasons(opcode, words)}")
        if leads and resolve(opcode, words[len(leads) :]).form is not None:
            raise UnsupportedForm(f"`{text}` is not a form of `{opcode}` that multiplies")
        raise UnsupportedForm(f"`{text}` is not a form of `{opcode}`: {reasons(opcode, words)}")
    if form.laxities:
        raise UnsupportedForm(f"`{text}` is not a form of `{opcode}` in the manual: {form.laxities[0].why}")
    return form_of(form)


def opcode_of(words: tuple[str, ...]) -> str:
    """The opcode whose products have the shape that is written; `mma` if no opcode has it."""
    shapes = {word for word in words if is_shape(word)}
    found = (
        opcode for opcode in PRODUCTS for line in instruction_spec(opcode).lines if not shapes.isdisjoint(line.slots_of)
    )
    return next(found, PRODUCTS[0]) if shapes else PRODUCTS[0]


@cache
def matrix_forms(opcode: str) -> tuple[MatrixForm, ...]:
    """Every product of an opcode, in the order of the data.

    Args:
        opcode: One of `PRODUCTS`.
    """
    if opcode not in PRODUCTS:
        raise UsageError("opcode", opcode, f"one of {', '.join(PRODUCTS)}")
    leads = LEADS[opcode]
    return tuple(dict.fromkeys(form_of(form) for form in forms(opcode) if set(leads).issubset(form.filling)))


@cache
def mma_forms() -> tuple[MatrixForm, ...]:
    """Every dense form of `mma.sync`; regardless of `.satfinite` and rounding."""
    return tuple(form for form in matrix_forms("mma") if not (form.sparse or form.satfinite or form.rounding))


def features_of(form: MatrixForm) -> tuple[Feature, ...]:
    """The features that a form needs; empty if PTX does not have the form.

    Example:
        >>> [feature.name for feature in features_of(matrix_form("m16n8k16.row.col.f32.bf16.bf16.f32"))]
        ['mma', 'the shapes of sm_80', '.bf16, .tf32 and .f64']
    """
    found = resolve(form.opcode, tuple(form.spelling.split(".")[1:])).form
    return found.features if found else ()


_DEFAULT_SCALES: Final = {"mxf4": "2X", "mxf8f6f4": "1X"}  # if a spelling does not give the number


def form_of(form: Form) -> MatrixForm:
    """A form of the data as a `MatrixForm`.

    All operands of a `wmma.load` or `.store` have its one type.
    """
    return _of(form.opcode, tuple(form.filling.items()))


@cache
def _of(opcode: str, filling: tuple[tuple[str, str], ...]) -> MatrixForm:
    said = dict(filling)
    shape = MmaShape.parse(said["shape"])
    kind = said.get("kind", "").removeprefix("kind::")
    scaled = _DEFAULT_SCALES.get(kind, "") if said.get("block_scale") else ""
    one = said.get("type", "")
    return MatrixForm(
        opcode,
        shape.m,
        shape.n,
        shape.k,
        _order(said.get("alayout", "row")),
        _order(said.get("blayout", "col")),
        said.get("dtype", one),
        said.get("atype", one or "f16"),
        said.get("btype", one or "f16"),
        said.get("ctype", said.get("dtype", one)),
        kind=kind,
        scale_vector=said.get("scale_vec_size", "").removeprefix("scale_vec::") or scaled,
        scale_type=said.get("stype", ""),
        bit_operation=said.get("bitOp") or said.get("op", ""),
        satfinite=bool(said.get("satfinite")),
        rounding=said.get("rnd", ""),
        sparse=said.get("sparse") or said.get("sp", ""),
    )


def _order(word: str) -> Order:
    return cast("Order", word)
