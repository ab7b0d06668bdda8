"""Fit the coefficients of the hardware's interpolator to recorded outputs.

`python tools/fit_interpolation.py FOLDER [NAME...] > src/ptxloom/machine/interpolation.toml` with the `NAME.xz` files
that `tools/record/approximate.py` wrote (by default all). Needs SciPy (`pip install scipy`). An output y says that the
sum lies in [y, y + ulp): for each interval these are the sides of a polytope in three coefficients, whose inside a
linear program finds; whole numbers near it are then tried until one gives every output.
"""

from __future__ import annotations

import lzma
import sys
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

TURN = 0x3E22F983  # what sin and cos multiply by
HEAD = """# How an H200 computes its approximate functions: quadratic interpolation, exactly as the hardware does it.
#
# The fraction of the argument is an index (its high bits) and a place x in the interval (its `low` bits). The result is
#
#     (constant[index] + linear[index] * x + quadratic[index] * square(x)) >> scale
#
# where `square` is the square of x without the partial products below column 2 * low - 15, in units of that column.
# `tools/fit_interpolation.py` found the coefficients from all 2^23 outputs of an octave (2^24 of two for the roots):
# each row is a point of the polytope of coefficients that give every output of its interval, and the polytopes are so
# small that the rows are the hardware's own, up to bits that no output shows.
#
# m is the significand, from 1 up to 2 (4 for the roots); f a fraction from 0 up to 1.
#
# The table of tanh takes numbers from 2^-8 up to 8, octave by octave: in octave n the index is that of the octave's
# first row plus the highest `bits[n]` bits of the fraction; x is what follows, cut to `low` bits. Its coefficients are
# in the coarsest unit that gives every output (each fourth was looked at, which is every x), then shifted up."""


@dataclass(frozen=True, slots=True)
class Task:
    """One function: what it is, bits of a place, bits below the last, bits of its unit."""

    words: str
    low: int
    scale: int
    unit: int
    bits: tuple[int, ...] = ()  # of the index, by octave
    spare: int = 0  # bits of the coefficients that may be zero


TASKS = {
    "rcp": Task("1 / m, in units of 2^-24", 16, 15, 24),
    "sqrt": Task("square root of m, in units of 2^-23", 17, 17, 23),
    "rsqrt": Task("1 / square root of m, in units of 2^-24", 17, 17, 24),
    "lg2": Task("logarithm of m, in units of 2^-23", 17, 15, 23),
    "ex2": Task("2 to the power of f, in units of 2^-23", 17, 15, 22),
    "sin": Task("sine of f quarters of a turn, in units of 2^-24", 17, 17, 24),
    "tanh": Task("hyperbolic tangent, in units of 2^-23", 17, 16, 23, (0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3), 12),
}


def outputs(folder: Path, name: str) -> Any:
    """The recorded outputs as float64."""
    steps = np.frombuffer(lzma.decompress((folder / f"{name}.xz").read_bytes()), "<i4")
    return np.cumsum(steps, dtype=np.int64).astype(np.uint32).view(np.float32).astype(np.float64)


def observed(folder: Path, name: str) -> tuple[Any, Any]:
    """Arguments of the interpolator (index and place) and what came out of it."""
    if name == "sin":
        return waves(folder)
    if name == "tanh":
        return octaves(folder)
    values = outputs(folder, name)
    fractions = np.arange(len(values))
    if name == "lg2":
        values, fractions = values[1 : 1 << 23], fractions[1 : 1 << 23]
    if name == "rsqrt":
        values, fractions = values[1:], fractions[1:]  # powers of four are exact
    return fractions, values


def waves(folder: Path) -> tuple[Any, Any]:
    """The first quarter: sin there, cos of complements, and cos of the second quarter."""
    first = 0x3F000000
    angles = np.arange(first, first + (1 << 24)).astype(np.uint32).view(np.float32).astype(np.float64)
    exact = angles * float(np.uint32(TURN).view(np.float32))
    turns = exact.astype(np.float32)
    bits = turns.view(np.int32) - (turns.astype(np.float64) > exact)
    phase = np.floor(bits.view(np.float32).astype(np.float64) * 2.0**25).astype(np.int64)
    keep = np.concatenate(([True], phase[1:] != phase[:-1]))
    phase, sine, cosine = phase[keep], outputs(folder, "sin")[keep], outputs(folder, "cos")[keep]
    ahead, mask = phase < 1 << 23, (1 << 23) - 1
    places = np.concatenate((phase[ahead], ~phase[ahead] & mask, phase[~ahead] & mask))
    found = np.concatenate((sine[ahead], cosine[ahead], -cosine[~ahead]))
    inside = places > 0
    return places[inside], found[inside]


