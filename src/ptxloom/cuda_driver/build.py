"""Shared libraries from the C in this package: built with the package, or compiled on first use.

A library is a folder of C files, plus generated ones. All libraries are built into one folder,
under the names that programs look for.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cuda_driver import names, runtime_names
from ptxloom.cuda_driver.seal import is_sealed, seal
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.ownership import distrust, doubt

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

_HERE: Final = Path(__file__).parent
BUILT: Final = _HERE / "built"  # the output of the package's build
FLAGS: Final = (
    "-std=gnu11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread", "-Wl,-Bsymbolic",
    "-foptimize-sibling-calls",  # libcuda's `dlopen` (loading.c) relies on it, at every optimisation level
)  # fmt: skip
WARNINGS: Final = ("-Wall", "-Wextra", "-Wstrict-prototypes", "-Werror")
_COMPILERS: Final = ("cc", "gcc", "clang")


class NoDriver(PtxloomError):  # noqa: N818 - names what is missing
    """The driver cannot be built here; the message names what is missing."""


@dataclass(frozen=True, slots=True)
class Library:
    """A shared library.

    Attributes:
        soname: The name that programs are linked with.
        folder: The folder of its C files, which may be in subfolders.
        generated: Generated C files and linker scripts, by name.
        names: Further names by which programs load it.
        flags: Flags for the compiler, besides the common ones.
        neighbours: The sonames of this package's libraries that it links against.
    """

    soname: str
    folder: str
    generated: Mapping[str, Callable[[], str]] = field(default_factory=dict[str, "Callable[[], str]"])
    names: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()


LIBRARIES: Final = (
    Library("libcuda.so.1", "libcuda", {"names.c": names.source}, ("libcuda.so",)),
    Library(
        f"libcudart.so.{runtime_names.major()}",
        "libcudart",
        {"names.c": runtime_names.source, "versions.ld": runtime_names.version_script},
        ("libcudart.so",),
        flags=("-Wl,-rpath,$ORIGIN",),
        neighbours=("libcuda.so.1",),
    ),
    Library("libptxloom-nvrtc.so", "libnvrtc"),
    Library("libptxloom-nvjitlink.so", "libnvjitlink", flags=("-Wl,-rpath,$ORIGIN",), neighbours=("libcuda.so.1",)),
    Library(
        "libcute_dsl_runtime.so",
        "libcute_dsl_runtime",
        flags=("-Wl,-rpath,$ORIGIN",),
        neighbours=("libcuda.so.1", f"libcudart.so.{runtime_names.major()}"),
    ),
)
"""The libraries in link order."""
_SONAMES: Final = tuple(library.soname for library in LIBRARIES)
_NAMES: Final = tuple(name for library in LIBRARIES for name in library.names)
_OURS_ALONE: Final = 0o700


@cache
def folder() -> Path:
    """The folder of the libraries, compiled if necessary.

    Raises:
        NoDriver: There is no compiler, the compiler fails, or this is not Linux.
    """
    if sys.platform != "linux":
        raise NoDriver(
            "the driver's library runs on Linux only; kernels run everywhere with `pl.kernel` and `pl.Device`"
        )
    return _kept() or _temporary()


def is_there() -> bool:
    """Whether the libraries are built already."""
    place = _place()
    return _is_built() or (place is not None and _is_whole(place))


def _place() -> Path | None:
    """The folder in the cache; None if caching is off."""
    from ptxloom.disk_cache import cache_folder  # noqa: PLC0415 - the package's build has no NumPy

    kept = cache_folder()
    return None if kept is None else kept / "driver" / key()


def _kept() -> Path | None:
    """The folder in the cache, filled if necessary; None if it cannot be used."""
    place = _place()
    if place is None:
        return None
    try:
        if _is_whole(place):
            return place
        place.parent.mkdir(mode=_OURS_ALONE, parents=True, exist_ok=True)
    except OSError:
        return None
    with _alone(place.parent):
        if not _is_whole(place):
            _make(place)
    if why := _doubt(place):
        distrust(why)
    return place if _is_whole(place) else None


@contextlib.contextmanager
def _alone(parent: Path) -> Generator[None]:
    """Make other processes wait for this build, if the file system has locks: a build takes seconds of every core."""
    import fcntl  # noqa: PLC0415 - Windows imports this module, too, and has none

    descriptor = -1
    try:
        with contextlib.suppress(OSError):
            descriptor = os.open(parent, os.O_RDONLY | os.O_DIRECTORY)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def _make(place: Path) -> None:
    """Fill a folder of the cache atomically, if the disk has space."""
    try:
        work = Path(tempfile.mkdtemp(dir=place.parent))
    except OSError:
        return
    try:
        made = work / "made"
        made.mkdir(mode=_OURS_ALONE)
        _fill(made)
        if os.path.lexists(place):  # damaged; running programs keep the libraries that they have loaded
            place.rename(work / "damaged")
        made.rename(place)
    except OSError:  # another process was quicker, or the disk is full
        pass
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _is_whole(place: Path) -> bool:
    """Whether a folder is intact, and no other user can have written it."""
    there = all((place / one).exists() for one in _NAMES)
    return there and is_sealed(place, key(), _SONAMES) and not _doubt(place)


def _doubt(place: Path) -> str:
    """Why the libraries in a folder are not trusted; empty if they are."""
    return next(filter(None, (doubt(place / one) for one in (*_SONAMES, *_NAMES))), "")


def _temporary() -> Path:
    """A folder that is removed when this process ends.

    Raises:
        NoDriver: The folder cannot be created.
    """
    made = Path(temporary_folder("ptxloom-driver-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    _fill(made)
    return made


def temporary_folder(prefix: str, within: str | None = None) -> str:
    """A new temporary folder.

    Raises:
        NoDriver: It cannot be created.
    """
    try:
        return tempfile.mkdtemp(prefix=prefix, dir=within)
    except OSError as error:
        raise NoDriver(
            f"there is no folder for temporary files ({(error.strerror or str(error)).lower()}): name one in TMPDIR"
        ) from None


def _is_built() -> bool:
    """Whether the package's build made the libraries from these sources."""
    return is_sealed(BUILT, key(), _SONAMES)


