"""CuTe's atoms of tensor memory: copies between it, registers and shared memory, and the products into it (sm_100).

Layouts of copies are (thread, bit) -> bit of the moved data; ValID maps each such bit to tensor memory: 32
times the column, and `DP_BITS` a lane. Those of products are (CTA, element) -> m + M*k, n + N*k, m + M*n.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from ptxloom.atoms.digits import bits_of_element, thread_value_layout, worths
from ptxloom.dataclass import dataclass
from ptxloom.descriptors.instruction import SCALED_KINDS
from ptxloom.descriptors.tensor_instruction import tensor_instruction
from ptxloom.diagnostics import UnsupportedForm
from ptxloom.display import mimebundle
from ptxloom.fragments import Axis, fragment
from ptxloom.isa.limits import LANES
from ptxloom.isa.resolution.forms import forms
from ptxloom.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.descriptors.tensor_instruction import TensorInstruction
    from ptxloom.fragments import Digit, Fragment

DP_BITS: Final = 1 << 21
"""Bits of an address in tensor memory from one lane to the next."""

_UTCCP: Final = {
    "128x256b": "128dp256bit",
    "128x128b": "128dp128bit",
    "4x256b": "4dp256bit",
    "warpx4": "4x32dp128bit",
    "warpx2::02_13": "2x64dp128bitlw0213",
    "warpx2::01_23": "2x64dp128bitlw0123",
}
_KINDS: Final = {
    "F16BF16": "f16", "TF32": "tf32", "F8F6F4": "f8f6f4", "S8": "i8",
    "MXF8F6F4": "mxf8f6f4", "MXF4": "mxf4", "MXF4NVF4": "mxf4nvf4",
}  # fmt: skip
_TYPES: Final = {
    "half_t": "f16", "bfloat16_t": "bf16", "tfloat32_t": "tf32", "float": "f32", "int8_t": "s8", "uint8_t": "u8",
    "int32_t": "s32",
    **{f"float_{name}_t": name for name in ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "ue8m0", "ue4m3")},
}  # fmt: skip
_MMA: Final = re.compile(
    r"(SM100_MMA_(?P<kind>[A-Z0-9]+?)(?P<pair>_2x1SM)?_(?P<a>SS|TS)(?P<scaled>_SCALED)?(?P<sparse>_SPARSE)?)"
    r"(?:<(?P<arguments>[^<>]*)>)?"
)


@dataclass(frozen=True, slots=True)
class TensorCopyAtom:
    """A `tcgen05.ld`, `.st` or `.cp` as CuTe sees it.

    Attributes:
        name: The CuTe C++ name.
        ptx: The instruction's spelling.
        thr_id: The threads of a warp; for a copy from shared memory the CTAs.
        val_id: Bit of the moved data -> bit of tensor memory.
        src_layout: (thread, bit) of the source -> bit of the moved data.
        dst_layout: The same for the destination.

    Example:
        >>> from ptxloom.atoms import atom
        >>> found = atom("SM100_TMEM_LOAD_16dp256b1x")
        >>> print(found.ptx, found.dst_layout)
        tcgen05.ld.sync.aligned.16x256b.x1.b32 (32,(64,2)):(64,(1,2048))
    """

    name: str
    ptx: str
    thr_id: Layout
    val_id: Layout
    src_layout: Layout
    dst_layout: Layout

    _repr_mimebundle_ = mimebundle

    @property
    def ref_layout(self) -> Layout:
        """The reference layout: the side of tensor memory."""
        return self.dst_layout if ".st." in self.ptx or ".cp." in self.ptx else self.src_layout

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class TensorMmaAtom:
    """A `tcgen05.mma` as CuTe sees it.

    Attributes:
        name: The CuTe C++ name, without its template arguments.
        instruction: The instruction with its descriptor.
        thr_id: The CTAs.
        a_layout: (CTA, element) -> m + M*k.
        b_layout: (CTA, element) -> n + N*k.
        c_layout: (CTA, element) -> m + M*n, of D.

    Example:
        >>> from ptxloom.atoms import atom
        >>> found = atom("SM100_MMA_F16BF16_2x1SM_SS<bfloat16_t, bfloat16_t, float, 256, 96>")
        >>> print(found.a_layout, found.shape_mnk)
        (2,(128,16)):(128,(1,256)) (256, 96, 16)
    """

    name: str
    instruction: TensorInstruction
    thr_id: Layout
    a_layout: Layout
    b_layout: Layout
    c_layout: Layout

    _repr_mimebundle_ = mimebundle

    @property
    def ptx(self) -> str:
        """The instruction's spelling, its shape and its types."""
        return self.instruction.spelling

    @property
    def shape_mnk(self) -> tuple[int, int, int]:
        """Rows of D, columns of D, and the depth of the product."""
        told = self.instruction.told
        return told.m, told.n, self.instruction.form.k

    def __str__(self) -> str:
        return self.name


