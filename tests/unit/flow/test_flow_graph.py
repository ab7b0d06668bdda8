from __future__ import annotations

from ptxloom.flow import FlowGraph, flow_graph, flow_graphs
from ptxloom.syntax import parse


def graph(body: str) -> FlowGraph:
    module = parse(f".entry k() {{\n{body}\n}}")
    assert module.diagnostics == ()
    return flow_graph(module.functions["k"])


def edges(found: FlowGraph) -> list[tuple[int, str, int]]:
    return [(one.source, str(one.kind), one.target) for one in found.edges]


def test_straight_line_is_one_block() -> None:
    found = graph("mov.u32 a, 1; call f; bar.sync 0; ret;")
    assert [len(block.instructions) for block in found.blocks] == [4]
    assert edges(found) == []
    assert found.blocks[0].leaves == "ret"


def test_an_if_else_meets_again() -> None:
    found = graph("@%p bra A; mov.u32 a, 1; bra B; A: mov.u32 a, 2; B: ret;")
    assert edges(found) == [(0, "taken", 2), (0, "passed", 1), (1, "jump", 3), (2, "next", 3)]
    assert found.dominators == (None, 0, 0, 0)
    assert found.postdominators == (3, 3, 3, None)
    assert found.blocks[3].labels == ("B",)
    assert found.predecessors[3] == (1, 2)


def test_nested_loops() -> None:
    found = graph("A: mov.u32 a, 1; B: add.u32 a, a, 1; @%p bra B; @%q bra A; exit;")
    assert [(loop.header, sorted(loop.blocks), loop.latches, loop.depth) for loop in found.loops] == [
        (0, [0, 1, 2], (2,), 1),
        (1, [1], (1,), 2),
    ]
    assert found.irreducible == ()


def test_a_cycle_with_two_entries_is_no_loop() -> None:
    found = graph("@%p bra B; A: mov.u32 a, 1; B: mov.u32 a, 2; @%q bra A; ret;")
    assert found.loops == ()
    assert [{one.source, one.target} for one in found.irreducible] == [{1, 2}]


def test_indexed_branches_follow_their_table() -> None:
    found = graph("T: .branchtargets A, B, A; @%p brx.idx %r1, T; A: ret; B: trap;")
    assert edges(found) == [(0, "table", 1), (0, "table", 2), (0, "passed", 1)]
    assert [block.leaves for block in found.blocks] == ["", "ret", "trap"]


def test_a_list_that_branches_share_is_a_block_behind_the_others() -> None:
    found = graph("T: .branchtargets A, B, A; @%p brx.idx %r1, T; brx.idx %r2, T; A: ret; B: trap;")
    assert edges(found) == [(0, "table", 4), (0, "passed", 1), (1, "table", 4), (4, "table", 2), (4, "table", 3)]
    assert [block.is_table for block in found.blocks] == [False, False, False, False, True]
    assert (found.blocks[4].labels, found.blocks[4].leaves, found.span(4)) == (("T",), "", None)
    assert found.dominators == (None, 0, 4, 4, 0)


def test_labels_of_a_list_are_those_seen_where_it_stands() -> None:
    found = graph("T: .branchtargets L; { brx.idx %r1, T; L: trap; } L: ret;")
    assert edges(found) == [(0, "table", 2)]
    assert [block.leaves for block in found.blocks] == ["", "trap", "ret"]


def test_a_list_that_names_no_label_is_not_known() -> None:
    found = graph("T: .branchtargets A, NOWHERE; brx.idx %r1, T; brx.idx %r1, T; A: ret;")
    assert edges(found) == [(0, "table", 3), (1, "table", 3), (3, "table", 2)]
    assert len(found.unresolved) == 2
    assert len(graph("T: .branchtargets NOWHERE; brx.idx %r1, T; brx.idx %r1, T;").unresolved) == 2


def test_guarded_ends_go_on() -> None:
    found = graph("@%p exit; mov.u32 a, 1; @!%p ret;")
    assert edges(found) == [(0, "passed", 1), (1, "passed", 2)]
    assert [block.leaves for block in found.blocks] == ["exit", "ret", "end"]
    assert found.postdominators == (None, None, None)


def test_a_label_that_nothing_names_need_start_no_block() -> None:
    module = parse(".entry k() { A: mov.b32 %r1, 1; B: mov.b32 %r2, 2; { C: bra A; } D: }")
    assert [len(block.instructions) for block in flow_graph(module.functions["k"]).blocks] == [1, 1, 1, 0]
    [found] = flow_graphs(module, marks=False)
    assert [len(block.instructions) for block in found.blocks] == [3]
    assert found.blocks[0].labels == ("A",)
    assert edges(found) == [(0, "jump", 0)]


def test_labels_belong_to_their_scope() -> None:
    found = graph("{ L: mov.u32 a, 1; @%p bra L; } { L: mov.u32 a, 2; bra L; } ret;")
    assert edges(found) == [(0, "taken", 0), (0, "passed", 1), (1, "jump", 1)]
    assert found.unreachable == {2}
    assert graph("{ L: mov.u32 a, 1; } bra L;").unresolved[0].opcode == "bra"


def test_a_loop_that_nothing_leaves_has_an_end_all_the_same() -> None:
    found = graph("@%p bra A; ret; A: mov.u32 a, 1; @%q bra B; mov.u32 a, 2; B: bra A;")
    assert found.postdominators == (None, None, 4, 4, None)


def test_functions_that_never_return() -> None:
    module = parse(".func f() .noreturn; .entry k() { mov.u32 a, 1; call f, (); mov.u32 a, 2; ret; }")
    (found,) = flow_graphs(module)
    assert [block.leaves for block in found.blocks] == ["call", "ret"]
    assert found.unreachable == {1}


def test_prototypes_and_empty_bodies() -> None:
    module = parse(".func f(); .entry k() {}")
    assert [block.leaves for block in flow_graph(module.functions["f"]).blocks] == ["end"]
    assert [block.leaves for block in flow_graph(module.functions["k"]).blocks] == ["end"]


def test_blocks_know_where_they_stand() -> None:
    found = graph("mov.u32 a, 1;\nL:\nbra L;")
    span = found.span(1)
    assert span is not None
    assert (span.text, span.line) == ("bra L;", 4)
    at = found.block_at(span.start)
    assert at is not None
    assert at.number == 1
    assert found.block_at(0) is None