def _fill(place: Path) -> None:
    """Put the libraries into a folder: those of the package's build if they match these sources, else new ones.

    Raises:
        NoDriver: There is no compiler, or it fails.
    """
    if not _is_built():
        build(place)
        return
    for library in LIBRARIES:
        shutil.copy(BUILT / library.soname, place)
        _name(library, place)
    seal(place, key(), _SONAMES)


def _name(library: Library, place: Path) -> None:
    """Link its further names to it: a program that loads it by two names must get one library."""
    for name in library.names:
        (place / name).unlink(missing_ok=True)
        (place / name).symlink_to(library.soname)


def key() -> str:
    """A digest of what the libraries depend on, as the name of a folder."""
    told = hashlib.sha256(repr((FLAGS, os.uname().machine)).encode())
    for library in LIBRARIES:
        told.update(repr((library.soname, library.names, library.flags, library.neighbours)).encode())
        for path in sorted((_HERE / library.folder).rglob("*.[ch]")):
            told.update(str(path.relative_to(_HERE)).encode() + path.read_bytes())
        for name, text in library.generated.items():
            told.update(name.encode() + text().encode())
    return told.hexdigest()[:24]


def build(place: Path, extra: tuple[str, ...] = ()) -> None:
    """Compile all libraries into a folder.

    Args:
        place: The folder.
        extra: Further flags for the compiler, such as `WARNINGS`.

    Raises:
        NoDriver: There is no compiler, or it fails.
    """
    compiler = _compiler()
    for library in LIBRARIES:
        _compile(compiler, library, place, extra)
        _name(library, place)
    seal(place, key(), _SONAMES)


def _compiler() -> str:
    """The C compiler.

    Raises:
        NoDriver: There is no compiler.
    """
    named = os.environ.get("CC")
    found = next((path for one in ([named] if named else _COMPILERS) if (path := shutil.which(one))), None)
    if found is None:
        raise NoDriver(
            "the driver has to be compiled, and there is no C compiler: install gcc or clang, or name one in CC"
        )
    return found


def _compile(compiler: str, library: Library, place: Path, extra: tuple[str, ...]) -> None:
    """Compile the files of a library side by side, and link them."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - the libraries are there as a rule

    source = _HERE / library.folder
    with tempfile.TemporaryDirectory() as work:
        for name, text in library.generated.items():
            (Path(work) / name).write_text(text(), encoding="utf-8")
        made = [Path(work) / name for name in library.generated]
        files = [*sorted(source.rglob("*.c")), *(one for one in made if one.suffix == ".c")]
        objects = [Path(work) / f"{number}.o" for number in range(len(files))]
        flags = (*FLAGS, *extra)

        def compiled(file: Path, at: Path) -> None:
            _run(library, [compiler, *flags, "-c", f"-I{source}", "-o", str(at), str(file)])

        with ThreadPoolExecutor(os.cpu_count()) as cores:
            tuple(cores.map(compiled, files, objects))
        scripts = [one for one in made if one.suffix != ".c"]
        command = [
            compiler, *flags, f"-Wl,-soname,{library.soname}", "-o", str(place / library.soname),
            *map(str, (*objects, *scripts, *(place / name for name in library.neighbours))), *library.flags, "-ldl",
        ]  # fmt: skip
        _run(library, command)


def _run(library: Library, command: list[str]) -> None:
    """Run the compiler for a library.

    Raises:
        NoDriver: It fails.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it printed no message"]
        first = next((line for line in lines if "error" in line), lines[0])
        raise NoDriver(f"{command[0]} could not compile {library.soname}: {first}")
