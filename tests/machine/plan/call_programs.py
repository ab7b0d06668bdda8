"""Programs of nothing but calls, made by chance, and what they compute by plain Python.

A program is a few functions over registers of every width, predicates, vectors and arrays in local memory, all of which
stay alive to the end of their function, where they are hashed into its result. Between, they call each other: directly,
through addresses that differ from lane to lane, under predicates, in loops, recursively, and the services of CUDA's
run-time. Whatever a call did not keep shows in the hash.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final, TypeAlias

WORDS, WIDES, HALVES, BYTES, FLAGS, CELLS = 4, 2, 2, 1, 3, 4
DEPTH: Final = 3  # of calls below the kernel's
_M32: Final = (1 << 32) - 1
_M64: Final = (1 << 64) - 1
_PRIME: Final = 0x01000193

HEAD: Final = """.version 8.8
.target sm_90
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.global .align 1 .b8 form[3] = {37, 117, 0};
"""
_REGISTERS: Final = f"""
.reg .b32 %w<{WORDS}>; .reg .b64 %d<{WIDES}>; .reg .b16 %h<{HALVES}>; .reg .b8 %c<{BYTES}>; .reg .pred %p<{FLAGS}>;
.reg .v4 .b32 %v; .reg .b128 %q; .reg .b16 %h0x; .reg .pred %go, %s; .reg .b32 %n, %i<4>, %t<4>, %x, %sum;
.reg .b64 %a<4>, %o;
.local .align 8 .b32 cells[{CELLS}];
"""


@dataclass(slots=True)
class State:
    """What a function holds: the registers of one thread, its array in local memory."""

    words: list[int]
    wides: list[int]
    halves: list[int]
    bytes: list[int]
    flags: list[bool]
    vector: list[int]
    quad: list[int]
    cells: list[int]


def fresh(seed: int) -> State:
    """What a function starts with."""

    def mixed(number: int) -> int:
        return (seed * 0x9E3779B1 + number * 0x85EBCA6B) & _M32

    wides = [(mixed(20 + n) << 32 | mixed(30 + n)) & _M64 for n in range(WIDES)]
    return State(
        [mixed(n) for n in range(WORDS)],
        wides,
        [mixed(40 + n) & 0xFFFF for n in range(HALVES)],
        [mixed(50 + n) & 0xFF for n in range(BYTES)],
        [bool(mixed(60 + n) >> 7 & 1) for n in range(FLAGS)],
        [mixed(70 + n) for n in range(4)],
        [mixed(80 + n) for n in range(4)],
        [mixed(90 + n) for n in range(CELLS)],
    )


def start() -> str:
    """The same as PTX; the seed is in `%x`."""
    lines = ["mul.lo.u32 %t0, %x, 0x9E3779B1;"]

    def mixed(number: int, target: str) -> None:
        lines.append(f"add.u32 {target}, %t0, {number * 0x85EBCA6B & _M32};")

    for n in range(WORDS):
        mixed(n, f"%w{n}")
    for n in range(WIDES):
        mixed(20 + n, "%t1")
        mixed(30 + n, "%t2")
        lines.append(f"mov.b64 %d{n}, {{%t2, %t1}};")
    for n in range(HALVES):
        mixed(40 + n, "%t1")
        lines.append(f"cvt.u16.u32 %h{n}, %t1;")
    for n in range(BYTES):
        mixed(50 + n, "%t1")
        lines.append(f"cvt.u8.u32 %c{n}, %t1;")
    for n in range(FLAGS):
        mixed(60 + n, "%t1")
        lines.append(f"and.b32 %t1, %t1, 128; setp.ne.u32 %p{n}, %t1, 0;")
    for n, field_ in enumerate("xyzw"):
        mixed(70 + n, f"%v.{field_}")
    for n in range(4):
        mixed(80 + n, f"%t{n}" if n else "%i0")
    lines += ["mov.b64 %a0, {%i0, %t1}; mov.b64 %a1, {%t2, %t3}; mov.b128 %q, {%a0, %a1};"]
    for n in range(CELLS):
        lines.append("mul.lo.u32 %t0, %x, 0x9E3779B1;" if n == 0 else "")
        mixed(90 + n, "%t1")
        lines.append(f"st.local.b32 [cells+{4 * n}], %t1;")
    return "\n".join(lines)


def digest(state: State) -> int:
    """The hash of all that a function holds."""
    values = [
        *state.words,
        *(part for wide in state.wides for part in (wide & _M32, wide >> 32)),
        *state.halves,
        *state.bytes,
        *map(int, state.flags),
        *state.vector,
        *state.quad,
        *state.cells,
    ]
    total = 0x811C9DC5
    for value in values:
        total = (total ^ value) * _PRIME & _M32
    return total


def finish() -> str:
    """The same as PTX, into `%sum`."""
    lines = ["mov.u32 %sum, 0x811C9DC5;"]

    def take(source: str) -> None:
        lines.append(f"xor.b32 %sum, %sum, {source}; mul.lo.u32 %sum, %sum, {_PRIME};")

    for n in range(WORDS):
        take(f"%w{n}")
    for n in range(WIDES):
        lines.append(f"mov.b64 {{%t1, %t2}}, %d{n};")
        take("%t1")
        take("%t2")
    for n in range(HALVES):
        lines.append(f"cvt.u32.u16 %t1, %h{n};")
        take("%t1")
    for n in range(BYTES):
        lines.append(f"cvt.u32.u8 %t1, %c{n};")
        take("%t1")
    for n in range(FLAGS):
        lines.append(f"selp.u32 %t1, 1, 0, %p{n};")
        take("%t1")
    for field_ in "xyzw":
        take(f"%v.{field_}")
    lines.append("mov.b128 {%a0, %a1}, %q; mov.b64 {%t0, %t1}, %a0; mov.b64 {%t2, %t3}, %a1;")
    for n in range(4):
        take(f"%t{n}")
    for n in range(CELLS):
        lines.append(f"ld.local.b32 %t1, [cells+{4 * n}];")
        take("%t1")
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to pass a seed, a depth and an address, and to give a word back (or two, to be added).

    Attributes:
        head: The function's head, without its name.
        prototype: The same in a prototype.
        take: How the function gets `%x`, `%n` and `%o`.
        give: How it returns `%sum`.
        call: What stands around the call, in braces of its own; gives `%t0`.
    """

    head: tuple[str, str]
    prototype: tuple[str, str]
    take: str
    give: str
    call: tuple[str, str, str, str]


