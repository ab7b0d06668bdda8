"""Modules that put each rule about whole modules to the test: small ones, made by going through combinations."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations, product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
_KERNEL = ".entry k() {{\n{}\nret;\n}}"


@dataclass(frozen=True, slots=True)
class ModuleCase:
    """A module, and what it is about."""

    about: str
    text: str


def module_cases() -> tuple[ModuleCase, ...]:
    """Every case, each text once, in a fixed order."""
    makers = {
        "names": _names,
        "names by scope": _scopes,
        "variables again": _variables_again,
        "functions again": _functions_again,
        "declarations": _declarations,
        "parameters": _parameters,
        "initial values": _initial_values,
        "alignments": _alignments,
        "limits": _limits,
        "headers": _headers,
        "availability": _availability,
        "head": _heads,
        "aliases": _aliases,
        "labels": _labels,
        "words for types": _words_for_types,
        "what calls pass": _calls,
        "elements of arrays": _elements,
        "constant expressions": _expressions,
        "outside functions": _outside,
    }
    found: dict[str, ModuleCase] = {}
    for about, maker in makers.items():
        for text in maker():
            whole = text if text.startswith("!") else HEAD + text
            found.setdefault(whole, ModuleCase(about, whole.removeprefix("!") + "\n"))
    return tuple(found.values())


def digest(cases: Iterable[ModuleCase]) -> str:
    """What changes when a case does."""
    return sha256("\0".join(case.text for case in cases).encode()).hexdigest()[:16]


_THINGS = (
    *(".reg .u32 a2;", ".reg .f32 a<4>;", ".reg .v2 .u32 a2;", ".shared .b8 a2[4];", ".local .u32 a2;"),
    *(
        ".param .u32 a2;",
        "a2:",
        ".global .u32 a2;",
        ".const .u32 a2;",
        "a2: .branchtargets E;",
        "a2: .callprototype _;",
    ),
)


def _names() -> Iterator[str]:
    for first, second in product(_THINGS, _THINGS):
        yield _KERNEL.format(f"{first}\n{second}\nE:")
    for thing in _THINGS:
        yield f".entry k(.param .u32 a2) {{\n{thing}\nE: ret;\n}}"
        yield f".func (.reg .u32 a2) k() {{\n{thing}\nE: ret;\n}}"
        yield f".global .u32 a2;\n{_KERNEL.format(thing + ' E:')}"
        yield f".func a2() {{\nret;\n}}\n{_KERNEL.format(thing + ' E:')}"
    for names in (
        ("a", "a"),
        ("a", "b"),
        ("a<3>", "a2"),
        ("a<2>", "a2"),
        ("a2", "a<3>"),
        ("a<3>", "a<9>"),
        ("a<9>", "a"),
    ):
        yield _KERNEL.format(f".reg .b32 {', '.join(names)};")
    for name in ("_", "WARP_SZ", "%tid", "%r", "$a", "_a", "add", "u32", "ret", "%", "$", "1a", "a.b", "a$b", "%%a"):
        for declaration in (".reg .u32 {};", ".shared .u32 {};", "{}:"):
            yield _KERNEL.format(declaration.format(name))
        yield f".global .u32 {name};"
        yield f".func {name}() {{\nret;\n}}"


def _scopes() -> Iterator[str]:
    for first, second in product(_THINGS[:7], _THINGS[:7]):
        yield _KERNEL.format(f"{first}\n{{\n{second}\n}}")
        yield _KERNEL.format(f"{{\n{first}\n}}\n{{\n{second}\n}}")
    for linkage, other in product(("", ".visible "), repeat=2):
        yield f"{linkage}.global .u32 a;\n{other}.func a() {{\nret;\n}}"
        yield f"{linkage}.func a() {{\nret;\n}}\n{other}.global .u32 a;"
    yield ".func (.param .u32 a) f(.param .u32 a) {\nret;\n}"
    yield ".func f(.param .u32 a, .param .u32 a) {\nret;\n}"


_LINKAGES = ("", ".extern ", ".visible ", ".weak ", ".common ")


def _variables_again() -> Iterator[str]:
    shapes = (
        ".u32 a",
        ".s32 a",
        ".b32 a",
        ".u64 a",
        ".u32 a[4]",
        ".u32 a[8]",
        ".u32 a[]",
        ".u32 a[2][2]",
        ".v2 .u32 a",
    )
    for first, second in product(_LINKAGES, _LINKAGES):
        yield f"{first}.global .u32 a;\n{second}.global .u32 a;"
        yield f"{first}.global .u32 a;\n{second}.const .u32 a;"
        yield f"{first}.global .u32 a;\n{second}.global .f32 a;"
        yield f"{first}.global .align 4 .u32 a;\n{second}.global .align 8 .u32 a;"
    for one, two in product(shapes, shapes):
        yield f".extern .global {one};\n.visible .global {two};"
    for one, two in product((".b8 a[]", ".b8 a[4]", ".u32 a[]"), repeat=2):
        yield f".extern .shared {one};\n.extern .shared {two};"


def _functions_again() -> Iterator[str]:
    body = " {\nret;\n}"
    linkages = ("", ".extern ", ".visible ", ".weak ")
    for first, second in product(linkages, linkages):
        for kind, other in product((".func", ".entry"), repeat=2):
            for end, last in product((";", body), repeat=2):
                yield f"{first}{kind} f(){end}\n{second}{other} f(){last}"
    shapes = (
        *("", ".param .u32 a", ".param .b32 a", ".param .u64 a", ".param .u32 a, .param .u32 b", ".reg .u32 a"),
        *(".param .b8 a[4]", ".param .b8 a[8]", ".param .align 8 .b8 a[8]", ".param .align 4 .u32 a"),
    )
    for one, two in product(shapes, shapes):
        yield f".func f({one});\n.func f({two}){body}"
        if "reg" not in one + two:
            yield f".entry f({one});\n.entry f({two}){body}"
    results = ("", "(.param .u32 r) ", "(.reg .u32 r) ", "(.param .u64 r) ")
    for one, two in product(results, results):
        yield f".func {one}f();\n.func {two}f(){body}"
    yield f".func f() .noreturn;\n.func f(){body}"
    yield ".func f();\n.func f() .noreturn {\ntrap;\n}"


_TYPES = (
    "u8",
    "s16",
    "u32",
    "b32",
    "s64",
    "b64",
    "f16",
    "f16x2",
    "f32",
    "f64",
    "pred",
    "b128",
    "bf16",
    "tf32",
    "e4m3x2",
)


def _declarations() -> Iterator[str]:
    spaces = ("reg", "shared", "local", "global", "const", "param", "sreg", "tex")
    shapes = ("a", "a[4]", "a[]", "a[0]", "a[2][3]", "a[2][]", "a<3>")
    for space, type_ in product(spaces, _TYPES):
        yield f".{space} .{type_} a;"
        yield _KERNEL.format(f".{space} .{type_} a;")
    for space, shape in product(spaces[:6], shapes):
        for linkage in ("", ".extern ", ".visible ", ".weak ", ".common "):
            yield f"{linkage}.{space} .b32 {shape};"
        yield _KERNEL.format(f".{space} .b32 {shape};")
    for space, type_, vector in product(spaces[:6], ("u8", "u32", "b64", "f64", "b128", "pred", "f16"), ("v2", "v4")):
        yield _KERNEL.format(f".{space} .{vector} .{type_} a;")
    for linkage, space in product(_LINKAGES[1:], ("reg", "shared", "local", "global", "const")):
        yield _KERNEL.format(f"{linkage}.{space} .u32 a;")
    for space, type_ in product(("global", "const", "shared", "reg", "local"), ("texref", "surfref", "samplerref")):
        yield f".{space} .{type_} a;"
        yield _KERNEL.format(f".{space} .{type_} a;")
    for space, attribute in product(("global", "shared", "const"), ("managed", "other")):
        yield f".{space} .attribute(.{attribute}) .u32 a;"


def _parameters() -> Iterator[str]:
    shapes = ("a", "a[4]", "a[]", "a[0]")
    for kind, space, type_ in product((".entry", ".func"), ("param", "reg", "shared", "global"), (*_TYPES, "texref")):
        yield f"{kind} f(.{space} .{type_} a) {{\nret;\n}}"
    for kind, space, shape in product((".entry", ".func"), ("param", "reg"), shapes):
        yield f"{kind} f(.{space} .b8 {shape}) {{\nret;\n}}"
        yield f"{kind} f(.{space} .b8 {shape}, .param .u32 b) {{\nret;\n}}"
    for kind, vector in product((".entry", ".func"), ("v2", "v4")):
        yield f"{kind} f(.param .{vector} .u32 a) {{\nret;\n}}"
        yield f"{kind} f(.reg .{vector} .u32 a) {{\nret;\n}}"
    for kind, result in product(
        (".entry", ".func"), (".param .u32 a", ".reg .u32 a", ".param .b8 a[4]", ".param .b8 a[]")
    ):
        yield f"{kind} ({result}) f() {{\nret;\n}}"
        yield f"{kind} ({result}, .reg .u32 b) f() {{\nret;\n}}"
    for space in ("param", "shared"):
        yield f".entry f(.{space} .u32 a = 1) {{\nret;\n}}"


def _initial_values() -> Iterator[str]:
    values = (
        *(
            "1",
            "-1",
            "300",
            "1.0",
            "-1.5",
            "0f3f800000",
            "0d3ff0000000000000",
            "v",
            "v+4",
            "generic(v)",
            "0xFF(v)",
            "f",
            "s",
        ),
        *("{1}", "{1, 2}", "1+2*3", "0x7fffffffffffffff", "nothing", "later", "x", "(1)", "1 ? 2 : 3"),
    )
    before = ".global .u32 v;\n.shared .u32 s;\n.func f() {\nret;\n}\n"
    for type_, value in product((*_TYPES[:10], "b16"), values):
        yield f"{before}.global .{type_} x = {value};\n.global .u32 later;"
    lists = (
        "{}",
        "{1}",
        "{1, 2}",
        "{1, 2, 3}",
        "{{1, 2}, {3, 4}}",
        "{{1}, {2}}",
        "{{1, 2, 3}, {4}}",
        "1",
        "{{1,2},{3,4},{5,6}}",
    )
    for shape, value in product(("a", "a[]", "a[2]", "a[2][2]", "a[][2]", "a[3]"), lists):
        yield f".global .u32 {shape} = {value};"
        yield f".const .v2 .u32 {shape} = {value};"
    for space, linkage in product(("global", "const", "shared", "local", "reg"), _LINKAGES):
        yield f"{linkage}.{space} .u32 a = 1;"
        yield _KERNEL.format(f".{space} .u32 a = 1;")


def _alignments() -> Iterator[str]:
    for number in (0, 1, 2, 3, 4, 6, 8, 12, 16, 48, 64, 100, 128, 256, 512, 1024, 4096):
        for space in ("global", "const", "shared"):
            yield f".{space} .align {number} .b8 a[16];"
        for space in ("local", "reg", "param", "shared"):
            yield _KERNEL.format(f".{space} .align {number} .b32 a;")
        for kind in (".entry", ".func"):
            yield f"{kind} f(.param .align {number} .b8 a[16]) {{\nret;\n}}"
        yield f".entry f(.param .u64 .ptr .global .align {number} a) {{\nret;\n}}"
        yield f".func (.param .align {number} .b8 a[16]) f() {{\nret;\n}}"


def _limits() -> Iterator[str]:
    use = ".reg .u32 r; mov.u32 r, a;"
    for size in (49148, 49152, 49153, 49156, 65536, 100000, 232448):
        yield f".shared .b8 a[{size}];\n{_KERNEL.format(use)}"
        yield f".shared .b8 a[{size}];\n{_KERNEL.format('')}"
        yield _KERNEL.format(f".shared .b8 a[{size}];")
        yield f".func f() {{\n.shared .b8 a[{size}];\nret;\n}}\n{_KERNEL.format('call f;')}"
        yield f".func f() {{\n.shared .b8 a[{size}];\nret;\n}}\n{_KERNEL.format('')}"
        inner = f".func f() {{\n{use}\nret;\n}}\n.func g() {{\ncall f;\nret;\n}}"
        yield f".shared .b8 a[{size}];\n{inner}\n{_KERNEL.format('call g;')}"
    for one, two in product((20000, 40000), repeat=2):
        yield f".shared .b8 a[{one}];\n.shared .b8 b[{two}];\n{_KERNEL.format(use + ' mov.u32 r, b;')}"
        yield f".const .b8 a[{one}];\n.const .b8 b[{two}];"
    for size in (65532, 65536, 65537, 65540, 131072):
        yield f".const .b8 a[{size}];"
        yield _KERNEL.format(f".const .b8 a[{size}];")
        yield f".extern .const .b8 a[{size}];\n{_KERNEL.format('')}"
    for version, size in product(("7.8", "8.0", "8.1", "9.0"), (4096, 4352, 4356, 32760, 32764, 32768, 40000)):
        yield f"!.version {version}\n.target sm_90\n.address_size 64\n.entry k(.param .b8 a[{size}]) {{\nret;\n}}"
    for size, rest in product((32752, 32756, 32760, 32764), (".u32", ".u64", ".align 16 .b8")):
        name = "b[4]" if "b8" in rest else "b"
        yield f".entry k(.param .b8 a[{size}], .param {rest} {name}) {{\nret;\n}}"
    yield ".func k(.param .b8 a[40000]) {\nret;\n}"


_DIRECTIVES = (
    *(".maxntid 128", ".reqntid 128", ".minnctapersm 2", ".maxnreg 64", ".reqnctapercluster 2", ".explicitcluster"),
    *(
        ".maxclusterrank 8",
        ".blocksareclusters",
        ".noreturn",
        '.pragma "nounroll";',
        ".maxnctapersm 2",
        ".abi_preserve 8",
    ),
)


def _headers() -> Iterator[str]:
    for directive in (*_DIRECTIVES, ".nothing", ".maxnti 128"):
        yield f".entry k() {directive} {{\nret;\n}}"
        yield f".func k() {directive} {{\nret;\n}}"
        yield f".func k() {directive};"
        yield f".entry k() {directive};\n.entry k() {{\nret;\n}}"
        yield _KERNEL.format(f"{directive};")
    for one, two in permutations(_DIRECTIVES[:8], 2):
        yield f".entry k() {one} {two} {{\nret;\n}}"
        yield f".entry k() {one} {two} .reqntid 64 {{\nret;\n}}"
    for name in ("maxntid", "reqntid", "minnctapersm", "maxnreg", "reqnctapercluster", "maxclusterrank"):
        for numbers in ("0", "1", "1,0", "16,8", "16,8,4", "2,2,2,2", "1025", "64,64", "100000", "-1", "x", "1+1", ""):
            yield f".entry k() .{name} {numbers} {{\nret;\n}}"
    for result in ("", "(.param .u32 r) ", "(.reg .u32 r) "):
        yield f".func {result}k() .noreturn {{\ntrap;\n}}"


def _availability() -> Iterator[str]:
    for platform in (
        "6.3 sm_70",
        "6.4 sm_75",
        "7.7 sm_80",
        "7.8 sm_80",
        "7.8 sm_90",
        "8.7 sm_90",
        "9.0 sm_80",
        "9.0 sm_100",
    ):
        version, target = platform.split()
        for directive in _DIRECTIVES:
            kind = ".func" if directive in {".noreturn", ".abi_preserve 8"} else ".entry"
            before = " .reqntid 128 .reqnctapercluster 2" if directive == ".blocksareclusters" else ""
            text = f"{kind} k(){before} {directive} {{\nret;\n}}"
            yield f"!.version {version}\n.target {target}\n.address_size 64\n{text}"
        alias = ".func g();\n.func f() {\nret;\n}\n.alias g, f;"
        yield f"!.version {version}\n.target {target}\n.address_size 64\n{alias}"


def _heads() -> Iterator[str]:
    lines = (".version 9.0", ".target sm_90", ".address_size 64", _KERNEL.format(""))
    for count in (1, 2, 3, 4):
        for some in product(lines, repeat=count):
            if some.count(lines[3]) <= 1:  # one kernel of a name
                yield "!" + "\n".join(some)
    for bits in (0, 16, 48, 64, 128):
        yield f"!.version 9.0\n.target sm_90\n.address_size {bits}\n{lines[3]}"
    for names in permutations(("sm_90", "texmode_independent", "texmode_unified"), 2):
        yield f"!.version 9.0\n.target {', '.join(names)}\n.address_size 64\n{lines[3]}"
    yield f"!.version 9.0\n.target sm_90, sm_80\n.address_size 64\n{lines[3]}"
    yield f"!// a comment\n.version 9.0\n/* another */ .target sm_90\n{lines[3]}"
    yield "L:"
    yield "mov.u32 a, 1;"


def _aliases() -> Iterator[str]:
    news = (
        *(".func g();", ".visible .func g();", ".weak .func g();", ".extern .func g();", ".func g() {\nret;\n}", ""),
        *(".entry g();", ".global .u32 g;", ".func g(.param .u32 a);", ".func (.param .u32 r) g();"),
    )
    olds = (
        *(
            ".func f() {\nret;\n}",
            ".visible .func f() {\nret;\n}",
            ".weak .func f() {\nret;\n}",
            "",
            ".entry f() {\nret;\n}",
        ),
        *(".global .u32 f;", ".func f(.param .u32 b) {\nret;\n}", ".func f(.param .u64 b) {\nret;\n}"),
    )
    for new, old in product(news, olds):
        yield f"{new}\n{old}\n.alias g, f;"
        yield f"{old}\n.alias g, f;\n{new}"
    yield ".func f() {\nret;\n}\n.alias f, f;"


def _labels() -> Iterator[str]:
    places = (
        *(
            "{b}\nA:",
            "A:\n{b}",
            "{{\nA:\n}}\n{b}",
            "{b}\n{{\nA:\n}}",
            "{{\n{b}\n}}\nA:",
            "{{\nA:\n}}\n{{\n{b}\n}}",
            "{b}",
        ),
        *(
            "A:\n{{\n{{\n{b}\n}}\n}}",
            "A:\n{{\nA:\n{b}\n}}",
            ".reg .u32 A;\n{b}",
            "A: .branchtargets E;\n{b}",
            "E:\n{b}",
        ),
    )
    branches = (
        *("bra A;", "bra.uni A;", "@p bra A;", "T: .branchtargets A;", "T: .branchtargets A, A, E;"),
        *("brx.idx r, A;", "T: .branchtargets A; brx.idx r, T;", "brx.idx r, T; T: .branchtargets A;"),
    )
    for place, branch in product(places, branches):
        body = place.format(b=branch)
        end = "" if "\nE:" in f"\n{body}" else "\nE:"
        yield _KERNEL.format(f".reg .u32 r; .reg .pred p; mov.u32 r, 0; setp.eq.u32 p, r, 0;\n{body}{end}")
    yield f".func f() {{\nA: ret;\n}}\n{_KERNEL.format('bra A;')}"
    yield f".func f() {{\nret;\n}}\n{_KERNEL.format('bra f;')}"


_NO_TYPES = "i8 i16 i32 i64 int u33 float double half f8 f128 b7 bf16 b1 s4 u1 bool void v2 tex texture pred2 u32x2"


def _words_for_types() -> Iterator[str]:
    """Words that are not types, or none of variables."""
    for word in _NO_TYPES.split():
        yield f".global .{word} g;"
        yield _KERNEL.format(f".reg .{word} a, b;")
        yield _KERNEL.format(f".reg .{word} %a<4>;")
        yield _KERNEL.format(f".shared .align 8 .{word} s[4];")
        yield f".entry k(.param .{word} n) {{ ret; }}"


_CALLER_NAMES = ("n", "o", "p", "r")


def _calls() -> Iterator[str]:
    """A function's own parameters, registers and `.param` variables as arguments and as results of calls."""
    kinds = {"param": ".param .b32", "reg": ".reg .b32"}
    for kind, (space, name) in product(("entry", "func"), product(kinds, _CALLER_NAMES)):
        result = "" if kind == "entry" else "(.param .b32 o) "
        caller = f".{kind} {result}k(.param .b32 n) {{ .param .b32 p; .reg .b32 r; BODY ret; }}"
        callee = f".func ({kinds[space]} x) f({kinds[space]} y) {{ ret; }}\n"
        for call in (f"call (r), f, ({name});", f"call ({name}), f, (r);", f"call (p), f, ({name});"):
            yield callee + caller.replace("BODY", call)
            yield callee + caller.replace("BODY", f"{{ .param .b32 {name}; {call} }}")
    for name in _CALLER_NAMES:
        body = f"ld.param.b64 q, [c]; P: .callprototype _ (.param .b32 x); call q, ({name}), P;"
        yield f".entry k(.param .b64 c, .param .b32 n) {{ .param .b32 p; .reg .b32 r; .reg .b64 q; {body} ret; }}"


