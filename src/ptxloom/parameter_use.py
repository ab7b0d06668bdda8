"""What a kernel does with its parameters, as far as its text shows: which are pointers, to what, read or written."""

from __future__ import annotations

from collections import defaultdict
from itertools import repeat
from typing import TYPE_CHECKING, Final

from ptxloom.binding.effects import destinations
from ptxloom.binding.sizes import parameters
from ptxloom.binding.touches import OBJECT, touches
from ptxloom.dataclass import dataclass
from ptxloom.isa.types import is_type
from ptxloom.meaning.origins import ORIGINS, Origin
from ptxloom.readings.pointees import pointees
from ptxloom.solver import solve
from ptxloom.syntax import instructions
from ptxloom.syntax.tree import Address, Binary, Component, Name, Vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ptxloom.syntax.tree import Declaration, Function, Instruction, Operand

_POINTER_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class ParameterUse:
    """A parameter and its uses.

    Attributes:
        declaration: Its declaration in the kernel's header.
        name: Its name.
        size: Its size in bytes.
        is_array: Whether it is an array of values: a structure, or a tensor map.
        pointer: Whether memory is reached through it.
        loaded: Whether something is loaded through it.
        stored: Whether something is stored through it, or changed.
        types: The types of loads and stores through it, by their names in PTX, in the order of the text.
        is_map: Whether tensor copies use it as a tensor map.
    """

    declaration: Declaration
    name: str
    size: int
    is_array: bool
    pointer: bool
    loaded: bool
    stored: bool
    types: tuple[str, ...]
    is_map: bool


def parameter_uses(kernel: Function) -> tuple[ParameterUse, ...]:
    """The parameters of a kernel, in order.

    Example:
        >>> from ptxloom.syntax import parse
        >>> text = ".entry k(.param .u64 p, .param .u64 n) { .reg .b64 %a<3>; .reg .f32 %f; ld.param.u64 %a0, [p]; "
        >>> text += "ld.param.u64 %a1, [n]; mad.lo.u64 %a2, %a1, 4, %a0; ld.global.f32 %f, [%a2]; ret; }"
        >>> [(use.name, use.pointer, use.types) for use in parameter_uses(parse(text).functions["k"])]
        [('p', True, ('f32',)), ('n', False, ())]
    """
    placed = parameters(kernel.params)
    names = frozenset(one.declarator.name for one in placed)
    body = tuple(instructions(kernel.body)) if kernel.body is not None else ()
    accesses = _accesses(body, _origins(body, names), names)
    found: list[ParameterUse] = []
    for one in placed:
        name = one.declarator.name
        seen = accesses[name]
        types = dict.fromkeys(kind for _, kind in seen if kind)
        words = {what for what, _ in seen}
        pointer = one.size == _POINTER_BYTES and (one.declaration.pointer is not None or bool(words))
        found.append(
            ParameterUse(
                one.declaration, name, one.size, bool(one.declarator.dimensions), pointer, "loaded" in words,
                "stored" in words, tuple(types), "map" in words,
            )
        )  # fmt: skip
    return tuple(found)


class _Perhaps:
    """Values that may be pointers from some parameters; a product is not one, whatever it is made of."""

    data: frozenset[str] = frozenset()

    def either(self, one: frozenset[str], other: frozenset[str]) -> frozenset[str]:
        """From both."""
        return one | other

    def step(self, values: Sequence[frozenset[str]], places: Sequence[int]) -> frozenset[str]:
        """From each of them."""
        del places
        return self.data.union(*values)

    def opaque(self, values: Sequence[frozenset[str]]) -> frozenset[str]:
        """No pointer."""
        del values
        return self.data

    def cut(self, value: frozenset[str], bits: int) -> frozenset[str]:
        """Pointers have 64 bits."""
        del value, bits
        return self.data


_PERHAPS: Final = _Perhaps()


def _origins(body: Iterable[Instruction], names: frozenset[str]) -> Mapping[str, frozenset[str]]:
    """For each register, the parameters from which its pointer may come; with several, it counts for each."""
    users: dict[str, dict[int, Instruction]] = {}
    for one in body:
        for name in _names(one.operands[1:]):
            users.setdefault(name, {})[id(one)] = one

    def step(name: str, value: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
        def read(operand: Operand) -> frozenset[str]:
            return value if name in _names((operand,)) else _PERHAPS.data

        for one in users.get(name, {}).values():
            passed = name in names and ORIGINS.get(one.opcode) is Origin.MEMORY and "param" in one.qualifiers
            made = repeat(value) if passed else pointees(_PERHAPS, one, read)
            for (written, _), sources in zip(destinations(one), made, strict=False):
                if sources:
                    yield written.text, sources

    return solve({name: frozenset((name,)) for name in names}, step, lambda one, other: one | other)


def _accesses(
    body: Iterable[Instruction], origins: Mapping[str, frozenset[str]], names: frozenset[str]
) -> Mapping[str, list[tuple[str, str]]]:
    """By parameter what is done through it (`loaded`, `stored`, `map`), and the type that is moved."""
    seen: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in body:
        if "param" in one.qualifiers:
            continue
        for number, operand in enumerate(one.operands):
            if isinstance(operand, Address):
                kind = next((q for q in reversed(one.qualifiers) if is_type(q)), "")
                for name in _names((operand.base,)):
                    for parameter in origins.get(name, frozenset((name,)) & names):
                        seen[parameter] += [(what, kind) for what in _done(one, number, operand)]
    return seen


def _done(one: Instruction, number: int, operand: Address) -> Iterator[str]:
    """What an instruction does through an operand: textures and surfaces are named by handles, which point nowhere."""
    for touch in touches(one):
        if touch.place == number and touch.base == "address":
            yield touch.does
            if touch.does == OBJECT and operand.extra:
                yield "map"
            if touch.loads:
                yield "loaded"
            if touch.stores:
                yield "stored"


def _names(operands: Iterable[Operand]) -> Iterator[str]:
    for operand in operands:
        match operand:
            case Name(text=text):
                yield text
            case Component(base=base):
                yield base.text
            case Address(base=base):
                yield from _names((base,))
            case Binary(left=left, right=right):
                yield from _names((left, right))
            case Vector(elements=elements):
                yield from _names(elements)
            case _:
                pass
