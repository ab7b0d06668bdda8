"""The forms of `mma`, `mma.sp` and `wmma.mma`: shape, types and modifiers, read from a spelling.

Realises PTX ISA 9.7.14.4 to 9.7.14.6, for the forms of `sm_75` to `sm_90` (no `.kind` and no block scaling).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from ptxloom.diagnostics import UnsupportedForm
from ptxloom.isa.products import ACCUMULATOR_BITS, MULTIPLICAND_BITS, Order, mma_forms

Layouts: TypeAlias = tuple[Order, Order]

#: Bits of one element of each operand type.
BITS = {**MULTIPLICAND_BITS, **ACCUMULATOR_BITS}
ROUNDINGS = ("rn", "rz", "rm", "rp")
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")


@dataclass(frozen=True, slots=True)
class TensorForm:
    """One form of a warp-level multiply-accumulate: `d = a * b + c`.

    Attributes:
        family: `mma` or `wmma`.
        m, n, k: Rows of `a`, columns of `b`, and the length of the dot products.
        layouts: `(alayout, blayout)`, each `row` or `col`.
        d_type, a_type, b_type, c_type: Element types without the dot.
        rounding: `rn`, `rz`, `rm` or `rp` for `.f64`; empty otherwise or where none is written.
        satfinite: Integer results stop at the ends of `.s32` instead of wrapping.
        operation: `xor` or `and` for `.b1`; empty otherwise.
        sparse: Empty, `sp` or `sp::ordered_metadata`.
    """

    family: str
    m: int
    n: int
    k: int
    layouts: Layouts
    d_type: str
    a_type: str
    b_type: str
    c_type: str
    rounding: str = ""
    satfinite: bool = False
    operation: str = ""
    sparse: str = ""

    @property
    def shape(self) -> str:
        """The `.shape` qualifier."""
        return f"m{self.m}n{self.n}k{self.k}"

    @property
    def quad_pairs(self) -> bool:
        """Whether four matrix products run at once, one for each quad pair (`mma.m8n8k4` with `.f16`)."""
        return self.family == "mma" and self.shape == "m8n8k4" and self.a_type == "f16"

    @property
    def register_bits(self) -> int:
        """Width of one register of an operand: 64 for `.f64`, else 32."""
        return 64 if self.a_type == "f64" else 32

    @property
    def stored_k(self) -> int:
        """Elements of a row of `a` that are stored: half of `k` where `a` is sparse."""
        return self.k // 2 if self.sparse else self.k

    @property
    def chunk(self) -> int:
        """Columns of a sparse row that one four-bit group of metadata describes (9.7.14.6.1)."""
        return {32: 2, 4: 8}.get(BITS[self.a_type], 4)

    @property
    def selectors(self) -> int:
        """How many sparsity selectors there are: the lanes of a group of four over those that hold metadata."""
        return 1024 // (self.m * self.k // self.chunk * 4) if self.sparse else 1

    @property
    def registers(self) -> tuple[int, int, int, int]:
        """Registers of each operand in one lane: `(d, a, b, c)`."""
        return (
            self._count(self.m * self.n, self.d_type),
            self._multiplicand(self.m * self.stored_k, self.a_type),
            self._multiplicand(self.k * self.n, self.b_type),
            self._count(self.m * self.n, self.c_type),
        )

    def _count(self, elements: int, element: str) -> int:
        products = 4 if self.quad_pairs else 1
        return products * elements * BITS[element] // (32 * self.register_bits)

    def _multiplicand(self, elements: int, element: str) -> int:
        """`wmma` gives `a` and `b` of `.f16` eight registers whatever the shape (9.7.14.4.1)."""
        return 8 if self.family == "wmma" and element == "f16" else self._count(elements, element)

    @property
    def spelling(self) -> str:
        """The full instruction as PTX spells it."""
        types = (self.d_type, self.a_type, self.b_type, self.c_type)
        tail: tuple[str, ...]
        if self.family == "wmma":
            operation = (self.operation, "popc") if self.operation else ()
            if self.a_type == "f16":
                types = (self.d_type, self.c_type)
            head = ("wmma", "mma", *operation, "sync", "aligned", *self.layouts, self.shape)
            tail = ("satfinite",) if self.satfinite else ()
            return ".".join((*head, *((self.rounding,) if self.rounding else ()), *types, *tail))
        head = ("mma", *((self.sparse,) if self.sparse else ()), "sync", "aligned", self.shape, *self.layouts)
        middle = (*(("satfinite",) if self.satfinite else ()), *((self.rounding,) if self.rounding else ()))
        tail = (self.operation, "popc") if self.operation else ()
        return ".".join((*head, *middle, *types, *tail))


def tensor_form(text: str) -> TensorForm:
    """The form that a full or short spelling names.

    Args:
        text: `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`, or without `mma.sync.aligned`. `wmma` and `sp`
            must be written, since they change what is meant.

    Raises:
        UnsupportedForm: The spelling names no form of `sm_75` to `sm_90`.
    """
    words = tuple(word for word in text.split(".") if word)
    form = _read(words)
    if form is None or form not in _legal():
        raise UnsupportedForm(_refusal(text))
    return form


def _refusal(text: str) -> str:
    return (
        f"`{text}` is not a form of `mma`, `mma.sp` or `wmma.mma` for `sm_75` to `sm_90`; "
        "a legal one is `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`"
    )


def _read(words: tuple[str, ...]) -> TensorForm | None:
    shapes = tuple(found for word in words if (found := _SHAPE.fullmatch(word)))
    layouts: list[Order] = [word for word in words if word == "row" or word == "col"]  # noqa: PLR1714 - narrows to Order
    types = tuple(word for word in words if word in BITS)
    family = "wmma" if words[:1] == ("wmma",) else "mma"
    if family == "wmma" and len(types) == 2:
        types = (types[0], "f16", "f16", types[1])
    if len(shapes) != 1 or len(types) != 4:
        return None
    if not layouts:
        layouts = ["row", "col"]
    if len(layouts) != 2 or set(words) - _KNOWN - {shapes[0].group(0)}:
        return None
    m, n, k = (int(size) for size in shapes[0].groups())
    return TensorForm(
        family,
        m,
        n,
        k,
        (layouts[0], layouts[1]),
        *types,
        rounding=next((word for word in words if word in ROUNDINGS), ""),
        satfinite="satfinite" in words,
        operation=next((word for word in words if word in ("xor", "and")), ""),
        sparse=next((word for word in words if word.startswith("sp")), ""),
    )


_MODIFIERS = ("sync", "aligned", "row", "col", "satfinite", "xor", "and", "popc", "sp", "sp::ordered_metadata")
_KNOWN = frozenset(("mma", "wmma", *_MODIFIERS, *BITS, *ROUNDINGS))


def variants() -> tuple[TensorForm, ...]:
    """Every form, in the manual's order: `mma`, `mma.sp`, `wmma.mma`."""
    return tuple(_legal())


