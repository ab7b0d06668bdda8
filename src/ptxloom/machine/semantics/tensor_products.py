"""`tcgen05.mma`: products into tensor memory, each issued by one thread (PTX ISA 9.7.16.10)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.isa.tensor_products import TENSOR_KINDS, product_of
from ptxloom.machine.codegen.convergence import arrive
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.runtime import turns
from ptxloom.machine.runtime.tensor_cores import model
from ptxloom.machine.runtime.tensor_memory import products
from ptxloom.machine.semantics.tensor_memory import first_of, tensor_addresses
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()

_BUFFERS: Final = ("a", "b0", "b1", "b2", "b3")
_COLLECTING: Final = ("discard", "fill", "use", "lastuse")  # in the order of `products.DISCARDS` and so on
_LANE_WORDS: Final = LANES * 8
_DISABLED_WORDS: Final = 8


@family("tcgen05", when=lambda op: op.has("mma"), starts=True)
def mma(b: Builder, op: Op) -> None:
    """D = A * B, plus D by `enable-input-d`, with the tensor cores' own rounding."""
    arrive(b)
    product = product_of(op.qualifiers)
    target, left, right, *rest = op.operands
    in_tensor = isinstance(left, tree.Address)
    beside = {model.METADATA: rest.pop(0)} if product.sparse else {}
    descriptor = rest.pop(0)
    if product.scale_vector:
        beside |= {model.A_SCALES: rest.pop(0), model.B_SCALES: rest.pop(0)}
    disabled = rest.pop(0) if isinstance(rest[0], tree.Vector) else None
    enable, *last = rest
    facts = (
        model.FROM_TENSOR * in_tensor
        | model.SCALED * bool(product.scale_vector)
        | model.SPARSE * product.sparse
        | model.PAIRED * (product.ctas == 2)
        | model.SHIFTED * product.shifts
        | model.WEIGHTS_STAY * product.ws
        | products.scale_code(product.scale_vector) << products.SCALE_SHIFT
        | TENSOR_KINDS.index(product.kind) << products.KIND_SHIFT
    )
    room = b.images.room("operands", model.OPERANDS * _LANE_WORDS)
    given = {model.TARGET: tensor_addresses(b, target), model.DESCRIPTOR: b.read(descriptor, "b32")}
    given |= {at: tensor_addresses(b, operand) for at, operand in beside.items()}
    given[model.LEFT] = tensor_addresses(b, left) if in_tensor else b.read(left, "b64")
    given[model.RIGHT] = b.read(right, "b64")
    given[model.MASK] = b.read(last[0], "b64") if product.ws and last else b.constant(vector("i64"), 0)
    for at, value in given.items():
        b.store(b.resize(value, 64), b.offset(room, at * _LANE_WORDS), 64)
    _ask(b, room, facts)
    b.runtime(products.collect, W, b.active_mask, *_collector(op), op.site)
    lanes = _disabled(b, disabled)
    power = 0x3F800000 if product.ws else _power(b, op, last)
    adding = b.read_mask(enable)
    b.check(b.runtime(products.multiply, W, b.active_mask, room, lanes, adding, power, facts, op.site))


def _collector(op: Op) -> tuple[int, int]:
    """The bit of the collector buffer that a product names, that of A or of B, and what it does with it."""
    named = next((q.split("::")[1:] for q in op.qualifiers if q.startswith("collector::")), None)
    buffer, does = named or ("b0" if op.has("ws") else "a", "discard")
    return 1 << _BUFFERS.index(buffer), _COLLECTING.index(does)


def _ask(b: Builder, room: Value, facts: int) -> None:
    """Let Python make missing plans of these products; the lanes then execute the instruction again."""
    descriptors = b.offset(room, model.DESCRIPTOR * _LANE_WORDS)
    wanted = b.runtime(products.want_plan, W, b.active_mask, descriptors, facts, products.SERVICE, b.op.site)
    asking, going = b.fresh("L"), b.fresh("L")
    b.do(f"br {b.compare('ne', wanted, Value('i32', '0'))}, label %{asking}, label %{going}")
    b.label(asking)
    b.runtime(products.come_again, W, b.block.number)
    b.do(f"ret i32 {turns.SERVICE}")
    b.label(going)


def _disabled(b: Builder, operand: tree.Operand | None) -> Value:
    """The address of the words for lanes that are not written; null if all are written."""
    if operand is None:
        return Value("ptr", "null")
    words = b.read_all(operand, "b32")
    room = b.images.room("disabled", 4 * _DISABLED_WORDS)
    for number in range(_DISABLED_WORDS):
        word = first_of(b, words[number]) if number < len(words) else Value("i32", "0")
        b.store(word, b.offset(room, 4 * number), 4)
    return room


def _power(b: Builder, op: Op, scale: list[tree.Operand]) -> int:
    """The bits of the `.f32` that D is multiplied with before: 2 to the power of minus `scale-input-d`."""
    number = b.literal(scale[0]) if scale else 0
    if number is None:
        raise op.unsupported("the scale of D is not a constant")
    found: int = struct.unpack("<I", struct.pack("<f", 2.0**-number))[0]
    return found
