"""CUDA C++ to PTX, by what is installed: nvcc where it has a host compiler, else NVRTC; no GPU is needed."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.extras import MissingPart
from ptxloom.files.errors import CompileError
from ptxloom.files.line_tables import Names
from ptxloom.files.toolkits import find_nvcc, find_nvrtc, include_folders
from ptxloom.files.written import Compiled
from ptxloom.source import Source, title

if TYPE_CHECKING:
    from collections.abc import Sequence

TARGET: Final = "sm_90"
_SECONDS: Final = 600
_NOT_PLAIN: Final = re.compile(r"[^\w. +=@:~-]")
_LONGEST: Final = 100
HOST_COMPILERS: Final = ("g++", "c++", "clang++", "cl")


@dataclass(frozen=True, slots=True)
class CudaSource:
    """CUDA C++ to be compiled.

    Attributes:
        text: The source.
        name: What the compiler calls it in messages and line tables.
        folder: Where `#include "..."` looks.
    """

    text: str
    name: str = "kernel.cu"
    folder: str = "."


def compile_cuda(source: CudaSource, target: str | None = None, options: Sequence[str] = ()) -> Source:
    """PTX for a target, with line tables that call files as whoever asks does.

    Args:
        source: What to compile.
        target: Such as `sm_90a`; by default `sm_90`.
        options: More of the compiler's options, such as `-DN=4`.

    Raises:
        CompileError: It does not compile; the compiler's own messages.
        MissingPart: There is no compiler.
    """
    written = Compiled(Source(source.text, source.name), source.folder)
    return Source(_ptx(source, (target or TARGET).removeprefix("sm_"), options), f"{source.name}:ptx", written)


def _ptx(source: CudaSource, arch: str, options: Sequence[str]) -> str:
    """PTX by the compiler that there is."""
    nvcc = find_nvcc()
    if nvcc is not None and any(map(shutil.which, HOST_COMPILERS)):
        return _by_nvcc(nvcc, source, arch, options)
    library = find_nvrtc()
    if library is None:
        raise MissingPart(
            f"{title(source.name)}: CUDA C++ is compiled by nvcc (with a host compiler) or NVRTC, neither of which is "
            "installed: pip install 'ptxloom[cuda]'"
        )
    return _by_nvrtc(library, source, arch, options)


def _by_nvcc(nvcc: str, source: CudaSource, arch: str, options: Sequence[str]) -> str:
    """Compile a copy in a fresh folder; messages and line tables are made to call it by its own name.

    nvcc hands names to a shell, between quotation marks, and takes what begins with a dash for an option.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / _plain_name(source.name), Path(folder) / "out.ptx"
        file.write_text(source.text, encoding="utf-8")
        includes = _plain_folder(Path(source.folder).resolve(), Path(folder))
        names = Names(source.name, file, {str(includes): source.folder, source.folder: source.folder})
        command = [nvcc, "-ptx", "-lineinfo", f"-arch=compute_{arch}", f"-I{includes}", *options]
        try:
            done = subprocess.run(
                [*command, "-o", str(out), file.name],
                cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS, errors="replace",
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise CompileError(f"{title(source.name)}: nvcc could not be run ({problem})") from None
        if done.returncode or not out.exists():
            raise CompileError(_said(source, names.in_messages(done.stderr or done.stdout)))
        return names.in_ptx(out.read_text(encoding="utf-8"))


def _plain_name(name: str) -> str:
    """The name of a file, which anybody may have given, as one that means nothing to a shell or as an option."""
    plain = _NOT_PLAIN.sub("_", Path(name).name[-_LONGEST:]) or "kernel.cu"
    return plain if plain[0].isalnum() else f"_{plain[1:]}"


def _plain_folder(folder: Path, beside: Path) -> Path:
    """A folder, by the name of a link to it if its own means something to a shell, or several folders to nvcc."""
    if not _NOT_PLAIN.search(str(folder).replace(os.sep, "")):
        return folder
    link = beside / "included"
    link.symlink_to(folder, target_is_directory=True)
    return link


def _by_nvrtc(path: str, source: CudaSource, arch: str, options: Sequence[str]) -> str:
    """Compile by the library: `nvrtcCreateProgram`, `nvrtcCompileProgram`, `nvrtcGetPTX`."""
    nvrtc = ctypes.CDLL(path)
    program = ctypes.c_void_p()
    copy = _plain_name(source.name)
    names = Names(source.name, Path(copy), {source.folder: source.folder})
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.text.encode(), copy.encode(), 0, None, None):
        raise CompileError(f"{title(source.name)}: NVRTC takes no program")
    includes = [f"-I{folder}" for folder in (Path(source.folder).resolve(), *include_folders())]
    given = [f"--gpu-architecture=compute_{arch}", "--generate-line-info", *includes, *options]
    try:
        failed = nvrtc.nvrtcCompileProgram(
            program, len(given), (ctypes.c_char_p * len(given))(*map(os.fsencode, given))
        )
        if failed:
            raise CompileError(_said(source, names.in_messages(_taken(nvrtc, program, "ProgramLog"))))
        return names.in_ptx(_taken(nvrtc, program, "PTX"))
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _taken(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    """A text that NVRTC holds of a program."""
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.value.decode("utf-8", "replace")


def _said(source: CudaSource, messages: str) -> str:
    """What a compiler printed, which shows lines and carets itself."""
    return messages.strip("\n") or f"{title(source.name)}: the compiler failed, and said nothing"
