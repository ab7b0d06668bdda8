"""Mistakes that no law tells, in a kernel that computes element by element; and the search for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from diagnosis.planted.model import Edit, PlantedBug, RightKernel
from ptxloom.comparison import Reference
from ptxloom.diagnosis.suspects import Trials, diagnoses, search
from ptxloom.machine import LaunchError, kernel
from ptxloom.machine.launch.options import DEFAULT_CHECKS
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from diagnosis.planted.model import Array
    from ptxloom.diagnosis import Diagnosis
    from ptxloom.machine import Hazard, Kernel, LaunchResult

_ROWS: Final = 7
_COLUMNS: Final = 12
_TEXT: Final = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 X, .param .u64 M, .param .u64 B, .param .u64 Y, .param .u32 rows, .param .u32 columns)
{
  .reg .pred %out;
  .reg .b32 %rows, %columns, %last, %cta, %i, %row, %column;
  .reg .f32 %x, %m, %b, %y;
  .reg .b64 %from, %means, %bias, %to, %at;
  ld.param.u64 %from, [X];
  ld.param.u64 %means, [M];
  ld.param.u64 %bias, [B];
  ld.param.u64 %to, [Y];
  ld.param.u32 %rows, [rows];
  ld.param.u32 %columns, [columns]; // extent
  mov.u32 %cta, %ctaid.x;
  mov.u32 %i, %tid.x;
  mad.lo.u32 %i, %cta, 32, %i;
  mul.lo.u32 %last, %rows, %columns;
  sub.u32 %last, %last, 1;
  setp.gt.u32 %out, %i, %last; // guard
  @%out bra END;
  div.u32 %row, %i, %columns;
  rem.u32 %column, %i, %columns; // column
  mul.wide.u32 %at, %row, 4;
  add.u64 %means, %means, %at; ld.global.f32 %m, [%means]; // mean
  mul.wide.u32 %at, %column, 4;
  add.u64 %bias, %bias, %at;
  ld.global.f32 %b, [%bias];
  mul.wide.u32 %at, %i, 4;
  add.u64 %from, %from, %at;
  ld.global.f32 %x, [%from];
  sub.f32 %y, %x, %m; // minus
  max.f32 %y, %y, 0f00000000; // clamp
  add.f32 %y, %y, %b; // bias
  add.u64 %to, %to, %at;
  st.global.f32 [%to], %y;
END:
  ret;
}
"""


def _make() -> list[Array | int]:
    """X, the means of its rows, what is added to its columns, and room for the result."""
    numbers = np.random.default_rng(5)
    x = numbers.integers(-8, 9, (_ROWS, _COLUMNS)).astype(np.float32)
    bias = numbers.integers(-8, 9, _COLUMNS).astype(np.float32)
    means = numbers.integers(-3, 4, _ROWS).astype(np.float32)
    return [x, means, bias, np.zeros_like(x), _ROWS, _COLUMNS]


def _wanted(x: Array, means: Array, bias: Array, *_: Any) -> Array:
    result: Array = np.maximum(x - means[:, None], 0) + bias
    return result


ROWS: Final = RightKernel(
    "rows", _TEXT, (3,), 32, _make, ("X", "M", "B", "Y", "rows", "columns"), output=3, reference=_wanted
)


def _bug(name: str, cause: str, mark: str, old: str, new: str) -> PlantedBug:
    return PlantedBug(name, ROWS, cause, "Y", (Edit(mark, old, new),), (mark,))


BUGS: Final = (
    _bug("last-element-left-out", "wrong-comparison", "guard", "setp.gt", "setp.ge"),
    _bug("clamped-at-one", "wrong-constant", "clamp", "0f00000000", "0f3F800000"),
    _bug("mean-added", "wrong-operation", "minus", "sub.f32", "add.f32"),
    _bug("column-by-rows", "wrong-operand", "column", "%i, %columns", "%i, %rows"),
    _bug("row-forgotten", "missing-term", "mean", "add.u64 %means, %means, %at;", ""),
    _bug("other-parameter", "wrong-operand", "extent", "[columns]", "[rows]"),
    _bug("bias-forgotten", "missing-term", "bias", "add.f32 %y, %y, %b", "mov.f32 %y, %y"),
)


