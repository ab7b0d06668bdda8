"""Element types, read from their names: fundamental, packed, alternate and sub-byte ones (PTX ISA 5.2, 9.7.14)."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.isa.spelling import near_misses


class Kind(StrEnum):
    """The interpretation of a type's bits."""

    BITS = "b"
    UNSIGNED = "u"
    SIGNED = "s"
    FLOAT = "f"
    PREDICATE = "pred"


_BYTE = 8  # bits


@dataclass(frozen=True, slots=True)
class ElementType:
    """A type that instructions can name.

    Attributes:
        name: Without the leading dot: "b16", "e4m3", "b6x16_p32".
        kind: The interpretation of its bits.
        bits: The bits of one element that carry its value.
        container_bits: The bits that one element takes up in a register by itself.
        count: The number of elements packed together; 1 for a scalar.
        padding_bits: Unused bits after the packed elements.
    """

    name: str
    kind: Kind
    bits: int
    container_bits: int
    count: int = 1
    padding_bits: int = 0

    @property
    def storage_bits(self) -> int:
        """The bits of all packed elements and their padding."""
        return self.bits * self.count + self.padding_bits

    @property
    def register_bits(self) -> int:
        """The bits of the register that holds an operand of the type by itself; 1 for a predicate.

        Example:
            >>> [element_type(name).register_bits for name in ("u4", "e2m1x2", "e2m3x2", "e2m1x4", "tf32", "pred")]
            [8, 8, 16, 16, 32, 1]
        """
        if self.kind is Kind.PREDICATE or (self.count == 1 and self.kind is Kind.FLOAT):
            return self.container_bits
        return max(_BYTE, 1 << (self.storage_bits - 1).bit_length())

    @property
    def packed_bits(self) -> int:
        """The bits that one element takes up in a register that holds nothing else; a `.tf32` fills it."""
        return self.container_bits if self.name == "tf32" else self.bits

    @property
    def signed(self) -> bool:
        """Whether the elements are integers with a sign."""
        return self.kind is Kind.SIGNED

    def __str__(self) -> str:
        return self.name


# All types except integers: name -> (kind, value bits, container bits).
_NAMED = {
    "pred": (Kind.PREDICATE, 1, 1),
    "s2f6": (Kind.FLOAT, 8, 8),  # a fixed-point type, converted like floating point
    **{name: (Kind.FLOAT, form.bits, max(form.container, _BYTE)) for name, form in FLOAT_FORMATS.items()},
}
_INTEGERS = {"b": (1, 2, 4, 6, 8, 16, 32, 64, 128), "u": (2, 4, 8, 16, 32, 64), "s": (2, 4, 8, 16, 32, 64)}
_PLAIN = re.compile(r"([bus])([0-9]{1,3})")
_PACKED = re.compile(r"(.+?)x([0-9]{1,2})(?:_p([0-9]{1,3}))?")


def element_type(name: str) -> ElementType:
    """The type named `name`, without a leading dot.

    Raises:
        UsageError: It is not a type.

    Example:
        >>> element_type("b6x16_p32").storage_bits, element_type("e2m1").bits, element_type("ue8m0").bits
        (128, 4, 8)
    """
    must_be(str, "name", name, "a type such as f16")
    found = _find(name)
    if found is None:
        near = near_misses(name, ("b32", "u32", "s32", "f16", "f16x2", "bf16", "tf32", "e4m3", "e5m2", "pred"))
        raise UsageError("type", name, f"a type such as {near[0] if near else 'b32'}")
    return found


def type_words(name: str) -> str:
    """A type described in a phrase.

    Raises:
        UsageError: `name` is not a type.

    Example:
        >>> type_words("e4m3x2")
        'two floating-point numbers of 8 bits with 4 bits of exponent and 3 of mantissa, packed into 16 bits'
        >>> type_words("s32"), type_words("b6x16_p32")
        ('a signed integer of 32 bits', '16 elements of 6 bits, packed into 128 bits, the last 32 of them padding')
    """
    found = element_type(name)
    if found.kind is Kind.PREDICATE:
        return "a predicate: true or false"
    if name.startswith("s2f6"):
        return "two fixed-point numbers of 8 bits with a sign, 6 bits after the point, packed into 16 bits"
    many = found.count > 1
    one = f"{_NOUNS[found.kind][many]} of {found.bits} bit{'s' * (found.bits > 1)}{_detail(name)}"
    if not many:
        wide = f", in a container of {found.container_bits}" if found.container_bits != found.bits else ""
        return f"{_ARTICLES[found.kind]} {one}{wide}"
    padding = f", the last {found.padding_bits} of them padding" if found.padding_bits else ""
    if found.bits == _SIX and not padding:
        return f"{_count(found)} {one}, each in a byte"
    return f"{_count(found)} {one}, packed into {found.storage_bits} bits{padding}"


_SIX = 6  # bits; such elements are packed in memory only


def _count(found: ElementType) -> str:
    return {2: "two", 4: "four"}.get(found.count, str(found.count))


_NOUNS = {
    Kind.BITS: ("element", "elements"),
    Kind.UNSIGNED: ("unsigned integer", "unsigned integers"),
    Kind.SIGNED: ("signed integer", "signed integers"),
    Kind.FLOAT: ("floating-point number", "floating-point numbers"),
}
_ARTICLES = {Kind.BITS: "an", Kind.UNSIGNED: "an", Kind.SIGNED: "a", Kind.FLOAT: "a"}


def _detail(name: str) -> str:
    """How the bits of a floating-point format are divided."""
    form = FLOAT_FORMATS.get(name.partition("x")[0])
    if form is None:
        return ""
    mantissa = f" and {form.fraction} of mantissa" if form.fraction else ""
    return f"{'' if form.signed else ' without a sign'} with {form.exponent} bits of exponent{mantissa}"


def is_type(name: str) -> bool:
    """Whether `name` spells an element type."""
    return _find(name) is not None


@lru_cache(maxsize=4096)
def _find(name: str) -> ElementType | None:
    packed = _PACKED.fullmatch(name)
    scalar = _scalar(packed[1] if packed else name)
    if scalar is None or packed is None:
        return None if scalar is None else ElementType(name, *scalar)
    kind, bits, _ = scalar
    count, padding = int(packed[2]), int(packed[3] or 0)
    return ElementType(name, kind, bits, bits, count, padding) if count > 1 else None


def _scalar(name: str) -> tuple[Kind, int, int] | None:
    """The kind, value bits and container bits of a type that packs nothing."""
    if name in _NAMED:
        return _NAMED[name]
    if match := _PLAIN.fullmatch(name):
        letter, bits = match[1], int(match[2])
        if bits in _INTEGERS[letter]:
            return Kind(letter), bits, bits
    return None