@cache
def tensor_copy_atoms() -> Mapping[str, TensorCopyAtom]:
    """Every atom of a copy, by name."""
    found: dict[str, TensorCopyAtom] = {}
    for form in forms("tcgen05"):
        if "shape" not in form.filling or {"red", "mma"} & {*form.words} or "b8x16" in form.words:
            continue
        made = _from_shared(form.spelling) if "cp" in form.words else _of_registers(form.spelling)
        found[made.name] = made
    return found


def _of_registers(spelling: str) -> TensorCopyAtom:
    """A load or a store: each thread sees all of tensor memory."""
    held = fragment(spelling)
    shape, count = (word for word in spelling.split(".") if re.fullmatch(r"\d+x\d+b(x2)?|x\d+", word))
    lanes, bits = shape.removesuffix("x2").removesuffix("b").split("x")
    stores = ".st." in spelling
    ending = "_16b" * (held.stride < held.register_bits)
    name = f"SM100_TMEM_{'STORE' if stores else 'LOAD'}_{lanes}dp{bits}b{count[1:]}x{ending}"
    half = held.columns * held.stride
    wide = half * held.matrices
    weights = {Axis.ROW: wide, Axis.COLUMN: held.stride, Axis.MATRIX: half}
    worth = _worth(held, weights)
    registers = thread_value_layout(
        worths(held.lanes, worth.__getitem__), (*bits_of_element(held.stride), *worths(held.values, worth.__getitem__))
    )
    whole = Layout((LANES, wide * held.rows), (0, 1))
    columns = Layout((held.stride, wide // held.stride), (1, held.register_bits)) if ending else Layout(wide, 1)
    val_id = Layout((columns.shape, held.rows), (columns.stride, DP_BITS))
    source, destination = (registers, whole) if stores else (whole, registers)
    return TensorCopyAtom(name, held.spelling, Layout(LANES), val_id, source, destination)


def _worth(held: Fragment, weights: Mapping[Axis, int]) -> dict[Digit, int]:
    return {digit: digit.weight * weights[digit.axis] for digit in (*held.lanes, *held.values)}


def _from_shared(spelling: str) -> TensorCopyAtom:
    """A copy from shared memory: first the rows of the first lanes, then their bits, further rows, then copies."""
    held = fragment(spelling)
    ctas = held.matrices
    name = f"SM100_UTCCP_{next(name for word, name in _UTCCP.items() if word in spelling)}_{ctas}cta"
    wide = held.columns * held.stride
    lanes = [(digit, DP_BITS << place) for place, digit in enumerate(held.lanes) if digit.axis is not Axis.MATRIX]
    if any(digit.axis is Axis.ADDRESS for digit, _ in lanes):  # CuTe counts all lanes that may contain the rows
        count = 1 << len(lanes)
        step = count // held.rows
        rows = Layout((ctas, (held.rows, wide)), (0, (step, count)))
        return TensorCopyAtom(name, held.spelling, Layout(ctas), Layout((count, wide), (DP_BITS, 1)), rows, rows)
    first = next((place for place, (digit, _) in enumerate(lanes) if digit.axis is not Axis.ROW), len(lanes))
    rest = sorted(lanes[first:], key=lambda one: one[0].axis is Axis.COPY)
    modes = [(1 << first, DP_BITS, False), (wide, 1, False)]
    modes += [(2, step, digit.axis is Axis.COPY) for digit, step in rest]
    strides: list[int] = []
    reached = 1
    for size, _, copied in modes:
        strides.append(0 if copied else reached)
        reached *= 1 if copied else size
    shape = tuple(size for size, _, _ in modes)
    val_id = Layout(shape, tuple(step for _, step, _ in modes))
    source = Layout((ctas, shape), (0, tuple(strides)))
    destination = Layout((ctas, val_id.size), (0, 1))
    return TensorCopyAtom(name, held.spelling, Layout(ctas), val_id, source, destination)


def tensor_mma_atom(one: TensorInstruction, a_source: str = "SS") -> TensorMmaAtom:
    """The atom of a product.

    Args:
        one: The instruction with its descriptor.
        a_source: "SS" if A is in shared memory, "TS" if it is in tensor memory.

    Returns:
        The atom.

    Raises:
        UnsupportedForm: CuTe has no such atom.
    """
    told, ctas = one.told, one.product.ctas
    if one.product.ws:
        raise UnsupportedForm(f"`{one.spelling}` has no atom: CuTe has no atoms of `.ws`")
    kind = next(name for name, kind in _KINDS.items() if kind == told.kind)
    if told.kind in ("mxf4", "mxf4nvf4"):
        kind = "MXF4NVF4" if told.sparse else "MXF4"
    name = f"SM100_MMA_{kind}{'_2x1SM' * (ctas == 2)}_{a_source}{'_SPARSE' * told.sparse}"
    m, n, k = told.m, told.n, one.form.k
    of_a, of_b = _share(m, k, ctas), _share(n, k, ctas)
    return TensorMmaAtom(name, one, Layout(ctas), of_a, of_b, _share(m, n, ctas))


def _share(first: int, second: int, ctas: int) -> Layout:
    """Each CTA has its share of the rows of A and D, or of the columns of B."""
    return Layout((ctas, (first // ctas, second)), (first // ctas * (ctas > 1), (1, first)))


def tensor_atom(name: str) -> TensorCopyAtom | TensorMmaAtom | None:
    """The atom of a CuTe C++ name; None if it is not an atom of tensor memory.

    Raises:
        UnsupportedForm: Its template arguments do not describe a product.
    """
    if name in tensor_copy_atoms():
        return tensor_copy_atoms()[name]
    read = _MMA.fullmatch(name)
    if read is None or read["kind"] not in _KINDS:
        return None
    arguments = [part.strip().rpartition("::")[2] for part in (read["arguments"] or "").split(",")]
    types = [_TYPES[part] for part in arguments if part in _TYPES]
    sizes = [part for part in arguments if part.isdecimal()]
    kind = _KINDS[read["kind"]]
    if kind in ("mxf4", "mxf4nvf4"):
        kind = "mxf4" if "ue8m0" in types or not types else "mxf4nvf4"
    words = [
        "tcgen05",
        "mma",
        *["sp"] * bool(read["sparse"]),
        f"cta_group::{2 if read['pair'] else 1}",
        f"kind::{kind}",
    ]
    words += [f"m{sizes[0]}n{sizes[1]}"] if len(sizes) > 1 else []
    a_b, d, scales = types[:2], types[2:3], types[3:4]
    one = tensor_instruction(".".join([*words, *d, *a_b, *(scales if kind in SCALED_KINDS else [])]))
    return replace(tensor_mma_atom(one, read["a"]), name=read[1])
