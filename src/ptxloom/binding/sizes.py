"""How many bytes declarations take, and where parameters lie (PTX ISA 5.4, 7.1).

As in ptxas 13: a stated alignment can only raise that of the type.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.isa.types import element_type, is_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.syntax.tree import Declaration, Declarator

OPAQUE: Final = frozenset(("texref", "samplerref", "surfref"))
"""The types whose contents are hidden from a program."""
_HANDLE: Final = 8  # bytes of what stands for a texture, a sampler or a surface


class PlacedName(NamedTuple):
    """A declared name and where it lies: bytes from the start, and how many it takes."""

    declaration: Declaration
    declarator: Declarator
    offset: int
    size: int

    @property
    def end(self) -> int:
        """Where the next may begin."""
        return self.offset + self.size


def type_bytes(name: str) -> int:
    """The bytes of one element of a type, a predicate's too; 0 if no type has the name.

    Example:
        >>> type_bytes("f16x2"), type_bytes("pred"), type_bytes("texref"), type_bytes("u33")
        (4, 1, 8, 0)
    """
    if name in OPAQUE:
        return _HANDLE
    return max(element_type(name).storage_bits // 8, 1) if is_type(name) else 0


def size_of(declaration: Declaration, declarator: Declarator) -> int:
    """The bytes of a variable; 0 if its type is unknown or its size left open."""
    elements = prod(each or 0 for each in declarator.dimensions)
    return type_bytes(declaration.type) * max(declaration.vector, 1) * elements


def declared_bytes(declaration: Declaration) -> int:
    """The bytes of all that a declaration declares, series among it."""
    each = declaration.declarators
    return sum(size_of(declaration, one) * (1 if one.count is None else one.count) for one in each)


def alignment_of(declaration: Declaration) -> int:
    """What the address of a variable is a multiple of, in bytes: as stated, and at least as its type asks."""
    natural = type_bytes(declaration.type) * max(declaration.vector, 1)
    return max(declaration.alignment, natural, 1)


def align(at: int, alignment: int) -> int:
    """The next multiple of an alignment."""
    return -(-at // alignment) * alignment


def parameters(declarations: Iterable[Declaration]) -> tuple[PlacedName, ...]:
    """Where the parameters of a kernel lie, one behind the other.

    Example:
        >>> from ptxloom.syntax import parse
        >>> k = parse(".entry k(.param .b8 a, .param .align 4 .b64 b, .param .b32 c[3], .param .b64 d) { ret; }")
        >>> [(each.offset, each.size) for each in parameters(k.functions["k"].params)]
        [(0, 1), (8, 8), (16, 12), (32, 8)]
    """
    found: list[PlacedName] = []
    at = 0
    for declaration in declarations:
        for declarator in declaration.declarators:
            placed = PlacedName(
                declaration, declarator, align(at, alignment_of(declaration)), size_of(declaration, declarator)
            )
            at = placed.end
            found.append(placed)
    return tuple(found)