def octaves(folder: Path) -> tuple[Any, Any]:
    """Tanh from 2^-8 on: each octave's intervals follow those of the octave before."""
    task = TASKS["tanh"]
    values = outputs(folder, "tanh").reshape(len(task.bits), -1)
    arguments: list[Any] = []
    found: list[Any] = []
    first = 0
    for bits, ys in zip(task.bits, values, strict=True):
        place = np.arange(len(ys)) >> len(ys).bit_length() - 1 - task.low - bits
        keep = np.concatenate(([True], place[1:] != place[:-1]))
        arguments.append(place[keep] + (first << task.low))
        found.append(ys[keep])
        first += 1 << bits
    return np.concatenate(arguments), np.concatenate(found)


def square(place: Any, low: int) -> Any:
    """The square as the hardware's squarer gives it."""
    column = 2 * low - 15
    total = np.zeros_like(place)
    for i in range(low):
        bit = place >> i & 1
        if 2 * i >= column:
            total += bit << 2 * i
        for j in range(i + 1, low):
            if i + j + 1 >= column:
                total += (bit & place >> j & 1) << i + j + 1
    return total >> column


def inside(low: Any, width: Any, terms: Any) -> Any:
    """Coefficients well inside `low <= terms @ c < low + width`."""
    largest = np.abs(terms).max(0)
    scaled = terms / np.where(largest > 0, largest, 1)
    start = np.linalg.lstsq(scaled, low + width / 2, rcond=None)[0]
    rest, move, slack = low - scaled @ start, np.zeros(3), -np.inf
    chosen = set(range(0, len(low), max(len(low) // 64, 1)))
    for _ in range(40):
        value = scaled @ move
        room = np.stack(((value - rest) / width, (rest + width - value) / width))
        if room.min() >= slack - 1e-8:
            break
        for part in np.array_split(np.arange(len(low)), 8):
            chosen |= {int(part[side.argmin()]) for side in room[:, part]}
        at = sorted(chosen)
        a, y, w = scaled[at], rest[at], width[at]
        sides = np.vstack((np.c_[-a, w], np.c_[a, w]))
        bounds = [(-50, 50)] * 3 + [(-100, 1)]
        result: Any = linprog([0, 0, 0, -1], sides, np.r_[-y, y + w], bounds=bounds, method="highs")
        if result.x is None:
            break
        move, slack = result.x[:3], result.x[3]
    return (start + move) / np.where(largest > 0, largest, 1)


def fit(task: Task, place: Any, value: Any) -> tuple[int, int, int]:
    """Whole coefficients that give every output of an interval."""
    width = np.ldexp(1.0, np.frexp(value)[1] - 24 + task.unit + task.scale)
    least = value * 2.0 ** (task.unit + task.scale)
    if task.words.startswith("1 / m"):
        width[value == 1] = 2.0**task.scale
    squares = square(place, task.low)
    terms = np.stack((np.ones(len(place)), place, squares), 1)
    middle = inside(least, width, terms)
    near = sorted(product(range(-4, 5), repeat=2), key=lambda p: 2 * abs(p[0]) + abs(p[1]))
    for step in (1 << n for n in range(task.spare, -1, -1)):
        for by, also in near:
            linear, quadratic = (round(c / step) + more for c, more in zip(middle[1:], (by, also), strict=True))
            rest = least - step * (linear * place + quadratic * squares)
            low, high = np.ceil(rest.max() / step) * step, (rest + width).min()
            if low < high:
                return int(low), linear * step, quadratic * step
    raise SystemExit("an interval fits no coefficients")


def main() -> None:
    """Print the table of every function."""
    folder = Path(sys.argv[1])
    print(HEAD)
    for name, task in TASKS.items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        fractions, values = observed(folder, name)
        index = fractions >> task.low
        rows = [
            fit(task, fractions[index == i] & (1 << task.low) - 1, values[index == i]) for i in range(index.max() + 1)
        ]
        print(f"\n[{name}]  # {task.words}\nlow = {task.low}\nscale = {task.scale}")
        if task.bits:
            print(f"bits = {list(task.bits)}")
        for key, column in zip(("constant", "linear", "quadratic"), zip(*rows, strict=True), strict=True):
            print(f"{key} = [" + ",".join(f"{'' if n % 8 else chr(10)}    {v}" for n, v in enumerate(column)) + ",\n]")


if __name__ == "__main__":
    main()
