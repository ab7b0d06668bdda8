"""Which parts of ptxloom, and which tools that it uses, are installed; which are missing, and the remedy."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from dataclasses import field
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ptxloom import own_python
from ptxloom.dataclass import dataclass
from ptxloom.extras import DISTRIBUTIONS, EXTRAS
from ptxloom.files.compilers import HOST_COMPILERS
from ptxloom.files.toolkits import find_nvcc, find_nvrtc, include_folders
from ptxloom.records import Record
from ptxloom.triton import OLDEST, torch_build

if TYPE_CHECKING:
    from collections.abc import Iterator

_C_COMPILERS: Final = ("cc", "gcc", "clang")
_SECONDS: Final = 20
_VERSION: Final = re.compile(r"\d+\.\d+(?:\.\d+)*")
_NVRTC_VERSION: Final = re.compile(r"\d+(?:\.\d+)*$")


@dataclass(frozen=True, slots=True)
class Dependency:
    """Something that is there or not.

    Attributes:
        name: An extra of ptxloom, or a tool.
        purpose: Its use.
        found: The installed names, versions, places.
        lacks: Why it does not work; empty if it does.
        remedy: How to fix that.
    """

    name: str
    purpose: str
    found: tuple[str, ...] = ()
    lacks: str = ""
    remedy: str = ""

    @property
    def works(self) -> bool:
        """Whether it serves its purpose."""
        return not self.lacks


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where ptxloom runs, and what is installed.

    Attributes:
        version: The version of ptxloom.
        folder: Where it is installed.
        python: The version, and the command that runs it.
        system: The operating system and the processor.
        parts: The extras.
        tools: Compilers and libraries that no extra installs, or that may come from elsewhere.
    """

    version: str
    folder: str
    python: str
    system: str
    parts: tuple[Dependency, ...] = field(default=())
    tools: tuple[Dependency, ...] = field(default=())


class PartRecord(Record, define="part"):
    """Something that is there or not."""

    name: str
    purpose: str
    found: tuple[str, ...]
    lacks: str
    remedy: str
    works: bool


class DoctorRecord(Record):
    """Where ptxloom runs, and what is installed."""

    schema: Literal[1]
    version: str
    folder: str
    python: str
    system: str
    parts: tuple[PartRecord, ...]
    tools: tuple[PartRecord, ...]


def surroundings(version: str) -> Surroundings:
    """Inspect the installation."""
    return Surroundings(
        version=version,
        folder=str(Path(__file__).parents[1]),
        python=f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}",
        system=f"{platform.system()} {platform.machine()}",
        parts=tuple(_extras()),
        tools=(_cuda(), _ptxas(), _driver(), _triton(), _torch()),
    )


def _extras() -> Iterator[Dependency]:
    for extra, (purpose, modules) in EXTRAS.items():
        there = [module for module in modules if _is_there(module)]
        absent = [_name(module) for module in modules if module not in there]
        lacks = f"not installed: {', '.join(absent)}" if absent else _why_not(there)
        found = tuple(f"{_name(module)} {_version(module)}" for module in there)
        yield Dependency(extra, purpose, found, lacks, _pip(extra) if lacks else "")


def _cuda() -> Dependency:
    """The compilers of CUDA C++."""
    nvcc, nvrtc, host = find_nvcc(), find_nvrtc(), next(filter(shutil.which, HOST_COMPILERS), None)
    found = [f"nvcc {_said_by(nvcc)} ({nvcc})"] if nvcc else []
    found += [f"{host} ({shutil.which(host)})"] if host else []
    found += [f"NVRTC {_of_library(nvrtc)} ({nvrtc})"] if nvrtc else []
    lacks = ""
    if not (nvcc and host) and not nvrtc:
        lacks = f"nvcc takes one of {', '.join(HOST_COMPILERS)}" if nvcc else "neither nvcc nor NVRTC is installed"
    elif not nvcc and next(include_folders(), None) is None:
        lacks = "NVRTC is there, but not CUDA's headers"
    return Dependency("CUDA C++", "compiling .cu files", tuple(found), lacks, _pip("cuda") if lacks else "")


