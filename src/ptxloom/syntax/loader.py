"""Loads modules from PTX, from files that contain it, and from sources that compile to it."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, cast

from ptxloom.diagnostics import must_be, must_be_several
from ptxloom.files import one_text, texts
from ptxloom.files.compiler_flags import of_words
from ptxloom.files.compilers import CudaSource, compile_cuda
from ptxloom.files.kernel_objects import ptx_of
from ptxloom.syntax.parser import parse_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.syntax.module import Module


def load(path: object, target: str | None = None, options: Sequence[str] = ()) -> Module:
    """Load PTX.

    Args:
        path: A PTX file (ASCII or UTF-8, with or without a byte order mark); CUDA C++ (`.cu`), which nvcc or NVRTC
            compiles; a fatbin, object, library or program with one PTX text in it (`a.out:2.sm_80.ptx` names one of
            several); a cubin with PTX beside it; a folder of Triton's cache; or a compiled kernel of Triton, Numba,
            cuda.core or the CuTe DSL.
        target: The target of CUDA C++, by default `sm_90`.
        options: More options of its compiler, such as `-DN=4` or `-Iinclude`.

    Returns:
        The module; its diagnostics report malformed text.

    Raises:
        UnreadableFile: There is no such file, it may not be read, or it holds no PTX, or several texts.
        CompileError: It is CUDA C++ that does not compile.
        MissingPart: Something that it needs is not installed.

    Example:
        >>> from tempfile import NamedTemporaryFile
        >>> with NamedTemporaryFile("w", suffix=".ptx") as file:
        ...     file.writelines([".version 9.0 ", ".target sm_90a"])
        ...     file.flush()
        ...     load(file.name).target
        ('sm_90a',)
    """
    must_be_several("options", options, "options of the compiler")
    flags = of_words(options)
    source = one_text(cast("str", path), target, flags) if isinstance(path, str | PathLike) else ptx_of(path)
    return parse_source(source)


def load_all(path: str | PathLike[str], target: str | None = None) -> tuple[Module, ...]:
    """Load every PTX text in a fatbin, an object, a library, a program or a folder, in order.

    Args:
        path: As for `load`.
        target: As for `load`.

    Returns:
        The modules.

    Raises:
        UnreadableFile: As `load`, except that several texts are legal.
        CompileError: As `load`.
        MissingPart: As `load`.

    Example:
        >>> from tempfile import NamedTemporaryFile
        >>> with NamedTemporaryFile("w", suffix=".ptx") as file:
        ...     print(".version 9.0 .target sm_90", file=file, flush=True)
        ...     len(load_all(file.name))
        1
    """
    return tuple(parse_source(source) for source in texts(path, target))


def cuda(text: str, target: str | None = None, options: Sequence[str] = (), name: str = "kernel.cu") -> Module:
    """Compile CUDA C++ with nvcc or NVRTC, whichever is installed.

    Args:
        text: The source.
        target: The target, by default `sm_90`.
        options: More options of the compiler, such as `-DN=4` or `-I.`.
        name: Its name in messages.

    Returns:
        The module, with line tables.

    Raises:
        CompileError: It does not compile; the message is the compiler's output.
        MissingPart: There is neither nvcc nor NVRTC: `pip install 'ptxloom[cuda]'`.

    Example:
        >>> module = cuda('extern "C" __global__ void k(int* p) { *p = 7; }')  # doctest: +SKIP
        >>> list(module.functions)  # doctest: +SKIP
        ['k']
    """
    must_be(str, "text", text, "CUDA C++")
    must_be_several("options", options, "options of the compiler")
    return parse_source(compile_cuda(CudaSource(text, name), target, of_words(options)))
