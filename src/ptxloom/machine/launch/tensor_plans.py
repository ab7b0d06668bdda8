"""Plans of products into tensor memory, made when a kernel first comes to one: what bits mean, and the code for it."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ptxloom.descriptors.instruction import InstructionDescriptor
from ptxloom.descriptors.remarks import of_instruction
from ptxloom.descriptors.tensor_instruction import TILE_COLUMNS, TILE_ROWS, TensorInstruction
from ptxloom.diagnostics import UsageError
from ptxloom.fragments.tensor_layouts import accumulator_layout
from ptxloom.isa.tensor_products import product_of, refusal, scale_ids
from ptxloom.isa.types import element_type
from ptxloom.machine.native import jit, language
from ptxloom.machine.results.outcome import LaunchError
from ptxloom.machine.runtime.tensor_cores import model
from ptxloom.machine.runtime.tensor_memory.companions import BY_HALVES, BY_ROW
from ptxloom.machine.tensor import tensor_memory

if TYPE_CHECKING:
    from ptxloom.fragments.tensor_layouts import TensorLayout
    from ptxloom.machine.launch.request import Request


_PART_BYTES: Final = 16
_ULTRA: Final = 103  # whose products can have a K of 96
_MEANT_BY_NOBODY: Final = ("result-type", "transposed", "negated")
_DESCRIPTOR_BITS: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class _Planned:
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
    def places(self) -> array[int]:
        """Where each tile of a CTA's D begins, a row of tiles after the other."""
        n = self.instruction.told.n
        found = (
            self.layout.place(row, column, n)
            for row in range(0, self.layout.rows, TILE_ROWS)
            for column in range(0, n, TILE_COLUMNS)
        )
        return array("I", (place.column * model.TENSOR_LANES + place.lane for place in found))


def make_plan(request: Request) -> None:
    """Add the plan that a worker wants to those of its launch.

    Raises:
        LaunchError: The descriptor is not one that the instruction can take, or there are too many.
    """
    launch = request.launch
    key = int(request.wanted)
    table = launch.native.plans
    count: int = launch.native.plan_count
    known: Any = (language.structure(model.TensorPlan) * model.MOST_PLANS).from_address(table)
    if any(known[number].key == key for number in range(count)):
        return  # another thread has made it
    if count == model.MOST_PLANS:
        raise LaunchError(
            "the kernel was ended by an error",
            (
                request.hazard(
                    "illegal-tensor-memory", reason="a kernel has at most 256 different instruction descriptors here"
                ),
            ),
        )
    planned = _planned(request, key & _DESCRIPTOR_BITS)
    plan = known[count]
    planned.fill(plan)
    places = planned.places
    plan.places, plan.place_count = launch.arena.put(places.tobytes()), len(places)
    made = tensor_memory.function(planned.instruction.form, planned.instruction.across)
    plan.code = jit.helper_address(made.symbol, made.ir)
    plan.key = key
    launch.native.plan_count = count + 1


def _planned(request: Request, bits: int) -> _Planned:
    """What an instruction multiplies by a descriptor.

    Raises:
        LaunchError: It cannot.
    """
    product = product_of(request.op.node.qualifiers)
    try:
        told = InstructionDescriptor.from_bits(product.kind, bits)
        why = refusal(product, told.m, told.n, told.sparse, told.transpose_b, k_96=told.k_96)
        why = why or next((each.text for each in of_instruction(told) if each.name in _MEANT_BY_NOBODY), "")
        if told.k_96 and request.launch.program.architecture != _ULTRA:
            why = why or "its descriptor says that K is 96, which sm_103a alone multiplies"
        if not why:
            instruction = TensorInstruction(product, told, tuple(request.op.node.qualifiers))
            return _Planned(instruction, accumulator_layout(told.m, product.ctas, ws=product.ws, sparse=told.sparse))
    except UsageError as error:
        why = str(error)
    raise LaunchError("the kernel was ended by an error", (request.hazard("illegal-tensor-memory", reason=why),))
