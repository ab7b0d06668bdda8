"""Racecheck's checks of a warp's accesses to shared memory, as LLVM functions on vectors of a lane's bytes.

`ptxloom_race_write_shared_32x2` checks a store of two 32-bit values a lane before it is made; `touch` is a write
of unknown values, `read` a read. Addresses are 32-bit ones of the window (`shared`), 64-bit ones that mean the
same (`wide`), or generic ones. Accesses that are not plainly ordered go to `races`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.machine.native.ir import Emitter, Value
from ptxloom.machine.native.language import record
from ptxloom.machine.runtime.memory.bounds import near_lanes
from ptxloom.machine.runtime.racecheck import deferred_reads, happens_before, slow_path
from ptxloom.machine.runtime.racecheck.fast_path import look_ir
from ptxloom.machine.runtime.racecheck.fast_path.dense_reads import dense_halves
from ptxloom.machine.runtime.racecheck.fast_path.dense_writes import dense_writes
from ptxloom.machine.runtime.racecheck.fast_path.quick_reads import quick_reads
from ptxloom.machine.runtime.state import SHARED_WINDOW, Warp
from ptxloom.machine.runtime.structs.shadow import (
    BLOCK_SHIFT,
    PENDING,
    READ_RECORD_BYTES,
    READ_RECORDS,
    WITH_HISTORY,
    HappensBefore,
    Shadow,
)

if TYPE_CHECKING:
    from collections.abc import Callable

NAME: Final = re.compile(r"ptxloom_race_(read|write|touch)_(shared|wide|generic)_(\d+)x(\d+)")


def race_name(verb: str, window: str, bits: int, parts: int) -> str:
    """The name of the function for `parts` values of `bits` bits a lane."""
    return f"ptxloom_race_{verb}_{window}_{bits}x{parts}"


def race_parameters(name: str) -> str:
    """The types of a function's parameters."""
    found = NAME.fullmatch(name)
    assert found is not None
    return "ptr, ptr, i64, i32, i32" + (", ptr" * int(found[4]) if found[1] == "write" else "")


def race_function(name: str) -> tuple[str, tuple[Callable[..., object], ...]]:
    """The IR of a watch and the native functions it calls."""
    found = NAME.fullmatch(name)
    assert found is not None
    watch = _Watch(found[1], found[2], int(found[3]) // 8, int(found[4]))
    calls = (happens_before.stamp_of, slow_path.check_near, slow_path.check_lane, deferred_reads.settle_reads)
    return watch.function(name), calls


@dataclass(frozen=True, slots=True)
class _Watch:
    verb: str
    window: str
    size: int
    parts: int

    def function(self, name: str) -> str:
        count = self.size * self.parts
        values = "".join(f", ptr %v{n}" for n in range(self.parts)) if self.verb == "write" else ""
        body = (look_ir.READ if self.verb == "read" else look_ir.WRITE).format(
            n=count,
            block=BLOCK_SHIFT,
            size=self.size,
            with_history=WITH_HISTORY,
            halves=dense_halves(count) if self.verb == "read" else dense_writes(count),
            quick=quick_reads(count),
            last=count - 1,
            read_records=READ_RECORDS,
            last_record=READ_RECORDS - 1,
            record_bytes=READ_RECORD_BYTES,
        )
        bound = Emitter("bound")
        good = near_lanes(bound, count, Value("i32", "%s.bytes"))
        head = look_ir.HEAD.format(
            name=name,
            values=values,
            lanes=self._lanes(),
            n=count,
            held=self._held(),
            starts=record(Warp).offsets["starts"],
            fields="\n".join(_FIELDS),
            bound="\n".join(bound.lines),
            good=good.text,
            write=int(self.verb != "read"),
            size=self.size,
            mark=PENDING,
        )
        return head + body + look_ir.TAIL

    def _lanes(self) -> str:
        """Each lane's 32-bit address in the window (%low), and which lanes have one (%inside)."""
        bits = 32 if self.window == "shared" else 64
        wide = f"<32 x i{bits}>"
        lines = [
            f"%raw = load {wide}, ptr %addresses, align 4",
            f"%by1 = trunc i64 %offset to i{bits}" if bits == 32 else "%by1 = add i64 %offset, 0",
            f"%by0 = insertelement {wide} poison, i{bits} %by1, i64 0",
            f"%by = shufflevector {wide} %by0, {wide} poison, <32 x i32> zeroinitializer",
            f"%sum = add {wide} %raw, %by",
            f"%low = trunc {wide} %sum to <32 x i32>" if bits == 64 else "%low = add <32 x i32> %sum, zeroinitializer",
        ]
        if self.window == "generic":
            lines += [
                f"%high = and {wide} %sum, splat (i64 {-(1 << 32)})",
                f"%in = icmp eq {wide} %high, splat (i64 {SHARED_WINDOW})",
                "%in.mask = bitcast <32 x i1> %in to i32",
                "%inside = and i32 %mask, %in.mask",
            ]
        else:
            lines.append("%inside = add i32 %mask, 0")
        return "\n".join(lines)

    def _held(self) -> str:
        """The places of the values that are stored, as an array."""
        if self.verb != "write":
            return "%held = inttoptr i64 0 to ptr"
        lines = [f"%held = alloca [{self.parts} x ptr]"]
        for part in range(self.parts):
            lines += [
                f"%held{part} = getelementptr ptr, ptr %held, i64 {part}",
                f"store ptr %v{part}, ptr %held{part}",
            ]
        return "\n".join(lines)


def _loads(base: str, struct: type, names: dict[str, str]) -> list[str]:
    """Load fields of a struct into values of their names."""
    offsets = record(struct).offsets
    return [
        line
        for name, type_ in names.items()
        for line in (
            f"%{base}.{name}.at = getelementptr i8, ptr %{base}, i64 {offsets[name]}",
            f"%{base}.{name} = load {type_}, ptr %{base}.{name}.at, align 4",
        )
    ]


_FIELDS: Final = [
    *_loads("w", Warp, {"shadow": "ptr", "index": "i32", "since": "i32", "read_head": "i32", "read_done": "i32"}),
    "%s = getelementptr i8, ptr %w.shadow, i64 0",
    *_loads(
        "s",
        Shadow,
        {
            "order": "ptr",
            "bytes": "i32",
            "base": "i32",
            "limit": "i32",
            "floor": "i32",
            "first": "i32",
            "summaries": "i32",
            "writes": "ptr",
            "write_sites": "ptr",
            "reads": "ptr",
            "read_records": "ptr",
            "summary": "ptr",
            "deferring": "i32",
            "deferred": "i64",
            "grain": "i32",
        },
    ),
    "%o = getelementptr i8, ptr %s.order, i64 0",
    *_loads("o", HappensBefore, {"clock": "i32", "bits": "i32", "threads": "i32", "reading": "i32"}),
]
