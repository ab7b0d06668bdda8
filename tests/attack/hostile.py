"""Programs that are legal PTX and mean harm: forged addresses, counts, frames and calls, in every instruction."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from attack import device_launches, objects, tensor_memory
from attack.forging import FORGED, Forger
from kept import all_sources, kept
from ptxloom import check, parse
from ptxloom.isa import opcodes
from ptxloom.machine import UnsupportedInstruction, semantics
from ptxloom.machine.compile import variant
from ptxloom.machine.plan.planner import plan
from recorded.ptxas.mutation_cases import seeds

if TYPE_CHECKING:
    from pathlib import Path

_TARGETS: Final = ("sm_100a", "sm_103a", "sm_90a")  # wgmma is Hopper's alone, and some products are of one Blackwell
HEAD: Final = (
    """.version 9.0
.target TARGET
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .align 1 .b8 form[16] = {37, 49, 48, 48, 46, 51, 100, 37, 115, 37, 42, 108, 108, 120, 10, 0};
.visible .global .align 128 .b8 glo[256];
.const .align 16 .b8 con[64];
.shared .align 128 .b8 sha[1024];
.func (.param .b32 r) callee(.param .b32 a) { ret; }
.func plain() { ret; }
"""
    + objects.HEAD
)
_LAUNCHING: Final = 0.12  # of programs: a launch takes its room, and children their time
_OWN: Final = (
    """.local .align 16 .b8 loc[64]; .param .b64 inner; branches: .branchtargets label, middle;
