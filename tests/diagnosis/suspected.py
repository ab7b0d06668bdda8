"""Mistakes that no law tells, in a kernel that computes element by element; and the search for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from diagnosis.planted.model import Edit, PlantedBug, RightKernel
from ptxloom.comparison import Reference
from ptxloom.diagnosis.suspects import Trials, diagnoses, search
from ptxloom.machine import kernel
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from diagnosis.planted.model import Array
    from ptxloom.diagnosis import Diagnosis
    from ptxloom.machine import Kernel, LaunchResult

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
  ld.param.u32 %columns, [columns];
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
  add.u64 %means, %means, %at;
  ld.global.f32 %m, [%means];
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
    _bug("bias-forgotten", "missing-term", "bias", "add.f32 %y, %y, %b", "mov.f32 %y, %y"),
)


def trials_of(case: RightKernel, text: str) -> Trials:
    """The launch of a text of a kernel, to be made again and again."""
    made = kernel(parse(text, case.name), case.entry, target=case.target)
    arguments = case.make()

    def again(changed: Kernel, **options: Any) -> LaunchResult:
        return changed.launch(case.grid, case.block, arguments, case.shared_bytes, threads=1, **options)

    wanted = Reference(case.reference(*arguments), names=case.names)
    numbers = tuple(one for one in (*arguments, *case.grid, case.block) if isinstance(one, int))
    return Trials(again, arguments, {case.output: wanted}, made, numbers)


def suspected(case: RightKernel, text: str) -> list[Diagnosis]:
    """What the search says of a text of a kernel."""
    trials = trials_of(case, text)
    return diagnoses(search(trials), trials)
