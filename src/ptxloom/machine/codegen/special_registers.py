"""Special registers (PTX ISA 10): what each lane reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.native.ir import Value, constant_vector, vector
from ptxloom.machine.native.language import record
from ptxloom.machine.program.model import RESERVED, RESERVED_BYTES
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.codegen.strip import Strip
    from ptxloom.machine.codegen.warp import WarpEmitter

_AXES: Final = {"x": 0, "y": 1, "z": 2}
_CTA: Final = record(state.Cta).offsets
_LAUNCH: Final = record(state.Launch).offsets
_CONSTANT: Final = re.compile(r"%(envreg\d+|pm\d+(_64)?)")  # never set or counted
_RESERVED: Final = {"begin": 0, "end": 288, "cap": RESERVED_BYTES, "0": 0, "1": 0}  # as on an H100
_SHARED_UNIT: Final = 128  # bytes in which shared memory is counted


def read_special(b: WarpEmitter, strip: Strip | None, name: str) -> Value:  # noqa: PLR0911 - one case a register
    """The value of a special register in every lane, an integer vector.

    Raises:
        UnsupportedInstruction: There is no such register, or the machine does not support it.
    """
    base, _, axis = name.partition(".")
    if axis in _AXES:
        return _vector_register(b, strip, base, _AXES[axis], name)
    number = range(LANES)
    match name:
        case "%laneid":
            return constant_vector("i32", number)
        case "%lanemask_eq":
            return constant_vector("i32", (1 << n for n in number))
        case "%lanemask_lt":
            return constant_vector("i32", ((1 << n) - 1 for n in number))
        case "%lanemask_le":
            return constant_vector("i32", ((2 << n) - 1 for n in number))
        case "%lanemask_gt":
            return constant_vector("i32", (0xFFFFFFFF & ~((2 << n) - 1) for n in number))
        case "%lanemask_ge":
            return constant_vector("i32", (0xFFFFFFFF & ~((1 << n) - 1) for n in number))
        case _:
            return b.splat(_uniform(b, name))


def _vector_register(b: WarpEmitter, strip: Strip | None, base: str, axis: int, name: str) -> Value:  # noqa: PLR0911 - one case a register
    match base:
        case "%tid":
            table = b.offset(b.load("ptr", b.field("tids"), 8), axis * LANES * 4)
            if strip is not None:
                return b.load(b.vector("i32"), b.offset(table, strip.offset(4)), 4)
            return b.load(vector("i32"), table, 64)
        case "%ntid":
            return b.splat(_launch(b, "block", 4 * axis))
        case "%ctaid":
            return b.splat(_cta(b, "ctaid", 4 * axis))
        case "%nctaid":
            return b.splat(_launch(b, "grid", 4 * axis))
        case "%cluster_nctaid":
            return b.splat(_launch(b, "cluster", 4 * axis))
        case "%nclusterid":
            return b.splat(b.apply("udiv", _launch(b, "grid", 4 * axis), _launch(b, "cluster", 4 * axis)))
        case "%clusterid":
            return b.splat(b.apply("udiv", _cta(b, "ctaid", 4 * axis), _launch(b, "cluster", 4 * axis)))
        case "%cluster_ctaid":
            return b.splat(b.apply("urem", _cta(b, "ctaid", 4 * axis), _launch(b, "cluster", 4 * axis)))
        case _:
            raise b.op.unsupported(f"`{name}` is not a register the machine has")


def _uniform(b: WarpEmitter, name: str) -> Value:  # noqa: C901, PLR0911, PLR0912 - one case a register
    match name:
        case "%warpid":
            return b.load("i32", b.field("index"), 4)
        case "%nwarpid":
            return _launch(b, "warps")
        case "%smid":
            return Value("i32", "0")
        case "%nsmid":
            return Value("i32", "1")
        case "%gridid":
            return _launch(b, "grid_id", bits=64)
        case "%clock" | "%clock_hi" | "%clock64":
            now = b.emit("i64", "call i64 @llvm.readcyclecounter()")
            b.declarations["llvm.readcyclecounter"] = "declare i64 @llvm.readcyclecounter()"
            shifted = b.apply("lshr", now, Value("i64", "32")) if name == "%clock_hi" else now
            return shifted if name == "%clock64" else b.resize(shifted, 32)
        case "%globaltimer" | "%globaltimer_lo" | "%globaltimer_hi":
            now = b.emit("i64", "call i64 @llvm.readcyclecounter()")
            b.declarations["llvm.readcyclecounter"] = "declare i64 @llvm.readcyclecounter()"
            shifted = b.apply("lshr", now, Value("i64", "32")) if name.endswith("hi") else now
            return now if name == "%globaltimer" else b.resize(shifted, 32)
        case "%dynamic_smem_size":
            return b.apply("sub", _launch(b, "shared_bytes"), _launch(b, "static_shared"))
        case "%total_smem_size":
            whole = b.apply("add", _own_shared(b), Value("i32", str(_SHARED_UNIT - 1)))
            return b.apply("and", whole, Value("i32", str(-_SHARED_UNIT)))
        case "%aggr_smem_size":
            return b.apply("add", _own_shared(b), Value("i32", str(RESERVED_BYTES)))
        case "%envreg1" | "%envreg2":  # where a grid-wide barrier keeps its counter
            found = _launch(b, "workspace", bits=64)
            return b.resize(b.apply("lshr", found, Value("i64", "32")) if name == "%envreg1" else found, 32)
        case "%current_graph_exec":
            return Value("i64", "0")
        case "%cluster_ctarank":
            return _cta(b, "rank")
        case "%cluster_nctarank":
            sizes = [_launch(b, "cluster", 4 * axis) for axis in range(3)]
            return b.apply("mul", b.apply("mul", sizes[0], sizes[1]), sizes[2])
        case _ if name.startswith(RESERVED) and name.removeprefix(RESERVED) in _RESERVED:
            return Value("i32", str(_RESERVED[name.removeprefix(RESERVED)]))
        case _ if _CONSTANT.fullmatch(name):
            return Value("i64" if name.endswith("64") else "i32", "0")
        case _:
            raise b.op.unsupported(f"`{name}` is not a register the machine has")


def _launch(b: WarpEmitter, field: str, extra: int = 0, bits: int = 32) -> Value:
    launch = b.load("ptr", b.field("launch"), 8)
    return b.load(f"i{bits}", b.offset(launch, _LAUNCH[field] + extra), 4)


def _own_shared(b: WarpEmitter) -> Value:
    """The bytes of shared memory that are the CTA's own."""
    return b.apply("sub", _launch(b, "shared_bytes"), Value("i32", str(b.program.reserved_bytes)))


def _cta(b: WarpEmitter, field: str, extra: int = 0) -> Value:
    cta = b.load("ptr", b.field("cta"), 8)
    return b.load("i32", b.offset(cta, _CTA[field] + extra), 4)


def _is_explicit_cluster(b: WarpEmitter) -> Value:
    return b.emit("i32", f"sub i32 0, {_launch(b, 'clustered').text}")


#: Special registers that are predicates: the function that returns their mask.
PREDICATES: Final[dict[str, Callable[[WarpEmitter], Value]]] = {
    "%pt": lambda _: Value("i32", "-1"),
    "%is_explicit_cluster": _is_explicit_cluster,
}
