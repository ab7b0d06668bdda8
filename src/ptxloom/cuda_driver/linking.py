"""Links several PTX texts into one: what one declares `.extern`, another defines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.binding.sizes import size_of
from ptxloom.cuda_driver.errors import CudaError, Refused
from ptxloom.cuda_driver.images import module_of
from ptxloom.cuda_driver.protocol import LIBRARY_KIND
from ptxloom.syntax.tree import AddressSize, Block, Declaration, Function, Target, Version

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Statement

_FILE: Final = re.compile(r"(?m)^([^\S\n]*+\.(?:file|loc|loc_intermediate)\s+)(\d+)|(\binlined_at\s+)(\d+)")
_WEAK: Final = frozenset({"weak", "common"})


def linked_inputs(inputs: Iterable[tuple[int, bytes]], capability: int, registers: int) -> str:
    """A linker's inputs as one PTX text.

    Args:
        inputs: The kind (a `CUjitInputType`) and bytes of each. A library may be machine code alone.
        capability: The device's compute capability, times ten.
        registers: The limit of registers per thread for every kernel; 0 for no limit.

    Raises:
        Refused: An input cannot be linked, or only machine code defines a required name.
    """
    found: list[Module] = []
    left_out: list[Refused] = []  # inputs without PTX, which matter only if one of their names is required
    for kind, data in inputs:
        try:
            found.append(module_of(data, "", capability))
        except Refused as refused:
            if refused.error is not CudaError.NO_BINARY_FOR_GPU:
                raise
            if kind != LIBRARY_KIND:
                left_out.append(refused)
    if left_out and not found:
        raise left_out[0]
    text = linked(found, registers)
    if left_out and undefined(found):
        raise left_out[0]
    return text


def linked(modules: Sequence[Module], registers: int = 0) -> str:
    """Link modules into one PTX text.

    Args:
        modules: The parsed modules, each without errors.
        registers: The limit of registers per thread for every kernel; 0 for no limit.

    Returns:
        The text; that of a single module unchanged.

    Raises:
        Refused: Two define the same name, or there are no modules.
    """
    if not modules:
        raise Refused(CudaError.NO_BINARY_FOR_GPU, "ptxloom: nothing that is linked holds PTX")
    modules = (*modules, *_of_device_runtime(_declared(modules) - _defined(modules)))
    if len(modules) == 1 and not registers:
        return modules[0].source.text
    version = max(module.version for module in modules)
    target = max((module.target for module in modules), key=lambda names: int(re.sub(r"\D", "", names[0])))
    parts = [f".version {version[0]}.{version[1]}\n.target {', '.join(target)}\n.address_size 64\n"]
    defined: dict[str, bool] = {}
    files = 0
    everywhere = {
        name: one.linkage
        for module in modules
        for one in module.statements
        if isinstance(one, (Function, Declaration))
        for name in _names(one, defined=True)
    }
    for module in _ordered(modules):
        text, most = module.source.text, files
        for one in module.statements:
            if isinstance(one, (Version, Target, AddressSize)):
                continue
            if _is_elsewhere(one, everywhere):
                parts += _promised(one, text, everywhere, defined)
                continue
            if _is_taken(one, defined):
                continue
            piece, most = _renumbered(_limited(one, text, registers), files, most)
            parts.append(piece)
        files = most
    return "\n".join(parts) + "\n"


def _of_device_runtime(missing: Collection[str]) -> Sequence[Module]:
    """The modules of CUDA's device run-time that define missing names."""
    if not missing:
        return ()
    from ptxloom.cuda_driver.device_runtime import device_runtime  # noqa: PLC0415 - few modules declare any

    return device_runtime(missing)


def undefined(modules: Sequence[Module]) -> set[str]:
    """The names that neither these modules nor CUDA's device run-time define."""
    from ptxloom.cuda_driver.device_runtime import is_of_device_runtime  # noqa: PLC0415 - likewise

    return {name for name in _declared(modules) - _defined(modules) if not is_of_device_runtime(name)}


def _defined(modules: Sequence[Module]) -> set[str]:
    return {name for module in modules for one in module.statements for name in _names(one, defined=True)}


