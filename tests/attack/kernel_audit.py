"""The rule of the sandbox, proved on the code of a kernel: ARCHITECTURE.md, "The sandbox".

Every pointer of the code is traced to where it comes from. It may be: the warp, one of the pointers that the warp's
state holds for the kernel to use, room on the stack, a record that the trace gave; at offsets proved to be inside.
Nothing else is read, written or branched through. What the kernel computed (registers, the scratch, memory) never is
part of a pointer, nor is it stored in the warp's state beside registers and scratch; it goes to the functions of the
run-time, as numbers and as places of the warp, each with room for what the function touches there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from attack.ir_text import Function, Instruction, bytes_of, functions, split, typed
from attack.rooms import LANES, RECORD, room_of, rooms_of_access, rooms_of_helper
from ptxloom.machine.compile.needs import SYMBOL
from ptxloom.machine.instruments.profile import Counters
from ptxloom.machine.instruments.trace import record_bytes
from ptxloom.machine.instruments.wanted import is_initcheck_wanted
from ptxloom.machine.launch.shadows.initcheck import poison_bytes
from ptxloom.machine.native import language
from ptxloom.machine.native.signature import signature
from ptxloom.machine.program.variables import module_variables
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from ptxloom.machine.compile.variant import Variant
    from ptxloom.machine.native.language import NativeType

#: What of the warp's state, beside registers, holds what the kernel computed.
_DATA: Final = ("scratch", "carry")
_PURE: Final = re.compile(
    "add|sub|mul|and|or|xor|shl|lshr|ashr|zext|sext|trunc|bitcast|[if]cmp|select|(insert|extract)(element|value)|freeze|"
    "shufflevector|f(add|sub|mul|div|rem|neg|ptosi|ptoui|ptrunc|pext)|[su]itofp|[su](div|rem)|ptrtoint"
)
#: What of an access is inlined into hot code: judged like accesses (`access_audit.py`), given room like them.
QUICK: Final = re.compile(r"(ptxloom_\w+)_(?:quick|reach)")
_ENDS: Final = frozenset(("br", "switch", "ret", "unreachable", "fence"))


class Pointer(NamedTuple):
    """An address: `low` to `high` bytes behind the start of something that has `size` bytes."""

    root: str
    size: int
    low: int
    high: int


class Number(NamedTuple):
    """An integer, or anything else that is not a pointer: between two bounds; the kernel's own, or the machine's."""

    low: int
    high: int
    forged: bool


class Place(NamedTuple):
    """Where in the warp a register lies, with room for what is touched there: whoever gives it answers for it."""

    room: int


Known: TypeAlias = "Pointer | Number | Place"
_ANY: Final = 1 << 64
_FORGED: Final = Number(0, _ANY, forged=True)


@dataclass
class Audit:
    """What is known of one variant of a kernel while its code is read.

    Attributes:
        variant: The kernel's code.
        sites: The instructions that are traced, in order.
        errors: What breaks the rule.
        values: What is known of each value.
        code: Who makes it.
        branches: The text of the code's branches.
        placed: The word of `place_lanes_of` on the addresses that lie in the scratch now.
        checked: The code has asked for it: they are host addresses.
        reaches: For each function, what it may touch behind its parameters.
        outlined: The same for those of the kernel's instructions that are functions.
    """

    variant: Variant
    sites: tuple[int, ...] = ()
    errors: list[str] = field(default_factory=list[str])
    values: dict[str, Known] = field(default_factory=dict[str, "Known"])
    code: dict[str, Instruction] = field(default_factory=dict[str, Instruction])
    branches: frozenset[str] = frozenset()
    placed: str = ""
    checked: bool = False
    reaches: dict[str, list[int | NativeType] | None] = field(
        default_factory=dict[str, "list[int | NativeType] | None"]
    )
    outlined: dict[str, list[int]] = field(default_factory=dict[str, "list[int]"])

    def run(self) -> list[str]:
        """What breaks the rule, each with its instruction; nothing if it holds."""
        found = [f for f in functions(self.variant.ir) if not QUICK.fullmatch(f.name)]  # these are accesses
        self.outlined = {f.name: rooms_of_helper(f) for f in found if f.name != SYMBOL}
        for function in found:
            self.judge(function)
        return self.errors

    def judge(self, function: Function) -> None:
        """Read the kernel, or an instruction that is outlined: that is given registers, with room for what it does."""
        self.code = {one.result: one for one in function.code if one.result}
        self.branches = frozenset(one.text for one in function.code if one.opcode == "br")
        rooms = self.outlined.get(function.name, [])
        given = zip(function.parameters, rooms, strict=True) if rooms else ()
        self.values = {name: Place(room) for (type_, name), room in given if type_ == "i64"}
        self.values["%w"] = Pointer("warp", self.warp_bytes, 0, 0)
        for one in function.code:
            self.read(one)

    @property
    def warp_bytes(self) -> int:
        """What a warp takes, registers and their poison included."""
        program, checks = self.variant.builder.program, self.variant.builder.checks
        poison = poison_bytes(program, checks) if is_initcheck_wanted(checks) else 0
        return state.REGISTERS + program.register_bytes + poison * (1 + state.SOURCE_BYTES)

    def error(self, one: Instruction, why: str) -> None:
        self.errors.append(f"{why}: {one.result} = {one.text[:160]}")

    # -- values

    def value(self, text: str) -> Known:
        """What is known of an operand."""
        if text in self.values:
            return self.values[text]
        if text.lstrip("-").isdecimal():
            return Number(int(text), int(text), forged=False)
        return _FORGED if text[:1] == "%" else Number(0, _ANY, forged=False)

    def read(self, one: Instruction) -> None:
        """Take in one instruction: judge what it does, and keep what its result is."""
        self.heed(one)
        makers = {
            "getelementptr": self.moved,
            "load": self.loaded,
            "alloca": self.taken,
            "inttoptr": self.record,
            "phi": self.merged,
        }
        match one.opcode:
            case opcode if opcode in makers:
                self.values[one.result] = makers[opcode](one)
            case "store":
                self.stored(one)
            case "call":
                self.called(one)
            case opcode if _PURE.fullmatch(opcode):
                self.values[one.result] = self.computed(one)
            case opcode if opcode not in _ENDS:
                self.error(one, "an instruction that the rule does not know")
            case _:
                pass

    def heed(self, one: Instruction) -> None:
        """Note that the code asks whether addresses have been placed, and leaves the kernel if they have not."""
        if self.placed and one.text == f"icmp ne i32 {self.placed}, 0":
            self.placed = one.result
        elif self.placed and one.text.startswith(f"br i1 {self.placed}, label %fault, "):
            self.checked = True

    def taken(self, one: Instruction) -> Pointer:
        """Room on the stack."""
        return Pointer("stack", bytes_of(split(one.text.removeprefix("alloca "))[0]), 0, 0)

    def moved(self, one: Instruction) -> Pointer | Number:
        operands = split(one.text.split(" ", 1)[1])
        type_ = operands[0].split(" ")[-1]
        base, index = (self.value(typed(o)[1]) for o in operands[1:3])
        if type_ == "i8" and base == self.values["%w"] and isinstance(index, Place):
            return Pointer("registers", index.room, 0, 0)
        if len(operands) != 3 or type_ != "i8" or not isinstance(base, Pointer) or not isinstance(index, Number):
            self.error(one, "a pointer into nothing that is known")
            return _FORGED
        if index.forged:
            self.error(one, "a pointer that the kernel moves")
            return _FORGED
        return base._replace(low=base.low + index.low, high=base.high + index.high)

    def inside(self, one: Instruction, place: str, size: int) -> Pointer | None:
        """The pointer that an instruction goes through, if all that it touches is inside."""
        at = self.value(place)
        if not isinstance(at, Pointer):
            self.error(one, "an access through no known pointer")
        elif at.low < 0 or at.high + size > at.size:
            self.error(one, f"{size} bytes from {at.high} on, of {at.size} of the {at.root}")
        else:
            return at
        return None

    def loaded(self, one: Instruction) -> Pointer | Number:
        type_, place, *_ = split(one.text.split(" ", 1)[1])
        at = self.inside(one, typed(place)[1], bytes_of(type_))
        if at is None:
            return _FORGED
        if at.root == "warp" and at.low == at.high < state.REGISTERS:
            name = _field_at(at.low)
            if type_ == "ptr" or name in self.pointers:
                if name in self.pointers:
                    return Pointer(name, self.pointers[name], 0, 0)
                self.error(one, f"the pointer `{name}` is not one for a kernel to use")
            return Number(0, _ANY, forged=name in _DATA)
        if type_ == "ptr":
            self.error(one, "a pointer out of memory")
        return Number(0, _ANY, forged=at.root not in {"tids", "symbols", "profile", "launch", "cta"})

    @cached_property
    def pointers(self) -> dict[str, int]:
        """The fields of the warp that point to what a kernel may touch by itself, and how much that is."""
        program = self.variant.builder.program
        lasting = len(module_variables(program.module))
        return {
            "params": program.parameter_bytes,
            "symbols": 8 * max(lasting, 1),
            "tids": 3 * 4 * LANES,
            "profile": Counters(program).bytes,
            "launch": language.record(state.Launch).size,
            "cta": language.record(state.Cta).size,
        }

    def stored(self, one: Instruction) -> None:
        what, place, *_ = split(one.text.split(" ", 1)[1])
        type_, name = typed(what)
        value = self.value(name)
        at = self.inside(one, typed(place)[1], bytes_of(type_))
        if at is None:
            return
        if at.root == "warp" and at.low < LANES * 8:
            self.placed, self.checked = "", False
        if at.root == "warp":
            kept = _field_at(at.low) if at.low < state.REGISTERS else "registers"
            if kept not in {*_DATA, "registers"} and isinstance(value, Number) and value.forged:
                self.error(one, f"a value of the kernel in the warp's `{kept}`")
            if kept == "scratch" and at.high + bytes_of(type_) > RECORD.kinds["scratch"].size:
                self.error(one, "the scratch ends before")
        elif at.root not in {"stack", "profile", "record", "registers"}:
            self.error(one, f"a store to the {at.root}")

    def record(self, one: Instruction) -> Pointer | Number:
        """The room for a record of the trace, where there is one."""
        name = typed(one.text.split(" ", 1)[1].rsplit(" to ", 1)[0])[1]
        source = self.code.get(name)
        if source is None or "@ptxloom_begin_record(" not in source.text:
            self.error(one, "a number as a pointer")
            return _FORGED
        number = int(typed(arguments_of(source)[1])[1])
        builder = self.variant.builder
        site = self.sites[number]
        return Pointer("record", record_bytes(builder.program.ops[site]), 0, 0)

    def merged(self, one: Instruction) -> Pointer | Number:
        """A counter of strips, from 0 on in steps; pointers and the kernel's values do not meet otherwise."""
        type_, *rest = split(one.text.removeprefix("phi ").replace(" [", ", [", 1))
        start, following = (pair.strip("[] ").split(", ")[0] for pair in rest[:2])
        step = self.code.get(following)
        if type_ == "ptr":
            self.error(one, "pointers that meet")
        if start == "0" and step is not None and step.text.startswith(f"add {type_} {one.result}, "):
            by = int(step.text.rsplit(" ", 1)[1])
            for compared in self.code.values():
                bound = compared.text == f"icmp ult {type_} {following}, {LANES}"
                if bound and any(b.startswith(f"br i1 {compared.result}, label %{one.block},") for b in self.branches):
                    return Number(0, LANES - by, forged=False)
        return _FORGED

    def computed(self, one: Instruction) -> Pointer | Number:
        """The result of arithmetic: the kernel's own if an operand is; bounded where strips need it."""
        body = one.text.split(" ", 1)[1]
        names = [typed(part)[1] if " " in part else part for part in split(body.rsplit(" to ", 1)[0])]
        known = [self.value(name) for name in names]
        if any(isinstance(k, Pointer) for k in known) and one.opcode not in {"ptrtoint", "icmp"}:
            self.error(one, "arithmetic on a pointer")
        forged = any(isinstance(k, Number) and k.forged for k in known)
        first = known[0]
        if not forged and isinstance(first, Number) and len(names) > 1 and names[1].isdecimal() and first.high < _ANY:
            by = int(names[1])
            match one.opcode:
                case "mul":
                    return Number(first.low * by, first.high * by, forged=False)
                case "lshr":
                    return Number(first.low >> by, first.high >> by, forged=False)
                case "add":
                    return Number(first.low + by, first.high + by, forged=False)
                case _:
                    pass
        return Number(0, _ANY, forged=forged)

    # -- calls

    def called(self, one: Instruction) -> None:
        """A function of the run-time: its pointers have room for all that it touches."""
        name = one.text.split("@", 1)[1].split("(", 1)[0]
        self.values[one.result] = _FORGED
        if name.startswith("llvm."):
            if name.startswith(("llvm.mem", "llvm.masked")):
                self.error(one, "memory touched by an intrinsic")
            return
        if name not in self.reaches:
            self.reaches[name] = self.rooms(name)
        rooms = self.reaches[name]
        if rooms is None:
            self.error(one, "a call of nothing that is known")
            return
        if name == "ptxloom_place_lanes_of":
            self.placed = one.result
        elif name.startswith("ptxloom_atom_") and not self.checked:
            self.error(one, "addresses that nobody has placed")
        elif not name.startswith("ptxloom_atom_"):
            self.placed, self.checked = "", False
        given = [typed(argument) for argument in arguments_of(one)]
        for (type_, text), bound in zip(given, rooms, strict=False):
            room = bound if isinstance(bound, int) else self.declared(name, bound, [text for _, text in given])
            if type_ == "ptr" and text != "null" and not (text[0] == "@" and text[1:] in self.variant.builder.helpers):
                self.inside(one, text, room)
            self.outlining(one, name, type_, text, room)

    def outlining(self, one: Instruction, name: str, type_: str, text: str, room: int) -> None:
        """An argument of an outlined instruction: beside the warp and the mask, places of registers alone."""
        if name not in self.outlined:
            return
        if type_ == "ptr" and text != "%w":
            self.error(one, "an outlined instruction is given a pointer")
        if type_ == "i64":
            at = self.value(text)
            if not isinstance(at, Number) or not state.REGISTERS <= at.low == at.high <= self.warp_bytes - room:
                self.error(one, "an outlined instruction is given what is no register")

    def declared(self, name: str, kind: NativeType, given: list[str]) -> int:
        """The bytes that a native function counts on behind a pointer, by what it is given beside."""
        names = signature(self.variant.builder.natives[name]).names
        known = {n: int(text) for n, text in zip(names, given, strict=True) if text.lstrip("-").isdecimal()}
        assert kind.element is not None
        return kind.element.stride * int(eval(kind.bound, known))  # noqa: S307 - from an annotation of ours

    def rooms(self, name: str) -> list[int | NativeType] | None:
        """For each parameter of a function, the bytes it may touch behind a pointer (0: it is not a pointer)."""
        b = self.variant.builder
        if name in b.natives:
            return [room_of(kind) for kind in signature(b.natives[name]).arguments]
        plain = QUICK.fullmatch(name)
        if name in b.accesses or (plain is not None and plain[1] in b.accesses):
            return rooms_of_access(name if plain is None else plain[1])
        if name in self.outlined:
            return [*self.outlined[name]]
        if name in b.helpers:
            (found,) = [f for f in functions(b.helpers[name] + "\nattributes #0 = { nounwind }") if f.name == name]
            return [*rooms_of_helper(found)]
        return None


def broken_rules(variant: Variant, sites: tuple[int, ...] = ()) -> list[str]:
    """What breaks the rule in a variant of a kernel, of which some instructions may be traced."""
    return Audit(variant, sites).run()


def _field_at(offset: int) -> str:
    """The field of the warp's state that an offset lies in."""
    return max((at, name) for name, at in RECORD.offsets.items() if at <= offset)[1]


def arguments_of(one: Instruction) -> list[str]:
    """The operands of a call, with their types."""
    return [a for a in split(one.text.split("@", 1)[1].split("(", 1)[1].rsplit(")", 1)[0]) if a]