SHAPES: Final = (
    Shape(
        (".param .b32 r", ".param .b32 x, .param .b32 n, .param .b64 o"),
        (".param .b32 _", ".param .b32 _, .param .b32 _, .param .b64 _"),
        "ld.param.b32 %x, [x]; ld.param.b32 %n, [n]; ld.param.b64 %o, [o];",
        "st.param.b32 [r], %sum;",
        (
            (
                ".param .b32 px; .param .b32 pn; .param .b64 po; .param .b32 pr; "
                "st.param.b32 [px], %t2; st.param.b32 [pn], %t3; st.param.b64 [po], %a3;"
            ),
            "(pr)",
            "(px, pn, po)",
            "ld.param.b32 %t0, [pr];",
        ),
    ),
    Shape(
        (".reg .b32 r", ".reg .b32 x, .reg .b32 n, .reg .b64 o"),
        (".reg .b32 _", ".reg .b32 _, .reg .b32 _, .reg .b64 _"),
        "mov.b32 %x, x; mov.b32 %n, n; mov.b64 %o, o;",
        "mov.b32 r, %sum;",
        ("", "(%t0)", "(%t2, %t3, %a3)", ""),
    ),
    Shape(
        (".param .b64 r", ".param .align 8 .b8 s[16]"),
        (".param .b64 _", ".param .align 8 .b8 _[16]"),
        "ld.param.b32 %x, [s]; ld.param.b32 %n, [s+4]; ld.param.b64 %o, [s+8];",
        "xor.b32 %t0, %sum, %x; mov.b64 %a0, {%t0, %sum}; st.param.b64 [r], %a0;",
        (
            (
                ".param .align 8 .b8 ps[16]; .param .b64 pr; "
                "st.param.b32 [ps], %t2; st.param.b32 [ps+4], %t3; st.param.b64 [ps+8], %a3;"
            ),
            "(pr)",
            "(ps)",
            "ld.param.b64 %a0, [pr]; mov.b64 {%t0, %t1}, %a0; add.u32 %t0, %t0, %t1;",
        ),
    ),
)
TWO: Final = 2  # the shape that gives two words


# -- what a function does


