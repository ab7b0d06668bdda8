"""The forms of `mma.sync`: which shapes, types and kinds go together, PTX ISA 9.7.14.5.

Nothing is listed that a rule gives. Each multiplicand type has a container (the bits one element takes in a register),
and the depth `k` of a multiplication is what fills half or all of two 128-bit lines of containers:
`k * container` is 128 or 256 bits, 128 for the integer shapes of 8 rows. Double precision has its own depths.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from ptxloom.diagnostics import UnsupportedForm, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Order = Literal["row", "col"]

MULTIPLICAND_BITS: Final = {
    "f64": 64, "tf32": 32, "f16": 16, "bf16": 16, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8,
    "e3m2": 6, "e2m3": 6, "e2m1": 4, "s4": 4, "u4": 4, "b1": 1,
}  # fmt: skip
ACCUMULATOR_BITS: Final = {"f64": 64, "f32": 32, "s32": 32, "f16": 16}

# Types whose A and B may differ from each other; every other type multiplies only its own kind.
_MIXABLE: Final = (("s8", "u8"), ("s4", "u4"), ("e4m3", "e5m2"))
_F8F6F4: Final = ("e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
_INTEGERS: Final = ("s8", "u8", "s4", "u4", "b1")
_BYTE_KINDS: Final = ("f8f6f4", "mxf8f6f4")  # kinds that give every element, however narrow, a byte


class BlockScale(NamedTuple):
    """One legal block scaling: the kind, how many scales a row of A has, and their type (PTX ISA 9.7.14.4)."""

    kind: str
    vector: str  # of `.scale_vec::`
    type: str


BLOCK_SCALES: Final = (
    BlockScale("mxf8f6f4", "1X", "ue8m0"),
    BlockScale("mxf4", "2X", "ue8m0"),
    BlockScale("mxf4nvf4", "2X", "ue8m0"),
    BlockScale("mxf4nvf4", "4X", "ue8m0"),
    BlockScale("mxf4nvf4", "4X", "ue4m3"),
)


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
    form = _read(text)
    problem = _problem(form)
    if problem:
        raise UnsupportedForm(f"`{text}` is no form of `mma.sync`: {problem}")
    return form


def mma_forms() -> Iterator[MmaForm]:
    """Every dense form of `mma.sync`, in the order of types, then shapes; `.satfinite` left aside."""
    for kind in ("", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4"):
        for a in MULTIPLICAND_BITS:
            for b in MULTIPLICAND_BITS:
                for m in (8, 16):
                    for k in depths(m, a, kind):
                        yield from _forms_of(m, k, kind, a, b)


def depths(m: int, element: str, kind: str = "") -> tuple[int, ...]:
    """Every `k` that a shape of `m` rows has for multiplicands of type `element` under a `.kind::`."""
    if element == "f64":
        return (4,) if m == 8 else (4, 8, 16)
    full = 256 // multiplicand_container_bits(element, kind)
    if kind:
        return (full,) if m == 16 else ()
    if m == 8:
        if element == "f16":
            return (4,)
        return (full // 2,) if element in _INTEGERS else ()
    return (full // 2, full) if element not in ("e3m2", "e2m3", "e2m1") else ()


def accumulators(m: int, element: str, kind: str = "") -> tuple[tuple[str, str], ...]:
    """Every (D type, C type) that goes with multiplicands of type `element`."""
    if kind.startswith("mx"):
        return (("f32", "f32"),)
    if element == "f64":
        return (("f64", "f64"),)
    if element in _INTEGERS:
        return (("s32", "s32"),)
    if element in ("tf32", "bf16"):
        return (("f32", "f32"),)
    mixed = (("f32", "f16"),) if m == 8 else ()
    return (("f16", "f16"), ("f32", "f32"), *mixed)


def _multiplies(a: str, b: str, kind: str) -> bool:
    """Whether A of type `a` and B of type `b` meet in one instruction of this kind."""
    if kind in _BYTE_KINDS:
        return a in _F8F6F4 and b in _F8F6F4
    if kind:
        return a == b == "e2m1"
    return a == b or any(a in group and b in group for group in _MIXABLE)


def _forms_of(m: int, k: int, kind: str, a: str, b: str) -> Iterator[MmaForm]:
    """The forms of one shape, kind and pair of multiplicand types."""
    if not _multiplies(a, b, kind):
        return
    orders: tuple[Order, ...] = ("row", "col")
    layouts: list[tuple[Order, Order]] = [("row", "col")]
    if m == 8 and a == "f16":
        layouts = [(first, second) for first in orders for second in orders]
    operations = ("xor", "and") if a == "b1" else ("",)
    scales = [s for s in BLOCK_SCALES if s.kind == kind] or [BlockScale("", "", "")]
    for a_layout, b_layout in layouts:
        for d, c in accumulators(m, a, kind):
            for operation in operations:
                for scale in scales:
                    yield MmaForm(m, 8, k, a_layout, b_layout, d, a, b, c, kind, scale.vector, scale.type, operation)


_SHAPE: Final = re.compile(r"m(\d+)n(\d+)k(\d+)")
_WORDS: Final = ("sync", "aligned", "satfinite", "row", "col", "xor", "and", "popc", "block_scale")
_SCALE_TYPES: Final = ("ue8m0", "ue4m3")


@dataclass(slots=True)
class _Spelling:
    """The qualifiers of a spelling, sorted by what they say."""

    shapes: list[str]
    layouts: list[Order]
    types: list[str]
    operations: list[str]
    flags: set[str]
    kind: str = ""
    scale_vector: str = ""
    scale_type: str = ""


def _read(text: str) -> MmaForm:
    words = [word for word in text.strip().split(".") if word]
    if words and words[0] == "mma":
        words = words[1:]
    if "sp" in words or any(word.startswith("sp::") for word in words):
        raise UnsupportedForm(f"`{text}` is a sparse `mma`; only the dense forms are known here")
    said = _sort(text, words)
    if len(said.shapes) != 1 or len(said.types) != 4 or len(said.layouts) != 2:
        raise UnsupportedForm(
            f"`{text}` names no `mma.sync`: it takes one shape, `.row` or `.col` for A and for B, "
            "and four types (D, A, B, C), as in `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`"
        )
    m, n, k = (int(number) for number in re.findall(r"\d+", said.shapes[0]))
    d, a, b, c = said.types
    vector = said.scale_vector
    if "block_scale" in said.flags and not vector:
        vector = {"mxf4": "2X", "mxf8f6f4": "1X"}.get(said.kind, "")
    return MmaForm(
        m, n, k, said.layouts[0], said.layouts[1], d, a, b, c,
        kind=said.kind, scale_vector=vector, scale_type=said.scale_type,
        bit_operation=".".join(said.operations), satfinite="satfinite" in said.flags,
    )  # fmt: skip


def _sort(text: str, words: Sequence[str]) -> _Spelling:
    said = _Spelling([], [], [], [], set())
    for word in words:
        if _SHAPE.fullmatch(word):
            said.shapes.append(word)
        elif word == "row" or word == "col":  # noqa: PLR1714 - narrows to Order
            said.layouts.append(word)
        elif word in MULTIPLICAND_BITS or word in ACCUMULATOR_BITS:
            said.types.append(word)
        elif word in ("xor", "and"):
            said.operations.append(word)
        elif word in _SCALE_TYPES:
            said.scale_type = word
        elif word.startswith("kind::"):
            said.kind = word.removeprefix("kind::")
        elif word.startswith("scale_vec::"):
            said.scale_vector = word.removeprefix("scale_vec::")
        elif word in _WORDS:
            said.flags.add(word)
        else:
            raise UnsupportedForm(f"`.{word}` in `{text}` is no qualifier of `mma`{_nearest(word)}")
    return said


def _nearest(word: str) -> str:
    known = (*_WORDS, *_SCALE_TYPES, *MULTIPLICAND_BITS, *ACCUMULATOR_BITS, "m16n8k16", "m16n8k8", "kind::f8f6f4")
    near = get_close_matches(word, known, n=1)
    return f"; did you mean `.{near[0]}`?" if near else ""


def _problem(form: MmaForm) -> str:
    """Why a form that could be read is none of the manual's; empty if it is one."""
    a, b = form.a_type, form.b_type
    for operand in ("a", "b"):
        if form.type_of(operand) not in MULTIPLICAND_BITS:
            return f"`.{form.type_of(operand)}` is no type of A or B"
    if form.kind not in ("", "f8f6f4", *(scale.kind for scale in BLOCK_SCALES)):
        return f"`.kind::{form.kind}` is unknown; the kinds are f8f6f4, mxf8f6f4, mxf4 and mxf4nvf4"
    if not _multiplies(a, b, form.kind):
        with_kind = f" under `.kind::{form.kind}`" if form.kind else ""
        return f"A of type `.{a}` does not multiply B of type `.{b}`{with_kind}"
    return _shape_problem(form) or _detail_problem(form)


