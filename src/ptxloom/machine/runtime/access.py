"""Loads and stores of a whole warp as LLVM functions: fast where addresses are contiguous or equal, checked always.

`ptxloom_load_global_32x2` reads two 32-bit values a lane. All take (warp, values, addresses, offset, mask, space, site)
and give 0, or 1 after a fault; part p of lane l lies at values[p * 32 + l]. `global` serves generic addresses too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from ptxloom.machine.ir import LANES, Emitter, Value, constant_vector, vector
from ptxloom.machine.native import record
from ptxloom.machine.runtime.state import Span, Warp

NAME: Final = re.compile(r"ptxloom_(load|store)_(global|shared)_(\d+)x(\d+)")
PARAMETERS: Final = "ptr %w, ptr %values, ptr %addresses, i64 %offset, i32 %mask, i32 %space, i32 %site"


def access_function(name: str) -> tuple[str, tuple[str, ...]]:
    """The IR of a warp-wide access and the run-time functions it calls."""
    found = NAME.fullmatch(name)
    assert found is not None
    access = _Access(found[1] == "store", found[2] == "shared", int(found[3]), int(found[4]), Emitter())
    access.build()
    slow = "store_lanes" if access.store else "load_lanes"
    body = "\n".join(access.e.lines)
    declarations = "\n".join(access.e.declarations.values())
    ir = f"{declarations}\ndefine i32 @{name}({PARAMETERS}) #0 {{\n{body}\n}}"
    return ir, (slow,) if access.shared else (slow, "in_global")


def field(name: str) -> int:
    """The offset of a field of the warp."""
    return record(Warp).offsets[name]


@dataclass(frozen=True, slots=True)
class _Access:
    store: bool
    shared: bool
    size_bits: int
    parts: int
    e: Emitter

    @property
    def bytes(self) -> int:
        """What one lane moves."""
        return self.size_bits // 8 * self.parts

    @property
    def scalar(self) -> str:
        return f"i{self.size_bits}"

    def build(self) -> None:
        e = self.e
        w, mask = Value("ptr", "%w"), Value("i32", "%mask")
        bits = 32 if self.shared else 64
        addresses = e.load(vector(f"i{bits}"), Value("ptr", "%addresses"), 32)
        offset = e.resize(Value("i64", "%offset"), bits)
        first = e.apply("add", e.extract(addresses, 0), offset)
        steps = e.apply("sub", addresses, e.splat(e.extract(addresses, 0)))
        full = e.compare("eq", mask, Value("i32", "-1"))
        e.do(f"br {full}, label %whole, label %general")

        e.label("whole")
        row = constant_vector(f"i{bits}", (lane * self.bytes for lane in range(LANES)))
        contiguous = self._none(e.compare("ne", steps, row))
        e.do(f"br {contiguous}, label %contiguous, label %repeated")
        e.label("contiguous")
        self._check(w, first, self.bytes * LANES, "row", "general")
        e.label("row")
        self._row(self._host(w, first))

        e.label("repeated")
        if self.store:
            e.do("br label %general")
        else:
            same = self._none(e.compare("ne", steps, e.constant(steps.type, 0)))
            e.do(f"br {same}, label %same, label %general")
            e.label("same")
            self._check(w, first, self.bytes, "one", "general")
            e.label("one")
            self._one(self._host(w, first))

        e.label("general")
        self._general(w, e.apply("add", addresses, e.splat(offset)), mask)

        e.label("slow")
        self._slow()

    def _none(self, lanes: Value) -> Value:
        bits = self.e.emit("i32", f"bitcast {lanes} to i32")
        return self.e.compare("eq", bits, Value("i32", "0"))

    def _bounds(self, w: Value) -> tuple[Value, Value]:
        """The first and the end address that may be touched, as the addresses are written."""
        e = self.e
        if self.shared:
            size = e.load("i64", e.offset(w, field("shared_bytes")), 8)
            return Value("i32", "0"), e.resize(size, 32)
        sites = e.load("ptr", e.offset(w, field("sites")), 8)
        at = e.apply("mul", e.resize(Value("i32", "%site"), 64), Value("i64", str(record(Span).size)))
        span = e.offset(sites, at)
        return e.load("i64", span, 8), e.load("i64", e.offset(span, 8), 8)

    def _host(self, w: Value, at: Value) -> Value:
        e = self.e
        if self.shared:
            base = e.load("ptr", e.offset(w, field("shared")), 8)
            return e.offset(base, e.resize(at, 64))
        return e.emit("ptr", f"inttoptr {at} to ptr")

    def _check(self, w: Value, first: Value, length: int, good: str, bad: str) -> None:
        e = self.e
        start, end = self._bounds(w)
        last = e.apply("add", first, e.constant(first.type, length))
        tests = [
            e.compare("uge", first, start),
            e.compare("ule", last, end),
            e.compare("uge", last, first),
            e.compare("eq", e.apply("and", first, e.constant(first.type, self.bytes - 1)), e.constant(first.type, 0)),
        ]
        ok = tests[0]
        for test in tests[1:]:
            ok = e.apply("and", ok, test)
        e.do(f"br {ok}, label %{good}, label %{bad}")

    def _values(self, part: int) -> Value:
        return self.e.offset(Value("ptr", "%values"), part * LANES * self.size_bits // 8)

    def _row(self, host: Value) -> None:
        e = self.e
        if self.store:
            whole = self._interleaved()
            e.store(whole, host, min(self.bytes, 16))
        else:
            whole = e.load(vector(self.scalar, LANES * self.parts), host, self.size_bits // 8)
            for part in range(self.parts):
                values = e.shuffle(whole, range(part, LANES * self.parts, self.parts)) if self.parts > 1 else whole
                e.store(values, self._values(part), 16)
        e.do("ret i32 0")

    def _interleaved(self) -> Value:
        e = self.e
        whole = e.load(vector(self.scalar, LANES * self.parts), Value("ptr", "%values"), 16)
        if self.parts == 1:
            return whole
        return e.shuffle(whole, [part * LANES + lane for lane in range(LANES) for part in range(self.parts)])

    def _one(self, host: Value) -> None:
        e = self.e
        for part in range(self.parts):
            value = e.load(self.scalar, e.offset(host, part * self.size_bits // 8), self.size_bits // 8)
            e.store(e.splat(value), self._values(part), 16)
        e.do("ret i32 0")

    def _general(self, w: Value, addresses: Value, mask: Value) -> None:
        """Any addresses: checked as vectors, then gathered or scattered; `slow` finds the fault or the other piece."""
        e = self.e
        start, end = self._bounds(w)
        last = e.apply("sub", end, e.constant(end.type, self.bytes))
        misaligned = e.apply("and", addresses, e.constant(addresses.type, self.bytes - 1))
        low = e.compare("slt", addresses, e.splat(start))
        high = e.compare("sgt", addresses, e.splat(last))
        odd = e.compare("ne", misaligned, e.constant(addresses.type, 0))
        wrong = e.emit("i32", f"bitcast {e.apply('or', e.apply('or', low, high), odd)} to i32")
        bad = e.compare("ne", e.apply("and", wrong, mask), Value("i32", "0"))
        e.do(f"br {bad}, label %slow, label %each")
        e.label("each")
        hosts = self._hosts(w, addresses)
        active = e.emit(vector("i1"), f"bitcast {mask} to <32 x i1>")
        type_ = vector(self.scalar)
        align = Value("i32", str(self.size_bits // 8))
        for part in range(self.parts):
            places = hosts
            if part:
                by = part * self.size_bits // 8
                places = e.emit(hosts.type, f"getelementptr i8, {hosts}, i64 {by}")
            old = e.load(type_, self._values(part), 16)
            if self.store:
                e.declarations["scatter"] = (
                    f"declare void @llvm.masked.scatter.v32{self.scalar}.v32p0({type_}, <32 x ptr>, i32, <32 x i1>)"
                )
                e.do(f"call void @llvm.masked.scatter.v32{self.scalar}.v32p0({old}, {places}, {align}, {active})")
            else:
                e.declarations["gather"] = (
                    f"declare {type_} @llvm.masked.gather.v32{self.scalar}.v32p0(<32 x ptr>, i32, <32 x i1>, {type_})"
                )
                got = e.emit(
                    type_,
                    f"call {type_} @llvm.masked.gather.v32{self.scalar}.v32p0({places}, {align}, {active}, {old})",
                )
                e.store(got, self._values(part), 16)
        e.do("ret i32 0")

    def _hosts(self, w: Value, addresses: Value) -> Value:
        e = self.e
        if self.shared:
            base = e.load("i64", e.offset(w, field("shared")), 8)
            addresses = e.apply("add", e.resize(addresses, 64), e.splat(base))
        return e.emit(vector("ptr"), f"inttoptr {addresses} to {vector('ptr')}")

    def _slow(self) -> None:
        e = self.e
        name = "store_lanes" if self.store else "load_lanes"
        places = Value("ptr", "%addresses")
        if self.shared:
            wide = e.resize(e.load(vector("i32"), places, 32), 64)
            places = e.emit("ptr", f"alloca {vector('i64')}, align 64")
            total = e.apply("add", wide, e.splat(Value("i64", "%offset")))
            e.store(e.apply("and", total, e.constant(total.type, 0xFFFFFFFF)), places, 64)
        got = e.call(
            f"ptxloom_{name}",
            Value("ptr", "%w"),
            Value("ptr", "%values"),
            places,
            Value("i64", "0" if self.shared else "%offset"),
            Value("i32", "%mask"),
            Value("i32", "%space"),
            Value("i32", str(self.size_bits // 8)),
            Value("i32", str(self.parts)),
            Value("i32", "%site"),
            result="i32",
        )
        e.do(f"ret {got}")
