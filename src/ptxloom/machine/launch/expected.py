"""The required arrays after a launch, and the comparisons with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from ptxloom.comparison import Comparison, Reference, compare
from ptxloom.comparison.compare import must_compare
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.fragments.number_types import is_array
from ptxloom.machine.analysis.precision import precision_of
from ptxloom.machine.launch.launch_limits import whole
from ptxloom.machine.memory.tensor_map import MappedArray
from ptxloom.machine.results.trail import trail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.machine.program.model import Parameter, Program
    from ptxloom.machine.results.provenance import ProvenanceRecord

Wanted: TypeAlias = "NDArray[Any] | Reference"
References: TypeAlias = (
    "Mapping[str, Wanted] | Mapping[int, Wanted] | Mapping[str | int, Wanted] | Sequence[Wanted | None] | Wanted | None"
)
_LEGAL = "an array, or arrays by the names of parameters or by their places among args"


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """An array of a launch and its reference, with its parameter's name and the types of its input arrays."""

    name: str
    place: int
    array: NDArray[Any]
    reference: Reference
    others: tuple[np.dtype[Any], ...] = ()


def references_of(given: References, parameters: Sequence[Parameter], args: Sequence[object]) -> tuple[Expected, ...]:
    """Each array to compare, checked to be comparable before anything runs.

    Raises:
        UsageError: Something else is named, or the shapes or types do not fit.
    """
    if given is None:
        return ()
    arrays = [arg.array if isinstance(arg, MappedArray) else arg for arg in args]
    names = [parameter.called for parameter in parameters]
    places = {one: n for n, parameter in enumerate(parameters) for one in (parameter.name, parameter.called)}
    given_places = ((_placed(where, places), wanted) for where, wanted in _places(given, arrays))
    pairs = [_pair(place, wanted, arrays, names) for place, wanted in given_places]
    for one in pairs:
        must_compare(one.name, one.array, one.reference)
    compared = [id(one.array) for one in pairs]
    others = tuple(array.dtype for array in arrays if is_array(array) and id(array) not in compared)
    return tuple(replace(one, others=others) for one in pairs)


def _places(given: References, arrays: Sequence[object]) -> list[tuple[object, object]]:
    """The references, by place or name."""
    if isinstance(given, (np.ndarray, Reference)):
        shape = (given.array if isinstance(given, Reference) else given).shape
        fitting = [n for n, one in enumerate(arrays) if is_array(one) and one.shape == shape]
        if len(fitting) != 1:
            legal = f"of the shape of one array among args, not of {len(fitting)}; or {{name: array}}"
            raise UsageError("reference", f"an array of shape {list(shape)}", legal)
        return [(fitting[0], given)]
    if isinstance(given, Mapping):
        return list(cast("Mapping[object, object]", given).items())
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise UsageError("reference", cast("object", given), _LEGAL)
    return [(place, wanted) for place, wanted in enumerate(given) if wanted is not None]


def _placed(where: object, places: Mapping[str, int]) -> object:
    """A parameter's place, where its name is given: that of the source, or that of the PTX."""
    return places.get(where, where) if isinstance(where, str) else where


def _pair(place: object, wanted: object, arrays: Sequence[object], names: Sequence[str]) -> Expected:
    number = whole(place)
    array = arrays[number] if number is not None and 0 <= number < len(arrays) else None
    if number is None or not is_array(array):
        held = ", ".join(f"{n} ({names[n]})" for n, one in enumerate(arrays) if is_array(one))
        raise UsageError("reference", place, f"by the place or name of an array among args: {held or 'there is none'}")
    reference = wanted if isinstance(wanted, Reference) else Reference(cast("Any", wanted))
    if not is_array(reference.array):
        raise UsageError(f"reference[{place!r}]", wanted, "a NumPy array, or a pl.comparison.Reference with one")
    name = dict(enumerate(reference.names)).get(number) or names[number]
    return Expected(name, number, array, reference)


def outcomes(
    expected: Sequence[Expected], program: Program, grid: tuple[int, ...], record: ProvenanceRecord | None
) -> tuple[Comparison, ...]:
    """Compare the arrays after a launch with their references, and trace back the first wrong element."""
    precision = precision_of(program)
    found: list[Comparison] = []
    for one in expected:
        known = precision and precision.given(one.others)
        judged = compare(one.array, one.reference, name=one.name, precision=known, grid=grid)
        if judged.first is not None and record is not None:
            element = int(np.ravel_multi_index(judged.first.index, one.array.shape))
            names = {place: name for place, name in enumerate(one.reference.names) if name}
            judged = replace(judged, trail=trail(record, program, names, one.place, element))
        found.append(judged)
    return tuple(found)