def _declared(modules: Sequence[Module]) -> set[str]:
    """The functions and variables that another module has to define."""
    return {name for module in modules for one in module.statements for name in _names(one, defined=False)}


def _limited(one: Statement, text: str, registers: int) -> str:
    """The text of a statement; that of a kernel with its limit of registers."""
    match one:
        case Function(kind="entry", body=Block() as body) if registers and not _limits_registers(one):
            return f"{text[one.start : body.start]}\n.maxnreg {registers}\n{text[body.start : one.end]}"
        case _:
            return text[one.start : one.end]


def _limits_registers(one: Function) -> bool:
    return any(directive.name == "maxnreg" for directive in one.directives)


def _names(one: Statement, *, defined: bool) -> tuple[str, ...]:
    """The names that a statement defines for all modules, or only declares."""
    match one:
        case Function(linkage="visible" | "weak" | "entry" | "common") if one.body is not None:
            return (one.name,) if defined else ()
        case Function(linkage="extern"):
            return () if defined else (one.name,)
        case Declaration(linkage="visible" | "weak" | "common"):
            return tuple(d.name for d in one.declarators) if defined else ()
        case Declaration(linkage="extern", space=space):
            needed = (d.name for d in one.declarators if space != "shared" or size_of(one, d))
            return () if defined else tuple(needed)  # launches provide arrays without a size: no module defines them
        case _:
            return ()


def _is_elsewhere(one: Statement, everywhere: Collection[str]) -> bool:
    """Whether this declares a name that another module defines."""
    names = _names(one, defined=False)
    return bool(names) and all(name in everywhere for name in names)


def _promised(one: Statement, text: str, everywhere: Mapping[str, str], defined: Collection[str]) -> list[str]:
    """The declaration of a function that a later module defines, with the linkage of the definition."""
    match one:
        case Function(name=name) if name not in defined:
            return [text[one.start : one.end].replace(".extern", f".{everywhere[name]}", 1)]
        case _:
            return []


def _is_taken(one: Statement, defined: dict[str, bool]) -> bool:
    """Whether a weak definition comes after another one of its name.

    Raises:
        Refused: Neither is weak.
    """
    names = _names(one, defined=True)
    weak = isinstance(one, (Function, Declaration)) and one.linkage in _WEAK
    taken = [name for name in names if name in defined]
    if taken and not weak and not defined[taken[0]]:
        raise Refused(CudaError.INVALID_PTX, f"ptxloom: two of the texts that are linked define `{taken[0]}`")
    defined.update(dict.fromkeys(names, weak))
    return bool(taken)


def _ordered(modules: Sequence[Module]) -> list[Module]:
    """Order modules so that definitions precede uses; in a cycle, the module that defines a variable comes first."""
    waiting = list(modules)
    done: list[Module] = []
    while waiting:
        free = _free(waiting, (Function, Declaration)) or _free(waiting, Declaration) or [0]
        done.append(waiting.pop(free[0]))
    return done


def _free(modules: Sequence[Module], kinds: type | tuple[type, ...]) -> list[int]:
    """The indices of the modules that use nothing of these kinds from another module."""
    missing = [_all(module, kinds, defined=False) for module in modules]
    given = [_all(module, kinds, defined=True) for module in modules]
    return [n for n in range(len(modules)) if not any(missing[n] & given[m] for m in range(len(modules)) if m != n)]


def _all(module: Module, kinds: type | tuple[type, ...], *, defined: bool) -> set[str]:
    statements: Iterable[Statement] = module.statements
    return {name for one in statements if isinstance(one, kinds) for name in _names(one, defined=defined)}


def _renumbered(text: str, by: int, most: int) -> tuple[str, int]:
    """A piece of text, its source files numbered after those of earlier modules, and the largest number so far."""

    def moved(found: re.Match[str]) -> str:
        nonlocal most
        head, number = (found[1], found[2]) if found[1] else (found[3], found[4])
        most = max(most, int(number) + by)
        return f"{head}{int(number) + by}"

    return _FILE.sub(moved, text), most
