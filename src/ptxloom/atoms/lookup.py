"""Finds an atom by its C++ name, DSL operation, or PTX spelling."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

from ptxloom.atoms.absent import absent
from ptxloom.atoms.copy import CopyAtom, copy_atom_of, copy_atoms, names_of
from ptxloom.atoms.mma import MmaAtom, Source, forms_with_saturation, mma_atom_of
from ptxloom.atoms.naming import mma_names, mma_operation
from ptxloom.atoms.tensor_memory import (
    TensorCopyAtom,
    TensorMmaAtom,
    tensor_atom,
    tensor_copy_atoms,
    tensor_mma_atom,
)
from ptxloom.descriptors.tensor_instruction import is_tensor_product, tensor_instruction
from ptxloom.diagnostics import UnsupportedForm, must_be
from ptxloom.fragments import fragment
from ptxloom.isa.matrix import MOVES, MatrixMove, describes_move, matrix_move
from ptxloom.isa.products import MatrixForm, matrix_form, matrix_forms
from ptxloom.isa.spelled import spelling_of
from ptxloom.isa.spelling import near_misses

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_T = TypeVar("_T")
_CALL: Final = re.compile(r"(?:[a-z_]+\.)*((?:Ld|St)Matrix\d+x\d+x\d+bOp|Mma\w+Op)\((.*)\)", re.DOTALL)
_MMA: Final = re.compile(r"\A\.?w?g?mma(?:\.|\Z)|\bm\d+n\d+k\d+\b")
_GMMA: Final = re.compile(r"(SM90_64x\w+|SM90::GMMA::SPARSE::\w+)<.*>")  # with template arguments
_FIELDS: Final = ("transpose", "num_matrices", "unpack_bits")  # of the DSL's matrix moves, in order


def atom(what: str | MatrixMove | MatrixForm) -> CopyAtom | MmaAtom | TensorCopyAtom | TensorMmaAtom:
    """The atom of a name or an instruction.

    Args:
        what: A CuTe C++ name (`SM75_U16x8_LDSM_T`, `SM90_64x128x16_F32F16F16_RS`, `SM100_MMA_TF32_SS`), a CuTe DSL
            operation (`LdMatrix8x8x16bOp(transpose=True, num_matrices=4)`), a PTX spelling, full or short, or a form.

    Returns:
        A copy atom, or an mma's; for names with `TMEM`, `UTCCP` and `SM100_MMA` those of tensor memory.

    Raises:
        UnsupportedForm: There is no such name; the message lists similar ones.
        UsageError: `what` is neither a name nor a form.

    Example:
        >>> atom("SM75_U16x8_LDSM_T").ptx
        'ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16'
        >>> print(atom("m16n8k16.row.col.f32.f16.f16.f32"))
        SM80_16x8x16_F32F16F16F32_TN
    """
    must_be(str | MatrixMove | MatrixForm, "what", what, "a name, a spelling, or a form of an instruction")
    match what:
        case MatrixMove():
            return copy_atom_of(what)
        case MatrixForm():
            return mma_atom_of(what)
        case str():
            return _named(" ".join(what.split()))


def copy_atom(what: str | MatrixMove) -> CopyAtom:
    """The copy atom of that name; see `atom`.

    Raises:
        UnsupportedForm: There is no such atom.
    """
    found = atom(what)
    if isinstance(found, MmaAtom):
        raise UnsupportedForm(f"`{what}` is an mma atom, not a copy atom")
    return _of_registers(found)


def mma_atom(what: str | MatrixForm) -> MmaAtom:
    """The mma atom of that name; see `atom`.

    Raises:
        UnsupportedForm: There is no such atom.
    """
    found = atom(what)
    if isinstance(found, CopyAtom):
        raise UnsupportedForm(f"`{what}` is a copy atom, not an mma atom")
    return _of_registers(found)


def _of_registers(found: _T | TensorCopyAtom | TensorMmaAtom) -> _T:
    """An atom whose operands are in registers.

    Raises:
        UnsupportedForm: It is an atom of tensor memory.
    """
    if isinstance(found, TensorCopyAtom | TensorMmaAtom):
        raise UnsupportedForm(
            f"`{found}` is an atom of tensor memory: its layouts are shown, and no tile is made of it"
        )
    return found


def _named(text: str) -> CopyAtom | MmaAtom | TensorCopyAtom | TensorMmaAtom:
    call = _CALL.fullmatch(text)
    name = _written(call[1], call[2]) if call else text.removeprefix("cute::").replace(", ", ",").replace(",", ", ")
    if name in _copy_names():
        return _copy_names()[name]
    if of_memory := tensor_atom(name.rpartition("::")[2] if "<" not in name else name):
        return of_memory
    if text.startswith("tcgen05."):
        return _in_tensor_memory(text)
    if templated := _GMMA.fullmatch(name):
        name = templated[1]
    if name in _mma_names():
        return mma_atom_of(*_mma_names()[name])
    if call is None and not text.startswith("SM") and (_MMA.search(text) or describes_move(text)):
        return _spelled(text)
    if missing := absent(name):
        raise UnsupportedForm(f"CuTe has no atom called `{missing.name}`; {missing.advice} {missing.why}")
    near = near_misses(name, (*_copy_names(), *_mma_names(), *tensor_copy_atoms()))
    hint = f"; did you mean `{near[0]}`?" if near else ""
    raise UnsupportedForm(f"CuTe has no atom called `{name}`{hint}")


def _in_tensor_memory(text: str) -> TensorCopyAtom | TensorMmaAtom:
    """The atom of a spelling of `tcgen05`.

    Raises:
        UnsupportedForm: There is no such atom.
    """
    spelled = spelling_of(text)
    if is_tensor_product(spelled):
        return tensor_mma_atom(tensor_instruction(spelled))
    whole = fragment(spelled).spelling
    found = next((one for one in tensor_copy_atoms().values() if one.ptx == whole), None)
    if found is None:
        raise UnsupportedForm(f"CuTe has no atom of `{whole}`")
    return found


def _spelled(text: str) -> CopyAtom | MmaAtom:
    """The atom of a PTX spelling; a short one without an opcode is an ldmatrix or an mma."""
    text = spelling_of(text)
    if _MMA.search(text):
        return mma_atom_of(matrix_form(text))
    opcode, _, rest = text.partition(".")
    return copy_atom_of(matrix_move(rest, opcode) if opcode in MOVES else matrix_move(text, "ldmatrix"))


@cache
def _copy_names() -> Mapping[str, CopyAtom]:
    return names_of(copy_atoms())


@cache
def _mma_names() -> Mapping[str, tuple[MatrixForm, Source]]:
    """Forms rather than atoms: an atom's layouts are made on demand."""
    names: dict[str, tuple[MatrixForm, Source]] = {}
    for form, source in _mma_forms():
        for name in (*mma_names(form, source), mma_operation(form, source)):
            if name:
                names.setdefault(name, (form, source))
    return names


