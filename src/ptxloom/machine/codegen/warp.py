"""The state of a warp as a kernel's code sees it: fields and scratch, calls of the run-time, faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.native import language, translation
from ptxloom.machine.native.ir import Emitter, Value, vector
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.memory.access import access_name
from ptxloom.machine.runtime.memory.access_code import parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.program.symbols import Symbol
    from ptxloom.meaning.types import Type

W: Final = Value("ptr", "%w")
ALL: Final = Value("i32", "-1")
_FIELDS: Final = language.record(state.Warp).offsets


class WarpEmitter(Emitter):
    """Emits the code of one variant of a kernel, around an instruction at a time.

    Attributes:
        program: The program.
        whole: Whether this variant runs whole warps only: every lane is active except for predicates.
        op: The instruction being built.
        mask: The lanes that run in this block (i32).
        active: The lanes that execute this instruction (i32): `mask` under the predicate; None if that is all 32.
        natives: The native functions that the code calls, by their names.
        accesses: The warp-wide loads and stores, and their observers, by their names.
        helpers: LLVM functions that rows define, by their names.
    """

    def __init__(self, program: Program, whole: bool) -> None:
        super().__init__()
        self.program = program
        self.whole = whole
        self._op: Op | None = None
        self.mask = ALL
        self.active: Value | None = None
        self.natives: dict[str, Callable[..., object]] = {}
        self.accesses: set[str] = set()
        self.helpers: dict[str, str] = {}

    @property
    def op(self) -> Op:
        """The instruction being built."""
        assert self._op is not None
        return self._op

    @property
    def active_mask(self) -> Value:
        """The lanes that execute this instruction, as i32."""
        return ALL if self.active is None else self.active

    def find(self, name: str) -> Symbol | None:
        """The symbol that a name refers to at this instruction."""
        return self.op.scope.find(name)

    def llvm(self, type_: Type) -> str:
        """The LLVM type of an operand of a PTX type in every lane."""
        return vector(type_.llvm, self.width * type_.packed)

    def vector(self, scalar: str) -> str:
        """The LLVM type of one scalar a lane."""
        return vector(scalar, self.width)

    # -- the warp

    def field(self, name: str) -> Value:
        """The address of a field of the warp's state."""
        return self.offset(W, _FIELDS[name])

    def scratch(self, byte_offset: int = scratch.ADDRESSES) -> Value:
        """A place in the warp's scratch (laid out in `codegen/scratch.py`)."""
        return self.offset(W, _FIELDS["scratch"] + byte_offset)

    # -- calls

    def runtime(self, function: Callable[..., object], *operands: Value | int) -> Value:
        """Call a native function (`native/language.py`) of the run-time; integers take the parameter's type."""
        compiled = translation.signature(function)
        self.natives[compiled.name] = function
        values = [
            o if isinstance(o, Value) else Value(k.llvm, str(o))
            for o, k in zip(operands, compiled.arguments, strict=True)
        ]
        return self.call(compiled.name, *values, result=compiled.result.llvm)

    def helper(self, name: str, ir: str) -> None:
        """Register an LLVM function, to be compiled (optimised, once) and linked; call it with `call`."""
        if self.helpers.setdefault(name, ir) != ir:
            raise TypeError(f"two helpers are called {name}")

    def access(
        self,
        verb: str,
        window: str,
        places: tuple[Value, ...],
        addresses: Value,
        offset: int | Value,
        *,
        bits: int,
        space: int,
    ) -> None:
        """Call a warp-wide load or store of `runtime.memory.access` and stop after a fault.

        Args:
            verb: load or store.
            window: shared (32-bit addresses) or global (64-bit ones).
            places: The places of the 32 values of each part.
            addresses: The place of the 32 addresses.
            offset: Bytes added to each.
            bits: The size of one value.
            space: The state space, for reports.
        """
        if isinstance(offset, int):
            offset = Value("i64", str(offset))
        name = access_name(verb, window, bits, len(places))
        self.accesses.add(name)
        self.declarations[name] = f"declare i32 @{name}({parameters(len(places)).replace('%', '%d.')})"
        values = "".join(f", {p}" for p in places)
        arguments = f"{W}, {addresses}, {offset}, {self.active_mask}, i32 {space}, i32 {self.op.site}{values}"
        self.check(self.emit("i32", f"call i32 @{name}({arguments})"))

    def check(self, failed: Value) -> None:
        """Leave the kernel with a fault if an i32 is not zero."""
        bad = self.compare("ne", failed, Value("i32", "0"))
        following = self.fresh("L")
        self.do(f"br {bad}, label %fault, label %{following}")
        self.label(following)

    def when(self, condition: Value, action: Callable[[], object]) -> None:
        """Emit code that runs only where an i1 holds."""
        then, following = self.fresh("L"), self.fresh("L")
        self.do(f"br {condition}, label %{then}, label %{following}")
        self.label(then)
        action()
        self.do(f"br label %{following}")
        self.label(following)

    def either(self, condition: Value, then: Callable[[], object], otherwise: Callable[[], object]) -> None:
        """Emit code for both sides of an i1."""
        yes, no, following = self.fresh("L"), self.fresh("L"), self.fresh("L")
        self.do(f"br {condition}, label %{yes}, label %{no}")
        for label, action in ((yes, then), (no, otherwise)):
            self.label(label)
            action()
            self.do(f"br label %{following}")
        self.label(following)