_ARRAYS = (
    ".global .u32 g[4]; .const .u32 c[4]; .extern .shared .b32 e[];\n"
    ".entry k(.param .u32 q, .param .align 4 .b8 p[16]) {{\n"
    ".reg .b32 r<4>; .reg .b64 w<3>; .reg .f32 f; .reg .b16 h; .reg .pred t; .shared .b32 s[8]; .shared .b32 m[4][4]; "
    ".shared .v4 .b32 v; .local .b32 l[4];\n{}\nret;\n}}"
)


def _elements() -> Iterator[str]:
    """An element of an array as an operand: of which array, by which index, of which instruction."""
    loads = {"g": "global", "c": "const", "e": "shared", "p": "param", "s": "shared", "m": "shared", "l": "local"}
    for name, space in (*loads.items(), ("v", "shared"), ("q", "param"), ("r1", "shared"), ("no", "shared")):
        for text in (f"ld.{space}.u32 r1, {name}[1];", f"mov.u64 w1, {name}[1];", f"ld.shared.u32 r1, {name}[1];"):
            yield _ARRAYS.format(text)
    for index in (
        "0",
        "9",
        "1+1",
        "-1",
        "1.5",
        "r2",
        "w1",
        "h",
        "f",
        "t",
        "r2+4",
        "r2+4+4",
        "no",
        "WARP_SZ",
        "5/0",
        "s",
    ):
        yield _ARRAYS.format(f"ld.shared.u32 r1, s[{index}];")
        yield _ARRAYS.format(f"mov.u32 r1, s[{index}];")
    for text in (
        *("st.shared.u32 s[1], r1;", "st.volatile.shared.u32 s[1], 3;", "ld.volatile.shared.u32 r1, s[1];"),
        *("ldu.global.u32 r1, g[1];", "ld.global.nc.u32 r1, g[1];", "red.global.add.u32 g[1], r1;"),
        *("cvta.shared.u64 w1, s[1];", "cvta.global.u64 w1, g[1];", "atom.shared.add.u32 r1, s[1], 4;"),
        *("prefetch.global.L1 g[1];", "add.u32 r1, r2, s[1];", "st.shared.u32 [r1], s[1];", "mov.f32 f, s[1];"),
        *("mov.b32 r1, s[1];", "mov.u16 h, s[1];", "setp.eq.u32 t, s[1], 0;", "ld.shared.v2.u32 {r1, r2}, s[2];"),
        *("ld.u32 r1, g[1];", "ld.u32 r1, c[1];", "ld.global.u32 r1, s[1];", "cvta.global.u64 w1, s[1];"),
    ):
        yield _ARRAYS.format(text)


