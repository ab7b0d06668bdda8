"""What products into tensor memory multiply by their descriptors, and what native code has to know of it."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.instruction import InstructionDescriptor
from ptxloom.descriptors.tensor_instruction import TILE_COLUMNS, TILE_ROWS, TensorInstruction
from ptxloom.fragments.tensor_layouts import accumulator_layout
from ptxloom.isa.tensor_products import product_of, scale_ids
from ptxloom.isa.types import element_type
from ptxloom.machine.instruments.matrix_tags import Factor, element_bytes
from ptxloom.machine.native import language
from ptxloom.machine.runtime.tensor_cores import model
from ptxloom.machine.runtime.tensor_memory.companions import BY_HALVES, BY_ROW
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.fragments.tensor_layouts import TensorLayout
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.program.model import Op

DESCRIPTOR_BITS: Final = 0xFFFFFFFF  # of the key of a plan
_PART_BITS: Final = 128


@dataclass(frozen=True, slots=True)
class Planned:
    """A product as the machine makes it.

    Attributes:
        instruction: What it multiplies.
        layout: Of D.
    """

    instruction: TensorInstruction
    layout: TensorLayout

    def fill(self, plan: Any) -> None:
        """Write down what native code has to know."""
        instruction, layout = self.instruction, self.layout
        told, form = instruction.told, instruction.form
        plan.ctas = layout.ctas
        plan.a_tiles = layout.rows // TILE_ROWS
        plan.b_tiles = told.n // TILE_COLUMNS
        plan.a_parts = form.registers("a") // 2
        plan.b_parts = form.registers("b")
        plan.a_across, plan.b_across = instruction.across
        for side, kind in (("a", told.a_type), ("b", told.b_type)):
            sign = element_type(kind).packed_bits - 1 + form.payload_shift(side)
            width = instruction.container_bits(side)
            setattr(plan, f"{side}_sign", sum(1 << at + sign for at in range(0, 32, width)))
            packed = element_type(kind).packed_bits
            setattr(plan, f"{side}_packed", packed if width > packed and packed < 8 else 0)
            setattr(plan, f"{side}_shift", form.payload_shift(side))
            setattr(plan, f"{side}_each", element_bytes(form, side))
        plan.d_each = element_bytes(form, "d")
        plan.a_columns = form.registers("a") * 2
        plan.d_columns = layout.columns(told.n)
        plan.d_lanes = layout.lanes
        for tile in range(plan.a_tiles):
            plan.a_lanes[tile] = layout.place(tile * TILE_ROWS, 0, told.n).lane
        plan.folds = layout.folds
        plan.scales = form.scales
        plan.scale_step = next(iter(scale_ids(plan.scales)[1:]), model.SCALES_OF_WORD) if told.is_scaled else 0
        if told.sparse:
            plan.metadata = BY_HALVES if element_type(told.a_type).packed_bits > 8 else BY_ROW

    @property
    def whole(self) -> MatrixForm:
        """All that is multiplied of a CTA's rows, and all columns."""
        return replace(self.instruction.form, m=self.layout.rows, n=self.instruction.told.n)

    @property
    def places(self) -> array[int]:
        """Where each tile of a CTA's D begins, a row of tiles after the other."""
        n = self.instruction.told.n
        found = (
            self.layout.place(row, column, n)
            for row in range(0, self.layout.rows, TILE_ROWS)
            for column in range(0, n, TILE_COLUMNS)
        )
        return array("I", (place.column * model.TENSOR_LANES + place.lane for place in found))


def plan_key(launch: Any, number: int) -> int:
    """What distinguishes a plan of a launch from its others."""
    known: Any = (language.structure(model.TensorPlan) * model.MOST_PLANS).from_address(launch.plans)
    return int(known[number].key)


def multiplied(op: Op, key: int) -> tuple[MatrixForm, tuple[Factor | None, Factor | None], int]:
    """What an instruction multiplies in a CTA by the plan with a key.

    Returns:
        Its form, how its factors lie in shared memory, and how many scales a line of a factor has.
    """
    made = planned(op, key & DESCRIPTOR_BITS)
    form, across = made.whole, made.instruction.across
    parts = [extent * form.container_bits(side) // _PART_BITS for side, extent in (("a", form.stored_k), ("b", form.k))]
    of_a = None if isinstance(op.operands[1], tree.Address) else Factor(form.m // 8, parts[0], bool(across[0]))
    share = form.n // 8 // made.instruction.product.ctas
    return form, (of_a, Factor(share, parts[1], bool(across[1]))), made.instruction.form.scales


def planned(op: Op, bits: int) -> Planned:
    """What an instruction multiplies by a descriptor that it can take.

    Raises:
        UsageError: It makes no sense.
    """
    product = product_of(op.node.qualifiers)
    told = InstructionDescriptor.from_bits(product.kind, bits)
    instruction = TensorInstruction(product, told, tuple(op.node.qualifiers))
    return Planned(instruction, accumulator_layout(told.m, product.ctas, ws=product.ws, sparse=told.sparse))