def _shape_problem(form: MmaForm) -> str:
    shapes = [f"m{m}n8k{k}" for m in (8, 16) for k in depths(m, form.a_type, form.kind)]
    if form.shape not in shapes:
        return f"`.{form.a_type}` is multiplied in the shapes {', '.join(f'`.{shape}`' for shape in shapes)}"
    pairs = accumulators(form.m, form.a_type, form.kind)
    if (form.d_type, form.c_type) not in pairs:
        legal = " or ".join(f"`.{d}` and `.{c}`" for d, c in pairs)
        return f"D and C are `.{form.d_type}` and `.{form.c_type}`; they must be {legal}"
    if (form.a_layout, form.b_layout) != ("row", "col") and not form.quad_pairs:
        return "A is `.row` and B is `.col` in every form but `.m8n8k4` with `.f16`"
    return ""


def _detail_problem(form: MmaForm) -> str:
    scales = [s for s in BLOCK_SCALES if s.kind == form.kind]
    scale = BlockScale(form.kind, form.scale_vector, form.scale_type)
    if scales and scale not in scales:
        legal = " or ".join(f"`.scale_vec::{s.vector}` with `.{s.type}`" for s in scales)
        return f"`.kind::{form.kind}` takes `.block_scale`, and {legal}"
    if not scales and (form.scale_vector or form.scale_type):
        return "only the `.kind::mx...` forms are block-scaled"
    single_bit = form.a_type == "b1"
    if single_bit != (form.bit_operation in ("xor", "and")) or (not single_bit and form.bit_operation):
        return "single-bit forms, and only they, take one of `.xor.popc` and `.and.popc`"
    if form.satfinite and form.a_type not in ("s8", "u8", "s4", "u4"):
        return "`.satfinite` goes with `.s8`, `.u8`, `.s4` and `.u4` only"
    return ""
