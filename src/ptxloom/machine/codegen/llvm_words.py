"""The words of rows as LLVM IR, as far as `Operands` and `Emitter` do not provide them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen.addresses import address_values, base_and_offset, within_cta
from ptxloom.machine.codegen.operands import Operands
from ptxloom.machine.codegen.special_registers import read_special
from ptxloom.machine.native.ir import like, suffix
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.runtime import interpolation, state
from ptxloom.meaning import expansions
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.native.ir import Value
    from ptxloom.meaning.words import Words

_DIRECTIONS: Final = {"rz": 0, "rn": 1, "rp": 2, "rm": 3}  # as llvm.set.rounding numbers them
_INTRINSICS: Final = frozenset(("fma", "sqrt"))


class LlvmWords(Operands):
    """Translates rows to LLVM IR, for a whole warp or a strip of its lanes."""

    @property
    def architecture(self) -> int:
        """The target's number, such as 90."""
        return self.program.architecture

    @property
    def is_paired(self) -> bool:
        """Whether the program is for pairs of CTAs."""
        return self.program.is_paired

    def within_cta(self, addresses: Value) -> Value:
        """Shared addresses in the run-time's form."""
        return within_cta(self, addresses, state.SHARED)

    def of_cta(self, addresses: Value, rank: Value) -> Value:
        """Shared addresses in the CTA of a rank."""
        return expansions.of_cta(words_of(self), addresses, rank)

    def elements_in(self, operand: tree.Operand) -> int:
        """The number of elements of the register that an operand names."""
        found = self.find(operand.text) if isinstance(operand, tree.Name) else None
        return found.vector if isinstance(found, Register) else 1

    def address(self, operand: tree.Operand) -> Value:
        """The address of an element of an array, 64 bits."""
        return address_values(self, *base_and_offset(self.op, operand))

    def special(self, name: str) -> Value:
        """The value of a special register."""
        return read_special(self, self.strip, name)

    def carry(self) -> Value:
        """CC.CF, one bit per lane."""
        return self.load("i32", self.field("carry"), 4)

    def set_carry(self, mask: Value) -> None:
        """Set CC.CF in the active lanes."""
        place = self.field("carry")
        old = self.load("i32", place, 4)
        changed = self.apply("and", self.apply("xor", old, mask), self.active_mask)
        self.store(self.apply("xor", old, changed), place, 4)

    def fixed_point(self, name: str, value: Value, bits: int) -> Value:
        """Floats as integers of a width, clamped to it."""
        result = like(value.type, f"i{bits}")
        return self.call(f"llvm.{name}.sat.{suffix(result)}.{suffix(value.type)}", value, result=result)

    def approximated(self, name: str, bits: Value) -> Value:
        """A function of the multi-function unit, on bits of 32."""
        self.helper(interpolation.symbol(name), interpolation.function(name))
        return self.call(interpolation.symbol(name), bits, result=bits.type)

    def divide(self, name: str, left: Value, right: Value) -> Value:
        """The quotient or the remainder of integers."""
        return expansions.divide(words_of(self), name, left, right)

    def lookup(self, table: int, first: Value, second: Value, third: Value) -> Value:
        """A function of three bits, bit by bit."""
        return expansions.lookup(words_of(self), table, first, second, third)

    def permute(self, first: Value, second: Value, selector: Value | int, mode: str) -> Value:
        """Four bytes of eight."""
        return expansions.permute(words_of(self), first, second, selector, mode)

    def rounded(self, name: str, direction: str, *operands: Value) -> Value:
        """`fadd`, `fsub`, `fmul`, `fdiv`, `fma` or `sqrt`, rounded once."""
        if direction == "rn":
            return self.intrinsic(f"llvm.{name}", *operands) if name in _INTRINSICS else self.apply(name, *operands)
        type_ = operands[0].type
        symbol = f"ptxloom_{name}_{direction}_{suffix(type_)}"
        intrinsic = f"llvm.experimental.constrained.{name}.{suffix(type_)}"
        parameters = ", ".join(f"{type_} %{n}" for n in range(len(operands)))
        types = ", ".join([*(type_ for _ in operands), "metadata", "metadata"])
        mode = 'metadata !"round.dynamic", metadata !"fpexcept.ignore"'
        self.helper(
            symbol,
            f"""declare {type_} @{intrinsic}({types})
declare void @llvm.set.rounding(i32)
define {type_} @{symbol}({parameters}) strictfp {{
  call void @llvm.set.rounding(i32 {_DIRECTIONS[direction]}) strictfp
  %r = call {type_} @{intrinsic}({parameters}, {mode}) strictfp
  call void @llvm.set.rounding(i32 1) strictfp
  ret {type_} %r
}}""",
        )
        return self.call(symbol, *operands, result=type_)


def words_of(b: LlvmWords) -> Words[Value]:
    """The builder as rows see it."""
    return b
