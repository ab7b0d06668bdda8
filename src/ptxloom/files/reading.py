"""The kind of a file, and the PTX in it, decided only here.

PTX text is read directly. CUDA C++ (`.cu`) is compiled. A fatbin, or a container of fatbins (object, library, archive,
program), yields the PTX in them. A cubin contains its PTX if it was compiled with line information; Triton
and others store it in a file of the same name beside it.
A folder, such as one of Triton's cache, yields the `.ptx` files in it.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import must_be
from ptxloom.files.compiler_flags import NO_FLAGS, Flags
from ptxloom.files.compilers import CudaSource, compile_cuda
from ptxloom.files.errors import OutOfReach, UnreadableFile
from ptxloom.files.fatbins import MAGIC, ptx_in
from ptxloom.files.kinds import other_than_ptx
from ptxloom.files.limited import MOST_BYTES, content, named
from ptxloom.files.names import exists, is_file, is_folder
from ptxloom.files.written import around
from ptxloom.source import Source, title

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_COMPILED: Final = (b"\x7fELF", MAGIC, b"MZ", b"!<arch>\n")  # ELF, fatbin, Windows program, archive
_CUDA: Final = (".cu",)


def texts(path: str | PathLike[str], target: str | None = None, flags: Flags = NO_FLAGS) -> tuple[Source, ...]:
    """Every PTX text in a file, or the one selected by `file:name`, as in messages.

    Args:
        path: The file.
        target: The target of CUDA C++.
        flags: Its options.

    Raises:
        UnreadableFile: It cannot be read, or holds no PTX.
        CompileError: It is CUDA C++ that does not compile.
        MissingPart: Something that it needs is not installed.
    """
    must_be(str | PathLike, "path", path, "a path")
    outer, inner = _divided(str(path))
    if is_folder(outer) and (below := sorted(Path(outer).glob("*.ptx"))):
        return tuple(_plain(_bytes(str(one), content), str(one)) for one in below)
    found = texts_of(_bytes(outer), outer, target, flags)
    if not inner:
        return found
    chosen = tuple(one for one in found if one.name == f"{outer}:{inner}")
    if not chosen:
        raise UnreadableFile(f"{title(path)}: there is no such text; {_listed(outer, found)}")
    return chosen


def texts_of(data: bytes, name: str, target: str | None = None, flags: Flags = NO_FLAGS) -> tuple[Source, ...]:
    """Every PTX text in the bytes of a file named `name`; raises as `texts` does."""
    if is_compiled(data):
        found = tuple(
            Source(decoded(text, name), f"{name}:{number}.{arch}.ptx", around(name))
            for number, (arch, text) in enumerate(ptx_in(data, name), 1)
        )
        return found or _beside(name)
    if Path(name).suffix in _CUDA:
        source = CudaSource(decoded(data, name), name, str(Path(name).parent))
        return (compile_cuda(source, target, flags),)
    return (_plain(data, name),)


def in_folder(name: str) -> str:
    """The PTX file in a folder, such as one of Triton's cache; any other name is returned unchanged.

    Raises:
        UnreadableFile: The folder, and those in it, hold no PTX file or several.
    """
    if not is_folder(name):
        return name
    found = sorted(Path(name).glob("*.ptx")) or sorted(Path(name).glob("*/*.ptx"))
    if len(found) != 1:
        several = f"several PTX files, such as {title(found[0])}; name one" if found else "no PTX file"
        raise UnreadableFile(f"{title(name)}: this folder holds {several}")
    return str(found[0])


def one_text(path: str | PathLike[str], target: str | None = None, flags: Flags = NO_FLAGS) -> Source:
    """The only PTX text in a file; raises as `texts` does, also if there are several."""
    found = texts(path, target, flags)
    return only(found, str(path))


def only(found: Sequence[Source], name: str) -> Source:
    """The only one of several texts.

    Raises:
        UnreadableFile: There are more; the message says how to name one.
    """
    if len(found) > 1:
        raise UnreadableFile(_listed(name, found))
    return found[0]


def _listed(name: str, found: Sequence[Source]) -> str:
    names = ", ".join(one.title for one in found[:8]) + (", ..." if len(found) > 8 else "")
    count = "one PTX text" if len(found) == 1 else f"{len(found)} PTX texts"
    return f"{title(name)} holds {count}: name one of {names}"


def _divided(name: str) -> tuple[str, str]:
    """`a.out:2.sm_80.ptx` as the file and the text in it; the name of an existing file stays whole."""
    outer, colon, inner = name.rpartition(":")
    return (outer, inner) if colon and inner.endswith("ptx") and not exists(name) and exists(outer) else (name, "")


def opened_for(name: str) -> tuple[str, ...]:
    """The files that may be read to get the PTX of a file, or of `file:name`, if they exist."""
    outer, _ = _divided(name)
    return (outer, *_names_beside(outer))


def _names_beside(name: str) -> tuple[str, ...]:
    """The possible names of the PTX beside a cubin."""
    beside = str(Path(name).with_suffix(".ptx")) if Path(name).name else name
    return (beside,) if beside != name else ()


def _beside(name: str) -> tuple[Source, ...]:
    """The PTX beside a cubin.

    Raises:
        UnreadableFile: There is no PTX beside it.
    """
    for beside in filter(is_file, _names_beside(name)):
        return (_plain(_bytes(beside, content), beside),)
    raise UnreadableFile(
        f"{title(name)}: this is a compiled file that holds no PTX, only machine code, if any; nvcc puts PTX in it "
        "with `-gencode arch=compute_80,code=compute_80`, or with `-lineinfo`"
    )


def _plain(data: bytes, name: str) -> Source:
    """A text that is PTX.

    Raises:
        UnreadableFile: It is something else.
    """
    text = decoded(data, name)
    if what := other_than_ptx(text, name):
        raise UnreadableFile(f"{title(name)}: {what}")
    return Source(text, name, around(name))


def _bytes(path: str, read: Callable[[Path, int], bytes] = named) -> bytes:
    """The bytes of a file.

    Args:
        path: The file.
        read: The function that reads it: one for files that a user names, or for files that were found.

    Raises:
        UnreadableFile: There is no such file, or it may not be read.
    """
    try:
        return read(Path(path), MOST_BYTES)
    except FileNotFoundError:
        raise UnreadableFile(f"{title(path)}: there is no such file") from None
    except IsADirectoryError:
        raise UnreadableFile(f"{title(path)}: this is a directory, not a PTX file") from None
    except OutOfReach as problem:
        raise UnreadableFile(f"{title(path)}: {problem}") from None
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise UnreadableFile(f"{title(path)}: the file cannot be read ({reason})") from None


def is_compiled(data: bytes) -> bool:
    """Whether the first bytes of a file are those of a compiled one."""
    return data.startswith(_COMPILED)


def decoded(data: bytes, name: str) -> str:
    """The text in the bytes of a PTX file; `name` is their name in messages.

    Raises:
        UnreadableFile: They are not text.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        message = f"{title(name)}: this is UTF-16 text, as PowerShell redirection writes it; PTX is ASCII or UTF-8"
        raise UnreadableFile(message)
    zero = data.rstrip(b"\0").find(b"\0")
    if zero >= 0:
        message = f"{title(name)}: this is a binary file, not PTX text (byte {zero} is zero)"
        raise UnreadableFile(message)
    try:
        return data.rstrip(b"\0").decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        message = f"{title(name)}: this is not UTF-8 text (byte 0x{data[problem.start]:02x} in line {line})"
        raise UnreadableFile(message) from None