@dataclass(frozen=True, slots=True)
class Mix:
    """Change one register by another."""

    target: int
    source: int

    def run(self, state: State) -> None:
        """The change in Python."""
        source = state.words[self.source]
        match self.target % 7:
            case 0:
                state.words[0] = state.words[0] * 3 + source & _M32
            case 1:
                state.wides[1] = state.wides[1] + source & _M64
            case 2:
                state.halves[1] = state.halves[1] ^ source & 0xFFFF
            case 3:
                state.flags[1] = state.flags[1] ^ (source & 4 != 0)
            case 4:
                state.vector[2] = state.vector[2] ^ source
            case 5:
                state.cells[3] = state.cells[3] + source & _M32
            case _:
                state.bytes[0] = source >> 8 & 0xFF

    def text(self) -> str:
        """The change as PTX."""
        source = f"%w{self.source}"
        return (
            f"mad.lo.u32 %w0, %w0, 3, {source};",
            f"cvt.u64.u32 %a0, {source}; add.u64 %d1, %d1, %a0;",
            f"cvt.u16.u32 %h0x, {source}; xor.b16 %h1, %h1, %h0x;",
            f"and.b32 %t1, {source}, 4; setp.ne.u32 %s, %t1, 0; xor.pred %p1, %p1, %s;",
            f"xor.b32 %v.z, %v.z, {source};",
            f"ld.local.b32 %t1, [cells+12]; add.u32 %t1, %t1, {source}; st.local.b32 [cells+12], %t1;",
            f"shr.u32 %t1, {source}, 8; cvt.u8.u32 %c0, %t1;",
        )[self.target % 7]


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call another function of the program, or one of two that agree, by a word's lowest bit.

    Attributes:
        guard: A predicate that the call stands under, and whether it is negated; None for neither.
        seed: The word passed to it.
        target: The word that its result is added to.
        times: How often, in a loop; 1 without one.
    """

    callees: tuple[int, ...]
    guard: tuple[int, bool] | None
    seed: int
    target: int
    times: int


@dataclass(frozen=True, slots=True)
class Serve:
    """Call a service: `malloc` and `free` around a use of the memory, or `vprintf`."""

    name: str
    word: int


Statement: TypeAlias = Mix | Invoke | Serve


@dataclass(frozen=True, slots=True)
class Function:
    """One function.

    Attributes:
        shape: Its place in `SHAPES`.
    """

    number: int
    shape: int
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class CallProgram:
    """Functions, of which the kernel calls the first."""

    functions: tuple[Function, ...]

    def value(self, function: int, seed: int, depth: int, cells: list[int]) -> int:
        """What a function gives; `cells` is its caller's array, to whose first element it adds."""
        state = fresh(seed)
        cells[0] = cells[0] + seed & _M32
        for statement in self.functions[function].body:
            match statement:
                case Mix():
                    statement.run(state)
                case Serve(word=word):
                    state.words[word] = state.words[word] ^ 5
                case Invoke():
                    if depth:
                        self._invoke(statement, state, depth)
        total = digest(state)
        return total << 32 | total ^ seed if self.functions[function].shape == TWO else total

    def _invoke(self, made: Invoke, state: State, depth: int) -> None:
        for time in range(made.times):
            if made.guard is not None and state.flags[made.guard[0]] is made.guard[1]:
                continue
            callee = made.callees[state.words[0] & 1 if len(made.callees) > 1 else 0]
            given = self.value(callee, state.words[made.seed] + time & _M32, depth - 1, state.cells)
            if self.functions[callee].shape == TWO:
                given = (given >> 32) + given & _M32
            state.words[made.target] = state.words[made.target] + given & _M32

    # -- as PTX

    def text(self) -> str:
        """The module; its kernel `k` takes an array of a word a thread."""
        heads = "".join(f"{self._head(f)};\n" for f in self.functions)
        bodies = "".join(self._function(f) for f in self.functions)
        return f"{HEAD}{heads}{bodies}{self._entry()}"

    def _head(self, f: Function) -> str:
        result, parameters = SHAPES[f.shape].head
        return f".func ({result}) f{f.number}({parameters})"

    def _function(self, f: Function) -> str:
        shape = SHAPES[f.shape]
        note = "ld.b32 %t0, [%o]; add.u32 %t0, %t0, %x; st.b32 [%o], %t0; setp.ne.u32 %go, %n, 0;"
        body = "\n".join(self._statement(s, number) for number, s in enumerate(f.body))
        lines = (shape.take, note, start(), body, finish(), shape.give)
        return "\n".join((f"{self._head(f)} {{{_REGISTERS}", *lines, "ret;\n}\n"))

    def _statement(self, statement: Statement, number: int) -> str:
        match statement:
            case Mix():
                return statement.text()
            case Serve(name="malloc", word=word):
                return (
                    "{ .param .b64 ps; .param .b64 pr; st.param.b64 [ps], 16; call (pr), malloc, (ps); "
                    f"ld.param.b64 %a1, [pr]; }} xor.b32 %t1, %w{word}, 5; st.b32 [%a1+4], %t1; ld.b32 %w{word}, "
                    "[%a1+4]; { .param .b64 ps; st.param.b64 [ps], %a1; call free, (ps); }"
                )
            case Serve(word=word):
                return (
                    "mov.u64 %a1, form; mov.u64 %a2, cells; cvta.local.u64 %a2, %a2; "
                    "{ .param .b64 pf; .param .b64 pv; .param .b32 pr; st.param.b64 [pf], %a1; st.param.b64 [pv], %a2; "
                    f"call (pr), vprintf, (pf, pv); }} xor.b32 %w{word}, %w{word}, 5;"
                )
            case Invoke():
                return self._call(statement, number)

    def _call(self, made: Invoke, number: int) -> str:
        shape = SHAPES[self.functions[made.callees[0]].shape]
        guard, name, choose, by = "", f"f{made.callees[0]}", "", ""
        if made.guard is not None:
            guard = f"@{'!' * made.guard[1]}%p{made.guard[0]} "
        if len(made.callees) > 1:
            one, other = made.callees
            choose = f"and.b32 %t1, %w0, 1; setp.eq.u32 %s, %t1, 1; mov.u64 %a1, f{one}; mov.u64 %a2, f{other};"
            choose += f"selp.b64 %a1, %a2, %a1, %s; P{number}: .callprototype ({shape.prototype[0]}) _ "
            choose += f"({shape.prototype[1]});"
            name, by = "%a1", f", P{number}"
        before, results, arguments, after = shape.call
        lines = (
            f"@!%go bra PAST{number};\nmov.u32 %i1, 0;\nAGAIN{number}:",
            f"add.u32 %t2, %w{made.seed}, %i1; sub.u32 %t3, %n, 1; mov.u64 %a3, cells; cvta.local.u64 %a3, %a3;",
            f"{{ {choose} {before} {guard}call {results}, {name}, {arguments}{by}; {after} }}",
            f"{guard}add.u32 %w{made.target}, %w{made.target}, %t0;",
            f"add.u32 %i1, %i1, 1; setp.lt.u32 %s, %i1, {made.times}; @%s bra AGAIN{number};\nPAST{number}:",
        )
        return "\n".join(lines)

    def _entry(self) -> str:
        before, results, arguments, after = SHAPES[self.functions[0].shape].call
        lines = (
            f".visible .entry k(.param .u64 out) {{{_REGISTERS}",
            "mov.u32 %x, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %x, 4, %o;",
            start(),
            f"mov.u32 %t2, %x; mov.u32 %t3, {DEPTH}; mov.u64 %a3, cells; cvta.local.u64 %a3, %a3;",
            f"{{ {before} call {results}, f0, {arguments}; {after} }} add.u32 %w1, %w1, %t0;",
            finish(),
            "st.global.u32 [%o], %sum;\nret;\n}\n",
        )
        return "\n".join(lines)

    def expected(self, thread: int) -> int:
        """What the kernel stores for a thread."""
        state = fresh(thread)
        given = self.value(0, thread, DEPTH, state.cells)
        if self.functions[0].shape == TWO:
            given = (given >> 32) + given & _M32
        state.words[1] = state.words[1] + given & _M32
        return digest(state)


