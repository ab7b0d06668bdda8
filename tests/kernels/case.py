"""What a real kernel is launched with, and what hardware made of it."""

from __future__ import annotations

import lzma
import zlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Array = NDArray[Any]
Arguments = tuple[Any, ...]  # arrays are device memory, written in place; int, float and np.void go by value
FOLDER = Path(__file__).resolve().parent / "ptx"
RECORDED = FOLDER.parents[1] / "recorded" / "kernels"
ARCHITECTURES = ("sm_80", "sm_90")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a launch left behind.

    Args:
        arrays: The output arrays, in the order of `KernelCase.outputs`.
        text: What the kernel printed.
    """

    arrays: tuple[Array, ...]
    text: str


@dataclass(frozen=True, slots=True)
class KernelCase:
    """One launch of one kernel.

    Args:
        source: The file under `src` without suffix; its PTX is `SOURCE-ARCHITECTURE.ptx`.
        kernel: The kernel's name.
        make: Gives the arguments from a generator of random numbers.
        grid: Blocks.
        block: Threads.
        outputs: Positions of the arguments that are compared.
        shared_bytes: Dynamic shared memory.
        architectures: What the kernel is compiled for.
        cooperative: Whether all blocks must run at once.
        tolerance: Largest relative difference from hardware; 0 where every bit is defined.
        reference: Gives the outputs from the arguments as NumPy computes them.
        reference_tolerance: Largest relative difference of hardware from the reference.
        exercises: Other words for what the kernel shows.
    """

    source: str
    kernel: str
    make: Callable[[np.random.Generator], Arguments]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    outputs: tuple[int, ...]
    shared_bytes: int = 0
    architectures: tuple[str, ...] = ARCHITECTURES
    cooperative: bool = False
    tolerance: float = 0.0
    reference: Callable[..., tuple[Array, ...]] | None = None
    reference_tolerance: float = 0.0
    exercises: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """`scans.scan_shuffle`."""
        return f"{self.source}.{self.kernel}"

    @property
    def recording(self) -> str:
        """The file of `tests/recorded` that holds what it left, without suffix."""
        return "hopper_kernels" if self.architectures == ("sm_90a",) else "kernels"

    def ptx(self, architecture: str) -> str:
        """The compiled PTX for "sm_80" or "sm_90"."""
        return read_ptx(self.source, architecture)

    def arguments(self) -> Arguments:
        """The arguments, new at each call and the same at each call."""
        return self.make(np.random.default_rng(zlib.crc32(self.name.encode())))

    def expected(self, architecture: str) -> Outcome:
        """What an sm_90 GPU computed from the PTX for `architecture`.

        Raises:
            KeyError: The case has not been recorded.
        """
        recording = _recording(self.recording)
        arrays = tuple(recording[self.key(architecture, position)] for position in self.outputs)
        text = recording.get(f"{self.name}/{architecture}/text")
        return Outcome(arrays, "" if text is None else bytes(text).decode())

    def key(self, architecture: str, position: int) -> str:
        """Where the recording holds an output: sm_90's own entry is left out where it equals sm_80's."""
        own = f"{self.name}/{architecture}/{position}"
        return own if own in _recording(self.recording) else f"{self.name}/{self.architectures[0]}/{position}"


def kernel(
    source: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], outputs: tuple[int, ...], **rest: Any
) -> Callable[[Callable[[np.random.Generator], Arguments]], KernelCase]:
    """Make a case of a function that gives the arguments of the kernel of its own name."""

    def decorate(make: Callable[[np.random.Generator], Arguments]) -> KernelCase:
        name = rest.pop("kernel", make.__name__)
        sizes = (grid,) if isinstance(grid, int) else grid, (block,) if isinstance(block, int) else block
        return KernelCase(source, name, make, *sizes, outputs, **rest)

    return decorate


@cache
def read_ptx(source: str, architecture: str) -> str:
    """The PTX of a source, packed or not."""
    plain = FOLDER / f"{source}-{architecture}.ptx"
    if plain.exists():
        return plain.read_text()
    return lzma.decompress(plain.with_suffix(".ptx.xz").read_bytes()).decode()


@cache
def _recording(name: str) -> dict[str, Array]:
    path = RECORDED / f"{name}.npz"
    if not path.exists():
        return {}
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def differs(found: Array, wanted: Array, tolerance: float) -> str | None:
    """A sentence that says where two arrays differ, or nothing; NaNs are equal to one another."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return f"{found.dtype}{found.shape} instead of {wanted.dtype}{wanted.shape}"
    if tolerance == 0.0:
        a, b = (np.ascontiguousarray(array).view(np.uint8) for array in (found, wanted))
        wrong = np.any(a.reshape(found.size, -1) != b.reshape(found.size, -1), axis=1)
    else:
        left, right = (array.astype(np.float64).ravel() for array in (found, wanted))
        scale = tolerance * max(1.0, float(np.max(np.abs(right), initial=0.0, where=np.isfinite(right))))
        wrong = ~((np.abs(left - right) <= scale) | (left == right) | (np.isnan(left) & np.isnan(right)))
    if not wrong.any():
        return None
    first = int(np.argmax(wrong))
    return (
        f"{int(wrong.sum())} of {found.size} elements differ, the first at {first}: "
        f"{found.ravel()[first]} instead of {wanted.ravel()[first]}"
    )
