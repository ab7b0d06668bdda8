"""Tensor memory for programs that mean harm: columns taken and freed, addresses in and beyond them, descriptors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.descriptors.instruction import RESULTS, SCALE_TYPES, SCALED_KINDS, TYPES, InstructionDescriptor
from ptxloom.isa.limits import TENSOR_COLUMNS, TENSOR_LANES
from ptxloom.isa.tensor_products import WIDE_KINDS, product_of, rows_of

if TYPE_CHECKING:
    import random

    from attack.forging import Forger

HAD: Final = "%had"  # the register that has the address of what was allocated last
DECLARED: Final = f".reg .b32 {HAD}; mov.u32 {HAD}, 0;\n"
_ADDRESS: Final = re.compile(r"\[(b32r\d+)\]")
_COUNT: Final = re.compile(r"\b32;$")
_COUNTS: Final = (32, 32, 64, 128, 256, 512)
_WRONG_COUNTS: Final = ("96", "480")  # what ptxas lets through: multiples of 32
_STARTS: Final = "sha"


def owned(text: str, chance: random.Random) -> str:
    """Columns allocated and their address kept, or columns freed that were, or were not, or the right given up."""
    count = chance.choice(_WRONG_COUNTS) if chance.random() < 0.1 else str(chance.choice(_COUNTS))
    text = _COUNT.sub(f"{count};", text)
    if ".alloc" not in text:
        return f"mov.b32 b32r0, {HAD}; {text}" if chance.random() < 0.7 else text
    place = f"{_STARTS}+{16 * chance.randrange(8)}"
    text = re.sub(r"\[[^]]*\]", f"[{place}]", text)
    return f"{text} ld.shared.b32 {HAD}, [{place}];"


def filled(text: str, forger: Forger, chance: random.Random) -> str:
    """Lines that set the registers of a statement: what was allocated, descriptors that often say what there is."""
    lines = [_address(name, forger, chance) for name in dict.fromkeys(_ADDRESS.findall(text)) if ".commit" not in text]
    lines += [_matrix(name, forger, chance) for name in dict.fromkeys(re.findall(r"\bb64r\d+\b", text))]
    if ".mma" in text:
        told = next(name for name in re.findall(r"(?<=[ ,])b32r\d+\b", re.sub(r"[\[{][^]}]*[]}]", "", text)))
        lines.append(f"mov.b32 {told}, {_instruction(text, chance):#x};")
    lines += [forger.fill(name, "pred", ()) for name in dict.fromkeys(re.findall(r"\bpredr\d+\b", text))]
    return " ".join(lines)


def _address(register: str, forger: Forger, chance: random.Random) -> str:
    """Some lanes and columns on from what was allocated, in it or not; now and then whatever bits."""
    if chance.random() < 0.1:
        return forger.word(register)
    lane = chance.choice((0, 0, 0, 16, 32, 96, chance.randrange(TENSOR_LANES), chance.randrange(1 << 16)))
    column = chance.choice((0, 0, 0, 4, 8, 31, chance.randrange(TENSOR_COLUMNS), chance.randrange(1 << 16)))
    return f"add.u32 {register}, {HAD}, {lane << 16 | column:#x};"


def _matrix(register: str, forger: Forger, chance: random.Random) -> str:
    """A descriptor of what lies in shared memory; now and then whatever bits."""
    if chance.random() < 0.15:
        return forger.wide(register)
    offsets = [chance.choice((0, 1, 8, 16, 64, chance.randrange(1 << 14))) for _ in range(2)]
    bits = offsets[0] << 16 | offsets[1] << 32 | 1 << 46 | chance.choice((0, 0, 1, 2, 4, 6, 7)) << 61
    bits |= chance.choice((0, 0, 0, 0, chance.randrange(16))) << 49
    return (
        f"mov.u32 %t0, {_STARTS}; shr.u32 %t0, %t0, 4; cvt.u64.u32 {register}, %t0; "
        f"or.b64 {register}, {register}, {bits:#x};"
    )


def _instruction(text: str, chance: random.Random) -> int:
    """An instruction descriptor for the statement's kind; now and then whatever bits."""
    if chance.random() < 0.1:
        return chance.getrandbits(32)
    product = product_of(tuple(text.split(" ", 1)[0].split(".")[1:]))
    kind, scaled = product.kind, product.kind in SCALED_KINDS
    a, b = (chance.choice(tuple(TYPES[kind])) for _ in range(2))
    told = InstructionDescriptor(
        kind,
        chance.choice(rows_of(product)),
        chance.choice((8, 16, 32, 64, 64, 128, 256)),
        a,
        b,
        "f32" if scaled else chance.choice(tuple(RESULTS[kind])),
        transpose_a=chance.random() < 0.2,
        transpose_b=chance.random() < 0.2,
        negate_a=chance.random() < 0.1,
        sparse=product.sparse,
        selector=0 if scaled else chance.randrange(4),
        saturate=kind == "i8" and chance.random() < 0.5,
        scale_type=chance.choice(tuple(SCALE_TYPES)) if scaled else "",
        a_scale=chance.randrange(4) if scaled else 0,
        b_scale=chance.randrange(4) if scaled else 0,
        k_96=kind in WIDE_KINDS and chance.random() < 0.3,
    )
    return told.bits