_TWICE: Final = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 X, .param .u64 Y)
{
  .reg .b32 %i;
  .reg .f32 %x<2>, %y<2>;
  .reg .b64 %from, %to, %at;
  .loc 1 1 0
  ld.param.u64 %from, [X];
  ld.param.u64 %to, [Y];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %at, %i, 8;
  add.u64 %from, %from, %at;
  add.u64 %to, %to, %at;
  .loc 1 2 0
  ld.global.f32 %x0, [%from];
  ld.global.f32 %x1, [%from+4];
  .loc 1 3 0
  mul.f32 %y0, %x0, 0f40E00000;
  mul.f32 %y1, %x1, 0f40E00000;
  .loc 1 4 0
  add.f32 %y0, %y0, %x0; // sum
  add.f32 %y1, %y1, %x1; // sum
  .loc 1 5 0
  st.global.f32 [%to], %y0;
  st.global.f32 [%to+4], %y1;
  ret;
}
.file 1 "twice.cu"
"""


def _pairs() -> list[Array | int]:
    return [np.arange(1, 65, dtype=np.float32), np.zeros(64, np.float32)]


def _eightfold(x: Array, *_: Any) -> Array:
    result: Array = 8 * x
    return result


TWICE: Final = RightKernel("twice", _TWICE, (1,), 32, _pairs, ("X", "Y"), output=1, reference=_eightfold)
"""What a loop of two turns became that was unrolled."""


_LOOP: Final = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 X, .param .u64 Y)
{
  .reg .pred %more;
  .reg .b32 %i, %n;
  .reg .f32 %x, %y;
  .reg .b64 %from, %to, %at;
  ld.param.u64 %from, [X];
  ld.param.u64 %to, [Y];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %at, %i, 4;
  add.u64 %to, %to, %at;
  mul.wide.u32 %at, %i, 32;
  add.u64 %from, %from, %at;
  mov.f32 %y, 0f00000000;
  mov.u32 %n, 0;
TURN:
  ld.global.f32 %x, [%from];
  add.f32 %y, %y, %x; // sum
  add.u64 %from, %from, 4; // step
  add.u32 %n, %n, 1; // step
  setp.lt.u32 %more, %n, 8;
  @%more bra TURN;
  st.global.f32 [%to], %y;
  ret;
}
"""


def _eights() -> list[Array | int]:
    return [np.arange(1, 257, dtype=np.float32).reshape(32, 8), np.zeros(32, np.float32)]


def _sums(x: Array, *_: Any) -> Array:
    result: Array = x.sum(axis=1)
    return result


LOOP: Final = RightKernel("loop", _LOOP, (1,), 32, _eights, ("X", "Y"), output=1, reference=_sums)
"""The sums of rows of eight."""


_PAIRED: Final = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 X, .param .u64 Y)
{
  .reg .b32 %i, %j, %v, %w;
  .reg .f32 %x, %y;
  .reg .b64 %from, %to, %at;
  ld.param.u64 %from, [X];
  ld.param.u64 %to, [Y];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %at, %i, 4;
  add.u64 %to, %to, %at;
  xor.b32 %j, %i, 2; // partner
  mul.wide.u32 %at, %j, 4;
  add.u64 %from, %from, %at;
  ld.global.f32 %x, [%from];
  mov.b32 %v, %x;
  shfl.sync.bfly.b32 %w, %v, 1, 31, -1;
  mov.b32 %y, %w;
  add.f32 %y, %y, %x;
  st.global.f32 [%to], %y;
  ret;
}
"""


def _thirty_two() -> list[Array | int]:
    return [np.arange(32, dtype=np.float32) ** 2, np.zeros(32, np.float32)]


def _of_partners(x: Array, *_: Any) -> Array:
    i = np.arange(32) ^ 2
    result: Array = x[i] + x[i ^ 1]
    return result


PAIRED: Final = RightKernel("paired", _PAIRED, (1,), 32, _thirty_two, ("X", "Y"), output=1, reference=_of_partners)
"""Sums of two: what exchanges the two changes nothing."""


_SHIFTED: Final = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 Y, .param .u32 by)
{
  .reg .b32 %i, %s;
  .reg .f32 %y;
  .reg .b64 %to, %at;
  ld.param.u64 %to, [Y];
  ld.param.u32 %s, [by];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %at, %i, 4;
  add.u64 %to, %to, %at;
  add.u32 %i, %i, %s; // sum
  cvt.rn.f32.u32 %y, %i; // sum
  st.global.f32 [%to], %y;
  ret;
}
"""


def _and_three() -> list[Array | int]:
    return [np.zeros(32, np.float32), 3]


