"""PTX's types as the machine computes with them, with the LLVM types of their elements (PTX ISA 5.2)."""

from __future__ import annotations

from functools import cache
from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.isa.types import ElementType, Kind, element_type

_FLOATS: Final = {"f16": "half", "bf16": "bfloat", "tf32": "float", "f32": "float", "f64": "double"}


@dataclass(frozen=True, slots=True)
class Type:
    """A PTX type.

    Attributes:
        name: Its name in PTX, without the dot: `s32`, `f16x2`, `pred`.
        kind: signed, unsigned, bits, float or predicate: the first letter of each.
        bits: The width of the register that holds it; a predicate counts as 1.
        llvm: The LLVM type of one element, such as `i32` or `half`; formats LLVM lacks are integers.
        packed: Elements of a packed type; 1 for scalars.
    """

    name: str
    kind: str
    bits: int
    llvm: str
    packed: int = 1

    @property
    def signed(self) -> bool:
        """Whether it is a signed integer type."""
        return self.kind == "s"

    @property
    def is_float(self) -> bool:
        """Whether it is a floating-point type (packed ones too)."""
        return self.kind == "f"


@cache
def ptx_type(name: str) -> Type:
    """The type with this name.

    Raises:
        UsageError: There is no such type.

    Example:
        >>> ptx_type("f16x2"), ptx_type("e2m1x2").bits, ptx_type("e2m3x2").bits
        (Type(name='f16x2', kind='f', bits=32, llvm='half', packed=2), 8, 16)
    """
    found = element_type(name)
    return Type(name, str(found.kind)[0], found.register_bits, _llvm(found), found.count)


def _llvm(element: ElementType) -> str:
    match element.kind:
        case Kind.PREDICATE:
            return "i32"
        case Kind.FLOAT:
            return _FLOATS.get(element.name.partition("x")[0], "i8")
        case _:
            return f"i{element.bits}"