.reg .b32 %lane, %t<4>; .reg .b64 %lanes, %w<4>; .reg .pred %q<4>;
mov.u32 %lane, %laneid; cvt.u64.u32 %lanes, %lane;
"""
    + tensor_memory.DECLARED
)
# What has an address, a count, a frame or a place to go to comes often; everything comes.
_DANGEROUS: Final = (
    *(
        "ld",
        "st",
        "atom",
        "red",
        "cp",
        "ldmatrix",
        "stmatrix",
        "mbarrier",
        "mapa",
        "prefetch",
        "prefetchu",
        "wmma",
        "wgmma",
    ),
    *("alloca", "stackrestore", "stacksave", "brx", "bar", "barrier", "cvta", "discard", "applypriority"),
    *(
        "isspacep",
        "shfl",
        "ldu",
        "getctarank",
        "createpolicy",
        "fence",
        "mma",
        "bra",
        "ret",
        "clusterlaunchcontrol",
        "tensormap",
    ),
    "multimem",
    *("tex", "tex", "tld4", "txq", "suld", "suld", "sust", "sust", "sured", "suq"),
)
_TRACED: Final = ("ld", "st", "ldmatrix", "atom", "red", "cp")
_SPACES: Final = ((".shared", "sha"), (".local", "loc"), (".const", "con"), (".global", "glo"))
_REGISTER: Final = re.compile(r"\b((pred|[bus](?:8|16|32|64|128)|f16x2|f16|f32|f64)r\d+)\b")
_VECTOR: Final = re.compile(r"\b(v([24])([bus]\d+|f\d+(?:x2)?))\b")
_OBJECT: Final = re.compile(r"\b(texture|surface)\b")  # variables of the seeds, which modules here do not have
_POOL: Final = "pool.json"
_ASKED: Final = 60  # statements of an opcode, at most

CHECKS: Final = (
    ("memcheck", "synccheck"),
    (),
    ("memcheck", "racecheck"),
    ("racecheck:global",),
    ("initcheck",),
    ("initcheck:global",),
    ("memcheck", "synccheck", "racecheck", "racecheck:global", "initcheck", "initcheck:global"),
)


@dataclass(frozen=True, slots=True)
class Hostile:
    """A program and how it is launched."""

    seed: int
    text: str
    block: int
    grid: int
    cluster: int | None
    checks: tuple[str, ...]
    stack_bytes: int
    shared_bytes: int
    profile: bool
    trace: tuple[str, ...]
    provenance: bool
    threads: int
    heap_bytes: int | None
    tier: str


Statements: TypeAlias = "dict[str, list[str]]"
Pool: TypeAlias = "dict[str, Statements]"


def pool() -> Pool:
    """Legal statements that the machine can run: by target and opcode, some of each syntax line."""
    place = kept("hostile", all_sources(), _write_pool)
    return json.loads((place / _POOL).read_text())


def _write_pool(folder: Path) -> None:
    (folder / _POOL).write_text(json.dumps(_pool()))


def _pool() -> Pool:
    asked = {opcode: _seeds(opcode) for opcode in opcodes()}
    found = {target: {op: _runnable(texts, target) for op, texts in asked.items()} for target in _TARGETS}
    return {target: {opcode: texts for opcode, texts in all_.items() if texts} for target, all_ in found.items()}


def _seeds(opcode: str) -> list[str]:
    asked = (_OBJECT.sub("b64r9", str(one)) for one in seeds(opcode, _ASKED, random.Random(opcode)))
    return list(dict.fromkeys(asked))


def _runnable(texts: list[str], target: str) -> list[str]:
    while texts:
        own = f"{_OWN}{_declared(' '.join(texts))}"
        head = f"{HEAD.replace('TARGET', target)}.visible .entry k(.param .b64 par) {{ {own}\n"
        module = parse(head + "\n".join(texts) + "\nmiddle: label: ret; }")
        first = head.count("\n") + 1
        bad = {d.span.line - first for d in check(module) if d.severity == "error"}
        if not bad:
            try:
                variant.translate(plan(module, "k", semantics.BlockCuts()), whole=False)
            except UnsupportedInstruction as error:
                bad = {error.line - first}
        if not bad:
            return texts
        texts = [text for at, text in enumerate(texts) if at not in bad]
    return []


def _declared(text: str) -> str:
    scalars = {f".reg .{kind} {name};" for name, kind in _REGISTER.findall(text)}
    return " ".join(sorted(scalars | {f".reg .v{n} .{kind} {name};" for name, n, kind in _VECTOR.findall(text)}))


def hostile(seed: int, statements: Pool) -> Hostile:
    """The program of a number."""
    chance = random.Random(seed)
    target = chance.choice(_TARGETS)
    text = _Writer(chance, target, statements[target]).module()
    traced = [word for word in _TRACED if f" {word}." in text[text.index(".visible .entry") :] or f"\n{word}." in text]
    clustered = chance.random() < 0.3
    return Hostile(
        seed,
        text,
        chance.choice((1, 7, 32, 33, 64, 96)),
        chance.choice((1, 2, 4, 8, 16)) * (2 if clustered else 1),
        2 if clustered else None,
        chance.choice(CHECKS),
        chance.choice((0, 200, 16384, 16384, 16384, 65536)),
        chance.choice((0, 0, 1, 1000, 4096)),
        chance.random() < 0.15,
        (chance.choice(traced),) if traced and chance.random() < 0.15 else (),
        chance.random() < (0.6 if "tcgen05" in text else 0.2)
        and ".entry child" not in text,  # where kernels launch none
        chance.choice((1, *range(2, 9))),
        chance.choice((None, None, 0, 1 << 12, 1 << 16)),
        chance.choice(("first", "hot")),
    )


@dataclass(frozen=True, slots=True)
class _Function:
    name: str
    result: int
    argument: int


class _Writer:
    def __init__(self, chance: random.Random, target: str, statements: Statements) -> None:
        self.chance = chance
        self.target = target
        self.statements = statements
        self.opcodes = tuple(statements)
        self.dangerous = tuple(opcode for opcode in _DANGEROUS if opcode in statements)
        self.tame = chance.choice((10, 9, 9, 7, 4))
        sizes = (1, 4, 8, 16, 60, 256, 4096)
        self.functions = [
            _Function(f"deep{n}", chance.choice(sizes), chance.choice(sizes)) for n in range(chance.randrange(4))
        ]
        self.label = 0
        self.has_columns = False
        self.other_group = f"cta_group::{chance.choice((1, 2, 2))}"
        self.text = ""  # of the bodies so far
        self.launches = chance.random() < _LAUNCHING

    def module(self) -> str:
        parts = [HEAD.replace("TARGET", self.target), *[device_launches.HEAD] * self.launches]
        parts += [f"{_head(f)};" for f in self.functions]
        parts += [self._function(f) for f in self.functions]
        forged = f".param .align 8 .b8 forged[{8 * FORGED}]"
        given = f".param .b64 par, .param .b64 fixed, {forged}, {objects.PARAMETERS}"
        parts.append(f".visible .entry k({given})\n{{\n{self._body(None)}}}")
        return "\n".join(parts) + "\n"

    def _function(self, function: _Function) -> str:
        return f"{_head(function)}\n{{\n{self._body(function)}}}"

    def _body(self, function: _Function | None) -> str:
        chance = self.chance
        names = ("glo", "maps", "sha", "loc", "con", "callee", "plain", *(f.name for f in self.functions))
        forger = Forger(chance, names, parameters=function is None, tame=self.tame)
        pieces = [self._piece(forger, function) for _ in range(chance.randint(2, 9))]
        middle = chance.randint(0, len(pieces))
        pieces.insert(middle, "middle:")
        lines = "\n".join(pieces)
        own = _OWN + ("ld.param.b32 %t3, [depth];" if function else "mov.u32 %t3, 3;")
        own += "" if function else objects.ready(self.text + lines)
        self.text += lines
        found = dict.fromkeys(_REGISTER.findall(lines))
        shown = "" if function else self._shown([name for name, kind in found if kind in {"b32", "u32", "s32", "f32"}])
        return f"{own}\n{_declared(lines)}\n{lines}\nlabel:\n{shown}ret;\n"

    def _shown(self, registers: list[str]) -> str:
        """What the kernel found is left where the host sees it."""
        head = "ld.param.b64 %w2, [par]; mad.wide.u32 %w2, %lane, 64, %w2;\n"
        return head + "".join(f"st.global.b32 [%w2+{4 * n}], {name};\n" for n, name in enumerate(registers[:16]))

    def _piece(self, forger: Forger, function: _Function | None) -> str:
        chance = self.chance
        match chance.choice((3, chance.randrange(13))) if self.launches else chance.randrange(13):
            case 0 | 1 if self.functions:
                return self._call(forger)
            case 2:
                return self._scribble(forger)
            case 3:
                return self._service(forger)
            case 4:
                return self._jump(forger)
            case 5 | 6 | 7:
                return self._tensor(forger)
            case _:
                opcode = chance.choice(self.dangerous if chance.random() < 0.7 else self.opcodes)
                text = chance.choice(self.statements[opcode])
                if function is not None:
                    text = re.sub(r"\bpar\b", "inner", text)
                near = tuple(name for space, name in _SPACES if space in text) or ("glo",)
                return self._statement(forger, opcode, text, near)

    def _statement(self, forger: Forger, opcode: str, text: str, near: tuple[str, ...]) -> str:
        """A statement of the pool, with its registers filled before it."""
        chance = self.chance
        filled: list[str] = []
        for name, kind in dict.fromkeys(_REGISTER.findall(text)):
            if chance.random() > 0.9:
                continue
            if name == objects.HANDLE:
                filled.append(objects.object_for(text, opcode, chance))
            elif objects.HANDLE in text and kind in {"b32", "u32", "s32", "f32"} and chance.random() < 0.7:
                filled.append(objects.coordinate(name, kind, chance))
            else:
                filled.append(forger.fill(name, kind, near))
        return f"{' '.join(filled)}\n{chance.choice(('', '', '@%q0 '))}{text}"

    def _tensor(self, forger: Forger) -> str:
        """A copy by a tensor map, or a change of one, or what is done with tensor memory."""
        chance = self.chance
        if "tcgen05" in self.statements and chance.random() < 0.7:
            return self._tensor_memory(forger)
        if chance.random() < 0.3:
            return objects.disturb_map(forger, chance)
        copies = [text for text in self.statements["cp"] if ".tensor" in text]
        opcode = "tensormap" if chance.random() < 0.3 else "cp"
        text = chance.choice(copies if opcode == "cp" else self.statements[opcode])
        text = text.replace("[glo", "[maps")
        return self._statement(forger, opcode, text, ("maps", "sha") if ".shared" in text else ("maps",))

    def _tensor_memory(self, forger: Forger) -> str:
        """Columns are taken, if none have been, used, and now and then freed; by a CTA or a pair, as the program is."""
        chance = self.chance
        of_memory = [text for text in self.statements["tcgen05"] if self.other_group not in text]
        found: list[str] = []
        if not self.has_columns or chance.random() < 0.2:
            found.append(tensor_memory.owned(chance.choice([text for text in of_memory if ".alloc." in text]), chance))
            self.has_columns = True
        uses = [text for text in of_memory if "alloc" not in text]
        found += [
            f"{tensor_memory.filled(text, forger, chance)}\n{chance.choice(('', '', '@%q0 '))}{text}"
            for text in chance.choices(uses, k=chance.randint(1, 3))
        ]
        if chance.random() < 0.3:
            found.append(tensor_memory.owned(chance.choice([text for text in of_memory if "alloc" in text]), chance))
        return "\n".join(found)

    def _scribble(self, forger: Forger) -> str:
        """Forged values over what is near: locals, also beyond their ends, mbarriers, variables."""
        chance = self.chance
        name = chance.choice(("loc", "loc", "sha", "glo"))
        space = {"loc": "local", "sha": "shared", "glo": "global"}[name]
        at = 8 * chance.randint(-8, 12) if chance.random() < 0.3 else 8 * chance.randrange(8)
        if space == "global":
            return f"{forger.wide('%w0')} mov.u64 %w1, glo; st.global.b64 [%w1+{abs(at)}], %w0;"
        return f"{forger.wide('%w0')} mov.u64 %w1, {name}; st.{space}.b64 [%w1+{at}], %w0;"

    def _jump(self, forger: Forger) -> str:
        """A branch by a table with an index of any size, a loop, or a stack pointer of one's own."""
        chance = self.chance
        self.label += 1
        here = f"here{self.label}"
        match chance.randrange(4):
            case 0:
                inside = "" if chance.random() < 0.2 else "rem.u32 %t0, %t0, 3;"
                return (
                    f"{forger.word('%t0')} {inside}\ntable{self.label}: .branchtargets {here}, middle, label;\n"
                    f"setp.lt.u32 %q1, %lane, 20; @%q1 brx.idx %t0, table{self.label};\n{here}:"
                )
            case 1:
                size = chance.choice(("%w0", "%w0", "8", "40", "0x10000000"))
                at = 8 * chance.randint(-6, 6) if chance.random() < 0.2 else 0
                store = f"st.local.b32 [%w3+{at}], %t0;"
                word = forger.word("%t0") if chance.random() < 0.3 else "mov.b32 %t0, 24;"
                return f"{word} cvt.u64.u32 %w0, %t0; alloca.u64 %w3, {size}; {store}"
            case 2:
                return f"@%q0 {forger.wide('%w3')} stackrestore.u64 %w3;" if chance.random() < 0.3 else ""
            case _:
                return f"stacksave.u64 %w3; {chance.choice(('', 'add.s64 %w3, %w3, -64;'))} stackrestore.u64 %w3;"

    def _call(self, forger: Forger) -> str:
        chance = self.chance
        called = chance.choice(self.functions)
        self.label += 1
        number = self.label
        result, argument = called.result, called.argument
        direct = chance.random() < 0.5
        if not direct and chance.random() < 0.6:
            other = chance.choice(self.functions)
            result, argument = chance.choice(((other.result, other.argument), (4096, argument), (result, 4096), (1, 1)))
        passed = f"(out{number}), {{}}, (in{number}, depth{number})"
        if direct:
            call = f"call {passed.format(called.name)};"
        else:
            shape = f"(.param .align 8 .b8 _[{result}]) _ (.param .align 8 .b8 _[{argument}], .param .b32 _)"
            forged = forger.wide("%w3") if chance.random() < 0.2 else f"mov.u64 %w3, {called.name};"
            forged += chance.choice(("", "", "", " add.s64 %w3, %w3, 16;", " add.s64 %w3, %w3, 1;"))
            call = f"{forged}\nkind{number}: .callprototype {shape};\ncall {passed.format('%w3')}, kind{number};"
        first = "" if result < 4 else f"ld.param.b32 %t1, [out{number}+{max(0, (result - 4) // 4 * 4)}];"
        lanes = f"setp.lt.u32 %q3, %lane, {chance.choice((1, 16, 32, 32, 32))}; and.pred %q2, %q2, %q3;"
        return (
            f"setp.gt.s32 %q2, %t3, 0; {lanes}\n@!%q2 bra past{number};\n"
            f"{{ .param .align 8 .b8 out{number}[{result}]; .param .align 8 .b8 in{number}[{argument}]; "
            f".param .b32 depth{number};\n"
            f"{forger.word('%t0')} st.param.b8 [in{number}+{argument - 1}], %t0; sub.s32 %t2, %t3, 1; "
            f"st.param.b32 [depth{number}], %t2;\n{call}\n{first} }}\npast{number}:"
        )

    def _service(self, forger: Forger) -> str:
        chance = self.chance
        if self.launches and chance.random() < 0.8:
            self.label += 1
            names = (*(one.name for one in self.functions), *["k"] * forger.parameters)
            return device_launches.launch_piece(forger, chance, self.label, names)
        if chance.random() < 0.5:
            self.label += 1
            return objects.heap_piece(chance, self.label)
        match chance.randrange(3):
            case 0:
                size = (
                    forger.wide("%w0") if chance.random() < 0.3 else f"mov.b64 %w0, {chance.choice((0, 1, 24, 4096))};"
                )
                return (
                    f"{size}\n{{ .param .b64 n; .param .b64 r; st.param.b64 [n], %w0; call (r), malloc, (n); "
                    f"ld.param.b64 %w3, [r]; }}\nsetp.ne.u64 %q1, %w3, 0; "
                    f"@%q1 st.b32 [%w3+{4 * chance.randint(-2, 8)}], %t3;"
                )
            case 1:
                return f"{forger.wide('%w0')}\n{{ .param .b64 p; st.param.b64 [p], %w0; call free, (p); }}"
            case _:
                form = "mov.u64 %w0, form;" if chance.random() < 0.7 else forger.wide("%w0")
                return (
                    f"{form} {forger.wide('%w1')}\n{{ .param .b64 f; .param .b64 v; .param .b32 r; "
                    f"st.param.b64 [f], %w0; st.param.b64 [v], %w1; "
                    f"call (r), vprintf, (f, v); ld.param.b32 %t1, [r]; }}"
                )


def _head(function: _Function) -> str:
    return (
        f".func (.param .align 8 .b8 res[{function.result}]) {function.name}"
        f"(.param .align 8 .b8 arg[{function.argument}], .param .b32 depth)"
    )
