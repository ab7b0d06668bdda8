"""The CUDA runtime's names as C: a stub for each function, names of errors, the layout of a device's properties."""

from __future__ import annotations

import re
from dataclasses import field
from functools import cache
from pathlib import Path

from ptxloom.cuda_driver.error_words import words
from ptxloom.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RuntimeNames:
    """The contents of `libcudart/names.txt`.

    Attributes:
        version: The version of CUDA, such as 13050.
        functions: The documented functions, and those that compilers call.
        aliases: Symbols, each with the one that it is an alias of.
        errors: Numbers and names.
        members: The members of the structure of properties: offset and bytes by name; `all` is the whole structure.
        properties: Offset, bytes and the number of the attribute, by name and element.
    """

    version: int
    functions: list[str] = field(default_factory=list[str])
    aliases: dict[str, str] = field(default_factory=dict[str, str])
    errors: dict[int, str] = field(default_factory=dict[int, str])
    members: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    properties: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])


@cache
def runtime_names() -> RuntimeNames:
    """All of them."""
    lines = Path(__file__).parent.joinpath("libcudart", "names.txt").read_text(encoding="utf-8").splitlines()
    found = RuntimeNames(next(int(line.split()[1]) for line in lines if line.startswith("version ")))
    for line in lines:
        match line.split():
            case ["function", name]:
                found.functions.append(name)
            case ["alias", symbol, target]:
                found.aliases[symbol] = target
            case ["error", number, name]:
                found.errors[int(number)] = name
            case ["member", name, offset, size]:
                found.members[name] = (int(offset), int(size))
            case ["property", offset, size, attribute, _]:
                found.properties.append((int(offset), int(size), int(attribute)))
            case _:
                pass
    return found


def major() -> int:
    """The version in the name of the library: programs that an nvcc of this version has linked look for it."""
    return runtime_names().version // 1000


def source() -> str:
    """The C source. Stubs are weak: a definition in another file replaces its stub."""
    known = runtime_names()
    lines = ['#include "tables.h"', "", f"const int runtime_version = {known.version};"]
    lines.append(f"const size_t properties_bytes = {known.members['all'][1]};")
    lines.append(f"const size_t uuid_offset = {known.members['uuid'][0]};")
    lines.append(f"const size_t memory_offset = {known.members['totalGlobalMem'][0]};")
    lines += ["", *(f'STUB({name}, "{name}")' for name in known.functions)]
    lines += [f"ALIAS({alias}, {target})" for alias, target in known.aliases.items()]
    lines += ["", "const struct property properties[] = {"]
    lines += [f"    {{{offset}, {size}, {attribute}}}," for offset, size, attribute in known.properties]
    lines += ["};", "const int property_count = sizeof properties / sizeof *properties;", ""]
    lines += ["const struct error_name error_names[] = {"]
    lines += [f'    {{{number}, "{name}", "{words(number, spelled(name))}"}},' for number, name in known.errors.items()]
    lines += ["};", "const int error_name_count = sizeof error_names / sizeof *error_names;", ""]
    return "\n".join(lines)


def version_script() -> str:
    """A script for the linker: programs look up symbols of a version with the library's name."""
    return f"VERSION {{ libcudart.so.{major()} {{ global: *; }}; }}\n"


def spelled(name: str) -> str:
    """The name of an error as words."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.removeprefix("cudaError")).lower()
