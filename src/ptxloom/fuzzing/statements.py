"""One instruction of the vocabulary as a step of a program: operands drawn among registers, constants and cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.conformance.operands import EVERY_LANE
from ptxloom.conformance.paths import WHOLE_WARP
from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.fuzzing.banks import BANKS, CELL_BYTES, bank_of
from ptxloom.fuzzing.idioms import among
from ptxloom.fuzzing.nodes import Reach, Step
from ptxloom.fuzzing.vocabulary import guardable, has_open_nan
from ptxloom.isa.products import PRODUCTS
from ptxloom.isa.types import Kind

if TYPE_CHECKING:
    from random import Random

    from ptxloom.conformance.operands import Operand
    from ptxloom.conformance.paths import Path
    from ptxloom.fuzzing.banks import Bank
    from ptxloom.fuzzing.vocabulary import Vocabulary

_A_CONSTANT: Final = 0.25
"""The probability that one operand of an instruction is a constant."""
_A_GUARD: Final = 0.15
_A_MOVE: Final = 0.12
_BETWEEN: Final = ("wf", "wx", "fx", "de", "hk")
"""Banks between whose registers `mov` moves bits."""
_SPECIAL: Final = (
    *("%tid.x", "%ntid.x", "%laneid", "%lanemask_lt", "%lanemask_eq", "%lanemask_ge", "%ctaid.y", "%nctaid.z"),
)
_QUIET: Final = {"f": "0x7fffffff", "e": "0x7fffffffffffffff", "k": "0x7fff"}
_INFINITE: Final = {"f": FLOAT_FORMATS["f32"].infinity, "e": FLOAT_FORMATS["f64"].infinity}
_APPROXIMATE: Final = frozenset({"approx", "full"})


def step(chance: Random, words: Vocabulary, reach: Reach) -> Step:
    """A random instruction that is legal where `together` threads run as one."""
    if chance.random() < _A_MOVE:
        return Step(_move(chance))
    path = chance.choice(words.paths[chance.choice(words.opcodes[reach])])
    return _Writer(chance, words).step(path)


def constant(chance: Random, bits: int) -> int:
    """An integer with a number of bits: small, extreme, a power of two, a mask, or random."""
    every = (1 << bits) - 1
    at = chance.randrange(bits)
    match chance.randrange(6):
        case 0:
            return chance.randrange(9)
        case 1:
            return chance.choice((every, every >> 1, 1 << bits - 1, every - 1))
        case 2:
            return 1 << at
        case 3:
            return (1 << at) - 1
        case 4:
            return every ^ (1 << at) - 1
        case _:
            return chance.getrandbits(bits)


def _move(chance: Random) -> str:
    """Move bits from one bank to another, or read a value of the launch."""
    if chance.random() < 0.2:
        return f"mov.u32 {register(chance, 'w')}, {chance.choice(_SPECIAL)};"
    pair = chance.choice(_BETWEEN)
    to, source = pair if chance.random() < 0.5 else pair[::-1]
    return f"mov.b{BANKS[to].bits} {register(chance, to)}, {register(chance, source)};"


def register(chance: Random, letter: str) -> str:
    """A random register of a bank."""
    return f"%{letter}{chance.randrange(BANKS[letter].count)}"


class _Writer:
    """One instruction, its declarations, and the code before and after it."""

    def __init__(self, chance: Random, words: Vocabulary) -> None:
        self.chance, self.words = chance, words
        self.declared: list[str] = []
        self.before: list[str] = []
        self.after: list[str] = []
        self.written: set[str] = set()
        self.constants = 1 if chance.random() < _A_CONSTANT else 0
        self.taken: set[str] = set()

    def step(self, path: Path) -> Step:
        if _APPROXIMATE.intersection(path.form.filling.values()) and "folded" not in self.words.idioms:
            self.constants = 0
        texts: list[str] = []
        for slot in path.slots:
            text = self.spelled(slot.operand, path)
            texts.append(f"[{text}]" if slot.bracketed else text)
            if slot.partner is not None:
                texts[-1] += f"|{self.spelled(slot.partner, path)}"
        if path.reads_carry:
            self.before.append(f"add.cc.u32 %z, {register(self.chance, 'w')}, {register(self.chance, 'w')};")
            self.declared.append(".reg .b32 %z;")
        if path.writes_carry:
            self.after.append(f"addc.u32 {register(self.chance, 'w')}, 0, 0;")
        if path.cell is not None and path.form.opcode in WHOLE_WARP:
            self.before.append(f"bar.warp.sync {EVERY_LANE};")
            self.after.insert(0, f"bar.warp.sync {EVERY_LANE};")
        if has_open_nan(path) and "nan-bits" not in self.words.idioms:
            self.close_nan(path)
        text = f"{path.form.spelling} {', '.join(texts)};"
        if not (self.declared or self.before or self.after):
            guarded = guardable(path, self.words.idioms) and self.chance.random() < _A_GUARD
            negated = "!" if self.chance.random() < 0.5 else ""
            return Step(text, f"@{negated}{register(self.chance, 'p')} " if guarded else "")
        return Step(f"{{ {' '.join([*self.declared, *self.before, text, *self.after])} }}")

    def close_nan(self, path: Path) -> None:
        """Give every NaN that it leaves the same bits."""
        banks = {bank.letter: one for one in path.operands if one.role == "kept" and (bank := bank_of(one))}
        for name in sorted(self.written):
            letter = name[1]
            if letter in _QUIET:
                kind, bits = banks[letter].type.name, BANKS[letter].bits
                self.after += [f"setp.nan.{kind} %nan, {name}, {name}; @%nan mov.b{bits} {name}, {_QUIET[letter]};"]
            elif letter == "x":
                self.after.append(f"and.b32 {name}, {name}, 0x3fff3fff;")
        self.declared.append(".reg .pred %nan;")

    def spelled(self, operand: Operand, path: Path) -> str:
        if operand.role == "text":
            return operand.text
        if operand.role == "cell":
            return self.address(operand, path)
        if operand.name == "e" and path.form.filling.get("sparse"):
            return self.metadata()
        names = self.results(operand, path) if operand.role == "kept" else self.sources(operand, path)
        return "{" + ", ".join(names) + "}" if operand.braced else names[0]

    def sources(self, operand: Operand, path: Path) -> list[str]:
        bank = bank_of(operand)
        if bank is None:
            self.declared.append(f".reg .b8 %{operand.name}<{operand.registers}>;")
            names = [f"%{operand.name}{at}" for at in range(operand.registers)]
            self.before += [f"cvt.u8.u16 {name}, {register(self.chance, 'h')};" for name in names]
            return names
        rule = path.form.spec.operands[operand.name]
        may = rule.kind == "value" and operand.type.count == 1 and all(word != "bare" for word, _ in rule.traits)
        if may and self.constants and not operand.braced and bank.letter in "wdhfe":
            self.constants -= 1
            return [self.literal(operand, bank.letter)]
        letter, count = bank.letter, operand.registers
        if among(path.form.opcode, "ordered") and letter in _QUIET and "nan-bits" not in self.words.idioms:
            name = self.chance.choice([one for one in bank if one not in self.taken])
            self.taken.add(name)
            return [name]
        return [register(self.chance, letter) for _ in range(count)]

    def literal(self, operand: Operand, letter: str) -> str:
        bits = BANKS[letter].bits
        value = constant(self.chance, bits)
        if letter in "fe":
            if "nan-bits" not in self.words.idioms and value & _INFINITE[letter] == _INFINITE[letter]:
                value ^= 1 << bits - 2
            return f"0{'f' if bits == 32 else 'd'}{value:0{bits // 4}X}"
        if operand.type.kind is Kind.SIGNED and value >> bits - 1:
            return str(value - (1 << bits))
        return str(value)

    def results(self, operand: Operand, path: Path) -> list[str]:
        """The written registers, each only once: those of a bank; surplus ones are folded into one of them."""
        bank, count = bank_of(operand), operand.registers
        if bank is None:
            self.declared.append(f".reg .b8 %{operand.name}<{count}>;")
            names = [f"%{operand.name}{at}" for at in range(count)]
            self.after += [f"cvt.u16.u8 {register(self.chance, 'h')}, {name};" for name in names]
            return names
        free = [name for name in bank if name not in self.written]
        apart = path.form.opcode in PRODUCTS and "overwritten" not in self.words.idioms
        if count <= len(free):
            names = self.chance.sample(free, count)
            self.written.update(names)
            return self.apart(names, bank, operand) if apart else names
        names = [f"%{operand.name}{at}_" for at in range(count)]
        kind, whole = f"b{bank.bits}", BANKS[{16: "h", 32: "w", 64: "d"}[bank.bits]]
        self.declared.append(f".reg .{kind} {', '.join(names)}, %m;")
        for at, name in enumerate(names):
            into = f"%{whole.letter}{at % whole.count}"
            self.after += [f"mov.{kind} %m, {name}; xor.{kind} {into}, {into}, %m;"]
        return names

    def apart(self, names: list[str], bank: Bank, operand: Operand) -> list[str]:
        """Registers of its own for each result, moved to those of a bank after the instruction."""
        own = [f"%{operand.name}{at}_" for at in range(len(names))]
        self.declared.append(f".reg .b{bank.bits} {', '.join(own)};")
        self.after += [f"mov.b{bank.bits} {name}, {one};" for name, one in zip(names, own, strict=True)]
        return own

    def metadata(self) -> str:
        """The kept elements of sparse rows: a legal choice for every type."""
        value = sum(self.chance.choice((0b0100, 0b1110)) << 4 * at for at in range(8))
        self.declared.append(".reg .b32 %meta;")
        self.before.append(f"mov.u32 %meta, {value};")
        return "%meta"

    def address(self, cell: Operand, path: Path) -> str:
        """The thread's own cell, or that of its warp; a part of it with the size of the access."""
        home = cell.home.removesuffix("::cta")
        if cell.whole:
            if cell.space:
                return "%zw"
            self.declared.append(".reg .b64 %g;")
            self.before.append("cvta.shared.u64 %g, %zw;")
            return "%g"
        name = {"global": "%ag", "shared": "%as", "local": "%al"}[home]
        if not cell.space:
            name = {"%ag": "%gg", "%as": "%gs"}[name]
        if not among(path.form.opcode, "accesses"):
            return name
        moved = max(one.registers for one in path.operands if one.role in {"kept", "drawn"})
        size = 1 << (max(cell.type.storage_bits // 8, 1) * moved - 1).bit_length()
        offset = size * self.chance.randrange(max(1, CELL_BYTES // size))
        return f"{name}+{offset}" if offset else name