def _expressions() -> Iterator[str]:
    """Expressions of literals, where an integer and where a floating-point number is wanted."""
    parts = ("1", "2.5", "0f3F800000", "WARP_SZ", "0")
    pairs = [f"{a} {sign} {b}" for a, sign, b in product(parts, ("+", "/", "<", "&&", "&", "=="), parts)]
    signs = [f"{sign}{one}" for sign, one in product("-+~!", ("1", "2.5", "(2.5)", "(1)"))]
    choices = ["1 ? 2 : 3", "1 ? 2.5 : 3.5", "1.5 ? 2 : 3", "1 ? 2.5 : 3", "(.s64) 3", "(.u64) 1.5", "3 / (1 - 1)"]
    for value in (*pairs, *signs, *choices):
        yield _KERNEL.format(f".reg .u32 r;\nmov.u32 r, {value};")
        yield _KERNEL.format(f".reg .f32 r;\nmov.f32 r, {value};")


def _outside() -> Iterator[str]:
    """What stands outside any function."""
    for text in (
        "ret;",
        "bar.sync 0;",
        "{ }",
        "{ ret; }",
        "A:",
        "@p ret;",
        "mov.u32 %r1, 0;",
        ".u32 a;",
        ".shared .align 4 a[4];",
    ):
        yield f"{text}\n.entry k() {{ ret; }}"
        yield f".entry k() {{ ret; }}\n{text}"
    yield ".entry k(.u64 n) { ret; }"
    yield ".entry k() { .reg r; ret; }"
