"""CuTe's names of matrix moves and mma instructions: the rules from a PTX form to its C++ and Python names.

C++: `SM75_U32x4_LDSM_N` encodes the first target (sm_75), what a thread holds (four whole 32-bit registers, or for the
transposing forms a number of 16- or 8-bit elements), the operation (LDSM, STSM, MOVM) and whether it transposes (N, T).
`SUs_DUd` names elements of s bits in memory that arrive as d bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ptxloom.isa.matrix import MatrixMove
    from ptxloom.isa.products import MatrixForm

_TRANSPOSED: Final = 16  # bits of elements with either major-ness in `wgmma`
_OPERATIONS: Final = {"ldmatrix": "LDSM", "stmatrix": "STSM", "movmatrix": "MOVM"}


def copy_name(move: MatrixMove, permuted: bool = False) -> str:
    """The C++ name of the copy atom of a matrix move; empty if CuTe C++ has no such atom.

    Args:
        move: The instruction.
        permuted: Whether the bytes are permuted after the load.
    """
    packed = move.source.bits != move.destination.bits
    sixteen_rows = move.shape.rows * move.shape.columns == 256
    if packed and (sixteen_rows or move.source.signed):
        return ""
    if sixteen_rows and not permuted:
        return ""
    since = {"ldmatrix": 75, "movmatrix": 75, "stmatrix": 90}[move.opcode] if move.destination.bits == 16 else 100
    whole = move.opcode == "movmatrix" or not move.trans
    if packed:
        held = f"SU{move.source.bits}_DU{move.destination.bits}x16_x{move.num}"
    elif whole:
        held = f"U32x{move.registers}"
    else:
        held = f"U{move.destination.bits}x{move.registers * 32 // move.destination.bits}"
    return f"SM{since}_{held}_{_OPERATIONS[move.opcode]}_{'T' if move.trans else 'N'}"


def copy_operation(move: MatrixMove, permuted: bool = False) -> str:
    """The CuTe DSL operation of a matrix move, as Python writes it; empty if the DSL does not have it."""
    if move.opcode == "movmatrix" or move.source.signed:
        return ""
    rows, columns = move.shape.rows, move.shape.columns
    count = move.num
    if permuted:
        columns, count = 8, 2 * count  # it behaves like this many 16x8 matrices
    arguments = [f"transpose={move.trans}"] if move.trans else []
    arguments.append(f"num_matrices={count}")
    if move.source.bits != move.destination.bits:
        arguments.append(f"unpack_bits={move.source.bits}")
    kind = "LdMatrix" if move.opcode == "ldmatrix" else "StMatrix"
    return f"{kind}{rows}x{columns}x{move.destination.bits}bOp({', '.join(arguments)})"


def mma_names(form: MatrixForm, a_source: str = "registers") -> tuple[str, ...]:
    """The C++ names of an mma atom, the newest first; empty if CuTe C++ has no such atom."""
    if form.opcode == "wgmma":
        return _of_warpgroup(form, a_source)
    if form.kind:
        return _with_kind(form)
    since = _since(form)
    if since is None:
        return ()
    types = "".join(_type_name(form.type_of(operand)) for operand in "dabc")
    letters = ("T" if form.a_layout == "row" else "N") + ("N" if form.b_layout == "col" else "T")
    ending = "_SATURATE" if form.satfinite else f"_{form.bit_operation.upper()}POPC" if form.bit_operation else ""
    name = f"{form.m}x{form.n}x{form.k}_{types}_{letters}{ending}"
    first_on_turing = name in {"16x8x8_F32F16F16F32_TN", "8x8x16_S32S8S8S32_TN"}
    return (f"SM{since}_{name}", *([f"SM75_{name}"] if first_on_turing else []))


def _of_warpgroup(form: MatrixForm, a_source: str) -> tuple[str, ...]:
    """Without the template arguments: the layouts of A and B, their signs, the selector."""
    if form.bit_operation:
        return ()
    types = "".join(_type_name(form.type_of(operand)) for operand in "dab")
    name = f"{form.m}x{form.n}x{form.k}_{types}_{'S' if a_source == 'shared' else 'R'}S"
    name += ("_TN" if form.container_bits("a") != _TRANSPOSED else "") + "_SATURATE" * form.satfinite
    return (f"SM90::GMMA::SPARSE::GMMA_{name}" if form.sparse else f"SM90_{name}",)


def _since(form: MatrixForm) -> int | None:
    """The architecture in an mma atom's name; None if CuTe C++ has no atom."""
    match form.a_type:
        case "f64":
            return 80 if form.m == 8 else 90
        case "e4m3" | "e5m2":
            return 89 if form.k == 32 else None
        case "f16" if form.m == 8:
            return 70 if form.c_type == form.d_type else None
        case _:
            return 80


