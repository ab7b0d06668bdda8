"""Look-ups of textures and accesses to surfaces: what is looked up, how, and at which places, all drawn from seeds.

The recorder (`tools/record/textures.py`) and the replay both take their cases from here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

RECORDING: Final = Path(__file__).parent / "textures.npz"
BORDERS_RECORDING: Final = RECORDING.with_name("borders.npz")
BORDER: Final = (0.25, 1.5, -2.0, 3.0)
ELEMENTS: Final = ("u1", "i1", "u2", "i2", "f2", "f4")
_PLACES: Final = {
    "1d": "{c0}",
    "2d": "{c0, c1}",
    "3d": "{c0, c1, c2, c2}",
    "a1d": "{c0, c1}",
    "a2d": "{c0, c1, c2, c2}",
    "cube": "{c0, c1, c2, c2}",
    "acube": "{c0, c1, c2, c3}",
}
_SHAPES: Final = {
    "1d": (37,),
    "2d": (21, 37),
    "3d": (9, 21, 37),
    "a1d": (4, 37),
    "a2d": (4, 21, 37),
    "cube": (6, 13, 13),
    "acube": (12, 13, 13),
}
_MODES: Final = ("wrap", "clamp", "mirror", "border")
_SPECIAL: Final = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 2.0**24, -(2.0**24), 1e-40, 0.5, 1.0, -1.0, 2.0)

_KERNEL: Final = """.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 object, .param .u64 places, .param .u64 results, .param .u32 count) {{
    .reg .b64 t, in, out, w0, w1; .reg .b32 c<4>, e<4>, o<4>, i, n, thread; .reg .b16 h<4>; .reg .pred p;
    ld.param.u64 t, [object]; ld.param.u64 in, [places]; ld.param.u64 out, [results]; ld.param.u32 n, [count];
    mov.u32 i, %ctaid.x; mov.u32 thread, %tid.x; mad.lo.u32 i, i, 128, thread; setp.ge.u32 p, i, n; @p ret;
    mad.wide.u32 in, i, 32, in; mad.wide.u32 out, i, 16, out;
    ld.global.v4.b32 {{c0, c1, c2, c3}}, [in]; ld.global.v4.b32 {{e0, e1, e2, e3}}, [in+16];
    mov.u32 o0, 0; mov.u32 o1, 0; mov.u32 o2, 0; mov.u32 o3, 0;
    {body}
    st.global.v4.b32 [out], {{o0, o1, o2, o3}};
    ret;
}}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One instruction at many places.

    Attributes:
        name: Tells it from others; the first word says which kind it is.
        body: The instruction, from coordinates c0 to c3 and further operands e0 to e3 to o0 to o3.
        geometry: Of the object, as `pl.texture` names it.
        levels: Its arrays.
        words: (threads, 8) uint32: the operands.
        sampling: What else `pl.texture` takes; None for a surface, whose array is the result.
    """

    name: str
    body: str
    geometry: str
    levels: tuple[NDArray[Any], ...]
    words: NDArray[np.uint32]
    sampling: dict[str, Any] | None = field(default_factory=dict[str, Any])

    @property
    def ptx(self) -> str:
        """A module whose kernel `k` executes it."""
        return _KERNEL.format(body=self.body)


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _filtered()
    yield from _addressed()
    yield from _fetched()
    yield from _gathered()
    yield from _levels()
    yield from _surfaces()
    yield from _queries()


def border_cases() -> Iterator[Case]:
    """Colours of borders of normalised textures, recorded apart: halves, their neighbours, ties of every sort."""
    most = {"u1": 255, "i1": 127, "u2": 65535, "i2": 32767}
    edge = _words([np.array([np.float32(-3)]).view(np.uint32)], 1)
    for element, top in most.items():
        texels = (_texels(f"border {element}", (5, 4), element),)
        for number, colour in enumerate(_colours(f"colours {element}", top)):
            sampling = {"address_mode": "border", "border_color": colour, "read_mode": "normalized_float"}
            for how in ("point", "linear"):
                name = f"{element} {how} {number}"
                yield Case(name, _look_up("1d"), "1d", texels, edge, sampling | {"filter_mode": how})


def _colours(name: str, top: int) -> Iterator[tuple[float, float, float, float]]:
    """Of four components each: known ones, then ties and what is beside them, then any."""
    yield from ((0.5, -0.5, 0.3, -0.3), (1.0, -1.0, 1.5, -1.5), (0.25, -0.25, 0.75, -0.75), (0.0, -0.0, 1e-9, -1e-9))
    yield (float("inf"), float("-inf"), float("nan"), 2.0**-149)
    rng = _rng(name)
    for _ in range(24):
        low = int(rng.integers(0, top))
        tie = np.float32((low + 0.5) / top)
        above, below = np.nextafter(tie, np.float32(2)), np.nextafter(tie, np.float32(0))
        yield float(tie), float(-tie), float(above), float(-below)
    for _ in range(24):
        red, green, blue, alpha = rng.uniform(-1.1, 1.1, 4).astype(np.float32)
        yield float(red), float(green), float(blue), float(alpha)


def _rng(name: str) -> np.random.Generator:
    return np.random.default_rng(crc32(name.encode()))


def _texels(name: str, shape: tuple[int, ...], element: str) -> NDArray[Any]:
    """Random texels; floats of many magnitudes, and a few that are special."""
    rng = _rng(f"texels {name}")
    if element[0] != "f":
        return np.frombuffer(rng.bytes(int(np.prod(shape)) * int(element[1])), element).reshape(shape).copy()
    reach = 12 if element == "f2" else 30
    values = rng.uniform(-1, 1, shape) * 2.0 ** rng.integers(-reach, reach + 1, shape)
    odd = rng.random(shape) < 0.03
    with np.errstate(over="ignore"):
        return np.where(odd, rng.choice(_SPECIAL, shape), values).astype(element)


def _places(name: str, sizes: tuple[int, ...], count: int, *, normalized: bool, layers: int = 0) -> NDArray[np.uint32]:
    """Random places in and around a texture, some on edges and between them, some special."""
    rng = _rng(f"places {name}")
    axes: list[NDArray[np.uint32]] = []
    if layers:
        layer = rng.integers(-2, layers + 3, count)
        layer[:4] = (65535, 65536, 2**31 - 1, -(2**31))
        axes.append(layer.astype(np.int32).view(np.uint32))
    for size in sizes:
        place = rng.uniform(-1.5, 2.5, count) * size
        fine = rng.integers(-size, 2 * size, count) + rng.integers(0, 1025, count) / 1024
        place = np.where(rng.random(count) < 0.5, fine, place)
        place = (place / size if normalized else place).astype(np.float32)
        special = rng.random(count) < 0.02
        place = np.where(special, rng.choice(np.array(_SPECIAL, np.float32), count), place)
        axes.append(place.astype(np.float32).view(np.uint32))
    return _words(axes, count)


def _words(columns: list[NDArray[np.uint32]], count: int) -> NDArray[np.uint32]:
    words = np.zeros((count, 8), np.uint32)
    for number, column in enumerate(columns):
        words[:, number] = column
    return words


def _sizes(geometry: str) -> tuple[int, ...]:
    """Width, height and depth, as coordinates come."""
    shape = _SHAPES[geometry]
    return (shape[1:] if geometry[0] == "a" else shape)[::-1]


def _look_up(geometry: str, result: str = "u32", place: str = "f32", how: str = "", more: str = "") -> str:
    at = _PLACES[geometry]
    return f"tex{how}.{geometry}.v4.{result}.{place} {{o0, o1, o2, o3}}, [t, {at}]{more};"


def _filtered() -> Iterator[Case]:
    """Every geometry, element and way to filter."""
    for geometry, shape in _SHAPES.items():
        cube = geometry.endswith("cube")
        for element in ELEMENTS:
            for filter_mode in ("point", "linear"):
                name = f"{geometry} {element} {filter_mode}"
                channels = 4 if element in {"u1", "f4"} else 2 if element == "i2" else 1
                read = "normalized_float" if element[0] != "f" else "element_type"
                sampling: dict[str, Any] = {"filter_mode": filter_mode, "read_mode": read, "address_mode": "clamp"}
                sampling["normalized_coords"] = cube
                full = shape if channels == 1 else (*shape, channels)
                layers = shape[0] if geometry[0] == "a" else 0
                if cube:
                    words = _directions(name, 600, shape[0] // 6 if layers else 0)
                else:
                    words = _places(name, _sizes(geometry), 600, normalized=False, layers=layers)
                yield Case(name, _look_up(geometry), geometry, (_texels(name, full, element),), words, sampling)


def _directions(name: str, count: int, layers: int) -> NDArray[np.uint32]:
    rng = _rng(f"directions {name}")
    to = rng.normal(size=(count, 3)).astype(np.float32)
    to[:60] = rng.choice([-1, 0, 1, 0.5, -0.5], (60, 3))
    to[60:75] = rng.choice(_SPECIAL, (15, 3))
    columns = [to[:, n].copy().view(np.uint32) for n in range(3)]
    if layers:
        columns.insert(0, rng.integers(-1, layers + 2, count).astype(np.int32).view(np.uint32))
    return _words(columns, count)


def _addressed() -> Iterator[Case]:
    """Every address mode, with coordinates of both kinds."""
    for geometry in ("1d", "2d", "3d", "a1d", "a2d"):
        shape = _SHAPES[geometry]
        for mode in _MODES:
            for normalized in (False, True):
                for element, filter_mode in (("f4", "linear"), ("u1", "linear"), ("f2", "point"), ("i4", "point")):
                    name = f"{geometry} {mode} {normalized:d} {element}"
                    layers = shape[0] if geometry[0] == "a" else 0
                    sampling = {"address_mode": mode, "filter_mode": filter_mode, "normalized_coords": normalized}
                    sampling |= {"border_color": BORDER}
                    sampling["read_mode"] = "normalized_float" if element == "u1" else "element_type"
                    words = _places(name, _sizes(geometry), 400, normalized=normalized, layers=layers)
                    texels = (_texels(name, shape, element),)
                    yield Case(name, _look_up(geometry), geometry, texels, words, sampling)
    for width in (1, 2, 3, 255, 8191, 8192, 8193, 10000, 12288, 16384):
        name = f"wide {width}"
        ramp = np.arange(width, dtype=np.float32) * 256
        sampling = {"address_mode": "wrap", "filter_mode": "linear", "normalized_coords": True}
        words = _places(name, (width,), 1500, normalized=True)
        yield Case(name, _look_up("1d"), "1d", (ramp,), words, sampling)
    negative = np.array([0x80000001, 0x807FFFFF, 0x80800000, 0x00000001, 0x33800000, 0xB3800000], np.uint32)
    for mode in _MODES:
        sampling = {"address_mode": mode, "filter_mode": "linear", "normalized_coords": True}
        ramp = (np.arange(1, 9, dtype=np.float32),)
        yield Case(f"tiny {mode}", _look_up("1d"), "1d", ramp, _words([negative], 6), sampling)
    bits = tuple(float(np.uint32(n).view(np.float32)) for n in (7, 300, 70000, 0x0080FFFE))
    for element in ("u1", "i1", "u2", "i2", "u4", "i4"):
        sampling = {"address_mode": "border", "border_color": bits}
        texels = (_texels(f"border {element}", (5, 4), element),)
        words = _words([np.array([np.float32(-3)]).view(np.uint32)], 1)
        yield Case(f"border {element}", _look_up("1d"), "1d", texels, words, sampling)


def _fetched() -> Iterator[Case]:
    """Places given by integers; steps; results of other types."""
    for geometry in ("linear", "2d", "3d", "a1d", "a2d"):
        known = "1d" if geometry == "linear" else geometry
        name = f"fetch {geometry}"
        shape = _SHAPES[known]
        places = _rng(name).integers(-4, 45, (400, 4)).astype(np.int32)
        words = _words([places[:, n].copy().view(np.uint32) for n in range(4)], 400)
        texels = (_texels(name, (*shape, 2), "i2"),)
        yield Case(name, _look_up(known, place="s32"), geometry, texels, words, {"address_mode": "border"})
    for geometry, steps in (("2d", "{3, -2}"), ("3d", "{-8, 7, 1, 0}"), ("a2d", "{-5, 7}")):
        for mode in _MODES:
            name = f"steps {geometry} {mode}"
            layers = _SHAPES[geometry][0] if geometry[0] == "a" else 0
            words = _places(name, _sizes(geometry), 300, normalized=True, layers=layers)
            sampling = {"address_mode": mode, "filter_mode": "linear", "normalized_coords": True}
            texels = (_texels(name, _SHAPES[geometry], "f4"),)
            yield Case(name, _look_up(geometry, more=f", {steps}"), geometry, texels, words, sampling)
    halves = "tex.1d.v4.f16.f32 {h0, h1, h2, h3}, [t, {c0}]; mov.b32 o0, {h0, h1}; mov.b32 o1, {h2, h3};"
    pairs = "tex.1d.v2.f16x2.f32 {o0, o1}, [t, {c0}];"
    for body in (halves, pairs):
        name = body.split(" ", maxsplit=1)[0]
        texels = (_texels(name, (37, 4), "f4"),)
        words = _places(name, (37,), 200, normalized=False)
        yield Case(name, body, "1d", texels, words, {"filter_mode": "linear", "address_mode": "clamp"})


def _gathered() -> Iterator[Case]:
    """Four texels at once."""
    for mode in _MODES:
        for component in "rgba":
            name = f"gather {mode} {component}"
            words = _places(name, _sizes("2d"), 300, normalized=True)
            body = f"tld4.{component}.2d.v4.f32.f32 {{o0, o1, o2, o3}}, [t, {{c0, c1}}];"
            sampling = {"address_mode": mode, "normalized_coords": True, "border_color": BORDER}
            texels = (_texels(name, (21, 37, 4), "f4"),)
            yield Case(name, body, "2d", texels, words, sampling)


def _levels() -> Iterator[Case]:
    """Mipmaps: levels asked for, biased, held, and between each other."""
    for geometry in ("1d", "2d", "a2d"):
        layered = geometry[0] == "a"
        shape = _SHAPES[geometry]
        inner = shape[1:] if layered else shape
        shapes = [(*shape[: int(layered)], *(max(n >> level, 1) for n in inner)) for level in range(6)]
        for mip in ("point", "linear"):
            for element in ("f4", "u1"):
                for bias, least, most in ((0.0, 0.0, 5.0), (0.37, 0.8, 4.3), (-1.7, 0.0, 5.0)):
                    name = f"levels {geometry} {mip} {element} {bias}"
                    levels = tuple(_texels(f"{name} {n}", s, element) for n, s in enumerate(shapes))
                    sampling: dict[str, Any] = {"filter_mode": "linear", "normalized_coords": True}
                    sampling |= {"mipmap_filter_mode": mip, "mipmap_level_bias": bias, "address_mode": "mirror"}
                    sampling |= {"min_mipmap_level_clamp": least, "max_mipmap_level_clamp": most}
                    sampling["read_mode"] = "normalized_float" if element == "u1" else "element_type"
                    layers = shape[0] if layered else 0
                    words = _places(name, _sizes(geometry), 500, normalized=True, layers=layers)
                    words[:, 4] = _rng(name).uniform(-2, 8, 500).astype(np.float32).view(np.uint32)
                    words[:4, 4] = np.array([np.inf, -np.inf, np.nan, 1e30], np.float32).view(np.uint32)
                    body = _look_up(geometry, how=".level", more=", e0")
                    yield Case(name, body, geometry, levels, words, sampling)
                    if mip == "linear":
                        yield Case(f"{name} base", _look_up(geometry), geometry, levels, words[:40], sampling)
    levels = tuple(_texels(f"fetched {n}", (max(21 >> n, 1), max(37 >> n, 1)), "f4") for n in range(6))
    places = _rng("fetched").integers(-3, 40, (300, 3)).astype(np.int32)
    words = _words([places[:, n].copy().view(np.uint32) for n in range(2)], 300)
    words[:, 4] = (places[:, 2] % 9 - 1).astype(np.int32).view(np.uint32)
    body = _look_up("2d", place="s32", how=".level", more=", e0")
    yield Case("levels fetched", body, "2d", levels, words, {"normalized_coords": True})


_REGISTERS: Final = {
    (8, 1): ("h0", "cvt.u32.u16 o0, h0;"),
    (16, 2): ("{h0, h1}", "cvt.u32.u16 o0, h0; cvt.u32.u16 o1, h1;"),
    (32, 1): ("o0", ""),
    (32, 4): ("{o0, o1, o2, o3}", ""),
    (64, 1): ("w0", "mov.b64 {o0, o1}, w0;"),
    (64, 2): ("{w0, w1}", "mov.b64 {o0, o1}, w0; mov.b64 {o2, o3}, w1;"),
}


def _surfaces() -> Iterator[Case]:
    """Loads, and what stores and reductions leave."""
    for geometry in ("1d", "2d", "3d", "a1d", "a2d"):
        shape = _SHAPES[geometry]
        for (bits, parts), (registers, after) in _REGISTERS.items():
            size = bits // 8 * parts
            vector = f".v{parts}" if parts > 1 else ""
            for outside in ("clamp", "zero"):
                name = f"suld {geometry} {bits} {parts} {outside}"
                words = _accesses(name, geometry, size, 300)
                load = f"suld.b.{geometry}{vector}.b{bits}.{outside} {registers}, [t, {_PLACES[geometry]}]; {after}"
                yield Case(name, load, geometry, (_texels(name, (*shape, 2), "u2"),), words, None)
        for bits in (8, 32):
            name = f"sust {geometry} {bits}"
            words = _apart(_accesses(name, geometry, bits // 8, 300))
            source = "e0" if bits > 8 else "h0"
            store = f"cvt.u16.u32 h0, e0; sust.b.{geometry}.b{bits}.zero [t, {_PLACES[geometry]}], {source};"
            yield Case(name, store, geometry, (_texels(name, shape, "i4"),), words, None)
    for operation in ("add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "add.u64", "min.s64", "max.u64"):
        name = f"sured {operation}"
        size = int(operation[-2:]) // 8
        words = _accesses(name, "2d", size, 300)
        source = "w0" if size > 4 else "e0"
        reduction = f"mov.b64 w0, {{e0, e1}}; sured.b.{operation.replace('.', '.2d.')}.clamp [t, {{c0, c1}}], {source};"
        yield Case(name, reduction, "2d", (_texels(name, (21, 38), "u4"),), words, None)


def _accesses(name: str, geometry: str, size: int, count: int) -> NDArray[np.uint32]:
    """Places in and around a surface of words, the first one in bytes; random values to store."""
    rng = _rng(f"accesses {name}")
    sizes = _sizes(geometry)
    columns = [rng.integers(-3, 4 * sizes[0] // size + 3, count) * size]
    columns += [rng.integers(-2, n + 2, count) for n in sizes[1:]]
    if geometry[0] == "a":
        columns.insert(0, rng.integers(-1, _SHAPES[geometry][0] + 1, count))
    words = _words([column.astype(np.int32).view(np.uint32) for column in columns], count)
    words[:, 4:] = rng.integers(0, 1 << 32, (count, 4), dtype=np.uint32)
    return words


def _apart(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """The threads whose places are their own."""
    _, first = np.unique(words[:, :4], axis=0, return_index=True)
    return words[np.sort(first)]


def _queries() -> Iterator[Case]:
    """Sizes, of textures, their levels and surfaces."""
    none = np.zeros((1, 8), np.uint32)
    asked = "".join(f"{{0}}.{size}.b32 o{n}, [t]; " for n, size in enumerate(("width", "height", "depth")))
    for geometry, shape in (*_SHAPES.items(), ("linear", (33,))):
        texels = (np.zeros(shape, np.float32),)
        sampling = {"normalized_coords": geometry.endswith("cube")}
        yield Case(f"query texture {geometry}", asked.format("txq"), geometry, texels, none, sampling)
        if geometry in {"1d", "2d", "3d", "a1d", "a2d"}:
            yield Case(f"query suld {geometry}", asked.format("suq"), geometry, texels, none, None)
    levels = tuple(np.zeros((max(21 >> n, 1), max(37 >> n, 1)), np.float32) for n in range(6))
    of_level = "txq.level.width.b32 o0, [t], e0; txq.level.height.b32 o1, [t], e0; txq.level.depth.b32 o2, [t], e0;"
    words = np.zeros((9, 8), np.uint32)
    words[:, 4] = (0, 1, 2, 3, 4, 5, 6, 100, 0xFFFFFFFF)
    yield Case("query levels", of_level, "2d", levels, words, {"normalized_coords": True})
