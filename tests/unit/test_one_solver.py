"""One worklist solver: a loop over a graph that remembers where it has been, or runs until nothing changes, is there.

A walk over a tree has a list of what waits, too, but remembers nothing: it comes to each node once. So what is looked
for is a loop that takes from a collection which it fills, and both looks into a memory and adds to it; or one that
goes round as long as a flag says that something has changed.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ptxloom
from tool_modules import loaded

SOURCE = Path(ptxloom.__file__).parent
concepts = loaded(Path(__file__).parents[2] / "tools" / "concepts.py")
#: Loops of this kind that are no worklists of facts, or of what ways lead to; and what they are.
ELSE = {
    "solver.solve": "the solver",
    "solver.reached": "the solver",
    "solver.nearest": "the solver",
    "flow/control.Control._part": "labels of SSA's joins: what is found depends on the order, that of `place`",
    "flow/dominance.reverse_postorder": "the depth-first walk by which orders are defined: it needs each node's end",
    "flow/dominance._depth_first": "the same walk with parents, for the method of Lengauer and Tarjan",
    "flow/loops._row": "a forest, each node left after those below it",
    "readings/computed._same": "two terms side by side, until they differ: pairs by identity",
    "readings/terms.parts_of": "a term's parts by identity: to hash a term is to walk over all of it",
    "machine/native/closure.reached": "the order of functions in a module of IR, where two of one name are an error",
    "checker/control_flow/lints._inside": "nested braces: what each uses goes to the one around it",
    "checker/index._strings": "Python's own trees, to which the values of names are added",
    "diagnosis/slicing/makers._parts": "(instruction, shift) by probing: the first register that leads there counts",
    "diagnosis/slicing/coefficients._linear": "(instruction, coefficient), likewise",
}


def test_no_module_has_a_solver_of_its_own() -> None:
    found = set(concepts.loops(SOURCE))
    assert found - ELSE.keys() == set(), "put it onto `ptxloom.solver`, or say here what else it is"
    assert ELSE.keys() - found == set(), "this is no longer there"


BY_HAND = {
    "liveness": """
        changed = True
        while changed:
            changed = False
            for block in order:
                now = read[block] | after(block, live)
                if now != live[block]:
                    live[block] = now
                    changed = True
    """,
    "rounds": """
        before = None
        while before != held:
            before = held
            held = {one: step(held[one]) for one in held}
    """,
    "worklist": """
        waiting = [start]
        while waiting:
            at = waiting.pop()
            for target in ways[at]:
                if target not in found:
                    found.add(target)
                    waiting.append(target)
    """,
    "first in, first out": """
        while self._waiting and len(seen) < MOST:
            at = self._waiting.popleft()
            fresh = set(ways[at]) - seen
            seen |= fresh
            self._waiting.extend(fresh)
    """,
    "as it grows": """
        for at in waiting:
            new = [one for one in ways[at] if one not in seen]
            seen.update(new)
            waiting += new
    """,
    "facts": """
        while waiting:
            node, _ = waiting.popitem()
            for target in ways[node]:
                joined = held.get(target, bottom) | step(held[node])
                if joined != held.get(target):
                    held[target] = joined
                    waiting[target] = None
    """,
    "left from inside": """
        while True:
            if not waiting:
                break
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            waiting += ways[at]
    """,
}


@pytest.mark.parametrize("loop", BY_HAND.values(), ids=BY_HAND)
def test_a_loop_by_hand_is_found(loop: str) -> None:
    assert list(concepts.by_hand(ast.parse(f"def f():{loop}"))) == ["f"]


TREES = {
    "nodes": "while waiting:\n    node = waiting.pop()\n    waiting += node.children\n    found.append(node)",
    "names": "while waiting:\n    one = waiting.pop()\n    if one in known:\n        yield one\n    waiting += one.of",
    "lines": "while line in lines:\n    lines = lines[1:]",
}


@pytest.mark.parametrize("loop", TREES.values(), ids=TREES)
def test_a_walk_over_a_tree_is_none(loop: str) -> None:
    assert list(concepts.by_hand(ast.parse(loop))) == []