def _type_name(name: str) -> str:
    return "U1" if name == "b1" else name.upper()


def _with_kind(form: MatrixForm) -> tuple[str, ...]:
    accumulator = {"f32": "float", "f16": "half_t"}[form.d_type]
    multiplicands = f"float_{form.a_type}_t, float_{form.b_type}_t, {accumulator}"
    if form.kind == "f8f6f4":
        return (f"SM120_{form.m}x{form.n}x{form.k}_TN<{multiplicands}>",)
    size = {("mxf8f6f4", "ue8m0"): 32, ("mxf4nvf4", "ue8m0"): 32, ("mxf4nvf4", "ue4m3"): 16}.get(
        (form.kind, form.scale_type)
    )
    if size is None or (size == 32) == (form.scale_vector == "4X"):
        return ()
    shape = f"{form.m}x{form.n}x{form.k}"
    return (f"SM120::BLOCKSCALED::SM120_{shape}_TN_VS<{multiplicands}, float_{form.scale_type}_t, {size}>",)


_PYTHON_TYPES: Final = {
    "f16": "Float16", "bf16": "BFloat16", "f32": "Float32", "e4m3": "Float8E4M3FN", "e5m2": "Float8E5M2",
    "e2m1": "Float4E2M1FN", "ue8m0": "Float8E8M0FNU", "ue4m3": "Float8E4M3FN",
    "s8": "Int8", "u8": "Uint8", "s32": "Int32",
}  # fmt: skip


def mma_operation(form: MatrixForm, a_source: str = "registers") -> str:
    """The CuTe DSL operation of an mma, as Python writes it; empty if the DSL does not have it."""
    if form.opcode == "wgmma":
        return _warpgroup_operation(form, a_source)
    shape = f"({form.m}, {form.n}, {form.k})"
    types = [_PYTHON_TYPES.get(name, "") for name in (form.a_type, form.d_type)]
    if form.m == 8 or form.a_type != form.b_type or form.c_type != form.d_type:
        return ""
    match form.kind, form.a_type:
        case "", "f16" | "bf16":
            name, arguments = "MmaF16BF16Op", [*types, shape]
        case "", "tf32":
            name, arguments = "MmaTF32Op", [shape]
        case "", "e4m3" | "e5m2":
            name, arguments = "MmaFP8Op", [*types, shape]
        case "mxf4", _:
            name, arguments = "MmaMXF4Op", [*types, _PYTHON_TYPES[form.scale_type]]
        case "mxf4nvf4", _ if form.scale_type == "ue4m3":
            name, arguments = "MmaMXF4NVF4Op", [*types, _PYTHON_TYPES[form.scale_type]]
        case _:
            return ""
    return f"{name}({', '.join(arguments)})"


def _warpgroup_operation(form: MatrixForm, a_source: str) -> str:
    """Factors are contiguous along k in shared memory, which all types support."""
    if form.sparse or form.satfinite or form.bit_operation:
        return ""
    a, b, d = (_PYTHON_TYPES.get(name, "") for name in (form.a_type, form.b_type, form.d_type))
    match form.a_type:
        case "f16" | "bf16":
            name, types = "MmaF16BF16Op", [a, d]
        case "e4m3" | "e5m2":
            name, types = "MmaF8Op", [a, b, d]
        case "s8" | "u8":
            name, types = "MmaI8Op", [a, b, d]
        case _:
            return ""
    source = f"OperandSource.{'SMEM' if a_source == 'shared' else 'RMEM'}"
    along = ["OperandMajorMode.K"] * 2
    return f"{name}({', '.join([*types, f'({form.m}, {form.n}, {form.k})', source, *along])})"
