"""The number of registers in a vector operand: a number, a qualifier or a matrix shape of its form decides."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ptxloom.isa.matrix import MOVES, of_form
from ptxloom.isa.products import form_of
from ptxloom.isa.types import Kind, element_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.isa.form import Form
    from ptxloom.isa.spec import OperandRule

_PIECE = re.compile(r"(\d+)x(\d+)b(?:x(2))?")  # lanes and bits of a piece of tensor memory
_REGISTER = 32  # bits
_LEFT = ("a", "registers", "factor")


def vector_length(form: Form, operand: str) -> int:
    """The number of registers in a vector operand; 0 if the form does not determine it, or it is not a vector.

    Example:
        >>> from ptxloom.isa.resolution.forms import resolve
        >>> words = ("sync", "aligned", "m16n8k16", "row", "col", "f32", "f16", "f16", "f32")
        >>> [vector_length(resolve("mma", words).form, operand) for operand in "dabc"]
        [4, 4, 2, 4]
    """
    rule = form.spec.operands[operand]
    if rule.kind in {"fragment", "factor"}:
        return _fragment_length(form, rule)
    if rule.kind == "place":
        return coordinates(form.filling["geom"], whole=rule.length == "coordinates")
    if rule.kind != "vector":
        return 0
    name, sign, number = split_length(rule.length)
    word = form.filling.get(name[1:], "") if name[:1] == "." else name
    digits = re.search(r"(\d+)d?$", word)
    if digits is None:
        return 0
    count = int(digits[1])
    return count * number if sign == "*" else -(-count // number) if sign == "/" else count - number


def looks(form: Form, count: int) -> str:
    """The syntax of a form's `count` operands, a character each: `[` in brackets, `{` a register vector, `.` other."""
    return "".join(
        "[" if slot.bracketed else "{" if _is_vector(form, slot.name) else "." for slot in form.operands(count)
    )


def _is_vector(form: Form, operand: str) -> bool:
    return form.spec.operands[operand].kind in {"fragment", "place"} or vector_length(form, operand) > 1


def coordinates(geometry: str, *, whole: bool = True) -> int:
    """The number of coordinates of a place in a texture or surface, padded to 1, 2 or 4 (PTX ISA 9.7.10.3).

    Args:
        geometry: Such as "2d", "acube", "2dms".
        whole: Whether to count the array index and the sample number.

    Example:
        >>> [coordinates(each) for each in ("1d", "a1d", "2d", "a2d", "cube", "2dms", "a2dms")]
        [1, 2, 2, 4, 4, 4, 4]
        >>> coordinates("a2d", whole=False)
        2
    """
    dimensions = 3 if "cube" in geometry else int(geometry.removeprefix("a")[0])
    more = geometry.startswith("a") + geometry.endswith("ms") if whole else 0
    return 1 << (dimensions + more - 1).bit_length()


def fragment_register(form: Form, operand: str) -> str:
    """The type of a fragment's registers; "b32" if only their width matters.

    Example:
        >>> from ptxloom.isa.resolution.forms import resolve
        >>> words = ("sync", "aligned", "m16n8k16", "row", "col", "f32", "f16", "f16", "f32")
        >>> [fragment_register(resolve("mma", words).form, operand) for operand in "dabc"]
        ['f32', 'f16x2', 'f16x2', 'f32']
    """
    type_ = _fragment_type(form, form.spec.operands[operand])
    if form.opcode == "wgmma" and operand in (*_LEFT, "b"):
        return "b32" if _is_whole(type_) else "f16x2"
    if form.opcode == "wmma":
        return _wmma_register(form, operand, type_)
    return _REGISTERS.get(type_, "b64" if type_ == "f64" else "b32")


_REGISTERS = {"f16": "f16x2", "bf16": "bf16x2", "tf32": "tf32", "f32": "f32", "s32": "s32"}


def _wmma_register(form: Form, operand: str, type_: str) -> str:
    """The register type of a wmma fragment: integer registers for integers, unless loaded by fours or eights."""
    multiplied = bool(form.filling.get("mma"))
    if type_ == "f64":
        return "b64" if multiplied and operand in {"c", "d"} else "f64"
    if _is_whole(type_):
        return "s32" if multiplied or type_ in {"u8", "s8", "s32"} else "b32"
    return _REGISTERS[type_]


def _is_whole(name: str) -> bool:
    return element_type(name).kind is not Kind.FLOAT


def _fragment_type(form: Form, rule: OperandRule) -> str:
    """The type of a fragment's elements; for factors of a `wmma.mma` that omits it, halves."""
    return (form.filling.get(rule.type[1:], "") if rule.type[:1] == "." else rule.type) or "f16"


def split_length(text: str) -> tuple[str, str, int]:
    """A length's number or slot, and the operator and number applied to it: `.dim-2` is (".dim", "-", 2)."""
    for sign in "*-/":
        name, found, number = text.partition(sign)
        if found:
            return name, sign, int(number)
    return text, "", 0


def _fragment_length(form: Form, rule: OperandRule) -> int:
    filling = form.filling
    shape = filling.get("shape", "")
    if piece := _PIECE.fullmatch(shape):
        return int(piece[1]) * int(piece[2]) * int(piece[3] or 1) * int(filling["num"][1:]) // 1024
    if form.opcode in MOVES:
        return of_form(form).registers
    if "spfactor" in filling:
        return _sparse_length(form, rule.name)
    return form_of(form).registers(_role(rule.name, filling))


def _sparse_length(form: Form, operand: str) -> int:
    """The number of registers of an operand of `spcompress` or `spdecompress`: groups of n kept elements out of m."""
    filling = form.filling
    kept, of = map(int, filling["spfactor"].removeprefix("sp::").split(":"))
    element, index, number = (int(filling[name][1:]) for name in ("elemsize", "idxsize", "num"))
    if form.opcode == "spcompress":  # there `.num` counts the registers of kept elements
        number = number * _REGISTER // (kept * element)
    bits = {"data": of * element, "cdata": kept * element, "mdata": kept * index}[operand]
    return -(-bits * number // _REGISTER)


def _role(name: str, filling: Mapping[str, str]) -> str:
    """The matrix of a fragment: `wmma.load` and `wmma.store` name it in a qualifier, `wgmma` by other names."""
    return next((matrix for matrix in "abcd" if filling.get(matrix)), "a" if name in _LEFT else name)
