"""The kernels of the examples folder as cases whose whole cost ncu records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kernels.case import Arguments, Array

EXAMPLES = Path(__file__).parents[3] / "examples"


@dataclass(frozen=True, slots=True)
class Example:
    """One launch, with the attributes of a `KernelCase` that a launch takes."""

    source: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared_bytes: int = 0
    cooperative: bool = False

    @property
    def kernel(self) -> str:
        """The kernel bears its file's name."""
        return self.source

    @property
    def name(self) -> str:
        """What the launch is called."""
        return self.source

    def ptx(self, architecture: str) -> str:
        """The compiled PTX, the same for every architecture."""
        del architecture
        return (EXAMPLES / f"{self.source}.ptx").read_text()

    def arguments(self) -> Arguments:
        """The arguments, new at each call."""
        rng = np.random.default_rng(4)

        def floats(*shape: int) -> Array:
            return rng.standard_normal(shape, np.float32)

        match self.source:
            case "hgemm":
                half = np.float16
                return (floats(128, 96).astype(half), floats(96, 128).astype(half), floats(128, 128), 128, 128, 96)
            case "sgemm":
                return (floats(64, 64), floats(64, 64), floats(64, 64), 64, 64, 64)
            case "reduce":
                return (floats(5000), floats(3), 5000)
            case _:
                return (floats(1003), floats(1003), floats(1003), 1003)


def examples() -> tuple[Example, ...]:
    """Every example, in order."""
    return (
        Example("hgemm", (2, 2), (128,)),
        Example("sgemm", (4, 4), (16, 16)),
        Example("reduce", (3,), (128,)),
        Example("vector_add", (8,), (128,)),
    )
