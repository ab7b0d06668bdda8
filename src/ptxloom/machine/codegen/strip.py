"""The registers of a strip of lanes, kept in processor registers from one instruction to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.native.llvm import host_has
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from ptxloom.machine.codegen.places import Places
    from ptxloom.machine.program.symbols import Register


def strip_lanes() -> int:
    """The number of 32-bit lanes in a processor register."""
    return 16 if host_has("avx512f") else 8


class Strip:
    """The registers of one strip, as far as the run has touched them.

    Attributes:
        lanes: The number of lanes.
        first: The number of the first one, `i64`.
    """

    def __init__(self, b: Places, first: Value) -> None:
        self.lanes = strip_lanes()
        self._b = b
        self.first = first
        self._bases: dict[int, Value] = {}
        self._held: dict[int, dict[str, Value]] = {}  # by place: the value, by the types it has been asked for in
        self._changed: dict[int, tuple[Register, int]] = {}  # by place: and the site of the instruction that did it
        self._masks: dict[int, Value] = {}
        self._spread: dict[str, Value] = {}

    def read(self, register: Register, type_: str) -> Value:
        """A register's lanes, as a vector of `type_`."""
        forms = self._held.setdefault(register.offset, {})
        if type_ not in forms:
            known = next(iter(forms.values()), None)
            forms[type_] = self._b.load(type_, self._place(register), 4) if known is None else self._as(known, type_)
        return forms[type_]

    def write(self, register: Register, value: Value) -> None:
        """A register's new lanes."""
        self._held[register.offset] = {value.type: value}
        self._changed[register.offset] = register, self._b.op.site

    def read_mask(self, register: Register) -> Value:
        """A predicate's bits."""
        if register.offset not in self._masks:
            self._masks[register.offset] = self._b.load(f"i{self.lanes}", self._place(register), 1)
        return self._masks[register.offset]

    def write_mask(self, register: Register, mask: Value) -> None:
        """A predicate's new bits."""
        self._masks[register.offset] = mask
        self._changed[register.offset] = register, self._b.op.site

    def spread(self, mask: Value) -> Value:
        """A mask, one element a lane."""
        if mask.text not in self._spread:
            self._spread[mask.text] = self._b.bitcast(mask, vector("i1", self.lanes))
        return self._spread[mask.text]

    def gather(self, lanes: Value) -> Value:
        """One element a lane as a mask."""
        mask = self._b.bitcast(lanes, f"i{self.lanes}")
        self._spread[mask.text] = lanes
        return mask

    def finish(self) -> list[tuple[int, Value]]:
        """Write what has changed and is needed after this, except for predicates: returns their places and masks.

        Strips join the masks, so that they are stored as a whole and can be read at once.
        """
        masks: list[tuple[int, Value]] = []
        known, last = self._b.program.knowledge, self._b.op.site
        for place, (register, site) in self._changed.items():
            if known.is_done(place, site, last):
                continue
            if register.type.kind == "p":
                masks.append((place, self._masks[place]))
            else:
                self._b.store(next(iter(self._held[place].values())), self._place(register), 4)
        return masks

    def _as(self, value: Value, type_: str) -> Value:
        return self._b.bitcast(value, type_)

    def _place(self, register: Register) -> Value:
        """The place of the strip's part of a register; the bytes per lane are a power of two, or an eighth."""
        b = self._b
        bits = 1 if register.type.kind == "p" else max(register.type.bits, 8)
        if self.first.text.isdecimal():
            return b.within(register.offset, int(self.first.text) * bits // 8)
        if bits not in self._bases:
            by = b.apply("lshr", self.first, Value("i64", "3")) if bits == 1 else self.offset(bits // 8)
            self._bases[bits] = b.offset(W, by)
        return b.offset(self._bases[bits], state.REGISTERS + register.offset)

    def offset(self, lane_bytes: int) -> Value:
        """The bytes before the strip's lanes, `i64`."""
        if self.first.text.isdecimal():
            return Value("i64", str(int(self.first.text) * lane_bytes))
        return self._b.apply("mul", self.first, Value("i64", str(lane_bytes)))
