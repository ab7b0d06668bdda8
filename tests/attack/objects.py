"""Textures, surfaces, tensor maps and blocks of the heap, for programs that mean harm: memory between guard zones."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from attack.zones import Zone
from ptxloom.diagnostics import UsageError
from ptxloom.machine import surface, tensor_map, texture

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from attack.forging import Forger
    from ptxloom.machine import Surface, Texture

MAP_BYTES: Final = 128
TEXTURES: Final = ("1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "linear")
SURFACES: Final = ("1d", "2d", "3d", "a1d", "a2d")
OBJECTS: Final = len(TEXTURES) + len(SURFACES)
LOOK_UPS: Final = frozenset({"tex", "tld4", "txq"})
STORES: Final = frozenset({"suld", "sust", "sured", "suq"})
#: What a program keeps of them, so that its functions find them too.
HEAD: Final = f"""
.global .align 128 .b8 maps[{2 * MAP_BYTES}];
.global .align 8 .b64 handles[{OBJECTS}];
.global .align 8 .b64 kept[32];
"""
PARAMETERS: Final = f".param .align 8 .b8 objects[{8 * OBJECTS}], .param .align 64 .b8 map[{MAP_BYTES}]"
HANDLE: Final = "b64r9"  # the register that statements of a pool take an object from
_EXTENTS: Final = {
    "1d": (33,), "2d": (5, 9), "3d": (3, 4, 5), "a1d": (3, 17), "a2d": (2, 5, 6), "cube": (6, 4, 4),
    "acube": (12, 4, 4), "linear": (40,),
}  # fmt: skip
_TYPES: Final = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.float16, np.float32)
_GEOMETRY: Final = re.compile(r"\.(a?[123]d|a?cube)\b")
_FLOATS: Final = ("00000000", "3f000000", "3f800000", "40400000", "bf800000", "41200000", "7f800000", "7fc00000")


class Objects:
    """The objects of one launch; the same for the same chance.

    Attributes:
        zones: Where their texels lie.
        all: Textures, then surfaces, in the order of `TEXTURES` and `SURFACES`.
    """

    def __init__(self, chance: np.random.Generator) -> None:
        self._chance = chance
        self.zones: list[Zone] = []
        self.all: list[Texture | Surface] = [self._texture(geometry) for geometry in TEXTURES]
        self.all += [surface(self._texels(geometry), geometry) for geometry in SURFACES]

    @property
    def handles(self) -> bytes:
        """Their numbers, as a parameter."""
        return np.array([int(one) for one in self.all], np.uint64).tobytes()

    def _texels(self, geometry: str) -> NDArray[Any]:
        """An array of some type and some components, at the end of a page."""
        kind = np.dtype(_TYPES[self._chance.integers(len(_TYPES))])
        channels = int(self._chance.choice((1, 2, 4)))
        shape = (*_EXTENTS[geometry], channels)[: None if channels > 1 else -1]
        zone = Zone(prod(shape) * kind.itemsize, kind.itemsize * channels, "texels")
        zone.content[:] = self._chance.integers(0, 256, zone.size, np.uint8)
        self.zones.append(zone)
        return zone.content.view(kind).reshape(shape)

    def _texture(self, geometry: str) -> Texture:
        chance, texels = self._chance, self._texels(geometry)
        modes = {
            "address_mode": str(chance.choice(("wrap", "clamp", "mirror", "border"))),
            "filter_mode": str(chance.choice(("point", "linear"))),
            "read_mode": str(chance.choice(("element_type", "normalized_float"))),
            "normalized_coords": bool(chance.integers(2)),
        }
        try:
            return texture(texels, geometry, **modes)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
        except UsageError:  # CUDA has no such one
            return texture(texels, geometry, normalized_coords="cube" in geometry)


def map_of(array: NDArray[np.uint8], chance: np.random.Generator) -> bytes:
    """A tensor map of an array, now and then with words that no driver writes."""
    rank = int(chance.integers(1, 5))
    shape = ((2048,), (64, 32), (8, 8, 32), (4, 4, 4, 32))[rank - 1]
    box = [int(n) for n in chance.choice((1, 2, 4), rank - 1)]
    swizzle = str(chance.choice(("none", "32B")))
    words = bytearray(
        tensor_map(array[: 4 * prod(shape)].view(np.float32).reshape(shape), (8, *box), swizzle=swizzle).to_bytes()
    )
    for _ in range(int(chance.choice((0, 0, 0, 1, 3)))):
        words[int(chance.integers(64))] = int(chance.integers(256))
    return bytes(words)


def ready(text: str) -> str:
    """Lines by which a kernel keeps what its program mentions."""
    copied: list[str] = []
    for name, source, count in (("handles", "objects", OBJECTS), ("maps", "map", MAP_BYTES // 8)):
        if re.search(rf"\b{name}\b", text):
            copied += [
                f"ld.param.b64 %w0, [{source}+{8 * n}]; st.global.b64 [{name}+{8 * n}], %w0;" for n in range(count)
            ]
    return "\n".join(copied)


def object_for(statement: str, opcode: str, chance: random.Random) -> str:
    """Lines that set the register of an object: most often to one that the statement can use."""
    numbers: Sequence[int] = range(OBJECTS)
    if found := _GEOMETRY.search(statement):
        geometry = found[1]
        if opcode in STORES and geometry in SURFACES:
            numbers = (len(TEXTURES) + SURFACES.index(geometry),)
        elif opcode in LOOK_UPS:
            numbers = (TEXTURES.index(geometry),)
    elif opcode in LOOK_UPS:
        numbers = range(len(TEXTURES))
    elif opcode in STORES:
        numbers = range(len(TEXTURES), OBJECTS)
    number = chance.choice(numbers) if chance.random() < 0.9 else chance.randrange(OBJECTS)
    return f"ld.global.b64 {HANDLE}, [handles+{8 * number}];"


def coordinate(register: str, kind: str, chance: random.Random) -> str:
    """Lines that set a coordinate near an object's edges."""
    if kind.startswith("f"):
        return f"mov.b32 %t0, 0x{chance.choice(_FLOATS)}; mov.b32 {register}, %t0;"
    if chance.random() < 0.5:
        return f"and.b32 {register}, %lane, {chance.choice((1, 3, 7, 15))};"
    return f"mov.b32 {register}, {chance.choice((0, 0, 1, 2, 3, 4, 8, 16, 32, -1, -4))};"


