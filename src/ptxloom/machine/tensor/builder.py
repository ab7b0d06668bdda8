"""The extensions of `ir.Emitter` for tensor code: stack arrays, counted loops, and 32-bit float tricks."""

from __future__ import annotations

import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ptxloom.machine.native.ir import Emitter, Value, count, vector

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence


def f32(value: float) -> str:
    """A number that is exact in `.f32`, as an LLVM float constant."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class TensorBuilder(Emitter):
    """An emitter for one function."""

    def __init__(self, symbol: str, arguments: tuple[Value, ...]) -> None:
        super().__init__()
        self.symbol = symbol
        self.arguments = arguments
        self.allocas: list[str] = []
        self.globals: list[str] = []
        self.attributes = ["nounwind"]
        self.linkage = ""
        self.result = "void"

    def text(self) -> str:
        """The function as LLVM IR."""
        arguments = ", ".join(map(str, self.arguments))
        head = f"define {self.linkage} {self.result} @{self.symbol}({arguments}) {' '.join(self.attributes)} {{\nentry:"
        end = "ret void" if self.result == "void" else f"ret {self.result} 0"
        return "\n".join((*self.globals, head, *self.allocas, *self.lines, f"{end}\n}}"))

    def table(self, numbers: tuple[int, ...]) -> Value:
        """A constant array of `i32`."""
        name = f"@{self.fresh('table')}"
        elements = ", ".join(f"i32 {number}" for number in numbers)
        self.globals.append(f"{name} = private constant [{len(numbers)} x i32] [{elements}]")
        return Value("ptr", name)

    def array(self, byte_count: int) -> Value:
        """A stack array, aligned for any vector."""
        name = f"%{self.fresh('slot')}"
        self.allocas.append(f"{name} = alloca [{byte_count} x i8], align 64")
        return Value("ptr", name)

    def settle(self, *arrays: Value) -> None:
        """From here on, read arrays from the stack: stored values are not kept in registers as well, and spilled."""
        for array in arrays:
            self.do(f'call void asm sideeffect "", "r,~{{memory}}"({array})')

    def number(self, lanes: int, scalar: str, value: object) -> Value:
        """A constant in `lanes` lanes; `.f32` values that are Python floats are spelt exactly."""
        spelt = f32(value) if isinstance(value, float) else value
        return self.constant(vector(scalar, lanes), spelt)

    def like(self, value: Value, number: object) -> Value:
        """A constant in the type of `value`."""
        return self.number(count(value.type), value.element, number)

    def add(self, value: Value, number: int) -> Value:
        """Plus a constant."""
        return self.apply("add", value, self.like(value, number))

    def shift_left(self, value: Value, places: int) -> Value:
        """To higher bits."""
        return self.apply("shl", value, self.like(value, places)) if places else value

    def shift_right(self, value: Value, places: int, *, signed: bool = False) -> Value:
        """To lower bits."""
        return self.apply("ashr" if signed else "lshr", value, self.like(value, places)) if places else value

    def mask(self, value: Value, bits: int) -> Value:
        """Keep some bits."""
        return self.apply("and", value, self.like(value, bits))

    def bits_of(self, value: Value) -> Value:
        """The bits of floats as integers."""
        return self.bitcast(value, vector(f"i{value.bits}", count(value.type)))

    def float_of(self, value: Value) -> Value:
        """Integers' bits as floats."""
        return self.bitcast(value, vector({32: "float", 64: "double"}[value.bits], count(value.type)))

    def both(self, name: str, first: Value, second: Value) -> Value:
        """A two-operand intrinsic without further arguments, such as `umax` or `sadd.sat`."""
        return self.intrinsic(f"llvm.{name}", first, second)

    def absolute(self, value: Value) -> Value:
        """Magnitudes of integers."""
        return self.intrinsic("llvm.abs", value, Value("i1", "false"))

    def any(self, condition: Value) -> Value:
        """Whether any lane holds, as `i1`."""
        return self.reduce("or", condition)

    def reduce(self, name: str, value: Value) -> Value:
        """All elements of a vector of integers combined by `or`, `umax`, `umin`, ..."""
        return self.intrinsic(f"llvm.vector.reduce.{name}", value, result=value.element)

    def concat(self, parts: Sequence[Value]) -> Value:
        """Concatenated vectors."""
        joined = list(parts)
        while len(joined) > 1:
            lanes = 2 * count(joined[0].type)
            pairs = zip(joined[::2], joined[1::2], strict=True)
            joined = [self.shuffle(first, range(lanes), second) for first, second in pairs]
        return joined[0]

    @contextmanager
    def loop(self, times: int | Value) -> Generator[Value]:
        """A counted loop, run at least once; yields the `i64` index."""
        head, done = self.fresh("loop"), self.fresh("done")
        counter = f"%{self.fresh('n')}"
        self.allocas.append(f"{counter} = alloca i64")
        place = Value("ptr", counter)
        self.store(Value("i64", "0"), place, 8)
        self.do(f"br label %{head}")
        self.label(head)
        index = self.load("i64", place, 8)
        yield index
        following = self.apply("add", index, Value("i64", "1"))
        self.store(following, place, 8)
        again = self.compare("ult", following, times if isinstance(times, Value) else Value("i64", str(times)))
        self.do(f"br {again}, label %{head}, label %{done}")
        self.label(done)

    @contextmanager
    def when(self, condition: Value) -> Generator[None]:
        """Instructions that run if an `i1` holds."""
        then, done = self.fresh("then"), self.fresh("after")
        self.do(f"br {condition}, label %{then}, label %{done}")
        self.label(then)
        yield
        self.do(f"br label %{done}")
        self.label(done)

    def at(self, base: Value, index: Value, stride: int, start: int = 0) -> Value:
        """The address `start + index * stride` bytes after `base`."""
        scaled = self.apply("mul", index, Value("i64", str(stride)))
        return self.offset(self.offset(base, scaled), start)
