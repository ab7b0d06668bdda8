"""A launch file (TOML): which kernel of which PTX runs on which arrays, what to compare and what to save.

`launch_keys` holds the legal keys, `docs/launch-file.md` shows them.
`reach` decides what it may read and write: a launch file may come from a stranger.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ptxloom.cli.arguments import launch_words
from ptxloom.cli.arguments.launch_keys import ACCUMULATE, LAUNCH, SOURCES
from ptxloom.cli.launch_files import arrays, reach, tensor_maps
from ptxloom.cli.launch_files.fills import NoFill, filled
from ptxloom.cli.results.output import reason
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import read
from ptxloom.cli.sources.kernels import chosen_kernel
from ptxloom.comparison.expression import BadExpression, read_expectation
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.files.compiler_flags import NO_FLAGS, Flags, RefusedFlag
from ptxloom.files.errors import OutOfReach
from ptxloom.files.kinds import looks_like_ptx
from ptxloom.files.limited import MOST_SETTINGS, named
from ptxloom.files.names import exists
from ptxloom.files.reading import in_folder
from ptxloom.files.toml import read_toml
from ptxloom.fragments.number_types import is_array
from ptxloom.machine.port.prepare import AS_WRITTEN
from ptxloom.machine.port.region import Budget
from ptxloom.settings.cuda_keys import flags_in
from ptxloom.settings.toml_model import TOP, complaint
from ptxloom.source import title
from ptxloom.syntax.parser import parse_source

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping
    from typing import Unpack

    from numpy.typing import NDArray

    from ptxloom.comparison.expression import Expectation
    from ptxloom.machine import Kernel, LaunchOptions, LaunchResult, MappedArray

_OLD_KEYS: Final = {
    "product": 'is written expect = "C = A @ B" now',
    "relative": "is rtol now, relative to each element, not to the largest; the default is what rounding can explain",
}
_PTX: Final = frozenset({".ptx", ".cu", ".cubin", ".fatbin", ".o", ".so"})


class BadLaunchFile(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A launch file asks for something impossible."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: its name, the array or number, where it is saved after the run, and whether it is unwritten memory.

    If there is a tensor map, the kernel gets the map instead of the array; without an array, it is a map of another
    argument's array.
    """

    name: str
    value: Any
    save: reach.Saved | None
    empty: bool = False
    mapped: MappedArray | None = None

    @property
    def passed(self) -> object:
        """The argument that the launch receives."""
        return self.value if self.mapped is None else self.mapped


@dataclass(frozen=True, slots=True)
class ExpectedArray:
    """What an array must be after the run: a file's array, or the value of an expression over the arguments."""

    array: str
    wanted: Path | Expectation
    rtol: float | None
    atol: float | None
    accumulate: str = ""


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
    comparisons: tuple[ExpectedArray, ...]
    flags: Flags = NO_FLAGS

    def launch(self, compiled: Kernel, **options: Unpack[LaunchOptions]) -> LaunchResult:
        """Run a kernel as the file describes.

        Args:
            compiled: The kernel that the file names.
            **options: More options of the launch.
        """
        values = [one.passed for one in self.arguments]
        told: LaunchOptions = {"cluster": self.cluster, **options}
        return compiled.launch(self.grid, self.block, values, self.shared_bytes, **told)


def read_launch(name: str, budget: Budget | None = None, words: Namespace | None = None) -> LaunchFile:
    """Read a launch file and make its arrays, within a budget of memory.

    Args:
        name: The launch file; with `words`, it may be a PTX file that they describe how to run.
        budget: Of memory; by default that of a run.
        words: The options of a command line that describe the launch, declared by `launch_words`.

    Raises:
        BadLaunchFile: It is missing, not TOML, or asks for something impossible; the sentence names the key.
    """
    name = name if words is None else in_folder(name)
    path = Path(name)
    if words is not None and (path.suffix in _PTX or (launch_words.said(words) and path.suffix != ".toml")):
        table, folder = _table_of_words(name, words), None
    else:
        table, folder = _table(name, path), path.parent
        _judge(name, table)
        table = table if words is None else launch_words.merged(table, words)
    saved = {} if words is None else launch_words.saved(table, words)
    return _LaunchReader(name, folder, budget or Budget(), saved).launch(table)


def table_of(name: str) -> dict[str, Any]:
    """Read and check a launch file without making arrays.

    Raises:
        BadLaunchFile: It is missing, not TOML, or asks for something impossible.
    """
    table = _table(name, Path(name))
    _judge(name, table)
    return table


def launch_of(name: str, table: dict[str, Any], budget: Budget | None = None) -> LaunchFile:
    """Make the arrays of a launch file whose table differs from the one on the disk.

    Args:
        name: The launch file; other names of files are relative to it.
        table: Its table.
        budget: Of memory; by default that of a run.

    Raises:
        BadLaunchFile: It asks for something impossible.
    """
    return _LaunchReader(name, Path(name).parent, budget or Budget(), {}).launch(table)


