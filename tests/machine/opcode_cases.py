"""Every opcode and type whose result depends on its operands alone, as one-instruction kernels.

A case is a statement with `{d}` and `{a} {b} {c}` in it; `families()` enumerates them, `opcode_kernels` writes the PTX
that runs them over the pools of `opcode_inputs`. Recorded on hardware by tools/record/opcodes.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from machine.opcode_inputs import CELLS, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDINGS = ("rn", "rz", "rm", "rp")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
FLOAT_COMPARISONS = (*COMPARISONS, "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


@dataclass(frozen=True, slots=True)
class Case:
    """One instruction over typed operands.

    Attributes:
        text: The statement(s), operands as `{d}`, `{a}`, `{b}`, `{c}`.
        destination: The type of `{d}`.
        sources: The types of `{a}`, `{b}`, `{c}`.
        approximate: The manual grants an error, so every output is kept for comparison.
    """

    text: str
    destination: str
    sources: tuple[str, ...]
    approximate: bool = False

    def __str__(self) -> str:
        return f"{self.text} // {self.destination} <- {' '.join(self.sources)}"


def _op(name: str, destination: str, *sources: str, approximate: bool = False) -> Case:
    operands = ", ".join("{" + letter + "}" for letter in "abcd"[: len(sources)] if letter != "d")
    return Case(f"{name} {{d}}, {operands};", destination, sources, approximate)


def _ints(*names: str, types: tuple[str, ...], sources: int = 2) -> Iterator[Case]:
    for name, t in product(names, types):
        yield _op(f"{name}.{t}", t, *([t] * sources))


ALL_INTS = ("u16", "s16", "u32", "s32", "u64", "s64")
BIG_INTS = ("u32", "s32", "u64", "s64")
WORDS = ("u32", "s32")


def integer() -> Iterator[Case]:
    """Integer arithmetic, PTX ISA 9.7.1."""
    yield from _ints("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max", types=ALL_INTS)
    yield from _ints("add", "min", "max", types=("u16x2", "s16x2"))
    yield from _ints("min.relu", "max.relu", types=("s16x2", "s32"))
    yield from _ints("add.sat", "sub.sat", types=("s32",))
    yield from _ints("mad.lo", "mad.hi", types=ALL_INTS, sources=3)
    yield from _ints("mad.hi.sat", types=("s32",), sources=3)
    yield from _ints("mul24.lo", "mul24.hi", types=WORDS)
    yield from _ints("mad24.lo", "mad24.hi", types=WORDS, sources=3)
    yield from _ints("mad24.hi.sat", types=("s32",), sources=3)
    yield from _ints("sad", types=ALL_INTS, sources=3)
    yield from _ints("abs", "neg", types=("s16", "s32", "s64"), sources=1)
    for t in ("u16", "s16", "u32", "s32"):
        wide = t[0] + str(2 * width_of(t))
        yield _op(f"mul.wide.{t}", wide, t, t)
        yield _op(f"mad.wide.{t}", wide, t, t, wide)
    for name in ("popc", "clz"):
        yield from (_op(f"{name}.{t}", "u32", t) for t in ("b32", "b64"))
    for t in BIG_INTS:
        yield _op(f"bfind.{t}", "u32", t)
        yield _op(f"bfind.shiftamt.{t}", "u32", t)
        yield _op(f"bfe.{t}", t, t, "u32", "u32")
        yield _op(f"bfe.{t}", t, t, "count", "count")
    yield from _ints("brev", types=("b32", "b64"), sources=1)
    yield _op("fns.b32", "b32", "b32", "b32", "s32")
    yield Case(
        "{{ .reg .b32 lane, many; and.b32 lane, {b}, 31; and.b32 many, {c}, 7; sub.s32 many, many, 3; "
        "fns.b32 {d}, {a}, lane, many; }}",
        "b32",
        ("b32", "b32", "b32"),
    )
    for t in ("b32", "b64"):
        yield Case(f"bfi.{t} {{d}}, {{a}}, {{b}}, {{c}}, 11;", t, (t, t, "count"))
        yield Case(f"bfi.{t} {{d}}, {{a}}, {{b}}, 5, {{c}};", t, (t, t, "count"))
        yield Case(f"bfi.{t} {{d}}, {{a}}, {{b}}, 17, {{c}};", t, (t, t, "u32"))
    for mode in ("clamp", "wrap"):
        yield from (_op(f"szext.{mode}.{t}", t, t, "u32") for t in WORDS)
        yield from (_op(f"szext.{mode}.{t}", t, t, "count") for t in WORDS)
        yield _op(f"bmsk.{mode}.b32", "b32", "u32", "u32")
        yield _op(f"bmsk.{mode}.b32", "b32", "count", "count")
    for x, y in product(WORDS, WORDS):
        accumulator = "s32" if "s" in x + y else "u32"
        yield _op(f"dp4a.{x}.{y}", accumulator, "b32", "b32", accumulator)
        yield from (_op(f"dp2a.{half}.{x}.{y}", accumulator, "b32", "b32", accumulator) for half in ("lo", "hi"))


def extended() -> Iterator[Case]:
    """Extended-precision arithmetic, PTX ISA 9.7.2: the carry is set by one instruction and used by the next."""
    for t in ("u32", "s32", "u64", "s64"):
        w = t[1:]
        setup = f"{{{{ .reg .b{w} scratch; "
        for first, second in (("add", "addc"), ("sub", "subc"), ("add", "subc"), ("sub", "addc")):
            body = f"{setup}{first}.cc.{t} scratch, {{a}}, {{b}}; {second}.{t} {{d}}, {{c}}, {{a}}; }}}}"
            yield Case(body, t, (t, t, t))
        for second in ("addc", "subc"):
            body = (
                f"{setup}add.cc.{t} scratch, {{a}}, {{b}}; {second}.cc.{t} scratch, {{c}}, {{a}}; "
                f"addc.{t} {{d}}, scratch, 0; }}}}"
            )
            yield Case(body, t, (t, t, t))
        for half, second in product(("lo", "hi"), ("lo", "hi")):
            body = (
                f"{setup}mad.{half}.cc.{t} scratch, {{a}}, {{b}}, {{c}}; madc.{second}.cc.{t} scratch, {{b}}, {{c}}, "
                f"scratch; madc.{half}.{t} {{d}}, {{a}}, {{c}}, scratch; }}}}"
            )
            yield Case(body, t, (t, t, t))


def logic() -> Iterator[Case]:
    """Logic and shifts, PTX ISA 9.7.8, and `prmt`."""
    for t in ("pred", "b16", "b32", "b64"):
        yield from (_op(f"{name}.{t}", t, t, t) for name in ("and", "or", "xor"))
        yield _op(f"not.{t}", t, t)
    yield from (_op(f"cnot.{t}", t, t) for t in ("b16", "b32", "b64"))
    for table in (0x00, 0x01, 0x17, 0x1E, 0x3C, 0x55, 0x80, 0x96, 0xB8, 0xCA, 0xE8, 0xF0, 0xFE, 0xFF):
        yield Case(f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};", "b32", ("b32", "b32", "b32"))
    for boolean in ("or", "and"):
        yield Case(
            "{{ .reg .pred p, q; setp.lt.u32 q, {a}, {b}; "
            f"lop3.{boolean}.b32 {{d}}|p, {{a}}, {{b}}, {{c}}, 0x96, q; selp.b32 {{d}}, 1, {{d}}, p; }}}}",
            "b32",
            ("b32", "b32", "b32"),
        )
    for side, mode in product(("l", "r"), ("clamp", "wrap")):
        yield _op(f"shf.{side}.{mode}.b32", "b32", "b32", "b32", "u32")
        yield _op(f"shf.{side}.{mode}.b32", "b32", "b32", "b32", "count")
    yield from (_op(f"shl.{t}", t, t, amount) for t in ("b16", "b32", "b64") for amount in ("u32", "count"))
    yield from (_op(f"shr.{t}", t, t, amount) for t in ("b16", "b32", "b64", *ALL_INTS) for amount in ("u32", "count"))
    yield _op("prmt.b32", "b32", "b32", "b32", "b32")
    yield from (
        _op(f"prmt.b32.{mode}", "b32", "b32", "b32", "b32") for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
    )


def compare() -> Iterator[Case]:
    """Comparison and selection, PTX ISA 9.7.6 and 9.7.7."""
    signed = (*((t, COMPARISONS) for t in ("s16", "s32", "s64")), *((t, FLOAT_COMPARISONS) for t in ("f32", "f64")))
    unsigned = (
        *((t, (*COMPARISONS, "lo", "ls", "hi", "hs")) for t in ("u16", "u32", "u64")),
        *((t, ("eq", "ne")) for t in ("b16", "b32", "b64")),
    )
    for t, names in (*signed, *unsigned):
        for name, ftz in product(names, ("", ".ftz") if t == "f32" else ("",)):
            yield _op(f"setp.{name}{ftz}.{t}", "pred", t, t)
            yield from (_op(f"set.{name}{ftz}.{to}.{t}", to, t, t) for to in ("u32", "s32", "f32"))
    for t, ftz, name in product(("f16", "bf16"), ("", ".ftz"), FLOAT_COMPARISONS):
        if (t, ftz) != ("bf16", ".ftz"):
            yield _op(f"setp.{name}{ftz}.{t}", "pred", t, t)
            yield from (_op(f"set.{name}{ftz}.{to}.{t}", to, t, t) for to in (t, "u16", "s16", "u32", "s32"))
            body = f"{{{{ .reg .pred p, q; setp.{name}{ftz}.{t}x2 p|q, {{a}}, {{b}}; selp.b32 {{d}}, 2, 0, q; "
            yield Case(body + "@p add.u32 {d}, {d}, 1; }}", "u32", (f"{t}x2", f"{t}x2"))
            yield from (
                _op(f"set.{name}{ftz}.{to}.{t}x2", to if to[0] != "u" else "b32", f"{t}x2", f"{t}x2")
                for to in (f"{t}x2",)
            )
    for boolean, t, negated in product(("and", "or", "xor"), ("s32", "f32"), ("", "!")):
        yield Case(
            "{{ .reg .pred p, q, r; setp.ne.b32 r, {c}, 0; "
            f"setp.lt.{boolean}.{t} p|q, {{a}}, {{b}}, {negated}r; selp.b32 {{d}}, 2, 0, q; "
            "@p add.u32 {d}, {d}, 1; }}",
            "u32",
            (t, t, "pred32"),
        )
        yield Case(
            f"{{{{ .reg .pred r; setp.ne.b32 r, {{c}}, 0; set.ge.{boolean}.u32.{t} {{d}}, {{a}}, {{b}}, "
            f"{negated}r; }}}}",
            "u32",
            (t, t, "pred32"),
        )
    for t in ("b16", "b32", "b64", *ALL_INTS, "f32", "f64"):
        yield _op(f"selp.{t}", t, t, t, "pred")
        if t not in {"b16", "b32", "b64"} or t:
            yield _op(f"slct.{t}.s32", t, t, t, "s32")
            yield _op(f"slct.{t}.f32", t, t, t, "f32")
            yield _op(f"slct.ftz.{t}.f32", t, t, t, "f32")


def single() -> Iterator[Case]:
    """f32 and f64 arithmetic, PTX ISA 9.7.3."""
    for rounding, ftz, sat in product(ROUNDINGS, ("", ".ftz"), ("", ".sat")):
        suffix = f"{rounding}{ftz}{sat}.f32"
        yield from (_op(f"{name}.{suffix}", "f32", "f32", "f32") for name in ("add", "sub", "mul"))
        yield from (_op(f"{name}.{suffix}", "f32", "f32", "f32", "f32") for name in ("fma", "mad"))
    for rounding, ftz in product(ROUNDINGS, ("", ".ftz")):
        yield _op(f"div.{rounding}{ftz}.f32", "f32", "f32", "f32")
        yield from (_op(f"{name}.{rounding}{ftz}.f32", "f32", "f32") for name in ("rcp", "sqrt"))
    for rounding in ROUNDINGS:
        yield from (_op(f"{name}.{rounding}.f64", "f64", "f64", "f64") for name in ("add", "sub", "mul", "div"))
        yield from (_op(f"{name}.{rounding}.f64", "f64", "f64", "f64", "f64") for name in ("fma", "mad"))
        yield from (_op(f"{name}.{rounding}.f64", "f64", "f64") for name in ("rcp", "sqrt"))
    yield from (_op(f"{name}.f32", "f32", "f32", "f32") for name in ("add", "sub", "mul"))
    yield from (_op(f"{name}.f64", "f64", "f64", "f64") for name in ("add", "sub", "mul", "min", "max", "copysign"))
    yield _op("copysign.f32", "f32", "f32", "f32")
    for ftz in ("", ".ftz"):
        yield from (_op(f"{name}{ftz}.f32", "f32", "f32") for name in ("abs", "neg"))
        for name, nan, sign in product(("min", "max"), ("", ".NaN"), ("", ".xorsign.abs")):
            yield _op(f"{name}{ftz}{nan}{sign}.f32", "f32", "f32", "f32")
    yield from (_op(f"{name}.f64", "f64", "f64") for name in ("abs", "neg"))
    for t, name in product(("f32", "f64"), ("finite", "infinite", "number", "notanumber", "normal", "subnormal")):
        yield _op(f"testp.{name}.{t}", "pred", t)


def approximate() -> Iterator[Case]:
    """The approximate functions: the manual bounds their error."""
    for ftz in ("", ".ftz"):
        yield from (_op(f"div.{name}{ftz}.f32", "f32", "f32", "f32", approximate=True) for name in ("approx", "full"))
        for name in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"):
            yield _op(f"{name}.approx{ftz}.f32", "f32", "f32", approximate=True)
    yield _op("tanh.approx.f32", "f32", "f32", approximate=True)
    yield from (_op(f"{name}.approx.ftz.f64", "f64", "f64", approximate=True) for name in ("rcp", "rsqrt"))
    yield _op("rsqrt.approx.f64", "f64", "f64", approximate=True)
    yield from (_op(f"{name}.approx.{t}", t, t, approximate=True) for name in ("tanh", "ex2") for t in ("f16", "f16x2"))
    yield from (_op(f"tanh.approx.{t}", t, t, approximate=True) for t in ("bf16", "bf16x2"))
    yield from (_op(f"ex2.approx.ftz.{t}", t, t, approximate=True) for t in ("bf16", "bf16x2"))


def half() -> Iterator[Case]:
    """Half-precision arithmetic, PTX ISA 9.7.4."""
    for t in ("f16", "f16x2"):
        for ftz, sat in product(("", ".ftz"), ("", ".sat")):
            yield from (_op(f"{name}{ftz}{sat}.{t}", t, t, t) for name in ("add", "sub", "mul"))
            yield from (_op(f"{name}.rn{ftz}{sat}.{t}", t, t, t) for name in ("add", "sub", "mul"))
            yield _op(f"fma.rn{ftz}{sat}.{t}", t, t, t, t)
        yield from (_op(f"fma.rn{ftz}.relu.{t}", t, t, t, t) for ftz in ("", ".ftz"))
        yield from (_op(f"{name}{ftz}.{t}", t, t) for name in ("abs", "neg") for ftz in ("", ".ftz"))
        for name, ftz, nan, sign in product(("min", "max"), ("", ".ftz"), ("", ".NaN"), ("", ".xorsign.abs")):
            yield _op(f"{name}{ftz}{nan}{sign}.{t}", t, t, t)
    for t in ("bf16", "bf16x2"):
        yield from (_op(f"{name}.{t}", t, t, t) for name in ("add", "sub", "mul", "add.rn", "sub.rn", "mul.rn"))
        yield from (_op(f"fma.rn{relu}.{t}", t, t, t, t) for relu in ("", ".relu"))
        yield from (_op(f"{name}.{t}", t, t) for name in ("abs", "neg"))
        for name, nan, sign in product(("min", "max"), ("", ".NaN"), ("", ".xorsign.abs")):
            yield _op(f"{name}{nan}{sign}.{t}", t, t, t)
    for t, relu in product(("f16", "f16x2", "bf16", "bf16x2"), ("", ".relu")):
        yield _op(f"fma.rn.oob{relu}.{t}", t, t, t, t)


_CVT_INTS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
_CVT_FLOATS = ("f16", "bf16", "f32", "f64")


def convert() -> Iterator[Case]:
    """Conversions, PTX ISA 9.7.9.21 and 9.7.9.22."""
    for to, source in product(_CVT_INTS, _CVT_INTS):
        yield _op(f"cvt.{to}.{source}", to, source)
        yield _op(f"cvt.sat.{to}.{source}", to, source)
    for to, source in product(_CVT_INTS, _CVT_FLOATS):
        for rounding, ftz, sat in product(("rni", "rzi", "rmi", "rpi"), ("", ".ftz"), ("", ".sat")):
            if not ftz or source == "f32":
                yield _op(f"cvt.{rounding}{ftz}{sat}.{to}.{source}", to, source)
    for to, source in product(_CVT_FLOATS, _CVT_INTS):
        yield from (
            _op(f"cvt.{rounding}{sat}.{to}.{source}", to, source) for rounding in ROUNDINGS for sat in ("", ".sat")
        )
    for to, source in product(_CVT_FLOATS, _CVT_FLOATS):
        roundings = ("", *ROUNDINGS, "rni", "rzi", "rmi", "rpi")
        for rounding, ftz, sat, relu in product(roundings, ("", ".ftz"), ("", ".sat"), ("", ".relu")):
            dotted = f".{rounding}" if rounding else ""
            yield _op(f"cvt{dotted}{ftz}{relu}{sat}.{to}.{source}", to, source)


def convert_packed() -> Iterator[Case]:
    """Conversions to tf32, two halves, fp8 and packed integers, PTX ISA 9.7.9.21 and 9.7.9.22."""
    for rounding, relu, finite in product(("rn", "rz", "rna"), ("", ".relu"), ("", ".satfinite")):
        yield _op(f"cvt.{rounding}{relu}{finite}.tf32.f32", "b32", "f32")
        for to in ("f16x2", "bf16x2"):
            yield _op(f"cvt.{rounding}{relu}{finite}.{to}.f32", to, "f32", "f32")
        for to in ("f16", "bf16"):
            yield _op(f"cvt.{rounding}{relu}{finite}.{to}.f32", to, "f32")
    for fp8, relu in product(("e4m3x2", "e5m2x2"), ("", ".relu")):
        yield _op(f"cvt.rn.satfinite{relu}.{fp8}.f32", "b16", "f32", "f32")
        yield from (_op(f"cvt.rn.satfinite{relu}.{fp8}.{t}", "b16", t) for t in ("f16x2", "bf16x2"))
        yield from (_op(f"cvt.rn{relu}.{t}.{fp8}", t, "b16") for t in ("f16x2", "bf16x2"))
    for to, t in product(("u16", "s16"), ("s32",)):
        yield _op(f"cvt.pack.sat.{to}.{t}", "b32", t, t)
    for to in ("u8", "s8", "u4", "s4", "u2", "s2"):
        yield _op(f"cvt.pack.sat.{to}.s32.b32", "b32", "s32", "s32", "b32")


def video() -> Iterator[Case]:
    """Scalar video instructions, PTX ISA 9.7.17."""
    for name, x, y in product(("vadd", "vsub", "vabsdiff", "vmin", "vmax"), WORDS, WORDS):
        for d, sat in product(WORDS, ("", ".sat")):
            yield _op(f"{name}.{d}.{x}.{y}{sat}", d, x, y)
            yield Case(f"{name}.{d}.{x}.{y}{sat} {{d}}, {{a}}.b1, {{b}}.h1;", d, (x, y))
            yield Case(f"{name}.{d}.{x}.{y}{sat}.add {{d}}, {{a}}, {{b}}.b3, {{c}};", d, (x, y, d))
            yield Case(f"{name}.{d}.{x}.{y}{sat}.min {{d}}, {{a}}.h0, {{b}}.b2, {{c}};", d, (x, y, d))
            yield Case(f"{name}.{d}.{x}.{y}{sat} {{d}}.b2, {{a}}.h1, {{b}}.b0, {{c}};", d, (x, y, d))
    for name, x, mode, sat in product(("vshl", "vshr"), WORDS, ("clamp", "wrap"), ("", ".sat")):
        yield _op(f"{name}.{x}.{x}.u32{sat}.{mode}", x, x, "u32")
        yield Case(f"{name}.{x}.{x}.u32{sat}.{mode}.add {{d}}, {{a}}.h1, {{b}}.b0, {{c}};", x, (x, "u32", x))
        yield Case(f"{name}.{x}.{x}.u32{sat}.{mode} {{d}}.h1, {{a}}.b3, {{b}}, {{c}};", x, (x, "count", x))
    for d, x, y in product(WORDS, WORDS, WORDS):
        for sat, scale in product(("", ".sat"), ("", ".shr7", ".shr15")):
            yield Case(f"vmad.{d}.{x}.{y}{sat}{scale} {{d}}, {{a}}.h0, {{b}}.b1, {{c}};", d, (x, y, d))
            yield Case(f"vmad.{d}.{x}.{y}{sat}{scale} {{d}}, {{a}}, -{{b}}, {{c}};", d, (x, y, d))
            yield Case(f"vmad.{d}.{x}.{y}.po{sat}{scale} {{d}}, {{a}}.b2, {{b}}, {{c}};", d, (x, y, d))
    for x, y, compare_ in product(WORDS, WORDS, COMPARISONS):
        yield _op(f"vset.{x}.{y}.{compare_}", "u32", x, y)
        yield Case(f"vset.{x}.{y}.{compare_}.add {{d}}, {{a}}.b1, {{b}}.h1, {{c}};", "u32", (x, y, "u32"))


def video_simd() -> Iterator[Case]:
    """SIMD video instructions, PTX ISA 9.7.17."""
    for lanes, name in product(("2", "4"), ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax")):
        for d, x, y in product(WORDS, WORDS, WORDS):
            yield from (
                _op(f"{name}{lanes}.{d}.{x}.{y}{sat}", "b32", "b32", "b32", "b32") for sat in ("", ".sat", ".add")
            )
    for lanes, x, y, compare_ in product(("2", "4"), WORDS, WORDS, COMPARISONS):
        yield _op(f"vset{lanes}.{x}.{y}.{compare_}", "b32", "b32", "b32", "b32")
    yield Case("vadd2.s32.s32.s32.sat {d}.h1, {a}.h21, {b}.h30, {c};", "b32", ("b32", "b32", "b32"))
    yield Case("vsub4.s32.s32.u32.sat {d}.b20, {a}.b7531, {b}.b0123, {c};", "b32", ("b32", "b32", "b32"))


_SCATTERED = 0x0F5A00FF  # a member mask with holes; lanes outside it skip the instruction


def _among(mask: int, body: str) -> str:
    """`body` run by the lanes of `mask` only; `q` guards each of its statements, `{d}` starts as 0."""
    zero = "{{ .reg .pred q, p; .reg .b32 lane, bit, small, other; mov.b32 {d}, 0; mov.u32 lane, %laneid; "
    guard = f"mov.b32 bit, 1; shl.b32 bit, bit, lane; and.b32 bit, bit, {mask}; setp.ne.b32 q, bit, 0; "
    return zero + guard + body + " }}"


def warp() -> Iterator[Case]:
    """Exchange and voting among the lanes of a warp, PTX ISA 9.7.9.6 and 9.7.13."""
    for mask in (0xFFFFFFFF, _SCATTERED):
        for mode, lane, clamp in product(
            ("up", "down", "bfly", "idx"), ("1", "5", "{b}"), ("0", "31", "0x1803", "{c}")
        ):
            if mode == "up" or clamp != "0" or mask == _SCATTERED:
                shuffle = (
                    f"@q shfl.sync.{mode}.b32 {{d}}|p, {{a}}, {lane}, {clamp}, {mask}; @q selp.b32 other, 1, 0, p;"
                )
                legal = "" if mask == 0xFFFFFFFF else " @q mov.b32 {d}, other;"
                yield Case(_among(mask, shuffle + legal), "b32", ("b32", "count", "b32"))
        for mode in ("all", "any", "uni"):
            vote = f"setp.gt.s32 p, {{a}}, {{b}}; @q vote.sync.{mode}.pred p, p, {mask}; @q selp.b32 {{d}}, 1, 0, p;"
            yield Case(_among(mask, vote), "b32", ("b32", "b32"))
        ballot = f"setp.gt.s32 p, {{a}}, {{b}}; @q vote.sync.ballot.b32 {{d}}, p, {mask};"
        yield Case(_among(mask, ballot), "b32", ("b32", "b32"))
        yield Case(
            _among(mask, f"and.b32 small, {{a}}, 3; @q match.any.sync.b32 {{d}}, small, {mask};"), "b32", ("b32",)
        )
        yield Case(
            _among(
                mask,
                "and.b32 small, {a}, 3; setp.gt.s32 p, {b}, 0; selp.b32 small, small, 1, p; "
                f"@q match.all.sync.b32 {{d}}|p, small, {mask}; @q selp.b32 {{d}}, {{d}}, 7, p;",
            ),
            "b32",
            ("b32", "b32"),
        )
        yield Case(
            _among(
                mask, f"{{{{ .reg .b64 long; and.b64 long, {{a}}, 1; @q match.any.sync.b64 {{d}}, long, {mask}; }}}}"
            ),
            "b32",
            ("b64",),
        )
        for name, t in (*product(("add", "min", "max"), WORDS), *product(("and", "or", "xor"), ("b32",))):
            yield Case(_among(mask, f"@q redux.sync.{name}.{t} {{d}}, {{a}}, {mask};"), "b32", (t,))
        yield Case(_among(mask, f"@q elect.sync {{d}}|p, {mask}; @q selp.b32 {{d}}, {{d}}, 99, p;"), "b32", ("b32",))
        yield Case(_among(mask, "@q activemask.b32 {d};"), "b32", ("b32",))


def atomic() -> Iterator[Case]:
    """The value an atomic leaves in memory, and the one it returns, PTX ISA 9.7.13.5; no two threads share a cell."""
    arithmetic = (
        *product(("add", "min", "max"), ("u32", "s32", "u64")),
        ("min", "s64"),
        ("max", "s64"),
        *product(("and", "or", "xor", "exch"), ("b32", "b64")),
        ("inc", "u32"),
        ("dec", "u32"),
        ("add", "f32"),
        ("add", "f64"),
        *(("add.noftz", t) for t in ("f16", "f16x2", "bf16", "bf16x2")),
    )
    for space, (name, t) in product(("global", "shared"), arithmetic):
        yield from _cell(space, t, f"atom.{space}.{name}.{t}", "{b}")
        if name != "exch":
            yield from _cell(space, t, f"red.{space}.{name}.{t}", "{b}")
    for space, t in product(("global", "shared"), ("b16", "b32", "b64")):
        yield from _cell(space, t, f"atom.{space}.cas.{t}", "{b}, {c}")
        yield from _cell(space, t, f"atom.{space}.cas.{t}", "{a}, {c}")


def _cell(space: str, t: str, operation: str, operands: str) -> Iterator[Case]:
    """`operation` on a cell of its own that holds `{a}`: once its new value, once what it returned."""
    w = width_of(t)
    opening = (
        f"{{{{ .reg .b64 cell, offset; .reg .b32 place; .reg .b{w} old; and.b32 place, t, {CELLS[space] - 1}; "
        f"mul.wide.u32 offset, place, 8; mov.u64 cell, {space}_cells; add.u64 cell, cell, offset; "
        f"st.{space}.b{w} [cell], {{a}}; "
    )
    sources = (t,) * (1 + operands.count("{b}") + operands.count("{c}")) if "{b}" in operands else (t, t, t)
    if operation.startswith("red"):
        yield Case(f"{opening}{operation} [cell], {operands}; ld.{space}.b{w} {{d}}, [cell]; }}}}", t, sources)
    else:
        yield Case(f"{opening}{operation} old, [cell], {operands}; ld.{space}.b{w} {{d}}, [cell]; }}}}", t, sources)
        yield Case(f"{opening}{operation} {{d}}, [cell], {operands}; }}}}", t, sources)


def bulk() -> Iterator[Case]:
    """What `cp.reduce.async.bulk` leaves where it reduces to, PTX ISA 9.7.9.25.5: each thread its own 16 bytes."""
    kinds = ("u32", "s32", "u64", "s64", "b32", "b64", "f16", "bf16", "f32", "f64")
    names = ("add", "add.noftz", "min", "max", "inc", "dec", "and", "or", "xor")
    for name, t in product(names, kinds):
        yield _stretch("global", ".bulk_group", f"{name}.{t}", t)
        yield _stretch("shared::cluster", ".mbarrier::complete_tx::bytes", f"{name}.{t}", t)


def _stretch(space: str, completion: str, operation: str, t: str) -> Case:
    """16 bytes that begin with `{b}` reduced to 16 that begin with `{a}`; what those begin with then."""
    w = width_of(t)
    memory = "global" if space == "global" else "shared"
    width = 64 if memory == "global" else 32
    lines = (
        f".reg .b{width} there; .reg .b32 given, bar, place; .reg .pred ready; .reg .b64 state;",
        f"and.b32 place, t, {CELLS['shared'] - 1}; mov.u32 given, parts; mad.lo.u32 given, place, 16, given;",
        "mov.u32 bar, bars; mad.lo.u32 bar, place, 8, bar; st.shared.v2.b64 [given], {{0, 0}};",
        f"and.b32 place, t, {CELLS[memory] - 1}; mov.u{width} there, {memory}_stretches;",
        f"mad.{'wide' if width == 64 else 'lo'}.u32 there, place, 16, there; st.{memory}.v2.b64 [there], {{{{0, 0}}}};",
        f"st.{memory}.b{w} [there], {{a}}; st.shared.b{w} [given], {{b}}; mbarrier.init.shared.b64 [bar], 1;",
        "fence.proxy.async; mbarrier.arrive.expect_tx.shared.b64 state, [bar], 16;",
        f"cp.reduce.async.bulk.{space}.shared::cta{completion}.{operation} [there], [given], 16",
    )
    wait = (
        "; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
        if memory == "global"
        else ", [bar]; WAIT: mbarrier.try_wait.shared.b64 ready, [bar], state; @!ready bra WAIT;"
    )
    ending = f"fence.proxy.async; ld.{memory}.b{w} {{d}}, [there];"
    return Case(f"{{{{ {' '.join(lines)}{wait} {ending} }}}}", t, (t, t))


FAMILIES = (
    integer,
    extended,
    logic,
    compare,
    single,
    approximate,
    half,
    convert,
    convert_packed,
    video,
    video_simd,
    warp,
    atomic,
    bulk,
)


def families() -> Iterator[tuple[str, tuple[Case, ...]]]:
    """Each family's name and its cases, duplicates removed, in a fixed order."""
    for family in FAMILIES:
        yield family.__name__, tuple(dict.fromkeys(family()))