_cache: list[dict[TensorForm, None]] = []


def _legal() -> dict[TensorForm, None]:
    if not _cache:
        _cache.append(dict.fromkeys((*_dense(), *_sparse(), *_wmma())))
    return _cache[0]


def _sized(family: str, shape: str, layouts: Layouts, types: tuple[str, str, str, str]) -> TensorForm:
    m, n, k = (int(size) for size in re.findall(r"\d+", shape))
    return TensorForm(family, m, n, k, layouts, *types)


def _with(
    form: TensorForm, *, rounding: str = "", satfinite: bool = False, operation: str = "", sparse: str = ""
) -> TensorForm:
    types = (form.d_type, form.a_type, form.b_type, form.c_type)
    return TensorForm(form.family, form.m, form.n, form.k, form.layouts, *types, rounding, satfinite, operation, sparse)


_ROW_COL: Layouts = ("row", "col")
_LAYOUTS: tuple[Layouts, ...] = (_ROW_COL, ("row", "row"), ("col", "row"), ("col", "col"))
_F64 = ("f64", "f64", "f64", "f64")
_ACCUMULATORS = (("f16", "f16"), ("f32", "f16"), ("f32", "f32"), ("f16", "f32"))


def _dense() -> list[TensorForm]:
    """The forms of `isa.products` that need no `.kind`, with the modifiers that it leaves aside."""
    forms: list[TensorForm] = []
    for form in mma_forms():
        if form.kind:
            continue
        plain = TensorForm(
            "mma",
            form.m,
            form.n,
            form.k,
            (form.a_layout, form.b_layout),
            form.d_type,
            form.a_type,
            form.b_type,
            form.c_type,
            operation=form.bit_operation,
        )
        forms.append(plain)
        if form.a_type == "f64":
            forms += [_with(plain, rounding=rounding) for rounding in ROUNDINGS]
        elif form.a_type[0] in "su":
            forms.append(_with(plain, satfinite=True))
    return forms


