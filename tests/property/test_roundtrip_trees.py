"""Any tree prints as text that reads as the same tree, and formatting settles at once."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.source import Source
from ptxloom.syntax import Module, parse
from ptxloom.syntax import format as laid_out
from ptxloom.syntax.operands import signed
from ptxloom.syntax.tree import (
    Address,
    AddressSize,
    Alias,
    Apply,
    Arguments,
    Attribute,
    Binary,
    Block,
    BranchTargets,
    CallPrototype,
    CallTargets,
    Cast,
    Component,
    Data,
    Declaration,
    Declarator,
    File,
    Float,
    Function,
    Indexed,
    Instruction,
    Integer,
    Label,
    Loc,
    Name,
    Operand,
    Pair,
    PerformanceDirective,
    Pointer,
    Pragma,
    Predicate,
    Section,
    Statement,
    String,
    Target,
    Ternary,
    Unary,
    Vector,
    Version,
)

WORDS = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True)
IDENTIFIERS = st.from_regex(r"[A-Za-z][A-Za-z0-9_$]{0,8}|[_$%][A-Za-z0-9_$]{1,8}", fullmatch=True)
SMALL = st.integers(0, 10**6)
NAMES = st.builds(Name, IDENTIFIERS | st.just("_"))
INTEGERS = st.builds(
    Integer, st.integers(-(2**63), 2**64 - 1), st.sampled_from((10, 16, 2, 8)), st.just(False)
) | st.builds(Integer, st.integers(0, 2**64 - 1), st.sampled_from((10, 16)), st.just(True))


def decimal(value: float) -> Float:
    return Float(int.from_bytes(struct.pack("<d", value), "little"), 64, True)


FLOATS = (
    st.builds(Float, st.integers(0, 2**32 - 1), st.just(32))
    | st.builds(Float, st.integers(0, 2**64 - 1))
    | st.builds(decimal, st.floats(allow_nan=False, allow_infinity=False))
)
COMPONENTS = st.builds(Component, NAMES, st.sampled_from(("x", "y", "b0", "h1")))
SIGNS = ("+", "-", "*", "/", "%", "<<", ">>", "<", ">=", "==", "!=", "&", "|", "^", "&&", "||")


def minus(sign: str, operand: Operand) -> Operand:
    if isinstance(operand, Float) and not operand.decimal:
        return operand  # bits take no sign
    return signed(sign, operand, 0)  # a minus in front of a literal is one with it


def expressions(inner: st.SearchStrategy[Operand]) -> st.SearchStrategy[Operand]:
    return st.one_of(
        st.builds(minus, st.sampled_from(("-", "~", "!", "+")), inner),
        st.builds(Binary, st.sampled_from(SIGNS), inner, inner),
        st.builds(Ternary, inner, inner, inner),
        st.builds(Cast, st.sampled_from(("u64", "s64")), inner),
        st.builds(Apply, NAMES, inner),
        st.builds(Indexed, NAMES, inner),
    )


# An address keeps constant offsets apart, so only plain names and literals stand alone in one here.
LEAVES = NAMES | INTEGERS | FLOATS | COMPONENTS
EXPRESSIONS: st.SearchStrategy[Operand] = st.recursive(LEAVES, expressions, max_leaves=6)
VECTORS = st.builds(Vector, st.lists(EXPRESSIONS, max_size=5).map(tuple))
ADDRESSES = (
    st.builds(Address, NAMES, st.integers(-(2**40), 2**40), st.just(False), st.lists(VECTORS, max_size=2).map(tuple))
    | st.builds(Address, NAMES, st.integers(1, 2**20), st.just(True))
    | st.builds(Address, NAMES, zero=st.just(True))
    | st.builds(Address, INTEGERS)
)
PAIRS = st.builds(Pair, NAMES, NAMES | st.builds(Unary, st.just("!"), NAMES))
STRINGS = st.from_regex(r"[A-Za-z0-9 ./;{}]{0,8}", fullmatch=True)


def no_pair(node: Operand) -> bool:
    """Whether an operand, alone, cannot be taken for a pair: `a | b` is one, `(a | b)` is not, and loses them."""
    while isinstance(node, Binary | Ternary):
        if isinstance(node, Binary) and node.operator == "|" and isinstance(node.left, Name | Component):
            return False
        node = node.condition if isinstance(node, Ternary) else node.left
    return True


OPERANDS = st.one_of(
    LEAVES,
    EXPRESSIONS.filter(no_pair),
    VECTORS,
    ADDRESSES,
    PAIRS,
    st.builds(Unary, st.just("!"), NAMES),
)
GUARDS = st.none() | st.builds(Predicate, IDENTIFIERS, st.booleans())
SPELLINGS = st.lists(
    st.from_regex(r"[a-z][a-z0-9_]{0,5}(::[a-z0-9]{1,5})?|[0-9]{1,2}[b-d]", fullmatch=True), max_size=4
)
INSTRUCTIONS = st.builds(
    Instruction,
    GUARDS,
    WORDS.filter(lambda word: word != "call"),
    SPELLINGS.map(tuple),
    st.lists(OPERANDS, max_size=4).map(tuple),
)
LISTS = st.builds(Arguments, st.lists(NAMES | INTEGERS, max_size=3).map(tuple))
CALLS = st.builds(
    Instruction,
    GUARDS,
    st.just("call"),
    st.sampled_from(((), ("uni",))),
    st.tuples(LISTS, NAMES, LISTS) | st.tuples(NAMES, LISTS, NAMES) | st.tuples(NAMES),
)
ATTRIBUTES = st.lists(
    st.builds(Attribute, st.just("unified"), st.lists(INTEGERS, max_size=2).map(tuple)), max_size=2
).map(tuple)
DECLARATORS = st.builds(
    Declarator,
    IDENTIFIERS,
    st.none() | SMALL,
    st.lists(st.none() | SMALL, max_size=2).map(tuple),
    st.none() | EXPRESSIONS | VECTORS,
)
TYPES = st.sampled_from(("b8", "u32", "f64", "pred", "texref"))
POWERS = st.sampled_from((0, 1, 8, 128))
DECLARATIONS = st.builds(
    Declaration,
    st.sampled_from(("", "visible", "extern", "weak", "common")),
    st.sampled_from(("reg", "shared", "global", "const", "local", "param")),
    POWERS,
    st.sampled_from((0, 2, 4, 8)),
    TYPES,
    ATTRIBUTES,
    st.lists(DECLARATORS, min_size=1, max_size=3).map(tuple),
)
POINTERS = st.none() | st.builds(Pointer, st.sampled_from(("", "global", "shared")), POWERS)
PARAMETERS = st.lists(
    st.builds(
        Declaration,
        st.just(""),
        st.just("param"),
        POWERS,
        st.just(0),
        TYPES,
        st.just(()),
        st.tuples(st.builds(Declarator, IDENTIFIERS)),
        POINTERS,
    ),
    max_size=3,
).map(tuple)
DIRECTIVES = st.lists(
    st.builds(
        PerformanceDirective,
        st.sampled_from(("maxntid", "reqntid", "minnctapersm", "maxnreg")),
        st.lists(st.builds(Integer, SMALL), min_size=1, max_size=3).map(tuple),
    )
    | st.builds(PerformanceDirective, st.just("explicitcluster"))
    | st.builds(PerformanceDirective, st.just("pragma"), st.tuples(st.builds(String, STRINGS))),
    max_size=2,
).map(tuple)
NAME_LISTS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)
PLACES = st.tuples(SMALL, SMALL, SMALL)
LOCS = st.builds(Loc, SMALL, SMALL, SMALL) | st.builds(Loc, SMALL, SMALL, SMALL, IDENTIFIERS, SMALL, PLACES)
SIMPLE = st.one_of(
    INSTRUCTIONS,
    CALLS,
    DECLARATIONS,
    LOCS,
    st.builds(Label, IDENTIFIERS),
    st.builds(Pragma, st.lists(STRINGS, min_size=1, max_size=2).map(tuple)),
    st.builds(BranchTargets, NAME_LISTS),
    st.builds(CallTargets, NAME_LISTS),
    st.builds(CallPrototype, PARAMETERS, PARAMETERS, st.booleans()),
)
BLOCKS = st.recursive(
    st.builds(Block, st.lists(SIMPLE, max_size=4).map(tuple)),
    lambda inner: st.builds(Block, st.lists(SIMPLE | inner, max_size=3).map(tuple)),
    max_leaves=4,
)
FUNCTIONS = st.builds(
    Function,
    st.sampled_from(("", "visible", "extern", "weak")),
    st.sampled_from(("entry", "func")),
    IDENTIFIERS,
    PARAMETERS,
    PARAMETERS,
    DIRECTIVES,
    ATTRIBUTES,
    st.none() | BLOCKS,
)
DATA = st.builds(
    Data,
    st.sampled_from(("b8", "b32", "b64")),
    st.lists(SMALL | NAMES | st.builds(Binary, st.just("+"), NAMES, INTEGERS), min_size=1, max_size=4).map(tuple),
)
SECTIONS = st.builds(
    Section,
    WORDS.map(lambda word: f".debug_{word}"),
    st.lists(DATA | st.builds(Label, IDENTIFIERS), max_size=4).map(tuple),
)
TOP: st.SearchStrategy[Statement] = st.one_of(
    SIMPLE,
    BLOCKS,
    FUNCTIONS,
    SECTIONS,
    st.builds(Version, st.integers(0, 99), st.integers(0, 9)),
    st.builds(Target, st.lists(IDENTIFIERS, min_size=1, max_size=3).map(tuple)),
    st.builds(AddressSize, st.sampled_from((32, 64))),
    st.builds(File, SMALL, STRINGS) | st.builds(File, SMALL, STRINGS, SMALL, SMALL),
    st.builds(Alias, IDENTIFIERS, IDENTIFIERS),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(TOP, max_size=4))
def test_print_then_parse_is_the_identity(statements: list[Statement]) -> None:
    module = Module(Source(""), tuple(statements))
    printed = str(module)
    read = parse(printed)
    assert read.diagnostics == ()
    assert read.statements == module.statements
    assert str(read) == printed
    once = laid_out(read)
    assert parse(once) == read
    assert laid_out(parse(once)) == once
