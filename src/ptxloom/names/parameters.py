"""The names of a kernel's parameters in its source.

nvcc and NVRTC number them (`gemm_param_0`), and their line tables hold no names. If the source is available, the
kernel's definition is at the line of its first `.loc`; a definition there with the kernel's name and number of
parameters provides the names. If any of the three differs, as with a macro, the names of the PTX are used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.names.signatures import signatures
from ptxloom.syntax.origins import places
from ptxloom.syntax.tree import File, Loc

if TYPE_CHECKING:
    from ptxloom.names.signatures import Signature
    from ptxloom.source import Source
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Function

_ENDINGS: Final = (".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".ipp", ".c", ".cc", ".cpp", ".cxx")


def parameter_names(module: Module, kernel: str) -> tuple[str, ...]:
    """The names of a kernel's parameters, in order: those of its source, or of the PTX where the source has no names.

    Args:
        module: Where it is.
        kernel: Its name in PTX.

    Returns:
        A name a parameter, no two alike; empty if there is no such kernel.
    """
    function = module.functions.get(kernel)
    if function is None:
        return ()
    plain = tuple(one.name for declaration in function.params for one in declaration.declarators)
    found = _definition(module, function, len(plain)) if plain else None
    if found is None:
        return plain
    names = tuple(written or name for written, name in zip(found.parameters, plain, strict=True))
    return names if len(set(names)) == len(names) else plain


def _definition(module: Module, function: Function, count: int) -> Signature | None:
    """The definition of a kernel in its source, if that is at hand."""
    if module.source.written is None:
        return None
    loc = next((one for one in places((function,)) if isinstance(one, Loc)), None)
    if loc is None:
        return None
    text = _text(module, loc.file)
    for one in signatures(text.text) if text is not None else ():
        if one.first <= loc.line <= one.last and len(one.parameters) == count and _is_called(function.name, one.name):
            return one
    return None


def _text(module: Module, number: int) -> Source | None:
    names = (one.name for one in module.statements if isinstance(one, File) and one.index == number)
    name = next(names, "")
    if not name.lower().endswith(_ENDINGS) or module.source.written is None:
        return None
    return module.source.written(name)


def _is_called(mangled: str, name: str) -> bool:
    """Whether a mangled name holds a source name, which stands behind its length (Itanium C++ ABI, 5.1.2)."""
    return mangled == name or f"{len(name)}{name}" in mangled
