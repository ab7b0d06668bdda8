"""CuTe's layout algebra over integers: correct, or an error that explains why there is no result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.layout.algebra import (
    coalesce,
    complement,
    filter,
    layout_of,
    left_inverse,
    right_inverse,
    with_shape,
)
from ptxloom.layout.composition import Tiler, composition  # its module's name, too
from ptxloom.layout.core import Coordinate, Layout, Slice, make_layout
from ptxloom.layout.errors import LayoutError
from ptxloom.layout.inttuple import IntTuple, Mode, compatible, congruent, flatten, product
from ptxloom.layout.recast import downcast, recast, upcast  # likewise
from ptxloom.layout.swizzle import ComposedLayout, Swizzle
from ptxloom.lazy import later

if TYPE_CHECKING:
    from ptxloom.layout.linear import LinearLayout, to_linear
    from ptxloom.layout.tensor import Tensor
    from ptxloom.layout.text import parse
    from ptxloom.layout.tiling import (
        blocked_product,
        flat_divide,
        flat_product,
        logical_divide,
        logical_product,
        raked_product,
        tiled_divide,
        tiled_product,
        zipped_divide,
        zipped_product,
    )

__all__ = [
    "ComposedLayout",
    "Coordinate",
    "IntTuple",
    "Layout",
    "LayoutError",
    "LinearLayout",
    "Mode",
    "Slice",
    "Swizzle",
    "Tensor",
    "Tiler",
    "blocked_product",
    "coalesce",
    "compatible",
    "complement",
    "composition",
    "congruent",
    "downcast",
    "filter",
    "flat_divide",
    "flat_product",
    "flatten",
    "layout_of",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_layout",
    "parse",
    "product",
    "raked_product",
    "recast",
    "right_inverse",
    "tiled_divide",
    "tiled_product",
    "to_linear",
    "upcast",
    "with_shape",
    "zipped_divide",
    "zipped_product",
]

__getattr__ = later(
    __name__,
    {
        "ptxloom.layout.linear": "LinearLayout to_linear",
        "ptxloom.layout.tensor": "Tensor",
        "ptxloom.layout.text": "parse",
        "ptxloom.layout.tiling": "blocked_product flat_divide flat_product logical_divide logical_product "
        "raked_product tiled_divide tiled_product zipped_divide zipped_product",
    },
)
