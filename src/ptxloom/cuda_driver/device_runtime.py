"""The functions of CUDA's device run-time library that a program declares and does not define, as PTX."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cuda_driver.error_words import words
from ptxloom.cuda_driver.runtime_names import runtime_names, spelled
from ptxloom.machine.port.prepare import is_served
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ptxloom.syntax.module import Module

_VARIANT: Final = re.compile(r"(?:__cudaCDP2|cuda)([A-Z]\w+?)(?:_ptsz)?")
_UNKNOWN: Final = "unrecognized error code"
_HEAD: Final = ".version 6.0\n.target sm_70\n.address_size 64\n"


def device_runtime(declared: Iterable[str]) -> tuple[Module, ...]:
    """Modules that define those of the names that belong to the device run-time library.

    Example:
        >>> [one.functions["cudaGetErrorName"].kind for one in device_runtime({"cudaGetErrorName", "other"})]
        ['func']
    """
    wanted = sorted(declared)
    groups = _for_groups()
    return (
        *((groups,) if not groups.functions.keys().isdisjoint(wanted) else ()),
        *_for_launches(tuple(name for name in wanted if _plain(name) in _launching())),
        *_for_errors(tuple(name for name in wanted if _plain(name) in _errors())),
    )


def is_of_device_runtime(name: str) -> bool:
    """Whether a name belongs to CUDA's device run-time; a kernel that calls one not implemented here is refused.

    Example:
        >>> [is_of_device_runtime(name) for name in ("vprintf", "__cudaCDP2FuncGetAttributes", "cudaesar")]
        [True, True, False]
    """
    return is_served(name) or _VARIANT.fullmatch(name) is not None


def _plain(name: str) -> str:
    """The C name of a function of the library; other names unchanged."""
    found = _VARIANT.fullmatch(name)
    return f"cuda{found[1]}" if found else name


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


@cache
def _for_groups() -> Module:
    return parse(_file("device_runtime.ptx"), "device_runtime.ptx")


@cache
def _launching() -> Mapping[str, str]:
    """The PTX of each function for kernels that launch kernels."""
    module = parse(_file("device_launches.ptx"), "device_launches.ptx")
    bodies = [one for one in module.functions.values() if one.kind == "func" and one.body is not None]
    return {one.name: module.source.text[one.start : one.end] for one in bodies}


def _for_launches(names: tuple[str, ...]) -> tuple[Module, ...]:
    if not names:
        return ()
    more = [_launching()[_plain(name)].replace(_plain(name), name, 1) for name in names if name not in _launching()]
    return (parse("\n".join([_file("device_launches.ptx"), *more]), "device_launches.ptx"),)


@cache
def _errors() -> Mapping[str, Mapping[int, str]]:
    """The PTX of each function that names or describes an error."""
    names = runtime_names().errors
    texts = {number: words(number, spelled(name)) for number, name in names.items()}
    return {"cudaGetErrorString": texts, "cudaGetErrorName": names}


def _for_errors(names: tuple[str, ...]) -> tuple[Module, ...]:
    if not names:
        return ()
    functions = (_saying(name, {-1: _UNKNOWN, **_errors()[_plain(name)]}) for name in names)
    return (parse("\n".join([_HEAD, *functions]), "device_errors.ptx"),)


def _saying(name: str, texts_of: Mapping[int, str]) -> str:
    """A function that returns the text of a number; the first text for other numbers."""
    texts, steps = list[str](), list[str]()
    for number, text in texts_of.items():
        codes = ", ".join(map(str, (*text.encode(), 0)))
        place = f"{name}_{len(texts)}"
        texts.append(f".weak .global .align 1 .b8 {place}[{len(text.encode()) + 1}] = {{{codes}}};")
        steps.append(f"    mov.u64 %other, {place};\n    setp.eq.s32 %is, %error, {number};")
        steps.append("    selp.b64 %text, %other, %text, %is;")
    return "\n".join([
        *texts,
        f".weak .func (.param .b64 text) {name}(.param .b32 error)\n{{",
        "    .reg .pred %is;\n    .reg .b32 %error;\n    .reg .b64 %text, %other;",
        f"    ld.param.b32 %error, [error];\n    mov.u64 %text, {name}_0;",
        *steps,
        "    cvta.global.u64 %text, %text;\n    st.param.b64 [text], %text;\n    ret;\n}",
    ])  # fmt: skip
