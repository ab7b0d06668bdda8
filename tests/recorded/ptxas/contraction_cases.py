"""Random products and sums, and what is computed of them: expressions distinguished by a digest each.

`tools/record/contraction.py` asks ptxas what it makes of these programs, and keeps the digests of what its machine code
computes; the tests hold the machine's own fusing to them.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import random
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

FILE: Final = Path(__file__).parent / "contraction.json.xz"
INPUTS: Final = 6
_CONSTANTS: Final = ("0f40A00000", "0f40400000", "0f3F000000", "0fC0400000", "0f00000000", "0f80000000")
_CONTAINERS: Final = {"f64": 64, "f32x2": 64, "f16": 16, "bf16": 16}


class Value(NamedTuple):
    """What a register holds: an expression, and whether its sign is changed."""

    negative: bool
    expression: str

    def turned(self) -> Value:
        """The same with the other sign."""
        return Value(not self.negative, self.expression)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def leaf(name: str) -> Value:
    """An input."""
    return Value(False, _digest("in", name))


def number(value: float) -> Value:
    """A constant."""
    return Value(str(value).startswith("-"), _digest("number", repr(abs(value))))


_ONE: Final = number(1.0)
_TWO: Final = number(2.0)
_NOTHING: Final = number(-0.0)  # added to anything


def product(flags: Sequence[str], a: Value, b: Value) -> Value:
    """A product, rounded once."""
    for one, other in ((a, b), (b, a)):
        if one.expression == _ONE.expression and not flags:
            return Value(one.negative != other.negative, other.expression)
    sign = a.negative != b.negative
    inside = "-" if sign and "sat" in flags else ""
    found = _digest(f"mul{inside}", *sorted(flags), *sorted((a.expression, b.expression)))
    return Value(sign and not inside, found)


def total(flags: Sequence[str], a: Value, b: Value) -> Value:
    """A sum, rounded once."""
    if not flags and _NOTHING in {a, b}:
        return b if a == _NOTHING else a
    if a == b and "sat" not in flags:
        return product(flags, a, _TWO)
    return Value(False, _digest("add", *sorted(flags), *sorted(map(repr, (a, b)))))


def fused(flags: Sequence[str], a: Value, b: Value, c: Value) -> Value:
    """A product and a sum, rounded once together."""
    for one, other in ((a, b), (b, a)):
        if one.expression == _ONE.expression:
            return total(flags, Value(one.negative != other.negative, other.expression), c)
    if not flags and c == _NOTHING:
        return product(flags, a, b)
    sign = str(a.negative != b.negative)
    return Value(False, _digest("fma", *sorted(flags), sign, *sorted((a.expression, b.expression)), repr(c)))


@dataclass(frozen=True, slots=True)
class Mixture:
    """Of what programs are made.

    Attributes:
        type: What they compute in.
        count: How many programs.
        length: Instructions in each.
        opcodes: What is drawn from, with qualifiers before the type.
        constants: The share of operands that are constants.
        reuse: The share of results that go to a register that has been used.
        kept: The share of results that are stored though something else reads them.
    """

    type: str
    count: int
    length: int
    opcodes: tuple[str, ...] = ("mul", "mul", "add", "sub")
    constants: float = 0.0
    reuse: float = 0.0
    kept: float = 0.1
    target: str = "sm_90"


_FLAGGED: Final = (*("mul", "mul.ftz", "mul.rn", "mul.sat", "add", "add.ftz", "add.sat", "sub", "sub.ftz", "sub.rn"),)
MIXTURES: Final = {
    "short": Mixture("f32", 120, 5),
    "long": Mixture("f32", 120, 16, ("mul", "add", "add", "sub"), kept=0.05),
    "longest": Mixture("f32", 40, 24, ("mul", "add", "add", "sub"), kept=0.03),
    "signs": Mixture("f32", 80, 10, ("mul", "mul", "add", "sub", "neg")),
    "fma": Mixture("f32", 60, 10, ("mul", "mul", "add", "sub", "fma.rn")),
    "flags": Mixture("f32", 120, 12, _FLAGGED),
    "constants": Mixture("f32", 60, 10, constants=0.2),
    "written again": Mixture("f32", 120, 12, ("mul", "mul", "add", "sub", "mov", "neg"), reuse=0.4),
    "f64": Mixture("f64", 80, 10, ("mul", "mul", "add", "sub", "neg"), reuse=0.1),
    "f16": Mixture("f16", 60, 8),
    "f16x2": Mixture("f16x2", 60, 8),
    "bf16": Mixture("bf16", 60, 8),
    "bf16x2": Mixture("bf16x2", 60, 8),
    "f32x2": Mixture("f32x2", 60, 8, target="sm_100"),
}


@dataclass(slots=True)
class Case:
    """A straight program: its instructions, and the registers that it stores."""

    type: str
    target: str
    lines: list[str] = field(default_factory=list[str])
    outputs: list[str] = field(default_factory=list[str])

    def entry(self, name: str) -> str:
        """The program as a kernel."""
        bits = _CONTAINERS.get(self.type, 32)
        loads = "".join(f"ld.global.b{bits} a{at}, [i+{at * bits // 8}];\n" for at in range(INPUTS))
        stores = "".join(f"st.global.b{bits} [o+{at * bits // 8}], {one};\n" for at, one in enumerate(self.outputs))
        return (
            f".visible .entry {name}(.param .u64 in, .param .u64 out)\n{{\n"
            f".reg .b{bits} a<{INPUTS}>, t<64>;\n.reg .b64 i, o;\nld.param.u64 i, [in];\nld.param.u64 o, [out];\n"
            f"{loads}{''.join(f'{line};{chr(10)}' for line in self.lines)}{stores}ret;\n}}\n"
        )


def cases(mixture: Mixture) -> list[Case]:
    """The programs of a mixture, the same each time."""
    chance = random.Random(repr(mixture))
    return [_drawn(chance, mixture) for _ in range(mixture.count)]


def _drawn(chance: random.Random, mixture: Mixture) -> Case:
    """A program in which no product is computed twice: ptxas would sometimes take two for one."""
    case = Case(mixture.type, mixture.target)
    results: list[str] = []
    unread: dict[str, None] = {}
    held = {f"a{at}": leaf(str(at)) for at in range(INPUTS)}
    products: set[str] = set()
    while len(case.lines) < mixture.length:
        opcode, *flags = chance.choice(mixture.opcodes).split(".")
        count = {"neg": 1, "mov": 1, "fma": 3}.get(opcode, 2)
        operands = [_operand(chance, mixture, results, last=at == count - 1 > 0) for at in range(count)]
        again = [one for one in results if one not in unread or one in operands]
        result = chance.choice(again) if again and chance.random() < mixture.reuse else f"t{len(case.lines)}"
        values = [held[one] if one in held else leaf(one) for one in operands]
        found = _result(opcode, [], values)
        if opcode == "mul" and found.expression in products:
            continue
        products.add(found.expression)
        held[result] = found
        for one in operands:
            unread.pop(one, None)
        type_ = f"b{_CONTAINERS.get(mixture.type, 32)}" if opcode == "mov" else mixture.type
        case.lines.append(f"{'.'.join((opcode, *flags, type_))} {result}, {', '.join(operands)}")
        unread[result] = None
        results = [*(one for one in results if one != result), result]
    case.outputs = [one for one in results if one in unread or chance.random() < mixture.kept]
    return case


def _operand(chance: random.Random, mixture: Mixture, results: Sequence[str], *, last: bool) -> str:
    if last and chance.random() < mixture.constants:
        return chance.choice(_CONSTANTS)
    if results and chance.random() < 0.6:
        return chance.choice(results)
    return f"a{chance.randrange(INPUTS)}"


def module_text(programs: Sequence[Case]) -> str:
    """Programs of one target as the kernels `k0`, `k1`, ... of a module."""
    head = f".version 8.8\n.target {programs[0].target}\n.address_size 64\n"
    return head + "".join(one.entry(f"k{at}") for at, one in enumerate(programs))


def computed(body: Iterable[tree.Statement]) -> str:
    """What straight PTX stores, in the order of the addresses."""
    held: dict[str, Value] = {}
    stored: dict[int, Value] = {}
    for node in body:
        if isinstance(node, tree.Instruction):
            _compute(node, held, stored)
    return summary(stored)


def summary(stored: Mapping[int, Value]) -> str:
    """All that is stored, as one digest."""
    return _digest(*(repr(stored[at]) for at in sorted(stored)))


def _compute(node: tree.Instruction, held: dict[str, Value], stored: dict[int, Value]) -> None:
    flags = [one for one in node.qualifiers if one in {"ftz", "sat"}]
    match node.opcode, node.operands:
        case "ld", (tree.Name(to), tree.Address(_, offset)):
            if "global" in node.qualifiers:
                held[to] = leaf(str(offset))
        case "st", (tree.Address(_, offset), tree.Name(source)):
            stored[offset] = held[source]
        case "ret", _:
            pass
        case opcode, (tree.Name(to), *sources):
            values = [_value(one, held) for one in sources]
            if opcode == "sub":
                values[1] = values[1].turned()
            held[to] = _result(opcode, flags, values)
        case _:
            raise AssertionError(node)


def _value(operand: tree.Operand, held: dict[str, Value]) -> Value:
    match operand:
        case tree.Name(text):
            return held[text]
        case tree.Float():
            return number(operand.value)
        case _:
            return leaf("a constant")


def _result(opcode: str, flags: list[str], values: list[Value]) -> Value:
    match opcode:
        case "mov":
            return values[0]
        case "neg" | "xor":  # the signs of a pair
            return values[0].turned()
        case "mul":
            return product(flags, values[0], values[1])
        case "add" | "sub":
            return total(flags, values[0], values[1])
        case _:
            return fused(flags, values[0], values[1], values[2])


def given(mixture: Mixture) -> NDArray[np.uint8]:
    """What the programs of a mixture are given: numbers near to each other, so that a sum keeps bits of a product."""
    chance = np.random.default_rng(len(repr(mixture)))
    numbers = chance.uniform(0.5, 2.0, 2 * INPUTS) * chance.choice((-1.0, 1.0), 2 * INPUTS)
    match mixture.type.removesuffix("x2"):
        case "f64":
            return numbers[:INPUTS].view(np.uint8)
        case "f32":
            return numbers.astype(np.float32).view(np.uint8)
        case "f16":
            return numbers.astype(np.float16).view(np.uint8)
        case _:
            return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view(np.uint8)


def stored_bytes(case: Case) -> int:
    """How many bytes a program stores."""
    return len(case.outputs) * _CONTAINERS.get(case.type, 32) // 8


@dataclass(frozen=True, slots=True)
class Recorded:
    """What ptxas said.

    Attributes:
        stored: By mixture, for each program what its machine code stores.
        fused: For each of `FORMS` how many sums are fused.
    """

    ptxas: str
    stored: dict[str, list[str]]
    fused: dict[str, int]


def recorded() -> Recorded:
    """What was recorded of ptxas."""
    with lzma.open(FILE, "rt", encoding="utf-8") as file:
        return Recorded(**json.load(file))


def keep(said: Recorded) -> None:
    """Write a recording."""
    FILE.write_bytes(lzma.compress(json.dumps(asdict(said)).encode(), preset=9))


_GUARD: Final = "@p1"
_BETWEEN: Final = (
    *("bar.sync 0", "bar.warp.sync -1", "membar.cta", "membar.gl", "fence.acq_rel.gpu", "fence.proxy.async"),
    *("atom.global.add.u32 r1, [o], 1", "red.global.add.f32 [o], a4", "ld.acquire.gpu.global.b32 r1, [i+60]"),
    *("shfl.sync.bfly.b32 r1, r2, 1, 31, -1", "vote.sync.ballot.b32 r1, p1, -1", "redux.sync.add.s32 r1, r2, -1"),
    *("activemask.b32 r1", "match.any.sync.b32 r1, r2, -1", "nanosleep.u32 20", "brkpt", "cp.async.wait_all"),
    *("div.s32 r1, r2, r3", "rem.s32 r1, r2, r3", "div.u32 r1, r2, r3", "rem.u32 r1, r2, r3"),
    *("div.rn.f32 r1, a4, a5", "div.rz.ftz.f32 r1, a4, a5", "div.approx.f32 r1, a4, a5", "div.full.f32 r1, a4, a5"),
    *("sqrt.rn.f32 r1, a4", "sqrt.approx.f32 r1, a4", "rcp.rn.f32 r1, a4", "rcp.approx.f32 r1, a4"),
    *("rsqrt.approx.f32 r1, a4", "ex2.approx.f32 r1, a4", "lg2.approx.f32 r1, a4", "sin.approx.f32 r1, a4"),
    *("div.rn.f64 d1, d2, d3", "sqrt.rn.f64 d1, d2", "rcp.rn.f64 d1, d2", "rsqrt.approx.f64 d1, d2"),
    *("rcp.approx.ftz.f64 d1, d2", "div.s64 d1, d2, d3", "rem.u64 d1, d2, d3", "mul.lo.u64 d1, d2, d3"),
    *(f"{_GUARD} {one}" for one in ("st.global.b32 [o+64], r2", "ld.global.b32 r1, [i+64]", "bar.sync 0", "membar.gl")),
    *(f"{_GUARD} {one}" for one in ("atom.global.add.u32 r1, [o], 1", "mov.b32 r1, r2", "add.s32 r1, r2, r3")),
    *(f"{_GUARD} {one}" for one in ("shfl.sync.bfly.b32 r1, r2, 1, 31, -1", "activemask.b32 r1", "mul.f32 r1, a4, a5")),
    *(f"{_GUARD} {one}" for one in ("sin.approx.f32 r1, a4", "div.u32 r1, r2, r3", "prefetch.global.L2 [i]", "trap")),
    *(f"{_GUARD} {one}" for one in ("ret", "exit", "ld.param.b64 d1, [in]", "lop3.b32 r1, r2, r3, r1, 0x96")),
)
_LOOP: Final = 'mov.b32 r1, 0; L: .pragma "nounroll"; {0} add.s32 r1, r1, 1; setp.lt.s32 p3, r1, r2; @p3 bra L; {1}'
_PRODUCT: Final = "mul.f32 t0, a0, a1;"
_SUM: Final = "add.f32 t1, t0, a2; st.global.f32 [o], t1;"
_WAYS: Final = {
    "across a branch": f"{_PRODUCT} @p1 bra L; bar.sync 0; {_SUM} L:",
    "behind a branch": f"{_PRODUCT} @p1 bra L; bar.sync 0; st.global.b32 [o+4], r2; L: {_SUM}",
    "in one arm": f"@p1 bra L; bar.sync 0; {_PRODUCT} {_SUM} L:",
    "a branch to the next line": f"{_PRODUCT} bra L; L: {_SUM}",
    "a guarded branch to the next line": f"{_PRODUCT} @p1 bra L; L: {_SUM}",
    "read in another block as well": f"{_PRODUCT} {_SUM} @p1 bra L; bar.sync 0; add.f32 t2, t0, a3; "
    "st.global.f32 [o+4], t2; L:",
    "a guarded sum": f"mov.b32 t1, a3; {_PRODUCT} @p1 add.f32 t1, t0, a2; st.global.f32 [o], t1;",
    "a guarded product": f"mov.b32 t0, a3; @p1 {_PRODUCT} {_SUM}",
    "both guarded": f"mov.b32 t0, a3; mov.b32 t1, a4; @p1 {_PRODUCT} @p1 add.f32 t1, t0, a2; st.global.f32 [o], t1;",
    "overwritten under a guard": f"{_PRODUCT} add.f32 t2, t0, a3; st.global.f32 [o+4], t2; @p1 mov.b32 t0, a4; {_SUM}",
    "a sum in a loop": _LOOP.format(
        "ld.volatile.global.f32 t2, [i+64]; mul.f32 t0, a0, t2; add.f32 a3, a3, t0;", "st.global.f32 [o], a3;"
    ),
    "a product before a loop": f"{_PRODUCT} "
    + _LOOP.format("ld.volatile.global.f32 t2, [i+64]; add.f32 t3, t0, t2; st.global.f32 [o], t3;", ""),
    "a product in a loop, a sum behind it": _LOOP.format(
        "ld.volatile.global.f32 t2, [i+64]; mul.f32 t0, a0, t2;", _SUM
    ),
    "a product of the round before": "mov.b32 t0, a3; "
    + _LOOP.format(
        "ld.volatile.global.f32 t2, [i+64]; add.f32 a4, a4, t0; mul.f32 t0, a0, t2;", "st.global.f32 [o], a4;"
    ),
    "in inner braces": f"{{ .reg .f32 z; mul.f32 z, a0, a1; mov.b32 t0, z; }} {_SUM}",
    "a factor written since": f"{_PRODUCT} add.f32 a0, a3, a4; st.global.f32 [o+4], a0; {_SUM}",
    "both in place": "mul.f32 a0, a0, a1; add.f32 a0, a0, a2; st.global.f32 [o], a0;",
    "a sign by xor": f"mul.f32 t2, a0, a1; xor.b32 t0, t2, 0x80000000; {_SUM}",
    "a magnitude": f"mul.f32 t2, a0, a1; abs.f32 t0, t2; {_SUM}",
    "a choice": f"mul.f32 t2, a0, a1; selp.f32 t0, t2, a3, p1; {_SUM}",
    "a sum with itself": f"{_PRODUCT} add.f32 t1, t0, t0; st.global.f32 [o], t1;",
    "a quotient, full": f"div.full.f32 t0, a0, a1; {_SUM}",
    "a quotient, approximate": f"div.approx.f32 t0, a0, a1; {_SUM}",
    "a quotient, rounded": f"div.rn.f32 t0, a0, a1; {_SUM}",
    "a reciprocal": f"rcp.approx.f32 t0, a0; {_SUM}",
    "a reciprocal that flushes": "rcp.approx.ftz.f32 t0, a0; add.ftz.f32 t1, t0, a2; st.global.f32 [o], t1;",
    "a root": f"sqrt.approx.f32 t0, a0; {_SUM}",
    "a power": f"ex2.approx.f32 t0, a0; {_SUM}",
}
FORMS: Final = {one: f"{_PRODUCT} {one}; {_SUM}" for one in _BETWEEN} | _WAYS
"""Bodies of kernels of which only is asked how many sums are fused: what stands between, and ways that control goes."""


def forms_text() -> str:
    """The kernels `k0`, `k1`, ... of `FORMS`."""
    loads = "".join(f"ld.global.b32 {name}, [i+{4 * at}];\n" for at, name in enumerate(("r2", "r3", *_named("a", 6))))
    head = (
        "(.param .u64 in, .param .u64 out)\n{\n.reg .b32 a<6>, t<6>, r<4>;\n.reg .b64 i, o, d<4>;\n"
        f".reg .pred p<4>;\nld.param.u64 i, [in];\nld.param.u64 o, [out];\n{loads}mov.b32 r1, r3;\n"
        "ld.global.b64 d2, [i+48];\nld.global.b64 d3, [i+56];\nmov.b64 d1, d2;\nsetp.gt.s32 p1, r2, 3;\n"
    )
    tail = "st.global.b32 [o+16], r1;\nst.global.b64 [o+24], d1;\nret;\n}\n"
    kernels = (f".visible .entry k{at}{head}{body}\n{tail}" for at, body in enumerate(FORMS.values()))
    return f".version 8.8\n.target sm_90\n.address_size 64\n{''.join(kernels)}"


def _named(stem: str, count: int) -> tuple[str, ...]:
    return tuple(f"{stem}{at}" for at in range(count))
