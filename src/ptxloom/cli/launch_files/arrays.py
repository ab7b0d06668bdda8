"""Arrays in files and types by name, for launch files; anything else is an error in one sentence."""

from __future__ import annotations

import math
import os
import re
import struct
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import ml_dtypes
import numpy as np

from ptxloom.cli.arguments.launch_keys import MOST_DIMENSIONS
from ptxloom.cli.results.output import CannotWrite, reason
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.files.errors import OutOfReach
from ptxloom.files.regular import opened
from ptxloom.files.writing import replace_file
from ptxloom.fragments.number_types import by_ptx_name, is_number
from ptxloom.isa.spelling import CALLED
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from ptxloom.cli.launch_files.reach import Saved

_NAME: Final = re.compile(r"[a-z]\w*")
_BYTES: Final = re.compile(r"[a-z]\d+")  # NumPy counts bytes there, PTX bits: what only NumPy knows is refused
_MAGIC: Final = b"\x93NUMPY"
_LENGTHS: Final = {b"\x01\0": "<H", b"\x02\0": "<I"}  # how long the header of a .npy file is, by its version
_LONGEST_HEADER: Final = 10_000
_HEADER: Final = re.compile(
    r"\s*+\{\s*+'descr'\s*+:\s*+'(?P<type>[<>|=]?[a-zA-Z]\d{0,4})'\s*+,\s*+'fortran_order'\s*+:\s*+(?P<columns>True|False)\s*+,"
    r"\s*+'shape'\s*+:\s*+\((?P<shape>(\s*+\d{1,18}\s*+,)*(\s*+\d{1,18})?)\s*+\)\s*+,?\s*+\}\s*+"
)


class NoArray(PtxloomError):  # noqa: N818 - reads as the rest of the sentence it is part of
    """A file or a type name does not stand for an array of numbers; the message is the end of a sentence."""


def dtype_of(name: object) -> np.dtype[Any]:
    """The type of numbers that a name means, to NumPy or ml_dtypes.

    Raises:
        NoArray: There is no such type.
    """
    found: np.dtype[Any] | None = None
    if isinstance(name, str) and _NAME.fullmatch(name):
        found = by_ptx_name().get(name) or _narrow().get(name)
        if found is None and not _BYTES.fullmatch(name):
            try:
                found = np.dtype(name)
            except TypeError:
                found = by_ptx_name().get(CALLED.get(name, ""))
    if found is None or not is_number(found):
        known = "f16, bf16, e4m3, s8, u32, ..., float16, int32, ..."
        raise NoArray(f"has dtype = {name!r}, which neither PTX nor NumPy calls a type of numbers: {known}")
    return found


@cache
def _narrow() -> dict[str, np.dtype[Any]]:
    """The types of ml_dtypes by name."""
    names = [name for name in dir(ml_dtypes) if isinstance(getattr(ml_dtypes, name), type)]
    return {name: np.dtype(name) for name in names if issubclass(getattr(ml_dtypes, name), np.generic)}


def load(path: Path) -> NDArray[Any]:
    """The array in a .npy file: of numbers, or of plain bytes.

    Raises:
        NoArray: There is no such file, or something else is in it.
    """
    try:
        with opened(path) as file:
            return _read(file, os.fstat(file.fileno()).st_size)
    except (OSError, ValueError, OutOfReach) as error:
        raise NoArray(reason(error)) from error


def _read(file: BinaryIO, size: int) -> NDArray[Any]:
    """Read the array of an open file of `size` bytes; the size is checked before memory is allocated.

    Raises:
        NoArray: The file holds no array.
    """
    if file.read(2) == b"PK":
        raise NoArray("it is an archive (.npz); save one array with `np.save`")
    file.seek(0)
    shape, by_columns, dtype = _header(file)
    if not (is_number(dtype) or (dtype.kind == "V" and not dtype.hasobject)):
        raise NoArray(f"it holds {dtype}, not numbers")
    count = math.prod(shape)
    if count * dtype.itemsize != size - file.tell():
        raise NoArray("it holds more or fewer bytes than its header says")
    data = np.frombuffer(bytearray(file.read()), dtype, count) if dtype.itemsize else np.zeros(count, dtype)
    return np.ascontiguousarray(data.reshape(shape, order="F" if by_columns else "C"))


def _header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The shape, whether columns come first, and the type that the head of a .npy file names.

    It is read here, not by NumPy, whose reader parses Python.

    Raises:
        NoArray: It names none.
    """
    head = file.read(len(_MAGIC) + 2)
    if head[:-2] != _MAGIC or head[-2:] not in _LENGTHS:
        raise NoArray("it is not a .npy file, or one of a version that holds no plain array")
    kind = struct.Struct(_LENGTHS[head[-2:]])
    length = file.read(kind.size)
    if len(length) < kind.size or (size := kind.unpack(length)[0]) > _LONGEST_HEADER:
        raise NoArray("its header cannot be read")
    found = _HEADER.fullmatch(file.read(size).decode("latin-1"))
    if found is None:
        raise NoArray("its header names no plain array of numbers")
    shape = tuple(int(number) for number in re.findall(r"\d+", found["shape"]))
    try:
        dtype = np.dtype(found["type"])
    except TypeError as error:
        raise NoArray(f"its header names the type {found['type']!r}") from error
    if len(shape) > MOST_DIMENSIONS:
        raise NoArray(f"it has more than {MOST_DIMENSIONS} dimensions")
    return shape, found["columns"] == "True", dtype


@dataclass(frozen=True, slots=True)
class _Plain:
    """A file whose real descriptor NumPy cannot use: if it could, errors of a full disk would lose their reason."""

    write: Callable[[bytes], int]


def save(saved: Saved, array: NDArray[Any]) -> None:
    """Write an array into a file of exactly this name, whole or not at all; a link there is replaced, not followed.

    An existing file is replaced only if it is also an array, or empty.

    Raises:
        CannotWrite: With the path and the reason.
    """
    name = title(saved.path)
    try:
        path = saved.place()
        if not _may_be_replaced(path):
            raise CannotWrite(
                f"cannot write {name}: what is there is not a NumPy file; move it away, or save elsewhere"
            )
        replace_file(path, lambda file: np.save(_Plain(file.write), array, allow_pickle=False))
    except (OSError, ValueError, OutOfReach) as error:
        raise CannotWrite(f"cannot write {name}: {reason(error)}") from error


def _may_be_replaced(path: Path) -> bool:
    """Whether there is no file, a link, or a file that holds an array or nothing.

    Raises:
        OutOfReach: There is something else.
    """
    if path.is_symlink() or not path.exists():
        return True
    with opened(path) as file:
        return file.read(len(_MAGIC)) in {b"", _MAGIC}