def _judge(name: str, table: Mapping[str, Any]) -> None:
    """Check a table against the model.

    Raises:
        BadLaunchFile: A key or value is illegal; for a renamed key, the sentence gives its new name.
    """
    compared: object = table.get("compare")
    for number, entry in enumerate(cast("list[object]", compared) if isinstance(compared, list) else []):
        for key, told in _OLD_KEYS.items():
            if isinstance(entry, dict) and key in entry:
                raise BadLaunchFile(f"{title(name)}: compare[{number}].{key} {told}")
    if found := complaint(table, LAUNCH, TOP):
        raise BadLaunchFile(f"{title(name)}: {found[0]} {found[1]}")


def _table_of_words(name: str, words: Namespace) -> dict[str, Any]:
    """The table that the words stand for, as a launch file would hold it.

    Raises:
        BadLaunchFile: The words describe no launch.
    """
    if not exists(name.rpartition(":")[0] or name) and not exists(name):
        raise BadLaunchFile(f"{title(name)}: there is no such file")
    if not launch_words.said(words):
        how = "--kernel, --grid, --block, --arg; or `ptxloom run --init` writes a launch file for it"
        what = "CUDA C++" if Path(name).suffix == ".cu" else "PTX" if Path(name).suffix == ".ptx" else "a compiled file"
        raise BadLaunchFile(f"{title(name)}: this is {what}; describe how to run it: {how}")
    table = launch_words.merged({"ptx": name}, words)
    if "kernel" not in table:
        flags = flags_for(words, name, target=table.get("target"))
        source = read(name, table.get("target"), flags)
        table["kernel"] = chosen_kernel(parse_source(source), None, "--kernel")
    return table


def _table(name: str, path: Path) -> dict[str, Any]:
    """The file's table, as TOML.

    Raises:
        BadLaunchFile: It is missing, or not TOML.
    """
    try:
        if path.is_char_device() or path.is_block_device():
            raise BadLaunchFile(f"{title(name)}: this is a device, not a launch file")
        text = named(path, MOST_SETTINGS).decode("utf-8")
    except FileNotFoundError:
        raise BadLaunchFile(f"{title(name)}: there is no such file") from None
    except OutOfReach as error:
        raise BadLaunchFile(f"{title(name)}: cannot be read: {error}") from None
    except (OSError, ValueError) as error:
        raise BadLaunchFile(f"{title(name)}: cannot be read: {reason(error)}") from None
    try:
        return read_toml(text)
    except ValueError as error:
        if looks_like_ptx(text):
            how = "describe how to run it: --kernel, --grid, --block, --arg"
            raise BadLaunchFile(f"{title(name)}: this is PTX, not a launch file; {how}") from None
        what = f"; a launch file names the PTX: `ptx = {path.name!r}`" if path.suffix in _PTX else ""
        raise BadLaunchFile(f"{title(name)}: this is not TOML: {error}{what}") from None


