"""The usual case of a warp's loads and stores, to be inlined into hot code: rows of neighbours, and one word for all.

The inputs are frozen: if LLVM sees poison in an offset or a mask, the worst result is a wrong address.
"""

from __future__ import annotations

from typing import Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.native.ir import Emitter, Value, constant_vector, vector
from ptxloom.machine.runtime.memory.access import NAME
from ptxloom.machine.runtime.memory.access_code import AHEAD, HALF, MASK, AccessCode, parameters

_MASKED: Final = 32  # bits from which on every processor that we know loads some of a vector


def has_quick(name: str) -> bool:
    """Whether an access has a part to be inlined: not in local memory, where lanes have no neighbours."""
    return "_local_" not in name


def quick_access(name: str) -> tuple[str, str]:
    """The name and the IR of an inline function for a usual access; it does nothing and returns 1 for others."""
    access = _quick(name)
    access.quick()
    declared = "\n".join(access.e.declarations.values())
    head = f"define internal i32 @{name}_quick({parameters(access.parts)}) alwaysinline nounwind"
    return f"{name}_quick", "\n".join((declared, head, "{", *access.e.lines, "}")).lstrip()


def reach_of(name: str) -> tuple[str, str]:
    """The name and the IR of an inline function: 0 if a load at an offset would be usual."""
    access = _quick(name)
    access.reach()
    head = f"define internal i32 @{name}_reach({parameters(0)}) alwaysinline nounwind"
    return f"{name}_reach", "\n".join((head, "{", *access.e.lines, "}"))


def has_reach(name: str) -> bool:
    """Whether several loads that share a register of addresses can be checked together."""
    return "_load_shared_" in name


def _quick(name: str) -> _Quick:
    found = NAME.fullmatch(name)
    assert found is not None
    return _Quick(found[1] == "store", found[2], int(found[3]), int(found[4]), Emitter())


class _Quick(AccessCode):
    def quick(self) -> None:
        """Whole warps at contiguous addresses, or (loads) at equal ones; 1 for anything else."""
        e = self.e
        full = e.compare("eq", self._firm(MASK), Value("i32", "-1"))
        e.do(f"br {full}, label %whole, label %no")
        e.label("whole")
        steps, firsts = self._starts()
        is_row = self._is_row(steps)
        if self._blends:
            length = self._length(steps, is_row, "no")
            self._check(firsts, length, "some", "no")
            e.label("some")
            self._rows_or_ones([self._host(first) for first in firsts], is_row)
        else:
            e.do(f"br {is_row}, label %contiguous, label %{'no' if self.store else 'apart'}")
            e.label("contiguous")
            self._check(firsts, self.bytes * HALF, "row", "no")
            e.label("row")
            self._rows([self._host(first) for first in firsts])
            if not self.store:
                e.label("apart")
                e.do(f"br {self._is_one(steps)}, label %same, label %no")
                e.label("same")
                self._check(firsts, self.bytes, "one", "no")
                e.label("one")
                self._ones([self._host(first) for first in firsts])
        e.label("no")
        e.do("ret i32 1")

    def reach(self) -> None:
        """0 if `quick` would succeed at an offset, from which LLVM concludes the same for smaller ones."""
        e = self.e
        steps, firsts = self._starts()
        self._check(firsts, self._length(steps, self._is_row(steps), "no"), "yes", "no")
        e.label("yes")
        e.do("ret i32 0")
        e.label("no")
        e.do("ret i32 1")

    @property
    def _blends(self) -> bool:
        """Whether rows and single words are loaded by the same code, without a branch between them."""
        return not self.store and self.parts == 1 and self.size_bits >= _MASKED

    def _starts(self) -> tuple[Value, list[Value]]:
        """The distance of each address from the first of its half warp; and these two, with the offset, 64 bits."""
        e = self.e
        addresses, offset = self._addresses(), self._firm(Value("i64", "%offset"))
        steps = e.apply("sub", addresses, e.shuffle(addresses, [0] * HALF + [HALF] * HALF))
        firsts = [e.resize(e.extract(addresses, at), 64) for at in (0, HALF)]
        return steps, [e.apply("add", first, offset) for first in firsts]

    def _is_row(self, steps: Value) -> Value:
        row = constant_vector(steps.element, (lane % HALF * self.bytes for lane in range(LANES)))
        return self._none(self.e.compare("ne", steps, row))

    def _is_one(self, steps: Value) -> Value:
        return self._none(self.e.compare("ne", steps, self.e.constant(steps.type, 0)))

    def _length(self, steps: Value, is_row: Value, no: str) -> Value:
        """The bytes of a row or of one word, 64 bits; jumps to `no` if it is neither."""
        e = self.e
        e.do(f"br {e.apply('or', is_row, self._is_one(steps))}, label %known, label %{no}")
        e.label("known")
        return e.select(is_row, Value("i64", str(self.bytes * HALF)), Value("i64", str(self.bytes)))

    def _rows_or_ones(self, hosts: list[Value], is_row: Value) -> None:
        """Load a row as a whole, or one word by its first lane, for all."""
        e = self.e
        type_, every = vector(self.scalar, HALF), vector("i1", HALF)
        first = Value(every, f"<{', '.join(f'i1 {int(not lane)}' for lane in range(HALF))}>")
        lanes = e.apply("or", first, e.splat(is_row, HALF))
        align, others = Value("i32", str(self.size_bits // 8)), e.constant(type_, 0)
        self._fetch(hosts, e.select(is_row, Value("i64", str(AHEAD)), Value("i64", "0")))
        for half, host in enumerate(hosts):
            name = f"llvm.masked.load.v{HALF}{self.scalar}.p0"
            got = e.call(name, host, align, lanes, others, result=type_)
            one = e.shuffle(got, [0] * HALF)
            e.store(e.select(is_row, got, one), self._value(0, half * HALF), 16)
        e.do("ret i32 0")

    def _firm(self, value: Value) -> Value:
        return self.e.emit(value.type, f"freeze {value}")