def _mma_forms() -> Iterator[tuple[MatrixForm, Source]]:
    """Every form that has an atom, with where A comes from."""
    for form in forms_with_saturation():
        yield form, "registers"
    for form in matrix_forms("wgmma"):
        yield form, "shared"
        yield form, "registers"


def _written(operation: str, arguments: str) -> str:
    """A DSL call with its arguments as this package writes them; unchanged if they cannot be parsed."""
    if operation.startswith("Mma"):
        return f"{operation}({arguments})"
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        values = _values(call) if isinstance(call, ast.Call) else {}
    except (SyntaxError, ValueError):
        return f"{operation}({arguments})"
    parts = ["transpose=True"] if values.get("transpose") else []
    parts.append(f"num_matrices={values.get('num_matrices', 1)}")
    if values.get("unpack_bits") is not None:
        parts.append(f"unpack_bits={values['unpack_bits']}")
    elif operation == "LdMatrix8x16x8bOp":
        operation = "LdMatrix8x8x16bOp"  # nothing to unpack: the DSL issues the 16-bit instruction
    return f"{operation}({', '.join(parts)})"


def _values(call: ast.Call) -> dict[str, object]:
    given: list[tuple[str, ast.expr]] = [*zip(_FIELDS, call.args, strict=False)]
    given += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
    return {name: ast.literal_eval(value) for name, value in given}
