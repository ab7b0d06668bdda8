"""The questions put to ptxas about the matrix moves, the same for the recorder, the live test and the replay."""

from __future__ import annotations

import random
import re
from itertools import product
from typing import TYPE_CHECKING, Final

from ptxloom.isa.resolution.forms import forms

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSIONS: Final = ("6.5", "7.8", "8.0", "8.6", "8.7", "8.8", "9.0", "9.3", "9.4", "9.5")
TARGETS: Final = tuple(
    f"sm_{name}"
    for name in (
        *("75", "80", "86", "87", "88", "89", "90", "90a", "100", "100a", "100f", "101", "101a", "101f", "103", "103a"),
        *("103f", "107", "107a", "107f", "110", "110a", "110f", "120", "120a", "120f", "121", "121a", "121f"),
    )
)

SHAPES: Final = ("", "m8n8", "m16n16", "m8n16", "m16n8", "m16n8k16", "m8n32")
NUMS: Final = ("", "x1", "x2", "x4", "x8", "x128", "x3")
TRANS: Final = ("", "trans")
SPACES: Final = ("", "shared", "shared::cta", "shared::cluster", "global", "local")
TYPES: Final = (
    *("", "b16", "b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64", "s8.s4", "u8.u4", "b8x16", "b6x16_p32", "s8", "s4", "b32"),
    *("f16", "e4m3", "b16.b8"),
)
PREFIXES: Final = ("sync", "aligned", "")  # beside the right one, `sync.aligned`

STRANGERS: Final = (
    *("row", "col", "sync", "aligned", "x1", "x2", "x16", "x32", "x64", "m8n8", "trans", "shared", "b16", "b8", "s4"),
    *("cta", "cluster", "gpu", "relaxed", "weak", "volatile", "v2", "rn", "sat", "ftz", "noinc", "unpack", "cg", "f32"),
    *("read", "global", "param", "const", "generic", "wide", "lo", "to", "foo", "M8N8", "s8", "b8x16", "b4x16_p64"),
)
"""Qualifiers put into legal spellings, where they do not belong."""


def registers(qualifiers: tuple[str, ...]) -> tuple[int, ...]:
    """The vector lengths to try for a row of qualifiers: the likely ones."""
    num = next((int(word[1:]) for word in qualifiers if word[:1] == "x" and word[1:] in ("1", "2", "4")), 1)
    if "m16n16" not in qualifiers:
        return (num,)
    return (2 * num,) if num < 4 else (4, 8)


def instruction(opcode: str, qualifiers: tuple[str, ...], length: int) -> str:
    """An instruction with these qualifiers, in a module of `module_text`."""
    name = ".".join((opcode, *qualifiers))
    if opcode == "movmatrix":
        return f"{name} r0, r1;"
    vector = ", ".join(f"r{i}" for i in range(length))
    return f"{name} {{{vector}}}, [p];" if opcode == "ldmatrix" else f"{name} [p], {{{vector}}};"


def qualifier_cases() -> tuple[str, ...]:
    """Every combination of qualifiers in the manual's order, legal and illegal values alike."""
    return tuple(dict.fromkeys(_qualifier_cases()))


def _qualifier_cases() -> Iterator[str]:
    for opcode in ("ldmatrix", "stmatrix"):
        for shape, num, trans, space, type_ in product(SHAPES, NUMS, TRANS, SPACES, TYPES):
            yield from _instructions(opcode, ("sync", "aligned", shape, num, trans, space, type_))
        for prefix, shape, trans, type_ in product(PREFIXES, SHAPES, TRANS, TYPES):
            yield from _instructions(opcode, (prefix, shape, "x1", trans, type_))
    for prefix, shape, trans, type_ in product(("sync.aligned", *PREFIXES), SHAPES, TRANS, TYPES):
        yield from _instructions("movmatrix", (prefix, shape, trans, type_))


def _instructions(opcode: str, groups: tuple[str, ...]) -> Iterator[str]:
    words = tuple(word for group in groups for word in group.split(".") if word)
    for length in registers(words):
        yield instruction(opcode, words, length)


def order_cases() -> tuple[str, ...]:
    """Legal spellings in random orders, and with a stranger put in, from a fixed seed."""
    chance = random.Random(20)
    found: list[str] = []
    for opcode in ("ldmatrix", "stmatrix", "movmatrix"):
        for form in forms(opcode):
            for _ in range(4):
                words = chance.sample(form.words, len(form.words))
                found.append(instruction(opcode, tuple(words), registers(form.words)[0]))
            if not form.filling.get("ss"):
                for stranger in STRANGERS:
                    at = chance.randint(0, len(form.words))
                    words = (*form.words[:at], stranger, *form.words[at:])
                    found.append(instruction(opcode, words, registers(form.words)[0]))
    return tuple(dict.fromkeys(found))