@dataclass(frozen=True, slots=True)
class _LaunchReader:
    """Builds a launch from tables that the model has checked; only further conditions are checked here."""

    name: str
    folder: Path | None
    budget: Budget
    saved: Mapping[str, Path]

    def wrong(self, where: str, what: str) -> BadLaunchFile:
        return BadLaunchFile(f"{title(self.name)}: {where} {what}")

    def launch(self, table: Mapping[str, Any]) -> LaunchFile:
        _judge(self.name, table)  # words may have come to it
        entries: list[dict[str, Any]] = table.get("args", [])
        arguments = tuple(self.argument(n, entry) for n, entry in enumerate(entries))
        self.once("args", [a.name for a in arguments])
        arguments = tuple(self.with_map(n, e, arguments) for n, e in enumerate(entries))
        names = {a.name for a in arguments if is_array(a.value)}
        comparisons = tuple(self.comparison(n, e, names) for n, e in enumerate(table.get("compare", [])))
        self.once("compare", [c.array for c in comparisons])
        return LaunchFile(
            self.readable(table["ptx"], "ptx"),
            table["kernel"],
            table.get("grid", 1),
            table.get("block", 1),
            table.get("cluster"),
            table.get("shared_bytes", 0),
            table.get("target"),
            table.get("contract", AS_WRITTEN),
            arguments,
            comparisons,
            self.flags(table),
        )

    def flags(self, table: Mapping[str, Any]) -> Flags:
        """How CUDA C++ is compiled; paths are relative to the launch file."""
        try:
            return flags_in(table, title(self.name), self.folder or Path())
        except RefusedFlag as error:
            raise BadLaunchFile(str(error)) from None
        except UsageError as error:
            raise self.wrong("cuda", str(error)) from None

    def readable(self, name: str, where: str) -> Path:
        """A file to be read."""
        try:
            return reach.readable(self.folder, name)
        except OutOfReach as error:
            raise self.wrong(where, str(error)) from error

    def save(self, name: str, entry: dict[str, Any], where: str) -> reach.Saved | None:
        """The file for an array after the run; permission is checked before anything runs, and again when saving."""
        if name in self.saved:
            return reach.Saved(self.saved[name])
        if "save" not in entry:
            return None
        folder = self.folder or Path()
        saved = reach.Saved(folder / entry["save"], folder)
        try:
            saved.place()
        except OutOfReach as error:
            raise self.wrong(f"{where}.save", f"is {entry['save']!r}: {error}") from error
        return saved

    def once(self, key: str, names: list[str]) -> None:
        for number, name in enumerate(names):
            if name in names[:number]:
                raise self.wrong(f"{key}[{number}]", f"has the name {name!r}, as {key}[{names.index(name)}] has")

    def argument(self, number: int, entry: dict[str, Any]) -> Argument:
        where = f"args[{number}]"
        sources = [s for s in SOURCES if s in entry]
        name = entry.get("name", str(number))
        save = self.save(name, entry, where)
        if not sources and "tensor_map" in entry and save is None:
            return Argument(name, None, None)
        if len(sources) != 1:
            raise self.wrong(where, f"needs exactly one of {', '.join(SOURCES)}")
        value = entry[sources[0]]
        match sources[0]:
            case "value":
                pass
            case "npy":
                value = self.load(value, where)
            case source:
                value = self.array(value, f"{where}.{source}", source)
        if save is not None and not is_array(value):
            raise self.wrong(where, "saves a number; only arrays can be saved")
        return Argument(name, value, save, "empty" in entry)

    def with_map(self, number: int, entry: dict[str, Any], arguments: tuple[Argument, ...]) -> Argument:
        """The argument, with the tensor map that its entry describes, if any."""
        argument, where = arguments[number], f"args[{number}].tensor_map"
        if "tensor_map" not in entry:
            return argument
        table: dict[str, Any] = entry["tensor_map"]
        named: dict[str, NDArray[Any]] = {a.name: a.value for a in arguments if is_array(a.value)}
        array = named.get(argument.name)
        if ("of" in table) == (array is not None):
            raise self.wrong(where, 'needs either an array or of = "A", the name of an argument that is one')
        if array is None:
            array = named[self.one_of(table["of"], set(named), where)]
        try:
            return replace(argument, mapped=tensor_maps.mapped(array, table))
        except tensor_maps.NoTensorMap as error:
            raise self.wrong(where, str(error)) from error

    def load(self, name: str, where: str) -> NDArray[Any]:
        try:
            return arrays.load(self.readable(name, where))
        except arrays.NoArray as error:
            raise self.wrong(where, f"cannot load {title(name)}: {error}") from error

    def array(self, table: dict[str, Any], where: str, source: str) -> NDArray[Any]:
        try:
            dtype = arrays.dtype_of(table.get("dtype", "float32"))
            shape = table["shape"]
            extents = (shape,) if isinstance(shape, int) else tuple(shape)
            size = (
                math.prod(max(n, 1) for n in extents) * dtype.itemsize
            )  # by an extent of 0 NumPy takes no larger ones
            self.budget.charge(f"{where} of the launch file", size)
            return filled(source, extents, dtype, table)
        except (arrays.NoArray, NoFill) as error:
            raise self.wrong(where, str(error)) from error

    def comparison(self, number: int, entry: dict[str, Any], arrays: set[str]) -> ExpectedArray:
        where = f"compare[{number}]"
        if ("expect" in entry) == ("equals" in entry) or ("equals" in entry) != ("array" in entry):
            raise self.wrong(where, 'needs either expect = "C = A @ B", or array = "C" and equals = "file.npy"')
        rtol, atol = (float(entry[key]) if key in entry else None for key in ("rtol", "atol"))
        accumulate = entry.get("accumulate", "")
        if accumulate and accumulate not in ACCUMULATE:
            raise self.wrong(f"{where}.accumulate", f"is {accumulate!r}; it must be one of {', '.join(ACCUMULATE)}")
        if "equals" in entry:
            path, array = self.readable(entry["equals"], f"{where}.equals"), self.one_of(entry["array"], arrays, where)
            return ExpectedArray(array, path, rtol, atol, accumulate)
        try:
            expected = read_expectation(entry["expect"])
        except BadExpression as error:
            raise self.wrong(f"{where}.expect:", str(error)) from None
        return ExpectedArray(self.one_of(expected.name, arrays, where), expected, rtol, atol, accumulate)

    def one_of(self, name: str, arrays: set[str], where: str) -> str:
        if name not in arrays:
            raise self.wrong(where, f"names {name!r}; the arrays are {', '.join(sorted(arrays)) or '(none)'}")
        return name
