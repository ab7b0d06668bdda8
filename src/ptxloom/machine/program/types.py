"""PTX's fundamental types, worked out from their names (PTX ISA 5.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

_NAME: Final = re.compile(
    r"(pred|[subf](?=\d))(\d*)(x2|x4)?|(bf16|tf32)(x2)?|(e4m3|e5m2|e2m1|e2m3|e3m2|ue8m0|ue4m3|s2f6)(x2|x4)?"
)
_FLOATS: Final = {"f16": "half", "bf16": "bfloat", "f32": "float", "f64": "double"}


@dataclass(frozen=True, slots=True)
class Type:
    """A PTX type.

    Attributes:
        name: As PTX writes it, without the dot: `s32`, `f16x2`, `pred`.
        kind: signed, unsigned, bits, float or predicate.
        bits: The width of the whole; a predicate counts as 1.
        llvm: The LLVM type of one element, such as `i32` or `half`; formats LLVM lacks are integers.
        packed: Elements of a packed type; 1 for scalars.
    """

    name: str
    kind: Literal["s", "u", "b", "f", "p"]
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


def is_type(name: str) -> bool:
    """Whether a qualifier is a type."""
    return _NAME.fullmatch(name) is not None


@cache
def ptx_type(name: str) -> Type:
    """The type of this name.

    Raises:
        KeyError: No type has the name.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise KeyError(name)
    if found[1] == "pred":
        return Type(name, "p", 1, "i32")
    if found[4] or found[6]:
        return _other_float(name, found)
    bits, packed = int(found[2]), int((found[3] or "x1")[1:])
    letter = found[1]
    if letter == "f":
        return Type(name, "f", bits * packed, _FLOATS[f"f{bits}"], packed)
    kind: Literal["s", "u", "b"] = "s" if letter == "s" else "u" if letter == "u" else "b"
    return Type(name, kind, bits * packed, f"i{bits}", packed)


def _other_float(name: str, found: re.Match[str]) -> Type:
    if found[4] == "tf32":
        return Type(name, "f", 32, "float")
    if found[4]:
        packed = int((found[5] or "x1")[1:])
        return Type(name, "f", 16 * packed, "bfloat", packed)
    packed = int((found[7] or "x1")[1:])
    bits = 4 if found[6] == "e2m1" and packed > 1 else 8  # each other one has a byte
    return Type(name, "f", bits * packed, "i8", packed)