def _integers(family: str, shapes: tuple[str, ...], bits: str, layouts: tuple[Layouts, ...]) -> list[TensorForm]:
    return [
        _with(_sized(family, shape, layout, ("s32", a + bits, b + bits, "s32")), satfinite=saturating)
        for shape in shapes
        for layout in layouts
        for a, b in (product("su", repeat=2) if family == "mma" else ("ss", "uu"))
        for saturating in (False, True)
    ]


def _bits(family: str, shapes: tuple[str, ...]) -> list[TensorForm]:
    return [
        _with(_sized(family, shape, _ROW_COL, ("s32", "b1", "b1", "s32")), operation=operation)
        for shape in shapes
        for operation in ("xor", "and")
    ]


def _sparse() -> list[TensorForm]:
    floats = (
        ("m16n8k16", "f16", "f16"),
        ("m16n8k16", "f32", "f16"),
        ("m16n8k32", "f16", "f16"),
        ("m16n8k32", "f32", "f16"),
        ("m16n8k16", "f32", "bf16"),
        ("m16n8k32", "f32", "bf16"),
        ("m16n8k8", "f32", "tf32"),
        ("m16n8k16", "f32", "tf32"),
    )
    forms = [_sized("mma", shape, _ROW_COL, (d, a, a, d)) for shape, d, a in floats]
    forms += [_sized("mma", "m16n8k64", _ROW_COL, ("f32", a, b, "f32")) for a, b in product(("e4m3", "e5m2"), repeat=2)]
    forms += _integers("mma", ("m16n8k32", "m16n8k64"), "8", (_ROW_COL,))
    forms += _integers("mma", ("m16n8k64", "m16n8k128"), "4", (_ROW_COL,))
    return [
        _with(form, satfinite=form.satfinite, sparse=sparse)
        for sparse in ("sp", "sp::ordered_metadata")
        for form in forms
    ]


def _wmma() -> list[TensorForm]:
    shapes = ("m16n16k16", "m8n32k16", "m32n8k16")
    forms = [
        _sized("wmma", shape, layouts, types)
        for shape in shapes
        for layouts in _LAYOUTS
        for types in (
            *((d, "f16", "f16", c) for d, c in _ACCUMULATORS),
            ("f32", "bf16", "bf16", "f32"),
        )
    ]
    forms += [_sized("wmma", "m16n16k8", layouts, ("f32", "tf32", "tf32", "f32")) for layouts in _LAYOUTS]
    forms += [
        _with(_sized("wmma", "m8n8k4", layouts, _F64), rounding=rounding)
        for layouts in _LAYOUTS
        for rounding in ("", *ROUNDINGS)
    ]
    forms += _integers("wmma", shapes, "8", _LAYOUTS)
    forms += _integers("wmma", ("m8n8k32",), "4", (_ROW_COL,))
    forms += _bits("wmma", ("m8n8k128",))
    return forms
