"""Options for compiling CUDA C++: macros, include folders, the language version, and the compiler's own options.

Flags may come from launch files or settings written by others. They can make a compiler read headers
and change the generated code; they cannot make it write or run anything. Macros are not passed on a command
line: nvcc reads them from a header. A file may only set options on a list; others must be on the command line, where
only options that would replace our own are refused, and characters with a meaning to a shell.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

STANDARDS: Final = ("c++03", "c++11", "c++14", "c++17", "c++20", "c++23")
_ARCH: Final = re.compile(r"(?:sm|compute)_(\d{2,3}[af]?)")
_MACRO: Final = re.compile(r"[A-Za-z_]\w*(\([\w, .]*\))?")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]|\\$")
_PLAIN: Final = re.compile(r"-[\w.+=:,/%@~-]*|[\w+./][\w.+=:,/%@~-]*")
_FROM_FILES: Final = re.compile(
    r"""--?( use_fast_math | extra-device-vectorization | expt-relaxed-constexpr | expt-extended-lambda
    | extended-lambda | device-debug | generate-line-info | lineinfo | restrict | disable-warnings | minimal
    | device-as-default-execution-space | default-device | O[0-3] | G | w
    | (fmad|ftz|prec-div|prec-sqrt|rdc|relocatable-device-code)=(true|false)
    | maxrregcount=\d+ | diag-(suppress|warn|error)=[\d,]+ )""",
    re.VERBOSE,
)
"""The options that a file may set: each changes only the code, or messages about it."""
_OURS: Final = re.compile(
    r"""@.* | -[ocE] | -M\w* | -o[^p].* | --?( output-file | output-directory | odir | options-file | optf
    | compile | cubin | fatbin | ltoir | optix-ir | preprocess | generate-dependenc.* | run | dryrun
    | dry-run | keep | keep-dir | link | lib | dlink | dc | dw | device-c | device-w | device-link | shared | code
    | gpu-code | gencode | generate-code | clean-targets )(=.*)?""",
    re.VERBOSE,
)
"""Options that would replace our own: the kind of output, and its place."""


@dataclass(frozen=True, slots=True)
class Flags:
    """Options for compiling CUDA C++.

    Attributes:
        defines: Macros, such as `N=4`.
        includes: Include folders.
        standard: Such as `c++17`; the compiler's own if it is empty.
        fast_math: Whether `--use_fast_math` is on.
        arch: The architecture to compile for, such as `sm_90a`, instead of the target.
        nvcc: More options of nvcc.
        nvrtc: More options of NVRTC.
        keep: A folder to which the PTX is written; only the command line can set it, no file.
    """

    defines: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    standard: str = ""
    fast_math: bool = False
    arch: str = ""
    nvcc: tuple[str, ...] = ()
    nvrtc: tuple[str, ...] = ()
    keep: str = ""

    def __post_init__(self) -> None:
        """Refuse values that no compiler accepts.

        Raises:
            UsageError: A macro, a standard or an architecture is malformed.
        """
        for macro in self.defines:
            if not _MACRO.fullmatch(macro.partition("=")[0]) or _CONTROL.search(macro):
                raise UsageError("-D", macro, "NAME or NAME=VALUE, on one line")
        if self.standard and self.standard not in STANDARDS:
            raise UsageError("-std", self.standard, f"one of {', '.join(STANDARDS)}")
        if self.arch:
            architecture(self.arch)

    def __add__(self, other: Flags) -> Flags:
        """These flags, overridden by others."""
        return Flags(
            (*self.defines, *other.defines),
            (*other.includes, *self.includes),
            other.standard or self.standard,
            self.fast_math or other.fast_math,
            other.arch or self.arch,
            (*self.nvcc, *other.nvcc),
            (*self.nvrtc, *other.nvrtc),
            other.keep or self.keep,
        )

    def below(self, folder: Path) -> Flags:
        """These flags, with include folders relative to a folder."""
        return replace(self, includes=tuple(str(folder / one) for one in self.includes))

    @property
    def macros(self) -> str:
        """The macros as the lines of a header."""
        parts = (macro.partition("=") for macro in self.defines)
        return "".join(f"#define {name} {value if equals else 1}\n" for name, equals, value in parts)


NO_FLAGS: Final = Flags()


class RefusedFlag(PtxloomError):  # noqa: N818 - named after the message that it prints
    """An option that is not passed on to a compiler; the sentence says why."""


def architecture(name: str) -> str:
    """The number in the name of an architecture, such as `90a`.

    Raises:
        UsageError: It is not such a name.
    """
    found = _ARCH.fullmatch(name)
    if found is None:
        raise UsageError("target", name, "an architecture that CUDA C++ is compiled for, such as sm_90a")
    return found[1]


def of_words(words: Iterable[str], compilers: Sequence[str] = ("nvcc", "nvrtc"), *, file: str = "") -> Flags:
    """Parse flags of a compiler's command line.

    Args:
        words: Such as `-DN=4`.
        compilers: The compilers that receive options which only compilers understand.
        file: The file that they come from; empty if they were typed.

    Raises:
        RefusedFlag: One of them is not passed on.
        UsageError: One of them is malformed.

    Example:
        >>> flags = of_words(["-DN=4", "-I", "include", "-std=c++17", "--maxrregcount=64"], ["nvcc"])
        >>> flags.defines, flags.includes, flags.standard, flags.nvcc, flags.nvrtc
        (('N=4',), ('include',), 'c++17', ('--maxrregcount=64',), ())
    """
    found, rest = NO_FLAGS, list[str]()
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, value = _divided(word, waiting)
        match name:
            case "-D":
                found += Flags(defines=(value,))
            case "-I":
                found = replace(found, includes=(*found.includes, value))
            case "-std":
                found += Flags(standard=value)
            case "-arch" if not file:
                found += Flags(arch=value)
            case _ if word in {"-use_fast_math", "--use_fast_math"}:
                found += Flags(fast_math=True)
            case _:
                rest.append(_judged(word, file))
    more = tuple(rest)
    return found + Flags(nvcc=more if "nvcc" in compilers else (), nvrtc=more if "nvrtc" in compilers else ())


def split(text: str, option: str) -> list[str]:
    """The words of an option's value, split like in a shell.

    Raises:
        UsageError: A quotation mark is not closed.
    """
    try:
        return shlex.split(text)
    except ValueError:
        raise UsageError(option, text, "words with their quotation marks closed") from None


_LONG: Final = {"--define-macro": "-D", "--include-path": "-I", "--std": "-std", "--gpu-architecture": "-arch"}


def _divided(word: str, waiting: list[str]) -> tuple[str, str]:
    """A known option and its value, which may be the next word."""
    for letter in ("-D", "-I"):
        if word.startswith(letter):
            return letter, word[2:] or _next(word, waiting)
    name, equals, value = word.partition("=")
    name = _LONG.get(name, name)
    if name in {"-D", "-I", "-std", "-arch"}:
        return name, value if equals else _next(word, waiting)
    return "", ""


def _next(word: str, waiting: list[str]) -> str:
    if not waiting:
        raise UsageError("option", word, "followed by its value")
    return waiting.pop(0)


def _judged(word: str, file: str) -> str:
    """Check an option that is passed on to a compiler.

    Raises:
        RefusedFlag: It is not passed on.
    """
    if file and not _FROM_FILES.fullmatch(word):
        raise RefusedFlag(f"{file}: the compiler's option {word!r} is taken from the command line only (--nvcc-flags)")
    if _OURS.fullmatch(word):
        raise RefusedFlag(
            f"the compiler's option {word!r} is not passed on: ptxloom decides the kind of output and its place"
        )
    if not _PLAIN.fullmatch(word):
        raise RefusedFlag(f"the compiler's option {word!r} is not passed on: it means something to a shell")
    return word
