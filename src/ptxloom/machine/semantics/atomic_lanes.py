"""An atomic operation of a warp as an LLVM function: lane after lane, lowest first.

Shared memory belongs to one thread of the host, which runs all CTAs of a cluster: there a load and a store suffice.
Lanes that add to one word of global memory, or combine integers there in another way that may be grouped, first combine
among themselves, and the memory is changed once; each lane's old value follows from the memory's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.ir import Emitter, Value, vector
from ptxloom.machine.semantics.atomic_steps import alone, joined, step, swapped

if TYPE_CHECKING:
    from ptxloom.meaning.types import Type

#: Operations that may be grouped, on integers.
_GROUPED: Final = frozenset({"add", "min", "max", "and", "or", "xor"})
_MASK: Final = Value("i32", "%mask")


def warp_function(symbol: str, name: str, type_: Type, *, in_cache: bool) -> str:
    """The IR of the function: (host addresses, byte offset, operands, second operands, results, mask).

    Args:
        symbol: Its name.
        name: The operation.
        type_: Of the values.
        in_cache: Whether the memory is global, which other threads of the host may reach.
    """
    code = _Lanes(name, type_)
    if in_cache and name in _GROUPED and not type_.is_float:
        code.together()
        code.apart(("entry", "several"), in_cache=in_cache)
    else:
        code.e.do("br label %each")
        code.apart(("entry",), in_cache=in_cache)
    declarations = "\n".join(code.e.declarations.values())
    head = f"define void @{symbol}(ptr %hosts, i64 %offset, ptr %b, ptr %c, ptr %out, i32 %mask) #0 {{\nentry:"
    return "\n".join((declarations, head, *code.e.lines, "}"))


class _Lanes:
    def __init__(self, name: str, type_: Type) -> None:
        self.e = Emitter()
        self._name = name
        self._type = type_
        self._scalar = f"i{type_.bits}"

    def apart(self, before: tuple[str, ...], *, in_cache: bool) -> None:
        """Each lane by itself, after the blocks `before`."""
        e = self.e
        lane = self._round("each", before, "act", "following", "end")
        place = self._place(e.load("i64", e.offset(Value("ptr", "%hosts"), self._bytes(lane, 64)), 8))
        operands = (place, self._of(lane, "b"), self._of(lane, "c"))
        if in_cache:
            old = step(e, self._name, self._type, operands, in_cache=True, flushes=True)
        else:
            old = alone(e, self._name, self._type, operands)
        self._give(lane, old)
        e.do("br label %following")
        e.label("following")
        e.do("br label %each")
        e.label("end")
        e.do("ret void")

    def together(self) -> None:
        """Several lanes at one address, else go on to `each`."""
        e = self.e
        hosts = Value("ptr", "%hosts")
        rest = e.apply("and", _MASK, e.apply("sub", _MASK, Value("i32", "1")))
        e.do(f"br {e.compare('eq', rest, Value('i32', '0'))}, label %each, label %several")
        e.label("several")
        lowest = self._lowest(_MASK)
        first = e.load("i64", e.offset(hosts, self._bytes(lowest, 64)), 8)
        others = e.compare("ne", e.load(vector("i64"), hosts, 8), e.splat(first))
        apart = e.apply("and", e.emit("i32", f"bitcast {others} to i32"), _MASK)
        e.do(f"br {e.compare('eq', apart, Value('i32', '0'))}, label %collect, label %each")
        lane = self._round("collect", ("several",), "join", "join", "all", with_sum=True)
        sum_ = Value(self._scalar, "%sum")
        self._give(lane, sum_)
        new = joined(e, self._name, self._type, sum_, self._of(lane, "b"))
        e.do(f"%sum.next = add {new}, 0")
        e.do("br label %collect")
        e.label("all")
        before = swapped(e, self._name, self._type, self._place(first), sum_)
        e.do("br label %hand")
        lane = self._round("hand", ("all",), "one", "one", "end")
        self._give(lane, joined(e, self._name, self._type, before, self._of(lane, "out")))
        e.do("br label %hand")

    def _round(
        self, head: str, before: tuple[str, ...], body: str, last: str, end: str, *, with_sum: bool = False
    ) -> Value:
        """Begin a loop over the lanes of the mask; returns the lane, 64 bits.

        Args:
            head: Its first block, which goes on to `end` when no lane is left.
            before: The blocks that lead to it.
            body: What follows for a lane.
            last: The block that goes back.
            end: What follows the loop.
            with_sum: Whether a value, `%sum`, becomes `%sum.next` with each lane; nothing at first.
        """
        e = self.e
        left, following = f"%{head}.left", f"%{head}.next"
        e.label(head)
        e.do(f"{left} = phi i32 {_ways(before, _MASK.text)}, [ {following}, %{last} ]")
        if with_sum:
            e.do(f"%sum = phi {self._scalar} {_ways(before, self._nothing())}, [ %sum.next, %{last} ]")
        mask = Value("i32", left)
        e.do(f"br {e.compare('eq', mask, Value('i32', '0'))}, label %{end}, label %{body}")
        e.label(body)
        less = e.apply("sub", mask, Value("i32", "1"))
        e.do(f"{following} = and {mask}, {less.text}")
        return self._lowest(mask)

    def _nothing(self) -> str:
        """What an operation joins to a value without changing it."""
        if self._name not in {"and", "min", "max"}:
            return "0"
        if self._type.signed and self._name != "and":
            largest = (1 << self._type.bits - 1) - 1
            return str(largest if self._name == "min" else -largest - 1)
        return "0" if self._name == "max" else "-1"

    def _lowest(self, mask: Value) -> Value:
        lane = self.e.intrinsic("llvm.cttz", mask, Value("i1", "true"), overload="i32", result="i32")
        return self.e.resize(lane, 64)

    def _bytes(self, lane: Value, bits: int) -> Value:
        return self.e.apply("mul", lane, Value("i64", str(bits // 8)))

    def _of(self, lane: Value, array: str) -> Value:
        """A lane's element of an array."""
        return self.e.load(self._scalar, self.e.offset(Value("ptr", f"%{array}"), self._bytes(lane, self._type.bits)))

    def _give(self, lane: Value, old: Value) -> None:
        self.e.store(old, self.e.offset(Value("ptr", "%out"), self._bytes(lane, self._type.bits)))

    def _place(self, host: Value) -> Value:
        return self.e.emit("ptr", f"inttoptr {self.e.apply('add', host, Value('i64', '%offset'))} to ptr")


def _ways(before: tuple[str, ...], value: str) -> str:
    return ", ".join(f"[ {value}, %{one} ]" for one in before)
