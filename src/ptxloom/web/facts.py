"""What the explorer knows, as plain data: who holds what, what accesses ask of banks, the words of descriptors.

Fragments go as the digits that they are made of, so that the map of any form is a line of numbers.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ptxloom.banks import access
from ptxloom.descriptors import DATA_TYPES, SWIZZLE_MODES
from ptxloom.descriptors.matrix import GENERATIONS
from ptxloom.descriptors.remarks import factor_types
from ptxloom.descriptors.tensor_instruction import tensor_instruction
from ptxloom.descriptors.tensor_types import INTERLEAVES, L2_PROMOTIONS, OOB_FILLS, SWIZZLES
from ptxloom.diagnostics import PtxloomError
from ptxloom.fragments import Axis, Digit, Evidence, Fragment, fragment, fragment_operands
from ptxloom.isa import forms, matrix_forms
from ptxloom.isa.limits import SHARED_BYTES
from ptxloom.isa.matrix import variants
from ptxloom.isa.tensor_products import product_of, rows_of
from ptxloom.isa.types import element_type
from ptxloom.views.fragments.prefaces import preface
from ptxloom.web.instructions import instruction_facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.isa import MatrixForm, MatrixMove

_COLUMNS: Final = 128  # of products into tensor memory
_AXES: Final = tuple(Axis)
_PLAIN_TYPES: Final = ("b8", "b16", "b32", "b64", "v2.b32", "v4.b32", "v2.b64")
_ELEMENTS: Final = ("f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s8", "u8", "b8", "b16", "b32", "b64")


def facts() -> dict[str, object]:
    """Everything but the code to paste; `script/facts.js` names the parts."""
    return {
        **fragment_facts(),
        "accesses": dict(access_facts()),
        "elements": {name: element_type(name).container_bits for name in _ELEMENTS},
        **descriptor_facts(),
        **instruction_facts(),
        "sharedBytes": SHARED_BYTES,
    }


def fragment_facts() -> dict[str, object]:
    """Every form with matrix operands, and the fragment of each.

    `fragments` are [lanes, values, width, stride, shift, register bits, addressed, confirmed, in tensor memory];
    `forms` are [spelling, operands, the place of each one's fragment, the places of the lines on how to read it].
    """
    shapes: dict[tuple[object, ...], int] = {}
    notes: dict[str, int] = {}
    rows: list[list[object]] = []
    for form in _matrix_forms():
        operands = fragment_operands(form)
        found = [fragment(form, operand) for operand in operands]
        rows.append(
            [
                form if isinstance(form, str) else form.spelling,
                [operand or "r" for operand in operands],
                [shapes.setdefault(_shape(each), len(shapes)) for each in found],
                [[notes.setdefault(line, len(notes)) for line in _reading(each)] for each in found],
            ]
        )
    return {
        "forms": rows,
        "fragments": list(shapes),
        "notes": list(notes),
        "evidence": [each.value for each in Evidence],
    }


def _matrix_forms() -> Iterator[MatrixMove | MatrixForm | str]:
    """Every form that holds a fragment."""
    yield from variants()
    for opcode in ("mma", "wmma", "wgmma"):
        yield from matrix_forms(opcode)
    for form in forms("tcgen05"):
        if not {"ld", "st", "cp", "shift"}.isdisjoint(form.words):
            with suppress(PtxloomError):  # a load that reduces holds no matrix
                yield fragment(form.spelling).spelling
    yield from dict.fromkeys(_tensor_products())


def _tensor_products() -> Iterator[str]:
    """Products into tensor memory: of each kind one, with every M that D can have and 128 columns."""
    for form in forms("tcgen05"):
        words = [word for word in form.words if not word.startswith("collector::") and word != "ashift"]
        if "mma" in words:
            for m in rows_of(product_of(tuple(words))):
                yield tensor_instruction(".".join(("tcgen05", *words, f"m{m}n{_COLUMNS}"))).spelling


def _shape(of: Fragment) -> tuple[object, ...]:
    lanes, values = (tuple(map(_digit, digits)) for digits in (of.lanes, of.values))
    known = list(Evidence).index(of.confirmed)
    flags = int(of.addressed), known, int(of.in_tensor_memory)
    return lanes, values, of.width, of.stride, of.shift, of.register_bits, *flags


def _digit(digit: Digit) -> tuple[int, int, int]:
    return _AXES.index(digit.axis), digit.weight, digit.radix


def _reading(of: Fragment) -> list[str]:
    """How to read the map, without the example and the evidence, which the page shows elsewhere."""
    lines = preface(of)
    return [lines[0], *lines[2 if of.in_tensor_memory else 3 : -1]]


def access_facts() -> Iterator[tuple[str, list[int]]]:
    """Accesses to shared memory: [bytes a lane, lanes, lanes of a phase, matrix, load, atomic, rounds]."""
    plain = [f"{opcode}.shared.{kind}" for opcode in ("ld", "st") for kind in _PLAIN_TYPES]
    atomic = ["atom.shared.add.u32", "atom.shared.add.f32", "atom.shared.cas.b32", "red.shared.add.u32"]
    moves = [move.spelling for move in variants() if move.address_lanes]
    for spelling in (*moves, *plain, *atomic):
        of = access(spelling)
        flags = of.is_matrix, of.is_load, of.is_atomic
        yield spelling, [of.lane_bytes, of.lanes, of.phase_lanes, *map(int, flags), of.rounds]


def descriptor_facts() -> dict[str, object]:
    """The words of matrix descriptors, the swizzling modes, and the enumerations of tensor maps."""
    generations = {
        name: {
            "words": [[word.name, word.first, word.bits] for word in each.words],
            "codes": each.codes,
            "version": each.version,
            "section": each.section,
        }
        for name, each in GENERATIONS.items()
    }
    return {
        "generations": generations,
        "modes": {
            mode.name: [mode.span_bytes, mode.atom_bytes]
            for mode in SWIZZLE_MODES.values()
            if not (mode.flips or mode.pattern_lines)
        },
        "factorTypes": sorted(factor_types()),
        "dataTypes": {
            kind.name: [kind.code, kind.element_bytes, int(kind.is_float), int(kind.rounds)]
            for kind in DATA_TYPES.values()
            if not kind.is_narrow  # sm_90's, like the swizzles: `ptxloom tensormap` knows more
        },
        "mapWords": {
            "interleaves": INTERLEAVES,
            "swizzles": SWIZZLES[:4],
            "promotions": L2_PROMOTIONS,
            "fills": OOB_FILLS,
        },
    }
