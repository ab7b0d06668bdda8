"""A launch file (TOML): which kernel of which PTX runs on which arrays, what to compare and what to save.

ptx = "hgemm.ptx"                    # paths are relative to the launch file
kernel = "hgemm"
grid = [2, 3]
block = 128
shared_bytes = 0
contract = "fused"                   # mul and add without a rounding are one fma, as ptxas has it; or "as written"

[[args]]                             # one table a parameter, in order
name = "A"
random = { shape = [192, 96], dtype = "float16", seed = 1 }
[[args]]
npy = "weights.npy"
[[args]]
name = "C"
zeros = { shape = [192, 128], dtype = "float32" }
save = "c.npy"
[[args]]
empty = { shape = [64], dtype = "int32" }    # holds nothing yet: initcheck:global tells who reads it all the same
[[args]]
value = 192
[[args]]
npy = "x.npy"                        # or any other array: the parameter is a tensor map of it
tensor_map = { box_dim = [64, 64], swizzle = "128B" }
[[args]]
tensor_map = { of = "A", box_dim = [32, 8] }     # a tensor map of another argument's array

[[compare]]
expect = "C = A @ B"                 # an expression over the arguments as they are before the run; or:
# array = "C"
# equals = "expected.npy"
rtol = 1e-3                          # allowed of each element; without this and atol: what rounding explains
atol = 1e-5                          # both 0 ask for equal bits

The keys of a tensor map are the parameters of `pl.tensor_map`; of `pl.tensor_map_im2col`, where there are corners.

A file is saved under exactly the name that is given, as a whole or not at all; a link there is replaced, not followed.
A file that is there is replaced only if it is an array too: a launch file may come from anybody.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from ptxloom.cli import arrays, tensor_maps
from ptxloom.cli.output import reason
from ptxloom.comparison.expression import BadExpression, read_expectation
from ptxloom.diagnostics import PtxloomError
from ptxloom.machine.launch.options import AS_WRITTEN
from ptxloom.machine.memory.arena import Budget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ptxloom.comparison.expression import Expectation
    from ptxloom.machine import MappedArray

_KEYS: Final = {"ptx", "kernel", "grid", "block", "cluster", "shared_bytes", "target", "contract", "args", "compare"}
_SOURCES: Final = ("random", "zeros", "empty", "npy", "value")
_ARGUMENT_KEYS: Final = {"name", "save", "tensor_map", *_SOURCES}
_COMPARE_KEYS: Final = {"expect", "array", "equals", "rtol", "atol"}
_OLD_KEYS: Final = {
    "product": 'is written expect = "C = A @ B" now',
    "relative": "is rtol now, of each element and not of the largest; left out, what rounding explains is allowed",
}


class BadLaunchFile(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A launch file says something that cannot be done."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name, the array or number, where it is saved after the run, and whether it holds nothing.

    What the kernel is passed in place of an array is a tensor map of it, if there is one; of another one, if there is
    no array.
    """

    name: str
    value: Any
    save: Path | None
    empty: bool = False
    mapped: MappedArray | None = None

    @property
    def passed(self) -> object:
        """What the launch is given."""
        return self.value if self.mapped is None else self.mapped


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an array must be after the run: a file's array, or what an expression over the arguments comes to."""

    array: str
    wanted: Path | Expectation
    rtol: float | None
    atol: float | None


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """A launch file, read and checked."""

    ptx: Path
    kernel: str
    grid: Any
    block: Any
    cluster: Any
    shared_bytes: int
    target: str | None
    contract: str
    arguments: tuple[Argument, ...]
    comparisons: tuple[Wanted, ...]


def read_launch(name: str, budget: Budget | None = None) -> LaunchFile:
    """Read a launch file and make its arrays, within a budget of memory.

    Raises:
        BadLaunchFile: It is missing, no TOML, or says something that cannot be done; the sentence names the key.
    """
    path = Path(name)
    return _LaunchReader(name, path.parent, budget or Budget()).launch(_table(name, path))


def _table(name: str, path: Path) -> dict[str, Any]:
    """What the file says, as TOML has it.

    Raises:
        BadLaunchFile: It is missing, or no TOML.
    """
    try:
        if path.is_char_device() or path.is_block_device():
            raise BadLaunchFile(f"{name}: this is a device, no launch file")
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadLaunchFile(f"{name}: there is no such file") from None
    except (OSError, ValueError) as error:
        raise BadLaunchFile(f"{name}: cannot be read: {reason(error)}") from None
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        what = f"; a launch file names the PTX: `ptx = {path.name!r}`" if path.suffix in {".ptx", ".cubin"} else ""
        raise BadLaunchFile(f"{name}: this is not TOML: {error}{what}") from None


