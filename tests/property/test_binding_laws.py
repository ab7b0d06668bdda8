"""Checker, machine, flow and language server agree on what names mean, and on what declarations take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_files import CorpusFile, corpus_files
from ptxloom.binding.names import index_of
from ptxloom.binding.sizes import alignment_of, parameters, size_of
from ptxloom.checker.core.scope import VisibleNames
from ptxloom.flow import flow_graphs
from ptxloom.flow.registers import RegisterWrites
from ptxloom.lsp.document import Document
from ptxloom.machine import semantics
from ptxloom.machine.plan.planner import plan
from ptxloom.machine.program.symbols import Register, Variable
from ptxloom.machine.program.unsupported import UnsupportedInstruction
from ptxloom.survey import survey
from ptxloom.syntax import parse, tree, walk

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from ptxloom.syntax import Module

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n.shared .b32 x;\n.visible .entry k(.param .u64 out)\n"
NAMES = ("x", "y", "%r1", "%r01", "%r2", "%r002")
Meaning = dict[tuple[int, str], tuple["Hashable", str, int]]


def names_of(instruction: tree.Instruction) -> Iterator[str]:
    return (one.text for operand in instruction.operands for one in walk(operand) if isinstance(one, tree.Name))


def of_checker(module: Module, kernel: str) -> Meaning:
    """By instruction and name: the declaration (and member) it means, its type, its vector length."""
    found: Meaning = {}
    scope = VisibleNames()

    def read(statements: tuple[tree.Statement, ...], *, inside: bool) -> None:
        for one in statements:
            match one:
                case tree.Declaration():
                    scope.declare(one)
                case tree.Block(inner):
                    scope.open(inner)
                    read(inner, inside=inside)
                    scope.close()
                case tree.Function(name=name, body=body):
                    scope.enter(one)
                    read(() if body is None else body.statements, inside=name == kernel)
                    scope.close()
                case tree.Instruction() if inside:
                    for name in names_of(one):
                        if (symbol := scope.find(name)) is not None:
                            at = symbol.declarator
                            member = -1 if at.count is None else index_of(name, at.name)
                            what = "reg" if symbol.space == "reg" else "memory"
                            found[one.start, name] = (at.start, member), f"{what} {symbol.type}", max(symbol.vector, 1)
                case _:
                    pass

    read(module.statements, inside=False)
    return found


def of_machine(module: Module, kernel: str) -> Meaning:
    found: Meaning = {}
    program = plan(module, kernel, semantics.BlockCuts())
    for op in program.ops:
        for name in names_of(op.node) if op.function is program.entry and op.node.end else ():
            place, symbol = op.scope.place(name), op.scope.find(name)
            match symbol:
                case Register(type=type_, vector=vector):
                    found[op.node.start, name] = place, f"reg {type_.name}", vector
                case Variable(type=type_):
                    found[op.node.start, name] = place, f"memory {type_}", 1
                case _:
                    pass
    return found


def same_partition(one: Meaning, other: Meaning) -> None:
    """Names mean the same for one if and only if they do for the other."""
    there, back = dict[object, object](), dict[object, object]()
    for key in one.keys() & other.keys():
        assert there.setdefault(one[key][0], other[key][0]) == other[key][0], key
        assert back.setdefault(other[key][0], one[key][0]) == one[key][0], key


DECLARED = {".reg .f32 x;": "x", ".reg .s32 y;": "y", **dict.fromkeys((".reg .b32 %r<3>;", ".reg .b32 %r01;"), "%r")}
MOVES = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).map(lambda two: f"mov.b32 {two[0]}, {two[1]};")
LABEL = "L: mov.b32 y, y;"
LINES = st.one_of(st.sampled_from(("{", "}", *DECLARED, LABEL)), MOVES)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Nested braces that declare and name, in any order, names that look alike; none twice in the same braces."""
    kept = [".reg .b32 x, y; .reg .b32 %r<4>; .reg .b32 L;"]
    taken = [{"x", "y", "%r", LABEL}]
    for line in draw(st.lists(LINES, min_size=3, max_size=16)):
        thing = DECLARED.get(line, line)
        if (line == "}" and len(taken) == 1) or thing in taken[-1]:
            continue
        if line == "{":
            taken.append(set())
        elif line == "}":
            taken.pop()
        elif line in DECLARED or line == LABEL:
            taken[-1].add(thing)
        kept.append(line)
    return "\n".join((*kept, *"}" * (len(taken) - 1)))


@settings(max_examples=120, deadline=None)
@given(bodies())
def test_all_agree_which_names_mean_the_same(body: str) -> None:
    module = parse(f"{HEAD}{{\n{body}\nret;\n}}")
    checker, machine = of_checker(module, "k"), of_machine(module, "k")
    assert {key: found[1:] for key, found in checker.items()} == {key: found[1:] for key, found in machine.items()}
    same_partition(checker, machine)
    (graph,) = flow_graphs(module)
    registers = RegisterWrites(graph)
    flow: Meaning = {
        (one.start, name): (registers.key(one, name), "", 1)
        for block in graph.blocks
        for one in block.instructions
        for name in names_of(one)
    }
    same_partition({key: found for key, found in checker.items() if found[1].startswith("reg")}, flow)
    document = Document(module.source.text)
    for occurrence in document.names.occurrences:
        found = checker.get((occurrence.statement.start, occurrence.name))
        if found is not None and isinstance(occurrence.statement, tree.Instruction) and occurrence.place >= 0:
            symbol = occurrence.symbol
            assert symbol is not None
            member = -1 if symbol.count is None else index_of(occurrence.name, symbol.name)
            assert found[0] == (symbol.start, member)


@pytest.mark.sample(every=14)
@pytest.mark.parametrize("file", corpus_files(), ids=lambda file: file.name)
def test_checker_and_machine_agree_on_the_corpus(file: CorpusFile) -> None:
    module = parse(file.read())
    kernels = [one for one in survey(module).functions if one.function.kind == "entry"]
    for kernel in kernels:
        name = kernel.function.name
        try:
            program = plan(module, name, semantics.BlockCuts())
        except UnsupportedInstruction:
            continue
        checker, machine = of_checker(module, name), of_machine(module, name)
        both = checker.keys() & machine.keys()
        assert both or not checker
        assert {key: checker[key][1:] for key in both} == {key: machine[key][1:] for key in both}
        same_partition(checker, machine)
        assert program.parameter_bytes == kernel.parameter_bytes
        assert [(one.offset, one.size) for one in program.parameters] == [
            (one.offset, one.size) for one in parameters(kernel.function.params)
        ]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(("b8", "u16", "f32", "b64")), st.integers(0, 4), st.integers(1, 3))))
def test_parameters_lie_in_order_apart_and_as_close_as_their_alignment_lets_them(
    given_: list[tuple[str, int, int]],
) -> None:
    text = ", ".join(
        f".param .align {1 << log} .{type_} p{at}[{count}]" for at, (type_, log, count) in enumerate(given_)
    )
    function = parse(f".entry k({text}) {{ ret; }}").functions["k"]
    end = 0
    for placed in parameters(function.params):
        alignment = alignment_of(placed.declaration)
        assert placed.offset % alignment == 0
        assert 0 <= placed.offset - end < alignment
        assert placed.size == size_of(placed.declaration, placed.declarator) > 0
        end = placed.end