def disturb_map(forger: Forger, chance: random.Random) -> str:
    """A word of a tensor map changes, while others may copy by it."""
    at = 4 * chance.randrange(MAP_BYTES // 8)
    if chance.random() < 0.3:  # back to what it was
        return f"ld.global.b64 %w0, [maps+{at // 8 * 8}]; st.global.b64 [maps+{MAP_BYTES + at // 8 * 8}], %w0;"
    return f"{forger.word('%t0')} st.global.b32 [maps+{at}], %t0;"


_MALLOC: Final = (
    """{ .param .b64 n; .param .b64 r; st.param.b64 [n], %w0; call (r), malloc, (n); ld.param.b64 %w3, [r]; }"""
)
_FREE: Final = "{ .param .b64 p; st.param.b64 [p], %w3; call free, (p); }"


def heap_piece(chance: random.Random, number: int) -> str:
    """Blocks that threads keep for themselves, or hand on to whoever finds them, also after they are freed."""
    size, at = chance.choice((0, 4, 24, 64, 256, 4096)), 4 * chance.choice((0, 0, 1, 5, 6, 15))
    touch = f"setp.ne.u64 %q1, %w3, 0; @%q1 st.b32 [%w3+{at}], %lane; @%q1 ld.b32 %t1, [%w3+{at}];"
    slot = 8 * chance.randrange(32)
    match chance.randrange(5):
        case 0:  # own ones, again and again
            return (
                f"mov.u32 %t2, 0;\nagain{number}: mov.b64 %w0, {max(size, 24)};\n{_MALLOC}\n{touch}\n{_FREE}\n"
                f"add.u32 %t2, %t2, 1; setp.lt.u32 %q2, %t2, {chance.choice((2, 5, 12))}; @%q2 bra again{number};"
            )
        case 1:  # hand one on
            return f"mov.b64 %w0, {size};\n{_MALLOC}\nst.volatile.global.b64 [kept+{slot}], %w3;"
        case 2:  # use one
            return f"ld.volatile.global.b64 %w3, [kept+{slot}]; {touch}"
        case 3:  # free one
            return f"ld.volatile.global.b64 %w3, [kept+{slot}];\n{_FREE}"
        case _:  # take one away, and use it before and after it is freed
            return f"atom.global.exch.b64 %w3, [kept+{slot}], 0; {touch}\n{_FREE}\n{chance.choice(('', touch))}"
