"""The code of warp-wide loads and stores: the usual case first, then the rest (assembled by `runtime.access`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.isa.limits import LANES
from ptxloom.machine.native.ir import Emitter, Value, constant_vector, vector
from ptxloom.machine.native.language import record
from ptxloom.machine.runtime.memory.bounds import inside
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.spans import LastSpan

if TYPE_CHECKING:
    from collections.abc import Callable

HALF: Final = LANES // 2
W: Final = Value("ptr", "%w")
MASK: Final = Value("i32", "%mask")
_EVERY: Final = Value(vector("i1"), "splat (i1 true)")
#: Bytes from a row to what is fetched before the next warps ask for it: a page, so that its translation comes, too.
AHEAD: Final = 4096
_GATHERED: Final = 32  # bits from which on processors gather values of some lanes
_LINE: Final = 64  # bytes that a processor fetches at once
LANE_BITS: Final = constant_vector("i32", (1 << lane for lane in range(LANES)))


def parameters(parts: int) -> str:
    """The parameters of a function for `parts` values a lane."""
    places = "".join(f", ptr %v{n}" for n in range(parts))
    return f"ptr %w, ptr %addresses, i64 %offset, i32 %mask, i32 %space, i32 %site{places}"


def field(name: str) -> int:
    """The offset of a field of the warp."""
    return record(Warp).offsets[name]


@dataclass(frozen=True, slots=True)
class AccessCode:
    """Writes the functions of one access: of values of `bits` bits, `parts` per lane."""

    store: bool
    window: str
    size_bits: int
    parts: int
    e: Emitter

    @property
    def bytes(self) -> int:
        """The bytes that one lane moves."""
        return self.size_bits // 8 * self.parts

    @property
    def scalar(self) -> str:
        """LLVM's type of one value."""
        return f"i{self.size_bits}"

    @property
    def near(self) -> bool:
        """Whether addresses are offsets of 32 bits."""
        return self.window != "global"

    def build(self) -> None:
        """Build the code for whole warps at contiguous addresses; other cases are separate."""
        e = self.e
        full = e.compare("eq", MASK, Value("i32", "-1"))
        e.do(f"br {full}, label %whole, label %part")
        e.label("whole")
        _, steps, firsts = self._halves()
        row = constant_vector(steps.element, (lane % HALF * self.bytes for lane in range(LANES)))
        contiguous = self._none(e.compare("ne", steps, row))
        e.do(f"br {contiguous}, label %contiguous, label %apart")
        e.label("contiguous")
        self._check(firsts, self.bytes * HALF, "row", "apart")
        e.label("row")
        self._rows([self._host(first) for first in firsts])
        self._jump("part")
        self._jump("apart")

    def apart(self) -> None:
        """Build the code for whole warps at other addresses: equal ones (loads), else any."""
        e = self.e
        addresses, steps, firsts = self._halves()
        if not self.store:
            same = self._none(e.compare("ne", steps, e.constant(steps.type, 0)))
            e.do(f"br {same}, label %same, label %general")
            e.label("same")
            self._check(firsts, self.bytes, "one", "general")
            e.label("one")
            self._ones([self._host(first) for first in firsts])
            e.label("general")
        self._general(e.apply("add", addresses, e.splat(self._offset())))
        self._jump("slow")

    def local(self) -> None:
        """Whole warps in local memory."""
        full = self.e.compare("eq", MASK, Value("i32", "-1"))
        self.e.do(f"br {full}, label %whole, label %part")
        self.e.label("whole")
        self._general(self.e.apply("add", self._addresses(), self.e.splat(self._offset())))
        self._jump("slow")
        self._jump("part")

    def local_part(self) -> None:
        """Some lanes in local memory."""
        self._general(self.e.apply("add", self._addresses(), self.e.splat(self._offset())), self._active())
        self._jump("slow")

    def _jump(self, function: str) -> None:
        """Emit a label that jumps to another of the functions."""
        self.e.label(function)
        self.e.do(f"%{function}.failed = tail call i32 @{function}({parameters(self.parts)})")
        self.e.do(f"ret i32 %{function}.failed")

    def _addresses(self) -> Value:
        addresses = self.e.load(vector(f"i{32 if self.window == 'shared' else 64}"), Value("ptr", "%addresses"), 32)
        return self.e.resize(addresses, 32) if self.near else addresses

    def _offset(self) -> Value:
        return self.e.resize(Value("i64", "%offset"), 32 if self.near else 64)

    def _active(self) -> Value:
        """The lanes that take part, 32 bits."""
        e = self.e
        return e.compare("ne", e.apply("and", e.splat(MASK), LANE_BITS), e.constant(LANE_BITS.type, 0))

    def _halves(self) -> tuple[Value, Value, list[Value]]:
        """The addresses; how far each is from the first of its half warp; and these two, with the offset."""
        e = self.e
        addresses = self._addresses()
        starts = e.shuffle(addresses, [0] * HALF + [HALF] * HALF)
        steps = e.apply("sub", addresses, starts)
        return addresses, steps, [e.apply("add", e.extract(addresses, at), self._offset()) for at in (0, HALF)]

    def _none(self, lanes: Value) -> Value:
        bits = self.e.emit("i32", f"bitcast {lanes} to i32")
        return self.e.compare("eq", bits, Value("i32", "0"))

    def _bounds(self, near_bits: int = 32) -> tuple[Value, Value]:
        """The first address that may be touched and the bytes from it on, as the addresses are written."""
        e = self.e
        if self.near:
            size = e.load("i64", e.offset(W, field(f"{self.window}_bytes")), 8)
            return Value(f"i{near_bits}", "0"), e.resize(size, near_bits)
        sites = e.load("ptr", e.offset(W, field("sites")), 8)
        at = e.apply("mul", e.resize(Value("i32", "%site"), 64), Value("i64", str(record(LastSpan).size)))
        span = e.offset(sites, at)
        start, end = (e.load("i64", e.offset(span, record(LastSpan).offsets[name]), 8) for name in ("start", "end"))
        return start, e.apply("sub", end, start)

    def _host(self, at: Value) -> Value:
        e = self.e
        if self.near:
            base = e.load("ptr", e.offset(W, field(self.window)), 8)
            return e.offset(base, e.resize(at, 64))
        return e.emit("ptr", f"inttoptr {at} to ptr")

    def _check(self, firsts: list[Value], length: int | Value, good: str, bad: str) -> None:
        """Go to `good` if stretches of a length are aligned and in bounds."""
        e = self.e
        start, room = self._bounds(firsts[0].bits)
        size = length if isinstance(length, Value) else e.constant(start.type, length)
        low = firsts[0]
        for first in firsts[1:]:
            low = e.apply("or", low, first)
        low = e.apply("and", low, e.constant(low.type, self.bytes - 1))
        ok = e.compare("eq", low, e.constant(low.type, 0))
        for first in firsts:
            ok = e.apply("and", ok, inside(e, e.apply("sub", first, start), size, room))
        e.do(f"br {ok}, label %{good}, label %{bad}")

    def _value(self, part: int, lane: int = 0) -> Value:
        return self.e.offset(Value("ptr", f"%v{part}"), lane * self.size_bits // 8)

    def _rows(self, hosts: list[Value]) -> None:
        e = self.e
        type_ = vector(self.scalar, HALF)
        if not self.store:
            self._fetch(hosts, Value("i64", str(AHEAD)))
        for half, host in enumerate(hosts):
            if self.store:
                values = [e.load(type_, self._value(part, half * HALF), 16) for part in range(self.parts)]
                e.store(self._interleaved(values), host, self.size_bits // 8)
                continue
            whole = e.load(vector(self.scalar, HALF * self.parts), host, self.size_bits // 8)
            for part in range(self.parts):
                values = e.shuffle(whole, range(part, HALF * self.parts, self.parts)) if self.parts > 1 else whole
                e.store(values, self._value(part, half * HALF), 16)
        e.do("ret i32 0")

    def _fetch(self, hosts: list[Value], ahead: Value) -> None:
        """Prefetch memory a distance after rows of global memory: warps mostly access one row after the other."""
        e = self.e
        size = self.bytes * HALF
        for host in () if self.near else hosts if size >= _LINE else hosts[:1]:
            for line in range(0, max(size, _LINE), _LINE):
                place = e.offset(e.offset(host, ahead), line)
                e.call("llvm.prefetch.p0", place, *(Value("i32", text) for text in ("0", "3", "1")))

    def _interleaved(self, values: list[Value]) -> Value:
        """Element p of lane l at l * parts + p."""
        e = self.e
        whole = values[0]
        if self.parts == 1:
            return whole
        joined = list(values)
        while len(joined) > 1:  # neighbours in pairs: each step doubles the length
            size = 2 * HALF * self.parts // len(joined)
            joined = [e.shuffle(a, range(size), b) for a, b in zip(joined[::2], joined[1::2], strict=True)]
        return e.shuffle(joined[0], [part * HALF + lane for lane in range(HALF) for part in range(self.parts)])

    def _ones(self, hosts: list[Value]) -> None:
        e = self.e
        for half, host in enumerate(hosts):
            for part in range(self.parts):
                value = e.load(self.scalar, e.offset(host, part * self.size_bits // 8), self.size_bits // 8)
                e.store(e.splat(value, HALF), self._value(part, half * HALF), 16)
        e.do("ret i32 0")

    def part(self) -> None:
        """Some lanes: contiguous as if all took part, from one address (loads), else any."""
        if self.parts > 1:
            self._general_part()
            return
        e = self.e
        none = e.compare("eq", MASK, Value("i32", "0"))
        e.do(f"br {none}, label %nothing, label %some")
        e.label("nothing")
        e.do("ret i32 0")
        e.label("some")
        addresses, mask = self._addresses(), MASK
        lane = e.intrinsic("llvm.cttz", mask, Value("i1", "true"), overload="i32", result="i32")
        unused = e.intrinsic("llvm.ctlz", mask, Value("i1", "true"), overload="i32", result="i32")
        length = e.constant(addresses.element, self.bytes)
        at = e.emit(addresses.element, f"extractelement {addresses}, {lane}")
        base = e.apply("sub", at, e.apply("mul", e.resize(lane, addresses.bits), length))
        row = constant_vector(addresses.element, (n * self.bytes for n in range(LANES)))
        apart = e.compare("ne", e.apply("sub", addresses, e.splat(base)), row)
        lanes = self._active()
        contiguous = self._none(e.apply("and", apart, lanes))
        e.do(f"br {contiguous}, label %contiguous, label %{'general' if self.store else 'apart'}")
        if not self.store:
            e.label("apart")
            self._part_of_one(addresses, at, lanes)
        e.label("contiguous")
        first = e.apply("add", at, self._offset())
        covered = e.apply("sub", e.apply("sub", Value("i32", "32"), unused), lane)
        self._check([first], e.apply("mul", e.resize(covered, addresses.bits), length), "stretch", "general")
        e.label("stretch")
        # the row as if lane 0 took part: it may start before the window, where no lane looks
        before = e.apply("mul", e.resize(lane, 64), Value("i64", str(-self.bytes)))
        host = e.offset(self._host(first), before)
        type_, align = vector(self.scalar), Value("i32", str(self.size_bits // 8))
        old = e.load(type_, self._value(0), 16)
        if self.store:
            e.call(f"llvm.masked.store.v32{self.scalar}.p0", old, host, align, lanes)
        else:
            got = e.call(f"llvm.masked.load.v32{self.scalar}.p0", host, align, lanes, old, result=type_)
            e.store(got, self._value(0), 16)
        e.do("ret i32 0")
        e.label("general")
        self._general_part()

    def _general_part(self) -> None:
        """Any addresses of some lanes; small values, which no processor gathers, one after the other."""
        if self.size_bits < _GATHERED:
            self.e.do("br label %slow")
        else:
            self._general(self.e.apply("add", self._addresses(), self.e.splat(self._offset())), self._active())
        self._jump("slow")

    def _part_of_one(self, addresses: Value, at: Value, lanes: Value) -> None:
        """Some lanes that load from one address."""
        e = self.e
        others = e.apply("and", e.compare("ne", addresses, e.splat(at)), lanes)
        e.do(f"br {self._none(others)}, label %same, label %general")
        e.label("same")
        first = e.apply("add", at, self._offset())
        self._check([first], self.bytes, "one", "general")
        e.label("one")
        value = e.splat(e.load(self.scalar, self._host(first), self.size_bits // 8))
        old = e.load(vector(self.scalar), self._value(0), 16)
        e.store(e.select(lanes, value, old), self._value(0), 16)
        e.do("ret i32 0")

    def _general(self, addresses: Value, lanes: Value | None = None) -> None:
        """Any addresses of a whole warp, or of some lanes: checked as vectors, then gathered or scattered."""
        e = self.e
        start, room = self._bounds()
        offsets = e.apply("sub", addresses, e.splat(start))
        misaligned = e.apply("and", addresses, e.constant(addresses.type, self.bytes - 1))
        even = e.compare("eq", misaligned, e.constant(addresses.type, 0))
        fine = e.apply("and", inside(e, offsets, e.constant(room.type, self.bytes), room), even)
        if lanes is not None:
            fine = e.apply("or", fine, e.apply("xor", lanes, _EVERY))
        good = e.compare("eq", e.emit("i32", f"bitcast {fine} to i32"), Value("i32", "-1"))
        e.do(f"br {good}, label %each, label %slow")
        e.label("each")
        hosts = self._hosts(addresses)
        for part in range(self.parts):
            places = hosts
            if part:
                places = e.emit(hosts.type, f"getelementptr i8, {hosts}, i64 {part * self.size_bits // 8}")
            self._each(part, places, lanes)
        e.do("ret i32 0")

    def _each(self, part: int, places: Value, lanes: Value | None) -> None:
        e = self.e
        type_ = vector(self.scalar)
        align, active = Value("i32", str(self.size_bits // 8)), lanes or _EVERY
        if self.store:
            values = e.load(type_, self._value(part), 16)
            e.call(f"llvm.masked.scatter.v32{self.scalar}.v32p0", values, places, align, active)
            return
        name = f"llvm.masked.gather.v32{self.scalar}.v32p0"
        others = Value(type_, "poison") if lanes is None else e.load(type_, self._value(part), 16)
        got = e.call(name, places, align, active, others, result=type_)
        e.store(got, self._value(part), 16)

    def _hosts(self, addresses: Value) -> Value:
        e = self.e
        if self.near:
            addresses = e.apply(
                "add", e.resize(addresses, 64), e.splat(e.load("i64", e.offset(W, field(self.window)), 8))
            )
        if self.window == "local":  # every lane has its own, one behind the other
            size = e.splat(e.load("i64", e.offset(W, field("local_bytes")), 8))
            starts = e.apply("mul", constant_vector("i64", range(LANES)), size)
            addresses = e.apply("add", addresses, starts)
        return e.emit(vector("ptr"), f"inttoptr {addresses} to {vector('ptr')}")

    def slow(self) -> None:
        """Lane by lane, through memory that holds the parts one after the other."""
        e = self.e
        type_ = vector(self.scalar)
        room = e.emit("ptr", f"alloca {vector(self.scalar, LANES * self.parts)}, align 64")
        steps = [e.offset(room, part * LANES * self.size_bits // 8) for part in range(self.parts)]
        for part, step in enumerate(steps):
            e.store(e.load(type_, self._value(part), 16), step, 16)
        places = Value("ptr", "%addresses")
        if self.near:
            total = e.apply("add", self._addresses(), e.splat(self._offset()))
            places = e.emit("ptr", f"alloca {vector('i64')}, align 64")
            e.store(e.resize(total, 64), places, 64)
        got = e.call(
            "ptxloom_move_lanes",
            Value("ptr", "%w"),
            room,
            places,
            Value("i64", "0" if self.near else "%offset"),
            Value("i32", "%mask"),
            Value("i32", "%space"),
            Value("i32", str(self.size_bits // 8)),
            Value("i32", str(self.parts)),
            Value("i32", str(int(self.store))),
            Value("i32", "%site"),
            result="i32",
        )
        if not self.store:
            for part, step in enumerate(steps):
                e.store(e.load(type_, step, 16), self._value(part), 16)
        e.do(f"ret {got}")


class Part(NamedTuple):
    """One of the functions of an access, jumped to by those before it."""

    head: str
    build: Callable[[AccessCode], None]


_INNER: Final = "({parameters}) nounwind noinline"
_SLOW: Final = Part(f"define internal i32 @slow{_INNER} cold", AccessCode.slow)
_ROWS: Final = (
    Part("define i32 @{name}({parameters}) #0", AccessCode.build),
    Part(f"define internal i32 @part{_INNER}", AccessCode.part),
    Part(f"define internal i32 @apart{_INNER}", AccessCode.apart),
    _SLOW,
)
PARTS: Final = {
    "global": _ROWS,
    "shared": _ROWS,
    "local": (
        Part("define i32 @{name}({parameters}) #0", AccessCode.local),
        Part(f"define internal i32 @part{_INNER}", AccessCode.local_part),
        _SLOW,
    ),
}
"""By window, the functions of an access: the one that is called, and those that it goes on to."""
