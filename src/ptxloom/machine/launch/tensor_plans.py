"""Plans of products into tensor memory, made when a kernel first comes to one: what bits mean, and the code for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.descriptors.instruction import InstructionDescriptor
from ptxloom.descriptors.remarks import of_instruction
from ptxloom.diagnostics import UsageError
from ptxloom.isa.tensor_products import product_of, refusal
from ptxloom.machine.launch.tensor_forms import DESCRIPTOR_BITS, Planned, planned
from ptxloom.machine.native import jit, language
from ptxloom.machine.results.outcome import LaunchError
from ptxloom.machine.runtime.tensor_cores import model
from ptxloom.machine.tensor import tensor_memory

if TYPE_CHECKING:
    from ptxloom.machine.launch.request import Request


_ULTRA: Final = 103  # whose products can have a K of 96
_MEANT_BY_NOBODY: Final = ("result-type", "transposed", "negated")


def make_plan(request: Request) -> None:
    """Add the plan that a worker requests to those of its launch.

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
    wanted = _wanted(request, key & DESCRIPTOR_BITS)
    plan = known[count]
    wanted.fill(plan)
    places = wanted.places
    plan.places, plan.place_count = launch.arena.put(places.tobytes()), len(places)
    made = tensor_memory.function(wanted.instruction.form, wanted.instruction.across)
    plan.code = jit.helper_address(made.symbol, made.ir, light=False)
    plan.key = key
    launch.native.plan_count = count + 1


def _wanted(request: Request, bits: int) -> Planned:
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
            why = why or "its descriptor sets K to 96, which only sm_103a supports"
        if not why:
            return planned(request.op, bits)
    except UsageError as error:
        why = str(error)
    raise LaunchError("the kernel was ended by an error", (request.hazard("illegal-tensor-memory", reason=why),))