X1 = "ldmatrix.sync.aligned.m8n8.x1{0}.b16 {1}, {2};"
SX1 = "stmatrix.sync.aligned.m8n8.x1{0}.b16 {2}, {1};"


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Operands of every kind; the names are those of `KERNEL`.
ONE = _words("""
    {r0} r0 {u0} {s0} {f0} {h0} {w0} {uw} {hf} {p} {fp} {q} {b8} {bb} {_} _ {r0,r1} {undeclared} {sh} {5} {-1}
    {%tid.x} {v2} v2 v2.x {v2.x} {v2.y} {v2.z} {v2.w} {v4.w} {v4.r} {v4.a} {v4.q} {r0.x} [p] {%laneid} {%clock64}
    {%clock} {%nosuch} {WARP_SZ} {0f00000000} {0d0000000000000000} {1.5} r0|r1 {k} {lab} {v8} {v2h.x} {d0.x} {tq.x}
    {%ntid.y} {%lanemask_lt} {%gridid} 5
""")
TWO = _words("""
    {r0,r1} {r0,r0} {r0} {r0,r1,r2} {r0,_} {_,r0} {_,_} v2 v2f v2u v2h v2d v4 {v2.x,v2.y} {v2} {v2,v2} {r0,u1}
    {u0,r1} {r0,s0} {u0,s0} {s0,u0} {f0,r0} {r0,f0} {f0,u0} {u0,f0} {f0,s0} {h0,r0} {h0,f0} {f0,h0} {h0,u0} {h0,h1}
    {f0,f1} {p,r0} {w0,r0} {r0,w0} {r0,5} {5,r0} {5,5} {5,-1} {f0,5} {5,f0} {u0,5} {r0,%tid.x} {f0,%tid.x}
    {r0,undeclared} {v2.x,f0} {v2f.x,u0} {0f3F800000,0f3F800000} {0f3F800000,5} {5,0f3F800000} {u0,0f3F800000}
    {f0,0f3F800000} {r0,1.5} {r0,WARP_SZ} {q,r0} {r0,q} {_,5} {_,undeclared} {f0,WARP_SZ} {h0,5} {h0,0f3F800000}
    {s0,-1}
""")
FOUR = _words("""
    {r0,r1,r2,r3} v4 v4f v4h v2 {r0,u0,s0,f0} {r0,_,r1,_} {_,_,_,r1} {_,_,_,_} {r0,r1,r2} {r0,r1,r2,r3,r4}
    {u0,r0,f0,r1} {u0,r0,r1,f0} {r0,u0,s0,s1} {r0,r0,r0,r0} {v2,v2} {f0,_,u0,_} {u0,u1,s0,s1} {v4.x,v4.y,v4.z,v4.w}
    {u0,5,r0,f0} {r0,r1,r2,r3,r4,r5,r6,r7} {f0,_,_,h0} {f0,r0,r1,h0} {u0,_,r0,f0}
""")
ADDRESSES = _words("""
    [p] [up] [sp] [fp] [r0] [u0] [s0] [f0] [h0] [w0] [uw] [hf] [q] [b8] [bb] [v2] [p+16] [p+3] [p+-16] [p-16]
    [r0+16] [r0-16] [sh] [sh+16] [sh+3] [sh-16] [sh+-16] [sb] [sv] [16] [0] [-16] [0x10] [WARP_SZ] [lo] [pp] [karg]
    [gv] [cv] [extsh] [undeclared] [lab] p sh 16 {p} [p+4294967296] [p+18446744073709551615]
    [p+99999999999999999999] [p+16+16] [sh+16+16] [sh+(4*4)] [p+0x10] [p+16U] [p+16-4] [p+1.0] [%laneid] [%clock64]
    [%nosuch] [r07] [r8] [k] [p+(-16)] [p+-0x10] [sh[0]] [p[0]] [p+r0] [sh+sh] [_] [p,1] [v2.x] [%tid.x]
""")
MOV = _words("""
    r0 u0 s0 f0 h0 w0 p q v2 v2.x v2h.x {r0} _ 5 %tid.x %laneid undeclared sh [p] 0f00000000 b8 bb fp v4.w v2.z
""")
WHOLE = (
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0};",
    "ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [p], 1;",
    "ldmatrix.sync.aligned.m8n8.x1.b16 [p], {r0};",
    "stmatrix.sync.aligned.m8n8.x1.b16 {r0}, [p];",
    "ldmatrix.sync.aligned.m8n8.x1.b16;",
    "ldmatrix;",
    "@q ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [p];",
    "@!q ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [p];",
    "@r0 ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [p];",
    "@undeclared ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [p];",
    "{ ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [p]; }",
    "{ .reg .b16 r0; ldmatrix.sync.aligned.m8n8.x1.b16 {r0}, [p]; }",
    "{ .reg .b32 inner; } ldmatrix.sync.aligned.m8n8.x1.b16 {inner}, [p];",
    "ldmatrix.sync.aligned.m8n8.x1.b16 {late}, [p]; .reg .b32 late;",
    ".reg .b32 %a1<3>; ldmatrix.sync.aligned.m8n8.x1.b16 {%a12}, [p];",
    ".reg .b32 %a1<3>; ldmatrix.sync.aligned.m8n8.x1.b16 {%a13}, [p];",
    ".reg .b32 %a1<3>; ldmatrix.sync.aligned.m8n8.x1.b16 {%a02}, [p];",
    ".reg .b32 %a<3>; ldmatrix.sync.aligned.m8n8.x1.b16 {%a002}, [p];",
    ".reg .v2 .b32 %a<3>; ldmatrix.sync.aligned.m8n8.x2.b16 %a2, [p];",
    "movmatrix.sync.aligned.m8n8.trans.b16 r0;",
    "movmatrix.sync.aligned.m8n8.trans.b16 r0, r1, r2;",
)

