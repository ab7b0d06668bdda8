"""Textures and surfaces: look-ups of every geometry, type and mode; loads, stores and reductions of surfaces.

A texture and its sampler are drawn for each path. A thread stores at its own place in a surface, and reads it
back.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import numpy as np

from ptxloom.conformance.inputs import words
from ptxloom.conformance.kernel_text import BLOCK
from ptxloom.conformance.scenes.scene import Scene
from ptxloom.conformance.scenes.things import SurfaceObject, TextureObject
from ptxloom.dataclass import dataclass
from ptxloom.isa.vectors import coordinates, vector_length
from ptxloom.machine.port.image import ADDRESS_MODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from ptxloom.conformance.scenes.scene import Bytes
    from ptxloom.isa.form import Form
    from ptxloom.isa.notation import OperandSlot

_SHAPES: Final = {
    "1d": (37,),
    "2d": (21, 37),
    "3d": (9, 21, 37),
    "a1d": (4, 37),
    "a2d": (4, 21, 37),
    "cube": (6, 13, 13),
    "acube": (12, 13, 13),
    "linear": (37,),
}
_FORMATS: Final = {
    **dict.fromkeys(("f32", "f16", "f16x2"), ("f4", "f2", "u1", "i2")),
    "u32": ("u1", "u2", "u4"),
    "s32": ("i1", "i2", "i4"),
}
"""Texture elements that are read as a type."""
_BORDER: Final = (0.25, 1.5, -2.0, 3.0)
_MIPMAPPED: Final = frozenset({"1d", "2d", "a2d"})
_LEVELS: Final = 4
_SPECIAL: Final = (
    *(0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7149F2CA, 0xF149F2CA, 0x4B800000, 0xCB800000),
    *(0x000116C2, 0x3F000000, 0x3F800000, 0xBF800000, 0x40000000),
)
"""Floats that occur as coordinates now and then: zeros, infinities, NaN, large and small ones, halves and ones."""
_OPERANDS: Final = ".reg .b32 p<4>, e<4>, r<4>; .reg .b16 h<4>; .reg .b64 w<2>;\n"
_GIVEN: Final = (
    "mul.wide.u32 at, t, 32; add.u64 at, in, at; ld.global.v4.b32 {p0, p1, p2, p3}, [at];\n"
    "ld.global.v4.b32 {e0, e1, e2, e3}, [at+16]; mov.b32 r0, 0; mov.b32 r1, 0; mov.b32 r2, 0; mov.b32 r3, 0;\n"
)
_LEFT: Final = "mad.wide.u32 at, t, 16, out; st.global.v4.b32 [at], {r0, r1, r2, r3};"


@dataclass(frozen=True)
class Image(Scene):
    """The common part of look-ups and accesses: per thread 32 bytes of operands, 16 of results."""

    @property
    def in_bytes(self) -> int:
        """Operands."""
        return 32 * BLOCK

    @property
    def out_bytes(self) -> int:
        """Results."""
        return 16 * BLOCK

    @property
    def geometry(self) -> str:
        """The geometry of the object."""
        return self.form.filling.get("geom") or "2d"

    @property
    def choice(self) -> int:
        """The seed of the object."""
        return crc32(self.name.encode())

    def body(self) -> str:
        """Operands, the instruction, its results."""
        return f"{_OPERANDS}{_GIVEN}{self.instruction()}{_LEFT}"

    @abstractmethod
    def instruction(self) -> str:
        """From `p` (the place) and `e` to `r`."""

    @property
    def place(self) -> str:
        """The coordinates, padded."""
        return "{" + ", ".join(f"p{at}" for at in range(coordinates(self.geometry))) + "}"

    def drawn(self, case: int) -> NDArray[np.uint64]:
        """Random words of a case: `(threads, 8)`."""
        at = np.arange(case * 8 * BLOCK, (case + 1) * 8 * BLOCK, dtype=np.uint64)
        return words(self.name, at, 1).reshape(BLOCK, 8)

    def texels(self, shape: tuple[int, ...], element: str, part: int) -> NDArray[Any]:
        """An array of elements."""
        kind = {"u": "u", "i": "s", "f": "f"}[element[0]] + str(8 * int(element[1]))
        made = self.elements(part, 200, int(np.prod(shape)), kind)
        if element[0] == "f":
            made = _finite(made, element)
        return made.view(f"<{element}").reshape(shape).copy()


def _finite(made: Bytes, element: str) -> Bytes:
    """Finite floats of moderate size: filtering of others is not tested here."""
    whole = made.view("<u2" if element == "f2" else "<u4")
    top, bits = (0x3C00, 0x83FF) if element == "f2" else (0x3F800000, 0x807FFFFF)
    return np.ascontiguousarray((whole & whole.dtype.type(bits)) | whole.dtype.type(top)).view(np.uint8)


@dataclass(frozen=True)
class LookUp(Image):
    """A look-up of a texture.

    Attributes:
        mode: The address mode for places outside.
        linear: Whether it is filtered.
    """

    mode: str
    linear: bool

    @property
    def element(self) -> str:
        """The elements of the texture."""
        kinds = _FORMATS[self.form.filling.get("dtype") or "f32"]
        return kinds[self.choice % len(kinds)]

    @property
    def normalized(self) -> bool:
        """Whether coordinates are normalised: those of mipmaps are, even integers."""
        if self._levelled and self.geometry in _MIPMAPPED:
            return True
        if self.form.filling.get("ctype") == "s32":
            return False
        return "cube" in self.geometry or self.mode in {"wrap", "mirror"} or bool(self.choice >> 8 & 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The texture's shape."""
        return _SHAPES[self.geometry]

    def instruction(self) -> str:
        """The look-up."""
        kind = self.form.filling.get("dtype") or "b32"
        names = [f"{'h' if kind == 'f16' else 'r'}{at}" for at in range(vector_length(self.form, "d") or 1)]
        texts = [
            "{" + ", ".join(names) + "}" if slot.name == "d" and len(names) > 1 else self._spelled(slot, names)
            for slot in self.form.operands(self.count)
        ]
        after = "mov.b32 r0, {h0, h1}; mov.b32 r1, {h2, h3};" if kind == "f16" else ""
        return f"{self.form.spelling} {', '.join(texts)}; {after}\n"

    def _spelled(self, slot: OperandSlot, names: list[str]) -> str:
        size = coordinates(self.geometry, whole=False)
        steps = [str((self.choice >> 4 * at) % 16 - 8) for at in range(size)]
        slopes = "{" + ", ".join(f"e{at}" for at in range(size)) + "}"
        asked = f"[thing, {self.place}]" if slot.extra else "[thing]"
        return {
            "d": names[0],
            "t": asked,
            "s": "[thing]",
            "lod": "e0",
            "offset": "{" + ", ".join(steps) + "}",
            "dPdx": slopes,
            "dPdy": slopes,
        }[slot.name]

    def given(self, case: int) -> Bytes:
        """Places around the texture, on the edges of its elements and between them, and special ones; levels."""
        drawn, sizes = self.drawn(case), self.shape[::-1][: len(self.shape) - (self.geometry[0] == "a")]
        columns: list[NDArray[np.uint32]] = []
        if self.geometry[0] == "a":
            layers = self.shape[0] // (6 if "cube" in self.geometry else 1)
            columns.append((drawn[:, 7] % np.uint64(layers + 2)).astype(np.int64).astype(np.uint32) - np.uint32(1))
        sizes = (1, 1, 1) if "cube" in self.geometry else sizes
        columns += [self._along(drawn[:, at], extent) for at, extent in enumerate(sizes)]
        made = np.zeros((BLOCK, 8), np.uint32)
        made[:, : len(columns)] = np.stack(columns, axis=1)
        unit = (drawn[:, 6] >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
        made[:, 4] = (unit * np.float32(6) - np.float32(1)).view(np.uint32)
        if self.form.filling.get("ctype") == "s32" or "query" in self.form.filling:
            made[:, 4] = (drawn[:, 6] % np.uint64(_LEVELS + 1)).astype(np.uint32)
        return made.view(np.uint8).reshape(-1)

    def _along(self, drawn: NDArray[np.uint64], extent: int) -> NDArray[np.uint32]:
        if self.form.filling.get("ctype") == "s32":
            return (drawn % np.uint64(extent + 8)).astype(np.uint32) - np.uint32(4)
        unit = (drawn >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24)
        most = np.float32(1 if self.normalized else extent)
        low = np.float32(-1) * most
        found = low + unit * np.float32(3) * most
        if "cube" in self.geometry:
            found = unit * np.float32(2) - np.float32(1)
        onto = np.round(found * np.float32(2)) / np.float32(2)
        found = np.where(drawn % np.uint64(8) == 0, onto, found).astype(np.float32).view(np.uint32)
        special = np.array(_SPECIAL, np.uint32)[(drawn >> np.uint64(16)) % np.uint64(len(_SPECIAL))]
        return np.where(drawn % np.uint64(16) == 1, special, found)

    def thing(self, cases: int) -> TextureObject:
        """The texture."""
        del cases
        integers, element = self.form.filling.get("ctype") == "s32", self.element
        geometry = "linear" if integers and self.geometry == "1d" and not self._levelled else self.geometry
        channels = 4 if self.form.filling.get("comp") else (1, 2, 4)[(self.choice >> 12) % 3]
        layered = self.geometry[0] == "a"
        shapes = [
            (*self.shape[: int(layered)], *(max(extent >> level, 1) for extent in self.shape[int(layered) :]))
            for level in range(_LEVELS if self._levelled and self.geometry in _MIPMAPPED else 1)
        ]
        shapes = [shape if channels == 1 else (*shape, channels) for shape in shapes]
        as_float = element[0] != "f" and (self.form.filling.get("dtype") or "f32")[0] == "f"
        sampling: dict[str, Any] = {
            "address_mode": self.mode,
            "filter_mode": "linear" if self.linear else "point",
            "normalized_coords": self.normalized,
            "border_color": _BORDER,
            "read_mode": "normalized_float" if as_float else "element_type",
        }
        if len(shapes) > 1:
            sampling |= {"mipmap_filter_mode": "linear" if self.linear else "point", "mipmap_level_bias": 0.0}
        return TextureObject(
            geometry, tuple(self.texels(shape, element, part) for part, shape in enumerate(shapes)), sampling
        )

    @property
    def _levelled(self) -> bool:
        return "level" in self.form.words


@dataclass(frozen=True)
class Access(Image):
    """A load, a store or a reduction of a surface."""

    @property
    def size(self) -> int:
        """The number of moved bytes."""
        return self._bits // 8 * (vector_length(self.form, self._operand) or 1)

    @property
    def _operand(self) -> str:
        return "d" if self.loads else "a"

    @property
    def loads(self) -> bool:
        """Whether the surface is only read."""
        return _object(self.form, "surface") == "reads"

    @property
    def _bits(self) -> int:
        return int((self.form.filling.get("dtype") or self.form.filling["ctype"])[1:])

    def instruction(self) -> str:
        """The access; written elements are read back by the same thread."""
        names, before, after = _registers(self._bits, self.size * 8 // self._bits, loads=self.loads)
        if self.loads:
            return f"{self.form.spelling} {names}, [thing, {self.place}]; {after}\n"
        bits = "b" + str(self._bits)
        vector = f".v{self.size * 8 // self._bits}" if self.size * 8 > self._bits else ""
        got, _, after = _registers(self._bits, self.size * 8 // self._bits, loads=True)
        back = f"suld.b.{self.geometry}{vector}.{bits}.zero {got}, [thing, {self.place}]; {after}\n"
        return f"{before} {self.form.spelling} [thing, {self.place}], {names};\n{back}"

    def given(self, case: int) -> Bytes:
        """Places in and around the surface; for writes one per thread, inside or far outside."""
        drawn = self.drawn(case)
        made = np.zeros((BLOCK, 8), np.uint32)
        made[:, 4:] = drawn[:, 4:].astype(np.uint32)
        step, clamp = np.uint32(max(self.size, 4)), self.form.filling["clamp"]
        if self.loads:
            extents = [4 * self.shape(1)[-1] // self.size, *self.shape(1)[:-1][::-1]]
            around = 0 if clamp == "trap" else 3
            places = [
                (drawn[:, at] % np.uint64(extent + 2 * around)).astype(np.uint32) - np.uint32(around)
                for at, extent in enumerate(extents)
            ]
            places[0] = places[0] * np.uint32(self.size)
        else:
            thread = np.arange(BLOCK, dtype=np.uint32)
            case_of = np.full(BLOCK, case, np.uint32)
            places = {
                "1d": [(case_of * np.uint32(BLOCK) + thread) * step],
                **{key: [thread * step, case_of] for key in ("2d", "a1d")},
                **{key: [thread % 32 * step, thread // 32, case_of] for key in ("3d", "a2d")},
            }[self.geometry]
            if clamp == "zero":
                places[0] = places[0] + np.where(drawn[:, 3] % np.uint64(8) == 0, np.uint32(1 << 20), np.uint32(0))
        if self.geometry[0] == "a":
            places = [places[-1], *places[:-1]]
        made[:, : len(places)] = np.stack(places, axis=1)
        return made.view(np.uint8).reshape(-1)

    def shape(self, cases: int) -> tuple[int, ...]:
        """The surface's shape, in 32-bit elements."""
        if self.loads:
            return (*_SHAPES[self.geometry][:-1], 36)
        wide = max(self.size, 4) // 4
        return {
            "1d": (cases * BLOCK * wide,),
            **dict.fromkeys(("2d", "a1d"), (cases, BLOCK * wide)),
            **dict.fromkeys(("3d", "a2d"), (cases, 4, 32 * wide)),
        }[self.geometry]

    def thing(self, cases: int) -> SurfaceObject:
        """The surface."""
        return SurfaceObject(self.geometry, self.texels(self.shape(cases), "u4", 0))


def _registers(bits: int, count: int, *, loads: bool) -> tuple[str, str, str]:
    """The registers of an access, and the code that fills them from `e` and copies them to `r`."""
    letter = {8: "h", 16: "h", 32: "r" if loads else "e", 64: "w"}[bits]
    names = ", ".join(f"{letter}{at}" for at in range(count))
    before = after = ""
    if letter == "h":
        before = "".join(f"cvt.u16.u32 h{at}, e{at}; " for at in range(count))
        after = "".join(f"cvt.u32.u16 r{at}, h{at}; " for at in range(count))
    elif letter == "w":
        before = "".join(f"mov.b64 w{at}, {{e{2 * at}, e{2 * at + 1}}}; " for at in range(count))
        after = "".join(f"mov.b64 {{r{2 * at}, r{2 * at + 1}}}, w{at}; " for at in range(count))
    return f"{{{names}}}" if count > 1 else names, before, after


def images(forms: Iterable[Form]) -> Iterator[Image]:
    """The scenes of forms of textures and surfaces."""
    for form in forms:
        name, filling = ".".join((form.opcode, *form.words)), form.filling
        for count in form.counts:
            names = [slot.name for slot in form.operands(count)]
            told = name if len(form.counts) == 1 else f"{name}/{count}"
            done, accessed = _object(form, "texture"), _object(form, "surface") in {"reads", "writes", "updates"}
            if accessed and not (filling.get("cop") or filling.get("p")):
                yield Access(told, form, count)
            elif done == "reads" and not set(names) & _UNREAD and _reads(form):
                yield from _look_ups(told, form, count)
            elif done == "names" and filling.get("query") in {"width", "height", "depth"}:
                yield LookUp(told, form, count, "clamp", linear=False)


_UNREAD: Final = frozenset({"depth", "dPdx", "dPdy"})
"""Operands of look-ups that the machine does not support."""


def _object(form: Form, kind: str) -> str:
    """The effect of a form on an object of a kind; empty if it has none."""
    rules = (form.spec.operands[slot.name] for slot in form.line.operands)
    return next((rule.done(form.filling) for rule in rules if (rule.kind, rule.type) == ("symbol", kind)), "")


def _reads(form: Form) -> bool:
    """Whether the machine supports look-ups of such a texture.

    Not multisampled ones; cubes have no gather, and linear memory, read with integer coordinates, has no levels.
    """
    geometry, integers = form.filling["geom"], form.filling.get("ctype") == "s32"
    gathered = bool(form.filling.get("comp")) and "cube" in geometry
    return not (gathered or "ms" in geometry or (integers and geometry == "1d" and "level" in form.words))


def _look_ups(name: str, form: Form, count: int) -> Iterator[LookUp]:
    if form.filling.get("ctype") == "s32":
        yield LookUp(name, form, count, "border", linear=False)
        return
    floats = form.filling["dtype"][0] == "f"
    for mode in ADDRESS_MODES:
        for linear in (False, True) if floats and not form.filling.get("comp") else (False,):
            yield LookUp(f"{name}@{mode}.{'linear' if linear else 'point'}", form, count, mode, linear)