def program(seed: int) -> CallProgram:
    """A program by a seed."""
    chance = random.Random(seed)
    count = chance.randrange(2, 5)
    shapes = [chance.randrange(3) for _ in range(count)]
    return CallProgram(tuple(Function(n, shapes[n], _body(chance, shapes, n)) for n in range(count)))


def _body(chance: random.Random, shapes: list[int], number: int) -> tuple[Statement, ...]:
    statements: list[Statement] = []
    calls = 0
    for _ in range(chance.randrange(3, 8)):
        match chance.randrange(4):
            case 0 | 1 if calls < 2:
                calls += 1
                first = chance.randrange(len(shapes))
                same = [n for n, shape in enumerate(shapes) if shape == shapes[first] and n != first]
                callees = (first, chance.choice(same)) if same and chance.randrange(2) else (first,)
                guard = (chance.randrange(FLAGS), bool(chance.randrange(2))) if chance.randrange(2) else None
                times = chance.choice((1, 1, 2))
                statements.append(Invoke(callees, guard, chance.randrange(WORDS), chance.randrange(WORDS), times))
            case 2:
                statements.append(Serve(chance.choice(("malloc", "vprintf")), chance.randrange(WORDS)))
            case _:
                statements.append(Mix(chance.randrange(7), chance.randrange(WORDS)))
    if not calls:
        statements.append(Invoke((number,), None, 0, 1, 1))
    return tuple(statements)
