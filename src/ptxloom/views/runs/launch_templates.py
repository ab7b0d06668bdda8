"""A launch file to be filled in: what a kernel's text shows is there, the rest is guessed and marked so."""

from __future__ import annotations

import json
from math import prod
from typing import TYPE_CHECKING, Final

from ptxloom.binding.sizes import declared_bytes
from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.isa.limits import SHARED_BYTES
from ptxloom.names.demangling import demangled
from ptxloom.names.kernels import short_name
from ptxloom.names.parameters import parameter_names
from ptxloom.parameter_use import parameter_uses
from ptxloom.readings.effects import multiplies
from ptxloom.syntax import instructions, walk
from ptxloom.syntax.tree import Declaration, Integer
from ptxloom.views.core.cells import harmless

if TYPE_CHECKING:
    from ptxloom.parameter_use import ParameterUse
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Function, PerformanceDirective

_ELEMENTS: Final = 4096
_BLOCK: Final = 128
_DYNAMIC: Final = 48 << 10  # bytes of shared memory that every device allows without being asked
_FLOATS: Final = {name for name, form in FLOAT_FORMATS.items() if form.signed}
_BARE: Final = frozenset(("b16", "u16", "b32", "u32", "b64", "u64", "b128"))


def template(module: Module, kernel: str, ptx: str) -> str:
    """The launch file.

    Args:
        module: The module.
        kernel: One of its kernels.
        ptx: How the launch file names the PTX.
    """
    function = module.functions[kernel]
    grid, block = _extents(function, "reqnctapercluster"), _extents(function, "reqntid")
    most = _extents(function, "maxntid")
    called = harmless(demangled(kernel))
    lines = [
        f"# How {called} runs: ptxloom run THIS_FILE. What is marked with a ? is a guess; look at it.",
        "# For editors: ptxloom run --schema > launch.schema.json, and above all else #:schema ./launch.schema.json",
        f"ptx = {_text(ptx)}",
        f"kernel = {_text(short_name(module, kernel))}",
        f"grid = {_extent(grid) if grid else '1    # ? CTAs in x, y, z'}",
    ]
    if block or most:
        lines.append(f"block = {_extent(block or most)}    # {'.reqntid' if block else '.maxntid'}")
    else:
        lines.append(f"block = {_BLOCK}    # ? threads of a CTA in x, y, z")
    lines += _shared(module)
    products = _product_types(function)
    uses = parameter_uses(function)
    names = parameter_names(module, kernel)
    for number, (use, name) in enumerate(zip(uses, names, strict=True)):
        lines += ["", *_argument(number, use, name, products)]
    stored = [name for use, name in zip(uses, names, strict=True) if use.stored and use.pointer]
    lines += ["", "# [[compare]]", f'# expect = "{stored[0] if stored else "C"} = ..."    # such as C = A @ B']
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """A TOML string."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _extent(values: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, values))}]"


def _extents(function: Function, name: str) -> tuple[int, ...]:
    found: list[PerformanceDirective] = [one for one in function.directives if one.name == name]
    values = tuple(v.value for one in found for v in one.values if isinstance(v, Integer))
    return values if prod(values) > 0 and values else ()


def _shared(module: Module) -> list[str]:
    """The line about dynamic shared memory, if the kernel's module declares any."""
    declared = [one for one in walk(module) if isinstance(one, Declaration) and one.space == "shared"]
    dynamic = [one for one in declared if one.linkage == "extern"]
    if not dynamic:
        return []
    taken = sum(declared_bytes(one) for one in declared if one.linkage != "extern")
    names = ", ".join(name.name for one in dynamic for name in one.declarators)
    room = max(min(_DYNAMIC, SHARED_BYTES - taken), 0)
    return [f"shared_bytes = {room}    # ? of {harmless(names)}, which is .extern"]


def _product_types(function: Function) -> tuple[str, str]:
    """The types of the kernel's matrix products: of their factors, and of their sums; empty without any."""
    for one in instructions(function.body) if function.body is not None else ():
        floats = [q for q in one.qualifiers if q in _FLOATS]
        if multiplies(one) and len(floats) > 1:
            return floats[1], floats[0]
    return "", ""


def _argument(number: int, use: ParameterUse, name: str, products: tuple[str, str]) -> list[str]:
    declared = use.declaration
    alignment = declared.pointer.alignment if declared.pointer else 0
    aligned = f", aligned to {alignment}" if alignment > 1 else ""
    head = [f"[[args]]    # .{declared.type}{f'[{use.size}]' if use.is_array else ''}", f"name = {_text(name)}"]
    if use.is_array:
        of_map = "a tensor map: give an array, and next to it tensor_map = { box_dim = [64, 64] }"
        what = of_map if use.is_map else "the bytes of a structure"
        return [*head, f'zeros = {{ shape = [{use.size}], dtype = "u8" }}    # ? {what}']
    if use.pointer and not (use.loaded or use.stored):
        return [*head, "value = 0    # a pointer that nothing is reached through"]
    if not use.pointer:
        value = "1.0" if declared.type.startswith("f") else "0"
        return [*head, f"value = {value}    # ?"]
    what = "read and written" if use.loaded and use.stored else "written" if use.stored else "read"
    fill = "zeros" if use.stored else "random"
    seed = "" if use.stored else f", seed = {1 + number}"
    made = f'{{ shape = [{_ELEMENTS}], dtype = "{_dtype(use, products)}"{seed} }}'
    return [*head, f"{fill} = {made}    # ? {what}{aligned}"]


def _dtype(use: ParameterUse, products: tuple[str, str]) -> str:
    """The type that an array is likely to hold."""
    for name in (kind.removesuffix("x2") for kind in use.types):
        if name in _FLOATS:
            return name
    likely = products[use.stored]
    if likely and _BARE.issuperset(use.types):
        return likely
    plain = [kind for kind in use.types if kind[0] in "subu" and kind[1:] in {"8", "16", "32", "64"}]
    return plain[0] if plain else "f32"