def _ptxas() -> Dependency:
    path = shutil.which("ptxas") or _beside(find_nvcc(), "ptxas")
    found = (f"{_said_by(path)} ({path})",) if path else ()
    lacks = "" if path else "it is not installed; ptxloom does not need it"
    return Dependency("ptxas", "a second opinion (used only by ptxloom's own tests)", found, lacks)


def _driver() -> Dependency:
    """What `ptxloom exec` needs besides the extra `run`."""
    compiler = next(filter(shutil.which, _C_COMPILERS), None)
    path = compiler and shutil.which(compiler)
    found = (f"{compiler} {_said_by(path)} ({path})",) if path else ()
    lacks = remedy = ""
    if not sys.platform.startswith("linux"):
        lacks = "only for Linux"
    elif path is None:
        lacks, remedy = f"none of {', '.join(_C_COMPILERS)} is on the PATH", "install gcc or clang"
    purpose = "`ptxloom exec` and `pl.driver()`: its libraries are compiled once"
    return Dependency("CUDA driver", purpose, found, lacks, remedy)


def _triton() -> Dependency:
    purpose = "`@triton.jit` kernels on CPU tensors"
    if not _is_there("triton"):
        return Dependency("Triton", purpose, (), "triton is not installed", _pip("triton"))
    version, lacks = _version("triton"), ""
    oldest = ".".join(map(str, OLDEST))
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST:
        lacks = f"it is older than {oldest}"
    return Dependency(
        "Triton", purpose, (f"triton {version}",), lacks, f"pip install 'triton>={oldest}'" if lacks else ""
    )


def _torch() -> Dependency:
    purpose = 'a device "cuda" for PyTorch\'s tensors under `ptxloom exec` and `pytest --ptxloom`'
    stated = torch_build.installed()
    if stated is None:
        return Dependency("PyTorch", purpose, (), "torch is not installed", torch_build.install())
    version = stated.get("__version__") or _version("torch")
    toolkit = torch_build.toolkit(stated.get("cuda"), stated.get("hip"))
    lacks = f"it is built with {toolkit}, but only the build for the CPU has that device" if toolkit else ""
    return Dependency("PyTorch", purpose, (f"torch {version}",), lacks, torch_build.install(version) if lacks else "")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # something has put a module without a specification in its place
        return False


def _why_not(modules: list[str]) -> str:
    """Why installed modules cannot be imported, tried in a separate process; empty if they can."""
    command = own_python.command("-c", f"import {', '.join(modules)}")
    done = subprocess.run(
        command, env=own_python.environment(), capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode == 0:
        return ""
    said = done.stderr.split("\n")
    return f"cannot be imported: {next(filter(None, reversed(said)), f'its process ended with {done.returncode}')}"


def _name(module: str) -> str:
    return DISTRIBUTIONS.get(module, module)


def _version(module: str) -> str:
    try:
        return metadata.version(_name(module))
    except metadata.PackageNotFoundError:
        return "of an unknown version"


def _said_by(program: str | None) -> str:
    """The version that a compiler prints, the last number that looks like one on the line that has any."""
    if program is None:
        return ""
    try:
        command = [program, "--version"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS, errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return "whose version is unknown"
    lines = [found for line in done.stdout.splitlines() if (found := _VERSION.findall(line))]
    return lines[0][-1] if lines else "whose version is unknown"


def _of_library(path: str) -> str:
    """The version in a library's name: `libnvrtc.so.13`."""
    found = _NVRTC_VERSION.search(path)
    return found[0] if found else ""


def _beside(program: str | None, name: str) -> str | None:
    """A program in the folder of another one."""
    return shutil.which(name, path=str(Path(program).parent)) if program else None


def _pip(extra: str) -> str:
    return f"pip install 'ptxloom[{extra}]'"
