"""What a kernel must compute: a Python file with `inputs(seed, shape)` and `reference(...)`.

`inputs` returns every argument of the kernel by name, in the order of its parameters: arrays and numbers. `reference`
takes them by name and returns what the outputs must be, by name. The rest is optional: `shapes`,
`launch(shape)`, `tolerance`, `data` and `updated`.
"""

from __future__ import annotations

import hashlib
import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.files.names import is_file
from ptxloom.fragments.number_types import is_array, is_number
from ptxloom.judge.data import KINDS, USUAL
from ptxloom.source import title

Arguments: TypeAlias = "dict[str, Any]"
"""Arrays and numbers by name, in the order of the kernel's parameters."""

_TOLERANCES: Final = ("rtol", "atol", "accumulate")
_LAUNCH: Final = ("grid", "block", "cluster", "shared_bytes")


class BadReference(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A reference file does not define what a kernel must compute."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A reference file, read.

    Attributes:
        path: The file.
        digest: The SHA-256 of its bytes.
        shapes: The arguments of `inputs`.
        data: The kinds of data that its inputs may hold, of `data.KINDS`.
        tolerance: `rtol`, `atol` and `accumulate`, as in `comparison.Reference`.
        updated: Outputs whose contents the kernel reads first; all others are unwritten when it starts.
    """

    path: Path
    digest: str
    shapes: tuple[tuple[int, ...], ...]
    data: tuple[str, ...]
    tolerance: Mapping[str, Any]
    updated: frozenset[str]
    _inputs: Callable[..., object] = field(repr=False)
    _reference: Callable[..., object] = field(repr=False)
    _launch: Callable[..., object] | None = field(repr=False)

    def wrong(self, what: str) -> BadReference:
        """An error that names the file."""
        return BadReference(f"{title(str(self.path))}: {what}")

    def arguments(self, seed: int, shape: tuple[int, ...]) -> Arguments:
        """Make the arguments of the kernel.

        Raises:
            BadReference: The file returns something other than arrays and numbers by name.
        """
        given = self._called(self._inputs, f"inputs({seed}, {shape})", seed, shape)
        if not isinstance(given, Mapping) or not given:
            raise self.wrong('inputs(seed, shape) has to return a dict: {"A": array, ..., "n": number}')
        found: Arguments = {}
        for name, value in cast("Mapping[object, object]", given).items():
            if not isinstance(name, str) or not name.isidentifier():
                raise self.wrong(f"inputs(seed, shape) returns the name {name!r}, which no parameter can have")
            if is_array(value) and is_number(value.dtype):
                found[name] = np.ascontiguousarray(value)
            elif isinstance(value, (int, float, np.generic)) and not isinstance(value, bool):
                found[name] = value
            else:
                raise self.wrong(f"inputs(seed, shape) returns {name}, which is not a NumPy array or a number")
        return found

    def wanted(self, arguments: Arguments) -> dict[str, np.ndarray[Any, Any]]:
        """Compute what the outputs must be.

        Args:
            arguments: The arguments; they are copied, because the reference may change them.

        Raises:
            BadReference: The file returns something other than arrays that are among the arguments.
        """
        copied = {name: value.copy() if is_array(value) else value for name, value in arguments.items()}
        with np.errstate(all="ignore"):
            given = self._called(self._reference, "reference(...)", **copied)
        if not isinstance(given, Mapping):
            arrays = [name for name, value in arguments.items() if is_array(value)]
            given = {arrays[-1]: given} if arrays else {}
        found: dict[str, np.ndarray[Any, Any]] = {}
        for name, value in cast("Mapping[object, object]", given).items():
            array = np.asarray(value)
            own = arguments.get(name) if isinstance(name, str) else None
            if not isinstance(name, str) or not is_array(own) or array.shape != own.shape or not is_number(array.dtype):
                shape = list(own.shape) if is_array(own) else "one of the arrays that inputs(seed, shape) returns"
                raise self.wrong(f"reference(...) returns {name!r} of shape {list(array.shape)}, not {shape}")
            found[name] = array
        if not found:
            raise self.wrong("reference(...) returns no output")
        return found

    def launch(self, shape: tuple[int, ...]) -> dict[str, Any]:
        """How PTX and CUDA C++ are launched: grid, block, cluster and shared_bytes.

        Raises:
            BadReference: The file does not define it.
        """
        if self._launch is None:
            return {}
        given = self._called(self._launch, f"launch({shape})", shape)
        if not isinstance(given, Mapping) or not set(cast("Mapping[str, Any]", given)) <= set(_LAUNCH):
            raise self.wrong(f"launch(shape) has to return a dict of {', '.join(_LAUNCH)}")
        return dict(cast("Mapping[str, Any]", given))

    def _called(self, function: Callable[..., object], said: str, *args: object, **named: object) -> object:
        """Call a function of the file.

        Raises:
            BadReference: It raised something.
        """
        try:
            return function(*args, **named)
        except Exception as error:  # noqa: BLE001 - the user's code may raise anything, and it becomes a sentence
            raise self.wrong(f"{said} raised {type(error).__name__}: {error}") from None


def read_problem(name: str) -> Problem:
    """Read a reference file; it is run as Python.

    Raises:
        BadReference: It is missing, cannot be run, or lacks a required name.
    """
    path = Path(name)

    def wrong(what: str) -> BadReference:
        return BadReference(f"{title(name)}: {what}")

    if not is_file(path):
        raise wrong("there is no such file")
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        said = runpy.run_path(str(path), run_name="reference")
    except (SyntaxError, UnicodeDecodeError) as error:
        raise wrong(f"this is not Python: {error}") from None
    except Exception as error:  # noqa: BLE001 - as above
        raise wrong(f"running it raised {type(error).__name__}: {error}") from None
    for needed in ("inputs", "reference"):
        if not callable(said.get(needed)):
            raise wrong(f"it has no function `{needed}`; it needs inputs(seed, shape) and reference(...)")
    tolerance = said.get("tolerance", {})
    if not isinstance(tolerance, Mapping) or not set(cast("Mapping[object, object]", tolerance)) <= set(_TOLERANCES):
        raise wrong(f"tolerance has to be a dict of {', '.join(_TOLERANCES)}")
    data = said.get("data", USUAL)
    if isinstance(data, str) or not isinstance(data, Sequence) or not set(cast("Sequence[Any]", data)) <= set(KINDS):
        raise wrong(f"data has to list some of {', '.join(KINDS)}")
    launch = said.get("launch")
    return Problem(
        path,
        digest,
        _shapes(said.get("shapes"), wrong),
        tuple(dict.fromkeys(("random", *cast("Sequence[str]", data)))),
        cast("Mapping[str, Any]", tolerance),
        frozenset(said.get("updated", ())),
        said["inputs"],
        said["reference"],
        launch if callable(launch) else None,
    )


def _shapes(said: object, wrong: Callable[[str], BadReference]) -> tuple[tuple[int, ...], ...]:
    """The shapes, each a tuple of whole numbers."""
    if not isinstance(said, Sequence) or isinstance(said, str) or not said:
        raise wrong("it has no `shapes`, such as [(64, 64, 32), (100, 60, 7)]; two or more prove more than one")
    found: list[tuple[int, ...]] = []
    for one in cast("Sequence[object]", said):
        extents = cast("Sequence[object]", one) if isinstance(one, Sequence) else (one,)
        if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in extents):
            raise wrong(f"shapes holds {one!r}, which is not a tuple of whole numbers")
        found.append(tuple(cast("Sequence[int]", extents)))
    return tuple(found)
