"""The functions that kernels call under provenance: one piece of machine code, optimised together.

They run for almost every instruction, so unoptimised ones would be most of such a launch: an sgemm took 7 times as long
with them. Compiled together they cost LLVM about as much once as a launch of a second does each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.runtime.provenance import (
    bit_tags,
    memory_tags,
    product_tags,
    register_heads,
    register_tags,
    update_tags,
)

if TYPE_CHECKING:
    from collections.abc import Callable

FOLLOWING: Final[tuple[Callable[..., object], ...]] = (
    bit_tags.join_tags,
    bit_tags.mask_tags,
    bit_tags.permute_tags,
    bit_tags.shift_tags,
    memory_tags.gather_tags,
    memory_tags.load_tags,
    memory_tags.scatter_nothing,
    memory_tags.scatter_tags,
    memory_tags.stage_rows,
    memory_tags.store_nothing,
    memory_tags.store_tags,
    memory_tags.unstage_rows,
    product_tags.begin_product,
    product_tags.give_product,
    product_tags.note_descriptor,
    product_tags.note_factor,
    product_tags.note_nothing,
    product_tags.note_operand,
    register_heads.clear_tags,
    register_tags.compute_tags,
    register_tags.convert_tags,
    register_tags.move_tags,
    register_tags.shuffle_tags,
    register_tags.stage_register,
    update_tags.update_tags,
)