_PRODUCT: Final = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 A, .param .u64 B, .param .u64 Y, .param .u32 N, .param .u32 K, .param .u32 M)
{
  .reg .pred %more, %out;
  .reg .b32 %i, %j, %n, %k, %t;
  .reg .f32 %a, %b, %y;
  .reg .b64 %pa, %pb, %to, %at, %step;
  ld.param.u64 %pa, [A];
  ld.param.u64 %pb, [B];
  ld.param.u64 %to, [Y];
  ld.param.u32 %n, [N];
  ld.param.u32 %k, [K];
  mov.u32 %i, %ctaid.x;
  mov.u32 %j, %tid.x;
  setp.ge.s32 %out, %j, %n; // guard
  @%out bra END;
  mad.lo.u32 %t, %i, %n, %j;
  mul.wide.u32 %at, %t, 4;
  add.u64 %to, %to, %at;
  mul.lo.u32 %t, %i, %k;
  mul.wide.u32 %at, %t, 4;
  add.u64 %pa, %pa, %at;
  mul.wide.u32 %at, %j, 4;
  add.u64 %pb, %pb, %at;
  mul.wide.u32 %step, %n, 4;
  mov.f32 %y, 0f00000000;
TURN:
  ld.global.f32 %a, [%pa];
  ld.global.f32 %b, [%pb]; // b
  fma.rn.f32 %y, %a, %b, %y;
  add.u64 %pa, %pa, 4;
  add.u64 %pb, %pb, %step;
  sub.u32 %k, %k, 1;
  setp.ne.u32 %more, %k, 0;
  @%more bra TURN;
  st.global.f32 [%to], %y;
END:
  ret;
}
"""


def _matrices() -> list[Array | int]:
    numbers = np.random.default_rng(3)
    a, b = (numbers.integers(-4, 5, (6, 6)).astype(np.float32) for _ in "ab")
    return [a, b, np.zeros((6, 6), np.float32), 6, 6, 4]


def _by_transposed(a: Array, b: Array, *_: Any) -> Array:
    result: Array = a @ b.T
    return result


def _of_four_rows(a: Array, b: Array, *_: Any) -> Array:
    return np.where(np.arange(6)[:, None] < 4, a @ b, 0)


PRODUCT: Final = RightKernel(
    "product", _PRODUCT, (6,), 32, _matrices, ("A", "B", "Y", "N", "K", "M"), output=2, reference=_by_transposed
)
"""A @ B, where A @ B.T is wanted: both addresses of B and its step would be others."""
FOUR_ROWS: Final = replace(PRODUCT, name="four-rows", reference=_of_four_rows)
"""A @ B, where only the first M rows are wanted."""


def from_number(first: int) -> Callable[..., Array]:
    """A reference: 32 numbers from one on."""

    def wanted(*_: Any) -> Array:
        result: Array = np.arange(first, first + 32, dtype=np.float32)
        return result

    return wanted


SHIFTED: Final = RightKernel("shifted", _SHIFTED, (1,), 32, _and_three, ("Y", "by"), output=0, reference=from_number(3))
"""The number of the thread and 3."""


_REVERSED: Final = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 X, .param .u64 Y)
{
  .reg .b32 %i, %j, %own, %other, %s;
  .reg .f32 %x;
  .reg .b64 %from, %to, %at;
  .shared .align 4 .b8 tile[512];
  ld.param.u64 %from, [X];
  ld.param.u64 %to, [Y];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %at, %i, 4;
  add.u64 %from, %from, %at;
  add.u64 %to, %to, %at;
  mov.u32 %s, tile;
  mad.lo.u32 %own, %i, 4, %s;
  sub.u32 %j, 63, %i; // other
  mad.lo.u32 %other, %j, 4, %s;
  ld.global.f32 %x, [%from];
  st.shared.f32 [%own], %x; // written
  bar.sync 0; // barrier
  ld.shared.f32 %x, [%other]; // read
  st.global.f32 [%to], %x;
  ret;
}
"""


def _backwards(x: Array, *_: Any) -> Array:
    result: Array = x[::-1]
    return result


REVERSED: Final = RightKernel("reversed", _REVERSED, (1,), 64, _pairs, ("X", "Y"), output=1, reference=_backwards)
"""64 numbers backwards, through shared memory."""
RACE: Final = PlantedBug(
    "barrier-forgotten",
    REVERSED,
    "missing-barrier",
    "Y",
    (Edit("barrier", "bar.sync 0;", ""),),
    ("written", "read"),
)
TOOLS: Final = ("memcheck", "racecheck", "initcheck", "synccheck")


def trials_of(case: RightKernel, text: str, *, watched: bool = False) -> Trials:
    """The launch of a text of a kernel, to be made again and again; what the tools find, if they watch."""
    made = kernel(parse(text, case.name), case.entry, target=case.target)
    arguments = case.make()

    def again(changed: Kernel, **options: Any) -> LaunchResult:
        return changed.launch(case.grid, case.block, arguments, case.shared_bytes, threads=1, **options)

    wanted = Reference(case.reference(*arguments), names=case.names)
    numbers = tuple(one for one in (*arguments, *case.grid, case.block) if isinstance(one, int))
    found: tuple[Hazard, ...] = ()
    if watched:
        try:
            found = again(made, checks=TOOLS).hazards
        except LaunchError as error:
            found = error.hazards
        for old, new in zip(arguments, case.make(), strict=True):
            if isinstance(old, np.ndarray):
                old[...] = new
    checks = TOOLS if found else DEFAULT_CHECKS
    ctas = int(np.prod(case.grid))
    return Trials(again, arguments, {case.output: wanted}, made, numbers, ctas, hazards=found, checks=checks)


