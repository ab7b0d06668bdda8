"""The kinds of `tcgen05.mma`, and their legal sizes (PTX ISA 9.7.16.2, table 39)."""

from __future__ import annotations

from functools import cache
from typing import Final

from ptxloom.dataclass import dataclass

PUBLISHED: Final = "equal to results published for a B200 (sf-tensor/tcgen05)"
"""The evidence for sums of products whose results, with their operands, were published."""
TENSOR_KINDS: Final = ("f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4")
WIDE_KINDS: Final = ("mxf4", "mxf4nvf4")
"""The kinds whose dense products can have a K of 48 bytes, 96 elements, on sm_103."""
_BYTES: Final = ("f8f6f4", "mxf8f6f4", "i8")
_SCALES: Final = {
    "mxf8f6f4": {"": "1X", "scale_vec::1X": "1X", "block32": "1X"},
    "mxf4": {"": "2X", "scale_vec::2X": "2X", "block32": "2X"},
    "mxf4nvf4": {"scale_vec::2X": "2X", "scale_vec::4X": "4X", "block16": "4X", "block32": "2X"},
}
_BYTES_OF_WORD: Final = 4
_FEW_INTEGERS: Final = (8, 16, 24)
_WS_COLUMNS: Final = (64, 128, 256)


@dataclass(frozen=True, slots=True)
class TensorProduct:
    """A `tcgen05.mma` by its qualifiers.

    Attributes:
        kind: `f16`, `tf32`, `f8f6f4`, `i8`, `mxf8f6f4`, `mxf4` or `mxf4nvf4`.
        ctas: 1 or 2.
        sparse: Whether A has metadata.
        ws: Whether it is weight-stationary.
        scale_vector: The number of scales of a row for k of 32 bytes: `1X`, `2X`, `4X`; empty without.
        shifts: Whether A's rows are shifted down by one.
    """

    kind: str
    ctas: int
    sparse: bool
    ws: bool
    scale_vector: str
    shifts: bool

    @property
    def is_published(self) -> bool:
        """Whether results of its kind were published with their operands: only dense products of one CTA."""
        return self.ctas == 1 and not (self.sparse or self.ws)

    @property
    def has_bytes(self) -> bool:
        """Whether every element, however narrow, occupies a byte."""
        return self.kind in _BYTES


@cache
def product_of(qualifiers: tuple[str, ...]) -> TensorProduct:
    """The product with the qualifiers of a `tcgen05.mma`."""
    said = set(qualifiers)
    kind = next(q.removeprefix("kind::") for q in qualifiers if q.startswith("kind::"))
    scale = next((scale for word, scale in _SCALES.get(kind, {}).items() if word in said), "")
    return TensorProduct(
        kind,
        2 if "cta_group::2" in said else 1,
        "sp" in said,
        "ws" in said,
        scale or _SCALES.get(kind, {}).get("", ""),
        "ashift" in said,
    )


def refusal(
    product: TensorProduct, m: int, n: int, sparse: bool, transposed: bool = False, *, k_96: bool = False
) -> str:
    """Why a product cannot have such a D; empty if it can.

    Args:
        product: The instruction.
        m: The rows of D by its descriptor.
        n: The columns.
        sparse: Whether the descriptor says that A is sparse.
        transposed: Whether B's columns are contiguous in shared memory.
        k_96: Whether the descriptor says that K is 96.

    Example:
        >>> refusal(product_of(("mma", "cta_group::1", "kind::f16")), 64, 20, False)
        'N is 20, and has to be a multiple of 8 from 8 to 256'
    """
    if sparse != product.sparse:
        return f"the descriptor says that A is {'sparse' if sparse else 'dense'}, and the instruction that it is not"
    if k_96 and (sparse or product.kind not in WIDE_KINDS):
        return f"the descriptor says that K is 96, which {' and '.join(WIDE_KINDS)} have alone, where A is dense"
    rows = rows_of(product)
    if m not in rows:
        return f"M is {m}, and has to be {' or '.join(map(str, rows))}"
    if product.ws:
        columns = _WS_COLUMNS[:-1] if sparse else _WS_COLUMNS
        return "" if n in columns else f"N is {n}, and has to be {', '.join(map(str, columns))}"
    unit = _unit(product, transposed=transposed)
    few = _FEW_INTEGERS if product.kind == "i8" and product.ctas == 1 and not transposed else ()
    if n not in few and (n % unit or not unit <= n <= 256):
        return f"N is {n}, and has to be a multiple of {unit} from {unit} to 256"
    return ""


def scale_ids(scales: int) -> tuple[int, ...]:
    """The bytes of a word that can hold the first of a row's `scales` scales (PTX ISA 9.7.16.10.7).

    Example:
        >>> scale_ids(2), scale_ids(3)
        ((0, 2), (0, 1, 2, 3))
    """
    return tuple(range(0, _BYTES_OF_WORD, scales & -scales))


def rows_of(product: TensorProduct) -> tuple[int, ...]:
    """The possible numbers of rows of D."""
    if product.ws:
        return (32, 64, 128)
    scaled = product.kind in _SCALES
    if product.ctas == 2:
        return (256,) if scaled and product.sparse else (128, 256)
    return (128,) if scaled else (64, 128)


def _unit(product: TensorProduct, *, transposed: bool) -> int:
    """The number of which N must be a multiple."""
    eight_bits = product.has_bytes and transposed
    return 8 * product.ctas * (2 if product.kind == "i8" or eight_bits else 1)
