"""CuTe C++ and the CuTe DSL: the atom by its name; if C++ lacks it, the full operation and traits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.atoms.copy import CopyAtom
from ptxloom.atoms.wrappers.cuda import cuda
from ptxloom.atoms.wrappers.parts import c_name, needs_of
from ptxloom.diagnostics import UnsupportedForm

if TYPE_CHECKING:
    from ptxloom.atoms.mma import MmaAtom
    from ptxloom.layout import IntTuple, Layout

_C_TYPES: Final = {16: "cutlass::half_t", 8: "uint8_t"}
_PYTHON_TYPES: Final = {16: "cutlass.Float16", 8: "cutlass.Uint8"}


def cute(atom: CopyAtom | MmaAtom) -> str:
    """CuTe C++: an alias of the atom, with the operation and its traits where CuTe lacks them.

    Raises:
        UnsupportedForm: CuTe C++ has no atom of this mma.
    """
    header = f"// {atom.ptx}: {needs_of(atom)}.\n"
    if not isinstance(atom, CopyAtom):
        if not atom.name:
            raise UnsupportedForm(f"CuTe C++ has no atom of `{atom.ptx}`; emit it as cuda")
        name = re.sub(r"\b(float_\w+|half_t)", r"cute::\1", atom.name) + _arguments(atom)
        return f"{header}#include <cute/atom/mma_atom.hpp>\n\nusing MmaAtom = cute::MMA_Atom<cute::{name}>;\n"
    element = _C_TYPES[atom.instruction.held.bits]
    alias = f"using CopyAtom = cute::Copy_Atom<{{}}, {element}>;\n"
    if atom.name:
        return f"{header}#include <cute/atom/copy_atom.hpp>\n\n{alias.format(f'cute::{atom.name}')}"
    return f"{header}{_operation(atom)}\n{alias.format(f'cute::{_struct(atom)}')}"


def _arguments(atom: MmaAtom) -> str:
    """The template arguments of a warpgroup's product: factors contiguous along k, if there is a choice."""
    if atom.instruction.opcode != "wgmma":
        return ""
    along = "cute::SM90::GMMA::Major::K"
    if atom.instruction.container_bits("a") == 16:
        return f"<{along}, {along}>"
    return "" if atom.instruction.d_type == "s32" and not atom.instruction.sparse else "<>"  # those have no parameters


def _struct(atom: CopyAtom) -> str:
    """A CuTe-like name for a move without a CuTe name."""
    return c_name(atom).upper()


def _operation(atom: CopyAtom) -> str:
    """The operation and traits of an ldmatrix that CuTe C++ leaves out."""
    count = atom.instruction.registers
    held = ", ".join(f"uint32_t& d{i}" for i in range(count))
    taken = "\n".join(f"        d{i} = d[{i}];" for i in range(count))
    name = _struct(atom)
    wrapper = cuda(atom).partition("// Where this lane's row")[0]
    return f"""#include <cute/atom/copy_atom.hpp>

{wrapper}
namespace cute {{

struct {name} {{
    using SRegisters = uint128_t[1];
    using DRegisters = uint32_t[{count}];

    CUTE_DEVICE static void copy(uint128_t const& row, {held}) {{
        unsigned d[{count}];
        {c_name(atom)}(d, &row);
{taken}
    }}
}};

template <>
struct Copy_Traits<{name}> {{
    using ThrID = {_type(atom.thr_id)};
    using SrcLayout = {_type(atom.src_layout)};
    using DstLayout = {_type(atom.dst_layout)};
    using RefLayout = DstLayout;
}};

}}  // namespace cute
"""


def _type(layout: Layout) -> str:
    """A layout as a C++ type of static integers."""
    return f"Layout<{_tuple(layout.shape, 'Shape')}, {_tuple(layout.stride, 'Stride')}>"


def _tuple(value: IntTuple, name: str) -> str:
    if isinstance(value, int):
        return f"Int<{value}>"
    return f"{name}<{', '.join(_tuple(inner, name) for inner in value)}>"


def cute_dsl(atom: CopyAtom | MmaAtom) -> str:
    """The CuTe DSL: a function that makes the atom.

    Raises:
        UnsupportedForm: The DSL has no such operation.
    """
    if not atom.operation:
        raise UnsupportedForm(f"the CuTe DSL has no operation of `{atom.ptx}`; emit it as cuda")
    operation, _, arguments = atom.operation.partition("(")
    module = "warp.copy" if operation == "LdMatrix8x16x8bOp" else "warp"  # not exported by `warp`
    lines = ["import cutlass", "from cutlass import cute"]
    if atom.instruction.opcode == "wgmma":
        lines.append("from cutlass.cute.nvgpu import OperandMajorMode")
        module, operation = "warpgroup", f"{operation}, OperandSource"
    lines += [f"from cutlass.cute.nvgpu.{module} import {operation}", ""]
    operation = operation.partition(",")[0]
    if isinstance(atom, CopyAtom):
        made = f"cute.make_copy_atom({atom.operation}, {_PYTHON_TYPES[atom.instruction.held.bits]})"
    else:
        arguments = re.sub(r"\b(B?Float|U?[Ii]nt)(?=\d)", r"cutlass.\1", arguments)
        made = f"cute.make_mma_atom({operation}({arguments})"
    lines += ["", f"def {c_name(atom)}():", f'    """{atom.ptx}: {needs_of(atom)}."""', f"    return {made}"]
    return "\n".join(lines) + "\n"
