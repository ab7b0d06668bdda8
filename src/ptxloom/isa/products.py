"""The dense forms of `mma.sync` and what they say about their operands, PTX ISA 9.7.14.5.

Which shapes, types and kinds go together stands in the ISA data (`data/mma.toml`) alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, cast

from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.isa.forms import forms, resolve
from ptxloom.isa.phrase import reasons
from ptxloom.isa.shapes import MmaShape

if TYPE_CHECKING:
    from ptxloom.isa.form import Form, Qualifiers

Order = Literal["row", "col"]

MULTIPLICAND_BITS: Final = {
    "f64": 64, "tf32": 32, "f16": 16, "bf16": 16, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8,
    "e3m2": 6, "e2m3": 6, "e2m1": 4, "s4": 4, "u4": 4, "b1": 1,
}  # fmt: skip
ACCUMULATOR_BITS: Final = {"f64": 64, "f32": 32, "s32": 32, "f16": 16}

_BYTE_KINDS: Final = ("f8f6f4", "mxf8f6f4")  # kinds that give every element, however narrow, a byte


@dataclass(frozen=True, slots=True)
class MmaForm:
    """One form of `mma.sync`: D (m x n) = A (m x k) * B (k x n) + C (m x n).

    Types are named without a dot. `kind` and the scale's fields are empty where the form has none.
    """

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
    scale_vector: str = ""  # "1X", "2X" or "4X"
    scale_type: str = ""
    bit_operation: str = ""  # "xor" or "and", of single-bit forms
    satfinite: bool = False

    @property
    def shape(self) -> str:
        """The shape as PTX spells it, such as `m16n8k16`."""
        return f"m{self.m}n{self.n}k{self.k}"

    @property
    def quad_pairs(self) -> bool:
        """Whether a warp computes four products, each by a pair of quads: `.m8n8k4` with f16 multiplicands."""
        return self.m == 8 and self.a_type == "f16"

    @property
    def spelling(self) -> str:
        """The instruction in the manual's order of qualifiers."""
        parts = ["mma.sync.aligned", self.shape, self.a_layout, self.b_layout]
        if self.kind:
            parts.append(f"kind::{self.kind}")
        if self.scale_vector:
            parts += ["block_scale", f"scale_vec::{self.scale_vector}"]
        if self.satfinite:
            parts.append("satfinite")
        parts += [self.d_type, self.a_type, self.b_type, self.c_type]
        if self.scale_type:
            parts.append(self.scale_type)
        if self.bit_operation:
            parts += [self.bit_operation, "popc"]
        return ".".join(parts)

    def type_of(self, operand: str) -> str:
        """The element type of operand `a`, `b`, `c` or `d`."""
        types = {"a": self.a_type, "b": self.b_type, "c": self.c_type, "d": self.d_type}
        if operand not in types:
            raise UsageError("operand", operand, "'a', 'b', 'c' or 'd'")
        return types[operand]

    def extent(self, operand: str) -> tuple[int, int]:
        """Rows and columns of operand `a`, `b`, `c` or `d`."""
        extents = {"a": (self.m, self.k), "b": (self.k, self.n), "c": (self.m, self.n), "d": (self.m, self.n)}
        if operand not in extents:
            raise UsageError("operand", operand, "'a', 'b', 'c' or 'd'")
        return extents[operand]

    def container_bits(self, operand: str) -> int:
        """How many register bits one element of an operand takes, padding included."""
        if operand in ("c", "d"):
            return ACCUMULATOR_BITS[self.type_of(operand)]
        return multiplicand_container_bits(self.type_of(operand), self.kind)

    def payload_shift(self, operand: str) -> int:
        """Where in its container an element starts: `.e2m1` in a byte stands in bits [5:2], all else at bit 0."""
        return 2 if self.type_of(operand) == "e2m1" and self.container_bits(operand) == 8 else 0

    def registers(self, operand: str) -> int:
        """The length of an operand's vector expression; f64 registers are 64 bits wide, all others 32."""
        rows, columns = self.extent(operand)
        products = 4 if self.quad_pairs else 1
        width = 64 if self.type_of(operand) == "f64" else 32
        return rows * columns * products * self.container_bits(operand) // (32 * width)


def multiplicand_container_bits(element: str, kind: str = "") -> int:
    """How many register bits one element of A or B takes: a byte under `.kind::f8f6f4` and its scaled sister."""
    return 8 if kind in _BYTE_KINDS else MULTIPLICAND_BITS[element]


def mma_form(text: str) -> MmaForm:
    """Read the spelling of an `mma.sync`, full or without `mma.sync.aligned`, its qualifiers in any order.

    Args:
        text: Such as `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`.

    Raises:
        UnsupportedForm: The spelling names no form of the manual, or a sparse one.

    Example:
        >>> mma_form("m16n8k16.row.col.f32.f16.f16.f32").registers("a")
        4
    """
    words = tuple(word for word in text.strip().split(".") if word)
    words = words[1:] if words[:1] == ("mma",) else words
    words = (*(word for word in ("sync", "aligned") if word not in words), *words)
    form = resolve("mma", words).form
    if form is None:
        raise UnsupportedForm(f"`{text}` is not a form of `mma`: {reasons('mma', words)}")
    if form.laxities:
        raise UnsupportedForm(f"`{text}` is not a form of `mma` in the manual: {form.laxities[0].why}")
    if form.filling.get("sparse"):
        raise UnsupportedForm(f"`{text}` is a sparse `mma`; only the dense forms are known here")
    return _mma_form(form)


@cache
def mma_forms() -> tuple[MmaForm, ...]:
    """Every dense form of `mma.sync`, by kinds, types, then shapes; `.satfinite` and rounding left aside."""
    found = (
        _mma_form(form)
        for form in forms("mma")
        if not any(form.filling.get(slot) for slot in ("sparse", "satfinite", "rnd"))
    )
    return tuple(sorted(dict.fromkeys(found), key=_rank))


_KINDS: Final = ("", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")
_DEFAULT_SCALES: Final = {"mxf4": "2X", "mxf8f6f4": "1X"}  # where a spelling does not say how many


def _mma_form(form: Form) -> MmaForm:
    """What a dense form of the data says, by our names."""
    said: Qualifiers = form.qualifiers
    shape = MmaShape.parse(said.shape)
    kind = said.get("kind").removeprefix("kind::")
    scaled = _DEFAULT_SCALES.get(kind, "") if said.get("block_scale") else ""
    return MmaForm(
        shape.m,
        shape.n,
        shape.k,
        _order(said.alayout),
        _order(said.blayout),
        said.dtype,
        said.atype,
        said.btype,
        said.ctype,
        kind=kind,
        scale_vector=said.get("scale_vec_size").removeprefix("scale_vec::") or scaled,
        scale_type=said.get("stype"),
        bit_operation=said.get("bitOp"),
        satfinite=bool(said.get("satfinite")),
    )


def _order(word: str) -> Order:
    return cast("Order", word)


def _rank(form: MmaForm) -> tuple[int, ...]:
    """Where a form stands among all; forms of one shape and types keep the order of the data."""
    types = tuple(MULTIPLICAND_BITS)
    return _KINDS.index(form.kind), types.index(form.a_type), types.index(form.b_type), form.m, form.k
