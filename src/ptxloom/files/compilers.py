"""CUDA C++ to PTX with the installed compiler: nvcc if it has a host compiler, else NVRTC; no GPU is needed."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.extras import MissingPart
from ptxloom.files.compiler_flags import NO_FLAGS, Flags, architecture
from ptxloom.files.errors import CompileError, OutOfReach
from ptxloom.files.line_tables import Names
from ptxloom.files.toolkits import find_nvcc, find_nvrtc, include_folders
from ptxloom.files.writing import inside, replace_file
from ptxloom.files.written import Compiled
from ptxloom.source import Source, title

TARGET: Final = "sm_90"
HEADERS: Final = Path(__file__).with_name("headers")
"""Headers of the standard library for NVRTC, which brings no files of its own."""
_SECONDS: Final = 600
_NOT_PLAIN: Final = re.compile(r"[^\w. +=@:~-]")
_LONGEST: Final = 100
HOST_COMPILERS: Final = ("g++", "c++", "clang++", "cl")


@dataclass(frozen=True, slots=True)
class CudaSource:
    """CUDA C++ source.

    Attributes:
        text: The source.
        name: Its name in messages and line tables.
        folder: The folder that `#include "..."` searches.
    """

    text: str
    name: str = "kernel.cu"
    folder: str = "."


def compile_cuda(source: CudaSource, target: str | None = None, flags: Flags = NO_FLAGS) -> Source:
    """Compile to PTX for a target, with the caller's names of files in line tables.

    Args:
        source: The source.
        target: Such as `sm_90a`; by default `sm_90`.
        flags: The options.

    Raises:
        CompileError: It does not compile; the compiler's own messages. Or the PTX cannot be written to `keep`.
        MissingPart: There is no compiler.
        UsageError: The target is not an architecture.
    """
    arch = architecture(flags.arch or target or TARGET)
    written = Compiled(Source(source.text, source.name), source.folder)
    text = _ptx(source, arch, flags)
    if flags.keep:
        _keep(text, source.name, Path(flags.keep))
    return Source(text, f"{source.name}:ptx", written)


def _keep(text: str, name: str, folder: Path) -> None:
    """Write PTX below a folder, under the name of its source; only the file name of a source elsewhere.

    Raises:
        CompileError: It cannot be written.
    """
    plain = Path(name)
    below = Path(plain.name) if plain.is_absolute() or ".." in plain.parts else plain
    path = folder / below.with_suffix(".ptx")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(inside(folder, path), lambda file: file.write(text.encode("utf-8", "surrogateescape")))
    except (OSError, ValueError, OutOfReach) as error:
        raise CompileError(f"{title(path)}: the PTX cannot be kept ({error})") from None


def _ptx(source: CudaSource, arch: str, flags: Flags) -> str:
    """PTX by the available compiler."""
    nvcc = find_nvcc()
    if nvcc is not None and any(map(shutil.which, HOST_COMPILERS)):
        return _by_nvcc(nvcc, source, arch, flags)
    library = find_nvrtc()
    if library is None:
        raise MissingPart(
            f"{title(source.name)}: CUDA C++ is compiled by nvcc (with a host compiler) or NVRTC, neither of which is "
            "installed: pip install 'ptxloom[cuda]'"
        )
    return _by_nvrtc(library, source, arch, flags)


def _by_nvcc(nvcc: str, source: CudaSource, arch: str, flags: Flags) -> str:
    """Compile a copy in a fresh folder; messages and line tables are rewritten to the source's own name.

    nvcc passes names to a shell, in quotation marks, and takes a leading dash for an option.
    """
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / _plain_name(source.name), Path(folder) / "out.ptx"
        file.write_text(source.text, encoding="utf-8")
        given = (*flags.includes, source.folder)
        plain = [_plain_folder(Path(one).resolve(), Path(folder), n) for n, one in enumerate(given)]
        names = Names(source.name, file, dict(zip(map(str, plain), given, strict=True)) | {one: one for one in given})
        command = [nvcc, "-ptx", "-lineinfo", f"-arch=compute_{arch}", *_words(flags), *flags.nvcc]
        if flags.defines:  # not on the command line, which nvcc passes to a shell
            macros = Path(folder) / "macros.h"
            macros.write_text(flags.macros, encoding="utf-8")
            command += ["-include", str(macros)]
        command += [f"-I{one}" for one in plain]
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
    """The name of a file from anywhere, safe in a shell, and not readable as an option."""
    plain = _NOT_PLAIN.sub("_", Path(name).name[-_LONGEST:]) or "kernel.cu"
    return plain if plain[0].isalnum() else f"_{plain[1:]}"


def _words(flags: Flags) -> list[str]:
    """The options that both compilers spell the same."""
    return [f"-std={flags.standard}"] * bool(flags.standard) + ["--use_fast_math"] * flags.fast_math


def _plain_folder(folder: Path, beside: Path, number: int) -> Path:
    """A folder, or a link to it if its name is special to a shell, or means several folders to nvcc."""
    if not _NOT_PLAIN.search(str(folder).replace(os.sep, "")):
        return folder
    link = beside / f"included{number}"
    link.symlink_to(folder, target_is_directory=True)
    return link


def _by_nvrtc(path: str, source: CudaSource, arch: str, flags: Flags) -> str:
    """Compile by the library: `nvrtcCreateProgram`, `nvrtcCompileProgram`, `nvrtcGetPTX`."""
    nvrtc = ctypes.CDLL(path)
    program = ctypes.c_void_p()
    copy = _plain_name(source.name)
    given = (*flags.includes, source.folder)
    names = Names(source.name, Path(copy), {one: one for one in given})
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.text.encode(), copy.encode(), 0, None, None):
        raise CompileError(f"{title(source.name)}: NVRTC takes no program")
    folders = (*(Path(one).resolve() for one in given), HEADERS, *include_folders())
    words = [f"--gpu-architecture=compute_{arch}", "--generate-line-info", *_words(flags), *flags.nvrtc]
    words += [f"-D{macro}" for macro in flags.defines]
    words += [f"-I{folder}" for folder in folders]
    try:
        failed = nvrtc.nvrtcCompileProgram(
            program, len(words), (ctypes.c_char_p * len(words))(*map(os.fsencode, words))
        )
        if failed:
            raise CompileError(_said(source, names.in_messages(_taken(nvrtc, program, "ProgramLog"))))
        return names.in_ptx(_taken(nvrtc, program, "PTX"))
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _taken(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    """A text that NVRTC returns for a program."""
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.value.decode("utf-8", "replace")


_LACKS_CUTLASS: Final = re.compile(r"\b(?:cute|cutlass)/\S+ No such file|open source file \"(?:cute|cutlass)/")
_OF_CUTLASS: Final = (
    "\nit is CUTLASS's: `-I FOLDER/include` of a checkout, or of `pip install --no-deps nvidia-cutlass`, in whose "
    "package cutlass_library it is source/include"
)


def _said(source: CudaSource, messages: str) -> str:
    """A compiler's messages, which include lines and carets, plus the package of a missing header."""
    said = messages.strip("\n") or f"{title(source.name)}: the compiler failed without a message"
    return said + (_OF_CUTLASS if _LACKS_CUTLASS.search(said) else "")