@dataclass(frozen=True, slots=True)
class _LaunchReader:
    name: str
    folder: Path
    budget: Budget

    def wrong(self, where: str, what: str) -> BadLaunchFile:
        return BadLaunchFile(f"{self.name}: {where} {what}")

    def launch(self, table: Mapping[str, Any]) -> LaunchFile:
        self.known(table, _KEYS, "the file")
        entries = self.tables(table, "args")
        arguments = tuple(self.argument(n, entry) for n, entry in enumerate(entries))
        self.once("args", [a.name for a in arguments])
        arguments = tuple(self.with_map(n, e, arguments) for n, e in enumerate(entries))
        names = {a.name for a in arguments if isinstance(a.value, np.ndarray)}
        comparisons = tuple(self.comparison(n, e, names) for n, e in enumerate(self.tables(table, "compare")))
        self.once("compare", [c.array for c in comparisons])
        shared = table.get("shared_bytes", 0)
        if not isinstance(shared, int) or isinstance(shared, bool):
            raise self.wrong("shared_bytes", f"is {shared!r}; it must be a whole number")
        target = self.text(table, "target", "the file") if "target" in table else None
        ptx = self.folder / self.text(table, "ptx", "the file")
        if self.is_something_else(ptx):
            raise self.wrong("ptx", f"names {ptx}, which is not a file")
        return LaunchFile(
            ptx,
            self.text(table, "kernel", "the file"),
            table.get("grid", 1),
            table.get("block", 1),
            table.get("cluster"),
            shared,
            target,
            self.text(table, "contract", "the file") if "contract" in table else AS_WRITTEN,
            arguments,
            comparisons,
        )

    @staticmethod
    def is_something_else(path: Path) -> bool:
        """Whether a path leads to a folder, a pipe or a device."""
        try:
            return path.exists() and not path.is_file()
        except (OSError, ValueError):  # no file can have this name: reading it says so
            return False

    def once(self, key: str, names: list[str]) -> None:
        for number, name in enumerate(names):
            if name in names[:number]:
                raise self.wrong(f"{key}[{number}]", f"has the name {name!r}, as {key}[{names.index(name)}] has")

    def known(self, table: Mapping[str, Any], keys: set[str], where: str) -> None:
        for key in table:
            if key not in keys:
                raise self.wrong(where, f"holds {key!r}, which means nothing; known are {', '.join(sorted(keys))}")

    def tables(self, table: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
        found = table.get(key, [])
        if not isinstance(found, list) or not all(isinstance(e, dict) for e in cast("list[Any]", found)):
            raise self.wrong(key, f"must be tables, written [[{key}]]")
        return cast("list[dict[str, Any]]", found)

    def text(self, table: Mapping[str, Any], key: str, where: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value:
            raise self.wrong(where, f'needs {key} = "..."' if value is None else f"has {key} = {value!r}, not a text")
        return value

    def argument(self, number: int, entry: dict[str, Any]) -> Argument:
        where = f"args[{number}]"
        self.known(entry, _ARGUMENT_KEYS, where)
        sources = [s for s in _SOURCES if s in entry]
        name = self.text(entry, "name", where) if "name" in entry else str(number)
        if not sources and "tensor_map" in entry and "save" not in entry:
            return Argument(name, None, None)
        if len(sources) != 1:
            raise self.wrong(where, f"needs exactly one of {', '.join(_SOURCES)}")
        save = self.folder / self.text(entry, "save", where) if "save" in entry else None
        value = entry[sources[0]]
        match sources[0]:
            case "value":
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    raise self.wrong(where, f"has value = {value!r}; it must be a number")
            case "npy":
                value = self.load(self.text(entry, "npy", where), where)
            case source:
                value = self.array(value, f"{where}.{source}", source)
        if save is not None and not isinstance(value, np.ndarray):
            raise self.wrong(where, "saves a number; only arrays can be saved")
        return Argument(name, value, save, "empty" in entry)

    def with_map(self, number: int, entry: dict[str, Any], arguments: tuple[Argument, ...]) -> Argument:
        """An argument with the tensor map that its entry describes, if it does."""
        argument, where = arguments[number], f"args[{number}].tensor_map"
        if "tensor_map" not in entry:
            return argument
        table = entry["tensor_map"]
        if not isinstance(table, dict):
            raise self.wrong(where, "must be a table such as { box_dim = [64, 64] }")
        table = cast("dict[str, Any]", table)
        self.known(table, set(tensor_maps.KEYS), where)
        values: dict[str, Any] = {a.name: a.value for a in arguments}
        named: dict[str, NDArray[Any]] = {
            name: value for name, value in values.items() if isinstance(value, np.ndarray)
        }
        array = named.get(argument.name)
        if ("of" in table) == (array is not None):
            raise self.wrong(where, 'needs either an array beside it or of = "A", the name of an argument that is one')
        if array is None:
            array = named[self.one_of(self.text(table, "of", where), set(named), where)]
        try:
            return replace(argument, mapped=tensor_maps.mapped(array, table))
        except tensor_maps.NoTensorMap as error:
            raise self.wrong(where, str(error)) from error

    def load(self, name: str, where: str) -> NDArray[Any]:
        try:
            return arrays.load(self.folder / name)
        except arrays.NoArray as error:
            raise self.wrong(where, f"cannot load {name}: {error}") from error

    def array(self, spec: Any, where: str, source: str) -> NDArray[Any]:
        if not isinstance(spec, dict):
            raise self.wrong(where, 'must be a table such as { shape = [64, 64], dtype = "float32" }')
        table = cast("dict[str, Any]", spec)
        self.known(table, {"shape", "dtype", *(["seed"] if source == "random" else [])}, where)
        dtype = self.dtype(table.get("dtype", "float32"), where)
        extent = self.extent(table.get("shape"), where)
        size = math.prod(max(n, 1) for n in extent) * dtype.itemsize  # an extent of 0 lets NumPy take no larger ones
        self.budget.charge(f"{where} of the launch file", size)
        if source == "empty":  # no number, where there is one for that
            return np.full(math.prod(extent) * dtype.itemsize, 0xFF, np.uint8).view(dtype).reshape(extent)
        if source == "zeros":
            return np.zeros(extent, dtype)
        seed = table.get("seed", 0)
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise self.wrong(where, f"has seed = {seed!r}; it must be a whole number from 0 up")
        generator = np.random.default_rng(seed)
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            return generator.integers(limits.min, limits.max, extent, dtype, endpoint=True)
        return generator.standard_normal(extent).astype(dtype)

    def extent(self, shape: Any, where: str) -> tuple[int, ...]:
        whole = [shape] if isinstance(shape, int) else shape
        if not isinstance(whole, list) or not all(
            isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in cast("list[Any]", whole)
        ):
            raise self.wrong(where, f"has shape = {shape!r}; it must be whole numbers")
        if len(cast("list[int]", whole)) > arrays.MOST_DIMENSIONS:
            raise self.wrong(where, f"has a shape of more than {arrays.MOST_DIMENSIONS} dimensions")
        return tuple(cast("list[int]", whole))

    def dtype(self, name: Any, where: str) -> np.dtype[Any]:
        try:
            return arrays.dtype_of(name)
        except arrays.NoArray as error:
            raise self.wrong(where, str(error)) from error

    def comparison(self, number: int, entry: dict[str, Any], arrays: set[str]) -> Wanted:
        where = f"compare[{number}]"
        for key in _OLD_KEYS.keys() & entry.keys():
            raise self.wrong(f"{where}.{key}", _OLD_KEYS[key])
        self.known(entry, _COMPARE_KEYS, where)
        rtol, atol = (self.tolerance(entry, key, where) for key in ("rtol", "atol"))
        if ("expect" in entry) == ("equals" in entry) or ("equals" in entry) != ("array" in entry):
            raise self.wrong(where, 'needs either expect = "C = A @ B", or array = "C" and equals = "file.npy"')
        if "equals" in entry:
            array = self.one_of(self.text(entry, "array", where), arrays, where)
            return Wanted(array, self.folder / self.text(entry, "equals", where), rtol, atol)
        try:
            expected = read_expectation(self.text(entry, "expect", where))
        except BadExpression as error:
            raise self.wrong(f"{where}.expect:", str(error)) from None
        return Wanted(self.one_of(expected.name, arrays, where), expected, rtol, atol)

    def tolerance(self, entry: dict[str, Any], key: str, where: str) -> float | None:
        value = entry.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < math.inf:
            raise self.wrong(where, f"has {key} = {value!r}; it must be a number from 0 up")
        return float(value)

    def one_of(self, name: str, arrays: set[str], where: str) -> str:
        if name not in arrays:
            raise self.wrong(where, f"names {name!r}; the arrays are {', '.join(sorted(arrays)) or '(none)'}")
        return name
