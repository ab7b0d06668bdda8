"""Known differences: `waivers.toml` lists them by judge, each with a program that shows it.

A waiver does not hide anything: waived cases are counted separately, and only results that are NaN on both sides are
waived.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.conformance.inputs import Words

_FORMATS: Final = {"f32": (np.dtype(np.uint32), 0x7F80_0000), "f64": (np.dtype(np.uint64), 0x7FF0_0000_0000_0000)}
"""By type: words of its width, and the bits of infinity, above which a magnitude is NaN."""


@dataclass(frozen=True, slots=True)
class Waiver:
    """A known difference.

    Attributes:
        id: Its name.
        paths: The paths to which it applies, by name.
        type: The type of the results: "f32" or "f64".
        drivers: The CUDA versions of drivers to which it applies.
        targets: The targets to which it applies.
        levels: The levels of the driver's compiler to which it applies.
        what: A description of the difference.
        ptx: A program that shows it: a kernel `k` with parameters for its results and for its input.
        given: The input of that program, 64-bit words.
        there: Its results on the judge.
        here: Its results in ptxloom.
    """

    id: str
    paths: tuple[str, ...]
    type: str
    drivers: tuple[str, ...]
    targets: tuple[str, ...]
    levels: tuple[int, ...]
    what: str
    ptx: str
    given: tuple[int, ...]
    there: tuple[int, ...]
    here: tuple[int, ...]

    def waives(self, theirs: Words, ours: Words) -> NDArray[np.bool_]:
        """The rows, of `(rows, words)`, that differ only in the bits of NaN results."""
        both = [np.ascontiguousarray(rows).view(_FORMATS[self.type][0]) for rows in (theirs, ours)]
        nan = _is_nan(both[0], self.type) & _is_nan(both[1], self.type)
        return ((both[0] == both[1]) | nan).all(axis=1) & (theirs != ours).any(axis=1)


def _is_nan(words: NDArray[np.unsignedinteger[Any]], type_: str) -> NDArray[np.bool_]:
    width, infinity = _FORMATS[type_]
    return (words & width.type((1 << (8 * width.itemsize - 1)) - 1)) > width.type(infinity)


@cache
def waivers() -> tuple[Waiver, ...]:
    """All of them."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return tuple(map(_waiver, data["waiver"]))


def waiver_of(path: str, driver: str, target: str, level: int | None) -> Waiver | None:
    """The waiver for a GPU's results of a path, if any.

    Args:
        path: Its name.
        driver: The GPU's driver's version of CUDA.
        target: The target of the kernels.
        level: The level of the driver's compiler; None: its default, for which nothing is waived.
    """
    return next(
        (
            one
            for one in waivers()
            if path in one.paths and driver in one.drivers and target in one.targets and level in one.levels
        ),
        None,
    )


def _waiver(row: dict[str, Any]) -> Waiver:
    given, there, here = (tuple(int(word, 16) for word in row["reproducer"][name]) for name in ("in", "there", "here"))
    paths, drivers, targets, levels = (tuple(row[name]) for name in ("paths", "drivers", "targets", "levels"))
    return Waiver(row["id"], paths, row["type"], drivers, targets, levels, row["what"], row["ptx"], given, there, here)