def suspected(case: RightKernel, text: str, *, watched: bool = False) -> list[Diagnosis]:
    """What the search says of a text of a kernel."""
    trials = trials_of(case, text, watched=watched)
    return diagnoses(search(trials), trials)


_TURNS: Final = """\\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 X, .param .u64 Y)
{
  .reg .pred %more, %again;
  .reg .b32 %i, %n, %row;
  .reg .f32 %x, %y;
  .reg .b64 %from, %to, %at;
  ld.param.u64 %from, [X];
  ld.param.u64 %to, [Y];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %at, %i, 64;
  add.u64 %from, %from, %at;
  mul.wide.u32 %at, %i, 8;
  add.u64 %to, %to, %at;
  mov.u32 %row, 0;
  mov.f32 %y, 0f00000000; // first
ROW:
  mov.u32 %n, 0;
  mov.f32 %y, 0f00000000; // again
TURN:
  ld.global.f32 %x, [%from];
  fma.rn.f32 %y, %x, 0f3F4CCCCD, %y; // sum
  add.u64 %from, %from, 4;
  add.u32 %n, %n, 1;
  setp.lt.u32 %more, %n, 8;
  @%more bra TURN;
  st.global.f32 [%to], %y;
  add.u64 %to, %to, 4;
  add.u32 %row, %row, 1;
  setp.lt.u32 %again, %row, 2;
  @%again bra ROW;
  ret;
}
"""


def _two_rows_each() -> list[Array | int]:
    numbers = np.random.default_rng(7)
    return [numbers.integers(1, 9, (64, 8)).astype(np.float32), np.zeros(64, np.float32)]


def _scaled_sums(x: Array, *_: Any) -> Array:
    result: Array = np.float32(0.8) * x.sum(axis=1)
    return result


TURNS: Final = RightKernel("turns", _TURNS, (1,), 32, _two_rows_each, ("X", "Y"), output=1, reference=_scaled_sums)
"""The scaled sums of rows, two for each thread: what is summed begins anew with each."""


_HOISTED: Final = """\\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 X, .param .u64 Y, .param .u32 d, .param .u32 m)
{
  .reg .b32 %i, %d, %m, %at0, %z, %w, %v;
  .reg .b64 %from, %to, %at, %there;
  .loc 1 2 0
  ld.param.u64 %from, [X];
  ld.param.u64 %to, [Y];
  ld.param.u32 %d, [d];
  ld.param.u32 %m, [m];
  mov.u32 %i, %tid.x;
  .loc 1 0 0
  mul.lo.u32 %at0, %i, %d; // hoisted
  mul.wide.u32 %there, %at0, 4;
  add.u64 %from, %from, %there;
  mul.wide.u32 %at, %i, 4;
  add.u64 %to, %to, %at;
  .loc 1 5 0
  ld.global.u32 %z, [%from];
  .loc 1 6 0
  mul.lo.u32 %w, %z, %z; // product
  .loc 1 7 0
  rem.u32 %v, %w, %m; // remainder
  .loc 1 8 0
  st.global.u32 [%to], %v;
  ret;
}
.file 1 "hoisted.cu"
"""


def _numbers_below(limit: int) -> Callable[[], list[Array | int]]:
    def made() -> list[Array | int]:
        numbers = np.random.default_rng(9)
        return [numbers.integers(1 << 8, limit, 224).astype(np.uint32), np.zeros(32, np.uint32), 5, 1009]

    return made


def _remainders(x: Array, _: Array, d: int, m: int) -> Array:
    taken = x[:: int(d)][:32].astype(np.uint64)
    result: Array = (taken * taken % np.uint64(m)).astype(np.uint32)
    return result


HOISTED: Final = RightKernel(
    "hoisted", _HOISTED, (1,), 32, _numbers_below(1 << 15), ("X", "Y", "d", "m"), output=1, reference=_remainders
)
"""Squares of every `d`-th number, modulo m; where they are read is computed ahead, in a place that has no line."""
LARGE: Final = replace(HOISTED, name="large", make=_numbers_below(1 << 30))
"""The same of numbers whose squares have more than 32 bits: these are cut."""
