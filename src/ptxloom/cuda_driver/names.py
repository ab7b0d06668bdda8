"""The driver's names as C: a stub for each function, the table behind cuGetProcAddress, the names of errors."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ptxloom.cuda_driver.error_words import words
from ptxloom.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Names:
    """The contents of `names.txt`.

    Attributes:
        version: The version of CUDA, such as 13050.
        functions: By name, the versions and their symbols, the oldest first.
        aliases: Symbols, each with the one that it is an alias of.
        errors: Numbers and names.
        attributes: The attributes of a device: names without their prefix, by number.
    """

    version: int
    functions: dict[str, tuple[tuple[int, str], ...]]
    aliases: dict[str, str]
    errors: dict[int, str]
    attributes: dict[int, str]


@cache
def names() -> Names:
    """All of them."""
    found = Names(0, {}, {}, {}, {})
    version = 0
    for line in Path(__file__).with_name("names.txt").read_text(encoding="utf-8").splitlines():
        match line.split():
            case ["version", number]:
                version = int(number)
            case ["function", name, *rest]:
                found.functions[name] = tuple(zip(map(int, rest[::2]), rest[1::2], strict=True))
            case ["alias", symbol, target]:
                found.aliases[symbol] = target
            case ["error", number, name]:
                found.errors[int(number)] = name
            case ["attribute", number, name]:
                found.attributes[int(number)] = name
            case _:
                pass
    return Names(version, found.functions, found.aliases, found.errors, found.attributes)


def source() -> str:
    """The C source. Stubs are weak: a definition in another file replaces its stub."""
    known = names()
    symbols = [symbol for versions in known.functions.values() for _, symbol in versions]
    lines = ['#include "names.h"', "", f"const int driver_version = {known.version};", ""]
    lines += [f'STUB({symbol}, "{symbol}")' for symbol in symbols if symbol not in known.aliases]
    lines += [f"ALIAS({alias}, {target})" for alias, target in known.aliases.items()]
    lines += ["", "const struct function_name function_names[] = {"]
    lines += [
        f'    {{"{name}", {version}, (void (*)(void))&{symbol}}},'
        for name, versions in sorted(known.functions.items())
        for version, symbol in versions
    ]
    lines += ["};", "const int function_name_count = sizeof function_names / sizeof *function_names;", ""]
    lines += ["const struct error_name error_names[] = {"]
    lines += [
        f'    {{{number}, "{name}", "{words(number, _spelled(name))}"}},' for number, name in known.errors.items()
    ]
    lines += ["};", "const int error_name_count = sizeof error_names / sizeof *error_names;"]
    lines += [f"const int last_device_attribute = {max(known.attributes)};", ""]
    return "\n".join(lines)


def _spelled(name: str) -> str:
    """The name of an error as words."""
    return name.removeprefix("CUDA_ERROR_").replace("_", " ").lower()
