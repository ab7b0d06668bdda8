"""Parameters of tensor maps, right and wrong, for the driver's encoders.

`tools/record/tensor_maps.py` hands them to `cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col` and
`cuTensorMapEncodeIm2colWide`; the recordings keep parameters, verdict and bytes, so that the replay needs nothing of
this file but where they lie.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RECORDING: Final = Path(__file__).parent / "tensor_maps.json.gz"
RECORDING_WIDE: Final = RECORDING.with_name("wide_maps.json.gz")
CASES: Final = 6000
WIDE_CASES: Final = 2000
_BYTES: Final = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1)
"""By the driver's number of a data type; the packed ones have bits."""
_KINDS: Final = 13
_SPANS: Final = (0, 32, 64, 128, 128, 128, 128)

Case = dict[str, Any]


def cases() -> Iterator[Case]:
    """All of them: most are right, or wrong in one place."""
    draw = random.Random(9)
    for number in range(CASES):
        case = _legal(draw, im2col=number % 3 == 2)
        for _ in range(draw.choice((0, 0, 1, 1, 1, 2))):
            draw.choice(_SPOILERS)(case, draw)
        yield case


def wide_cases() -> Iterator[Case]:
    """Parameters of im2col along the width, likewise."""
    draw = random.Random(27)
    for _ in range(WIDE_CASES):
        case = _legal(draw, im2col=True)
        spots = (0, 0, 0, 1, -1, 5, -300, 300, -(1 << 15), (1 << 15) - 1)
        case["lower"], case["upper"] = sorted((draw.choice(spots), draw.choice(spots)))
        case["mode"] = draw.randrange(2)
        if draw.randrange(4):
            case["interleave"], case["swizzle"] = 0, draw.choice((2, 3, 3))
        for _ in range(draw.choice((0, 0, 1, 1, 1, 2))):
            draw.choice(_WIDE_SPOILERS)(case, draw)
        yield case


def _legal(draw: random.Random, *, im2col: bool) -> Case:
    """Parameters that ought to be right."""
    interleave = draw.choice((0, 0, 0, 1, 2))
    rank = draw.randint(3 if im2col or interleave else 1, 5)
    kind = draw.randrange(_KINDS)
    unit = 32 if interleave == 2 else 16
    size = 16 * interleave or _BYTES[kind]
    swizzle = 1 if interleave == 2 else draw.randrange(4)
    inner = draw.randint(1, (_SPANS[swizzle] or 256) // 16) * 16 // size if not interleave else draw.randint(1, 256)
    dim = [draw.choice((1, 3, 16, 60, 64, 1000, 1 << 20)) for _ in range(rank)]
    strides: list[int] = []
    for extent in dim[:-1]:
        below = strides[-1] if strides else size
        strides.append(min(-(-below * extent // unit) * unit + unit * draw.choice((0, 0, 1, 5)), (1 << 40) - unit))
    case: Case = {
        "kind": kind,
        "address": draw.choice((0, unit, 0x7F00_0000_0000 + unit * draw.randrange(1 << 20), (1 << 46) - unit)),
        "dim": dim,
        "strides": strides,
        "steps": [draw.choice((1, 1, 1, 2, 3, 8)) for _ in range(rank)],
        "interleave": interleave,
        "swizzle": swizzle,
        "l2": draw.randrange(4),
        "fill": draw.randrange(2) if kind >= 6 else 0,
    }
    return {**case, **(_pixels(draw, rank, inner) if im2col else _box(draw, rank, inner))}


def _box(draw: random.Random, rank: int, inner: int) -> Case:
    return {"box": [max(1, min(inner, 256)), *(draw.choice((1, 2, 7, 8, 64, 256)) for _ in range(rank - 1))]}


def _pixels(draw: random.Random, rank: int, inner: int) -> Case:
    sign = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}[rank]
    corners = [[draw.choice((0, 0, -1, 1, -2, 3, -sign, sign - 1)) for _ in range(rank - 2)] for _ in range(2)]
    lower, upper = (
        [min(pair) for pair in zip(*corners, strict=True)],
        [max(pair) for pair in zip(*corners, strict=True)],
    )
    return {
        "lower": lower,
        "upper": upper,
        "channels": max(1, min(inner, 256)),
        "pixels": draw.choice((1, 8, 64, 256, 1024)),
    }


def _set(name: str, *values: Any) -> Callable[[Case, random.Random], None]:
    """Another value for one parameter."""

    def spoil(case: Case, draw: random.Random) -> None:
        if name in case:
            case[name] = draw.choice(values)

    return spoil


def _put(name: str, *values: int) -> Callable[[Case, random.Random], None]:
    """Another value in one place of a parameter of several."""

    def spoil(case: Case, draw: random.Random) -> None:
        if case.get(name):
            case[name][draw.randrange(len(case[name]))] = draw.choice(values)

    return spoil


_SPOILERS: Final = (
    _set("kind", *range(16)),
    _set("address", 1, 8, 16, 24, 32, 48, 1 << 47, 1 << 48, (1 << 57) + 16, (1 << 64) - 16, (1 << 64) - 32),
    _put("dim", 0, 1, 2, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1),
    _put("strides", 0, 8, 16, 24, 32, 48, 1 << 36, (1 << 40) - 32, (1 << 40) - 16, 1 << 40, (1 << 40) + 16),
    _put("steps", 0, 1, 7, 8, 9),
    _set("interleave", 0, 1, 2),
    _set("swizzle", 0, 1, 2, 3, 4, 5, 6),
    _set("fill", 1),
    _put("box", 0, 1, 3, 16, 32, 128, 255, 256, 257),
    _put("box", 0, 1, 3, 16, 32, 128, 255, 256, 257),
    _set("channels", 0, 1, 2, 3, 16, 64, 128, 255, 256, 257),
    _set("pixels", 0, 1, 2, 1023, 1024, 1025),
    _put("lower", -32769, -32768, -129, -128, -17, -16, 0, 15, 16, 127, 128, 32767, 32768),
    _put("upper", -32769, -32768, -129, -128, -17, -16, 0, 15, 16, 127, 128, 32767, 32768),
)
_WIDE_SPOILERS: Final = (
    *_SPOILERS[:-2],
    _set("lower", -32769, -32768, -129, -1, 0, 1, 127, 32767, 32768),
    _set("upper", -32769, -32768, -129, -1, 0, 1, 127, 32767, 32768),
    _set("mode", 0, 1, 2),
)
