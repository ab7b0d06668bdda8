"""Native functions that most launches need: one module of machine code, compiled and loaded as one.

They share many callees, which LLVM then compiles once: all of them take less time than six that are compiled
alone. If a tool watches, each is compiled alone: with the code that tools need, few launches require all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.signature import symbol_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TOGETHER: Final[dict[str, str]] = {}


def load_together(module: str, names: Iterable[str]) -> None:
    """Register functions of a module that most launches need; it is imported only if they are not in the cache."""
    _TOGETHER.update((symbol_named(name), f"{module}:{name}") for name in names)


def members() -> Mapping[str, str]:
    """The modules and names of registered functions, by their names in object code, in order."""
    return dict(sorted(_TOGETHER.items()))
