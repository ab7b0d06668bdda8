"""One worklist solver: a loop over a graph that remembers where it has been, or runs until nothing changes, is there.

A walk over a tree has a list of what waits, too, but remembers nothing: it comes to each node once. So what is looked
for is a loop that takes from a collection which it fills, and both looks into a memory and adds to it; or one that
goes round as long as a flag says that something has changed.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ptxloom

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(ptxloom.__file__).parent
TAKES = {"pop", "popleft", "popitem", "heappop"}
FILLS = {"append", "appendleft", "extend", "add", "update", "setdefault", "insert", "heappush"}
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
    "diagnosis/described/makers._parts": "(instruction, shift) by probing: the first register that leads there counts",
    "diagnosis/mending/coefficients._linear": "(instruction, coefficient), likewise",
}


def _name(node: ast.AST) -> str:
    """The collection that an expression is, or looks into: `self._left[block]` is `self._left`."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        node = node.value
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _calls(loop: ast.AST, names: set[str]) -> Iterator[str]:
    """What methods, or functions with a collection as their first argument, of some names are called of."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in names:
                yield _name(node.func.value)
            elif isinstance(node.func, ast.Name) and node.func.id in names and node.args:
                yield _name(node.args[0])


def _filled(loop: ast.AST) -> set[str]:
    found = set(_calls(loop, FILLS))
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and not isinstance(node.value, ast.Constant):
            found.add(_name(node.target))
        elif isinstance(node, ast.Assign):
            found |= {_name(target) for target in node.targets if isinstance(target, ast.Subscript)}
    return found - {""}


def _looked_into(loop: ast.AST) -> set[str]:
    found = set(_calls(loop, {"get", "setdefault"}))
    for node in ast.walk(loop):
        if isinstance(node, ast.Compare) and any(isinstance(one, (ast.In, ast.NotIn)) for one in node.ops):
            found |= {_name(one) for one in node.comparators}
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            found.add(_name(node.right))  # what is new: `following - seen`
    return found - {""}


def _is_worklist(loop: ast.While | ast.For) -> bool:
    """Whether a loop takes from what it fills and remembers where it was."""
    filled = _filled(loop)
    if isinstance(loop, ast.While):
        tested = {_name(node) for node in ast.walk(loop.test)}
        taken = set(_calls(loop, TAKES))
        if isinstance(loop.test, ast.Constant):  # `while True`, left from inside
            tested = taken
        waiting = tested & taken
    else:
        waiting = {_name(loop.iter)}
    return bool(waiting & filled) and bool(_looked_into(loop) & filled)


def _goes_by_a_flag(loop: ast.While | ast.For) -> bool:
    """Whether a loop runs as long as a flag that it clears at its start is set again."""
    if not isinstance(loop, ast.While):
        return False
    flags = {_name(node) for node in ast.walk(loop.test)}
    cleared = {
        _name(target)
        for node in loop.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is False
        for target in node.targets
    }
    rounds = any(isinstance(node, (ast.For, ast.comprehension)) for node in ast.walk(loop))
    return bool(flags & cleared) and rounds


def _until_equal(loop: ast.While | ast.For) -> bool:
    """Whether a loop runs over a collection's copies until one equals the one before."""
    if not isinstance(loop, ast.While):
        return False
    unequal = [
        node for node in ast.walk(loop.test) if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotEq)
    ]
    sides = [{_name(one.left), *map(_name, one.comparators)} - {""} for one in unequal]
    assigned = {
        _name(target): _name(node.value)
        for node in ast.walk(loop)
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    rounds = any(isinstance(node, (ast.For, ast.comprehension)) for node in ast.walk(loop))
    return rounds and any(len(side) == 2 and any(assigned.get(one) in side for one in side) for side in sides)


def by_hand(tree: ast.AST, name: str = "") -> Iterator[str]:
    """The functions that hold such a loop, each as often as it does."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            yield from by_hand(node, f"{name}.{node.name}")
            continue
        if isinstance(node, (ast.While, ast.For)) and (
            _is_worklist(node) or _goes_by_a_flag(node) or _until_equal(node)
        ):
            yield name.removeprefix(".")
        yield from by_hand(node, name)


def test_no_module_has_a_solver_of_its_own() -> None:
    found = {
        f"{path.relative_to(SOURCE).with_suffix('').as_posix()}.{function}"
        for path in SOURCE.rglob("*.py")
        for function in by_hand(ast.parse(path.read_text()))
    }
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
    assert list(by_hand(ast.parse(f"def f():{loop}"))) == ["f"]


TREES = {
    "nodes": "while waiting:\n    node = waiting.pop()\n    waiting += node.children\n    found.append(node)",
    "names": "while waiting:\n    one = waiting.pop()\n    if one in known:\n        yield one\n    waiting += one.of",
    "lines": "while line in lines:\n    lines = lines[1:]",
}


@pytest.mark.parametrize("loop", TREES.values(), ids=TREES)
def test_a_walk_over_a_tree_is_none(loop: str) -> None:
    assert list(by_hand(ast.parse(loop))) == []