KERNEL = (
    ".global .align 16 .b8 gv[64]; .const .align 16 .b8 cv[64]; .extern .shared .align 16 .b8 extsh[];\n"
    ".entry k(.param .b64 karg) {\n"
    ".reg .b64 p, p2; .reg .u64 up; .reg .s64 sp; .reg .f64 fp; .reg .b32 r<8>; .reg .u32 u<8>; .reg .s32 s<8>; "
    ".reg .f32 f<8>; .reg .f16x2 h<8>; .reg .b16 w<8>; .reg .u16 uw; .reg .f16 hf; .reg .pred q; .reg .b8 b8; "
    ".reg .b128 bb; "
    ".reg .v2 .b32 v2; .reg .v4 .b32 v4; .reg .v2 .f32 v2f; .reg .v2 .u32 v2u; .reg .v2 .b16 v2h; .reg .v4 .f32 v4f; "
    ".reg .v4 .b16 v4h; .reg .v2 .b64 v2d; .reg .v2 .b64 d0; .reg .v2 .b32 tq; "
    ".shared .align 16 .b8 sh[1024]; .shared .b32 sv; .shared .align 1 .b8 sb; .local .align 16 .b8 lo[64]; "
    ".param .b64 pp;\n"
)
"""The head of the module around a case; `.b128` registers need PTX 8.3 and sm_70."""


def operand_cases() -> tuple[str, ...]:
    """Operands and addresses of every kind, each of them in a module of its own."""
    cases = [X1.format(space, vector, "[p]") for vector in ONE for space in ("", ".shared")]
    cases += [SX1.format("", vector, "[p]") for vector in ONE]
    for num, vectors in ((2, TWO), (4, FOUR)):
        for vector in vectors:
            cases.append(X1.replace("x1", f"x{num}").format("", vector, "[p]"))
            cases.append(SX1.replace("x1", f"x{num}").format("", vector, "[p]"))
    for address, space in product(ADDRESSES, ("", ".shared", ".shared::cta")):
        cases.append(X1.format(space, "{r0}", address))
        cases.append(SX1.format(space, "{r0}", address))
    cases += [f"movmatrix.sync.aligned.m8n8.trans.b16 {operand}, r1;" for operand in MOV]
    cases += [f"movmatrix.sync.aligned.m8n8.trans.b16 r1, {operand};" for operand in MOV]
    return tuple(dict.fromkeys((*cases, *WHOLE)))


MUTANTS: Final = 2500
_TOKEN = re.compile(r"[%\w]+|::|\s+|.")
_LETTERS = "abx0189.{}[],;_+-|!@%: "


def mutant_cases() -> tuple[str, ...]:
    """Instructions with a token or a character deleted, put in, replaced or swapped, from a fixed seed."""
    chance = random.Random(7)
    sources = [
        instruction(opcode, form.words, registers(form.words)[0])
        for opcode in ("ldmatrix", "stmatrix", "movmatrix")
        for form in forms(opcode)
    ]
    sources += operand_cases()
    pool = sorted({token for source in sources for token in _TOKEN.findall(source)})
    return tuple(dict.fromkeys(_mutant(chance, chance.choice(sources), pool) for _ in range(MUTANTS)))


def _mutant(chance: random.Random, source: str, pool: list[str]) -> str:
    tokens: list[str] = _TOKEN.findall(source)
    for _ in range(chance.choice((1, 1, 1, 2))):
        at = chance.randrange(len(tokens))
        match chance.randrange(5):
            case 0:
                tokens[at : at + 1] = []
            case 1:
                tokens.insert(at, chance.choice(pool))
            case 2:
                tokens[at] = chance.choice(pool)
            case 3:
                other = chance.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case _:
                word, cut = tokens[at], chance.randrange(len(tokens[at]) + 1)
                tokens[at] = word[:cut] + chance.choice(_LETTERS) + word[cut + chance.randrange(2) :]
        tokens = tokens or [" "]
    return "".join(tokens)


def module_text(version: str, target: str, lines: tuple[str, ...]) -> str:
    """A module with each case on a line of its own; the first one is on line `FIRST_LINE`."""
    kernel = KERNEL if version >= "8.3" else KERNEL.replace(" .reg .b128 bb;", "")
    head = f".version {version}\n.target {target}\n.address_size 64\n{kernel}"
    return head + "\n".join(lines) + "\nlab: ret;\n}\n"


FIRST_LINE: Final = 7
