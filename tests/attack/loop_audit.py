"""The rule of loops, proved on native functions: each ends by a bound that no kernel decides, or spends of the budget.

`endless` reads the source that the translator reads. A loop has one of these ends:

- a constant, a length of memory that was taken (`length`, or a field that counts a table's elements), what Python says
  of the launch (`Launch` is sealed), or what an `assert` before the loop holds to one of them;
- an element that it touches in every round, at an index that goes on with the loop: beyond the room it traps;
- bits of a mask, of which every round takes away one; a search that halves what is left;
- `spend`, unless a round may `continue` before it: so the clock is looked at;
- a parameter that is bounded in this way in every call from native code; what compiled kernels give has to be asserted.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import pkgutil
import textwrap
from dataclasses import dataclass, field, replace
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Final

from attack.declared_lengths import kinds, native_functions
from ptxloom.machine import codegen, instruments, semantics
from ptxloom.machine import compile as compile_
from ptxloom.machine.native.declared_bounds import bounding
from ptxloom.machine.native.language import SCALARS, Sealed, record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Fields beside those that count tables: how many warps, lanes and places of the launch there are, set by Python alone.
_COUNTS: Final = {
    "Order": {"threads", "members", "columns", "history_limit", "trace_limit"},
    "Shadow": {"warps", "bytes", "summaries", "fragment_count"},
    "GridHistory": {"columns", "limit"},
}


@cache
def tree_of(function: FunctionType) -> ast.FunctionDef:
    """The source of a native function."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(tree, ast.FunctionDef)
    return tree


@dataclass
class Audit:
    """What is known of one function."""

    tree: ast.FunctionDef
    names: Mapping[str, object]
    structs: dict[str, type[object]]
    given: frozenset[str] = frozenset()  # its parameters that are bounded in every call
    values: dict[str, list[ast.expr]] = field(default_factory=dict[str, "list[ast.expr]"])
    asserted: dict[str, list[ast.expr]] = field(default_factory=dict[str, "list[ast.expr]"])
    asking: set[str] = field(default_factory=set[str])
    others: dict[object, Audit] = field(default_factory=dict[object, "Audit"])

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self.values.setdefault(name, []).append(value)
                case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                    self.values.setdefault(name, []).append(value)
                case ast.AugAssign(target=ast.Name(id=name)) | ast.For(target=ast.Name(id=name)):
                    self.values.setdefault(name, []).append(node.target)
                case ast.Assert(test=ast.Compare(left=left, ops=[ast.LtE() | ast.Lt()], comparators=[right])):
                    self.asserted.setdefault(ast.unparse(left), []).append(right)
                case _:
                    pass

    def endless(self) -> Iterator[ast.While | ast.For]:
        """The loops without an end."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.While | ast.For) and not self.ends(node):
                yield node

    def ends(self, node: ast.While | ast.For) -> bool:
        """Whether a loop has an end."""
        if _spends(node.body):
            return True
        if isinstance(node, ast.For):
            assert isinstance(node.iter, ast.Call)
            assert isinstance(node.target, ast.Name)
            bounds = node.iter.args
            stop = bounds[0] if len(bounds) == 1 else bounds[1]
            step = bounds[2] if len(bounds) == 3 else ast.Constant(1)
            return self.is_constant(step) and (
                self.is_bounded(stop)
                or self.is_few(bounds)
                or (self.is_own(node.target.id) and _touches(node, node.target.id))
            )
        return self.counts(node) or self.counts_down(node) or _takes_bits(node) or _halves(node)

    def is_own(self, counter: str) -> bool:
        """Whether loops alone set a counter."""
        return all(isinstance(one, ast.Name) and one.id == counter for one in self.values[counter])

    def is_few(self, bounds: list[ast.expr]) -> bool:
        """Whether a range goes on from its start by what is bounded."""
        match bounds:
            case [start, ast.BinOp(left=left, op=ast.Add(), right=right)]:
                return ast.unparse(left) == ast.unparse(start) and self.is_bounded(right)
            case _:
                return False

    def counts_down(self, node: ast.While) -> bool:
        """Whether a counter goes down by one in every round, from what is bounded."""
        match node.test:
            case ast.Compare(left=ast.Name(id=name), ops=[ast.NotEq() | ast.Gt()]):
                down = f"{name} - 1"
                steps = [ast.unparse(one) for one in node.body if ast.unparse(one) == f"{name} = {down}"]
                others = [one for one in self.values.get(name, []) if ast.unparse(one) != down]
                return len(steps) == 1 and bool(others) and all(map(self.is_bounded, others))
            case _:
                return False

    def counts(self, node: ast.While) -> bool:
        """Whether a `while` is a counter's way to a bound, or one that touches what it counts."""
        for test in node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]:
            match test:
                case ast.Compare(left=left, ops=[ast.Lt()], comparators=[stop]):
                    for name in [one.id for one in ast.walk(left) if isinstance(one, ast.Name)]:
                        if _grows(node.body, name) and (self.is_bounded(stop) or _touches(node, name)):
                            return True
                case _:
                    pass
        return False

    @property
    def gives_bounded(self) -> bool:
        """Whether all that the function returns is bounded."""
        given = [one.value for one in ast.walk(self.tree) if isinstance(one, ast.Return)]
        return bool(given) and all(one is not None and self.is_bounded(one) for one in given)

    def is_constant(self, node: ast.expr) -> bool:
        """Whether a value is a number of the source."""
        match node:
            case ast.Constant(value=int()):
                return True
            case ast.Name(id=name):
                return name not in self.values and isinstance(self.names.get(name), int)
            case ast.BinOp(left=left, right=right):
                return self.is_constant(left) and self.is_constant(right)
            case _:
                return False

    def is_bounded(self, node: ast.expr) -> bool:  # noqa: C901, PLR0911, PLR0912 - one case a node
        """Whether a value is no larger than what no kernel decides."""
        if self.is_constant(node) or any(map(self.is_bounded, self.asserted.get(ast.unparse(node), []))):
            return True
        match node:
            case ast.Call(func=ast.Name(id="length" | "popcount")):
                return True
            case ast.Call(func=ast.Name(id="min"), args=args):
                return any(map(self.is_bounded, args))
            case ast.Call(func=ast.Name(id="max"), args=args):
                return all(map(self.is_bounded, args))
            case ast.Call(func=ast.Name(id=name), args=[inner]) if name in SCALARS:
                return self.is_bounded(inner)
            case ast.Call(func=ast.Name(id=name)) if self.names.get(name) in self.others:
                return self.others[self.names[name]].gives_bounded
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.RShift()):
                return self.is_bounded(left)
            case ast.BinOp(left=left, op=ast.BitAnd(), right=right):
                return self.is_bounded(left) or self.is_bounded(right)
            case ast.BinOp(op=ast.Mod(), right=right):
                return self.is_bounded(right)
            case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
                return self.is_bounded(left) and self.is_bounded(right)
            case ast.BinOp(left=left, op=ast.LShift(), right=right):
                return self.is_bounded(left) and self.is_constant(right)
            case ast.IfExp(body=body, orelse=other):
                return self.is_bounded(body) and self.is_bounded(other)
            case ast.Attribute(value=owner, attr=name):
                struct = self.struct_of(owner)
                return struct is not None and _is_count(struct, name)
            case ast.Name(id=name):
                return self.is_bounded_name(name)
            case _:
                return False

    def is_bounded_name(self, name: str) -> bool:
        """Whether all that a local is ever set to is bounded, or a parameter is given so."""
        if name in self.asking:
            return False
        if name not in self.values:
            return name in self.given
        if name in {one.arg for one in self.tree.args.args} and name not in self.given:
            return False
        self.asking.add(name)
        found = all(map(self.is_bounded, self.values[name]))
        self.asking.discard(name)
        return found

    def struct_of(self, node: ast.expr) -> type[object] | None:
        """The struct that an expression is, if that is known."""
        match node:
            case ast.Name(id=name) if name in self.structs:
                return self.structs[name]
            case ast.Name(id=name) if len(self.values.get(name, [])) == 1:
                value = self.values[name][0]
                return None if isinstance(value, ast.Name) and value.id == name else self.struct_of(value)
            case ast.Attribute(value=owner, attr=name):
                struct = self.struct_of(owner)
                return None if struct is None else record(struct).kinds[name].struct
            case ast.Call(func=ast.Name(id=name)) if called := self.names.get(name):
                return kinds(called)["return"].struct if isinstance(called, FunctionType) else None
            case ast.Subscript(value=ast.Attribute(value=owner, attr=name)):
                struct = self.struct_of(owner)
                element = None if struct is None else record(struct).kinds[name].element
                return None if element is None else element.struct
            case _:
                return None


def _is_count(struct: type[object], name: str) -> bool:
    return issubclass(struct, Sealed) or name in bounding(struct) or name in _COUNTS.get(struct.__name__, ())


def _spends(body: list[ast.stmt]) -> bool:
    """Whether every round of a loop spends."""
    for node in body:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="spend"))):
                return True
            case _ if any(isinstance(one, ast.Continue) for one in ast.walk(node)):
                return False
            case _:
                pass
    return False


def _always(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """What every round of a loop comes by that does not leave it."""
    for node in body:
        match node:
            case ast.If(test=test):
                yield from ast.walk(test.values[0] if isinstance(test, ast.BoolOp) else test)
                if any(isinstance(one, ast.Continue) for one in ast.walk(node)):
                    return
            case ast.While() | ast.For():
                pass
            case _:
                yield from ast.walk(node)


def _touches(loop: ast.While | ast.For, counter: str) -> bool:
    """Whether every round touches an element at an index that goes on with a counter."""
    tests = list(ast.walk(loop.test)) if isinstance(loop, ast.While) else []
    made = [one for one in loop.body if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)]
    names = {counter} | {ast.unparse(one.targets[0]) for one in made if _goes_on(one.value, {counter})}
    for node in (*tests, *_always(loop.body)):
        match node:
            case ast.Subscript(slice=index) | ast.Call(func=ast.Name(id="part"), args=[_, index, _]):
                if _goes_on(index, names):
                    return True
            case _:
                pass
    return False


def _goes_on(index: ast.expr, names: set[str]) -> bool:
    """Whether an index grows with a counter: it, or a sum or product with it."""
    match index:
        case ast.Name(id=name):
            return name in names
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult(), right=right):
            return _goes_on(left, names) or _goes_on(right, names)
        case ast.BinOp(left=left, op=ast.Sub() | ast.RShift(), right=right):
            return _goes_on(left, names) and not _goes_on(right, names)
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in SCALARS:
            return _goes_on(inner, names)
        case _:
            return False


def _grows(body: list[ast.stmt], name: str) -> bool:
    """Whether every round adds to a counter, and nothing else sets it."""
    sets = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == name]
    return len(sets) == 1 and sets[0] in body and ast.unparse(sets[0].value).startswith(f"{name} + ")


def _takes_bits(node: ast.While) -> bool:
    """Whether every round takes a bit from a mask that the loop goes on with; what else it goes on with becomes 0."""
    either = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or)
    tests = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    names = [ast.unparse(t.left) for t in tests if isinstance(t, ast.Compare) and isinstance(t.ops[0], ast.NotEq)]
    sets = {ast.unparse(one) for one in node.body if isinstance(one, ast.Assign)}
    takes = [any(f"{n} = {n} & {rest}" in sets for rest in (f"{n} - 1", "~group")) for n in names]
    ends = [take or f"{name} = 0" in sets for name, take in zip(names, takes, strict=True)]
    return any(takes) and (not either or (len(names) == len(tests) and all(ends)))


def _halves(node: ast.While) -> bool:
    """Whether a search goes on in one half of what was left."""
    text = ast.unparse(node)
    return "while low < high" in text and "low = middle + 1" in text and "high = middle" in text


def without_each(audit: Audit, kind: str) -> Iterator[ast.FunctionDef]:
    """A function without one of its `spend`s, or of its `assert`s, each in turn."""
    for number, node in enumerate(ast.walk(audit.tree)):
        body = node.body if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If) else []
        for at, one in enumerate(body):
            is_spend = isinstance(one, ast.Expr) and ast.unparse(one).startswith("spend(")
            if is_spend if kind == "spend" else isinstance(one, ast.Assert):
                tree = copy.deepcopy(audit.tree)
                same = next(found for place, found in enumerate(ast.walk(tree)) if place == number)
                assert isinstance(same, ast.FunctionDef | ast.For | ast.While | ast.If)
                same.body[at] = ast.Pass()
                yield tree


def failing_without(kind: str) -> list[str]:
    """The functions of which the proof fails without one of their `spend`s, or of their `assert`s: once for each."""
    failing: list[str] = []
    for audit in audits():
        for tree in without_each(audit, kind):
            cut = replace(audit, tree=tree, values={}, asserted={})
            if any(cut.endless()) or (audit.gives_bounded and not cut.gives_bounded):
                failing.append(tree.name)
    return failing


def bounded_by_assertions() -> list[str]:
    """The functions whose loops end by an `assert` of theirs, once for each."""
    return failing_without("assert")


def audits() -> tuple[Audit, ...]:
    """Of all native functions of the run-time; parameters are bounded as far as calls say."""
    found: dict[object, Audit] = {}
    for function in native_functions():
        structs = {name: kind.struct for name, kind in kinds(function).items() if kind.struct is not None}
        found[function] = Audit(tree_of(function), function.__globals__, structs, others=found)
    _find_bounded_parameters(found)
    return tuple(found.values())


def _find_bounded_parameters(found: dict[object, Audit]) -> None:
    """Find the parameters that every call gives what is bounded; those of which there is no call are not."""
    calls: dict[object, list[tuple[Audit, ast.Call]]] = {}
    for audit in found.values():
        for node in ast.walk(audit.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called = audit.names.get(node.func.id)
                if called in found:
                    calls.setdefault(called, []).append((audit, node))
    changed = True
    while changed:
        changed = False
        for called, made in calls.items():
            audit = found[called]
            if audit.tree.name in _given_by_kernels():
                continue
            for at, one in enumerate(audit.tree.args.args):
                if one.arg not in audit.given and all(a.is_bounded(call.args[at]) for a, call in made):
                    audit.given |= {one.arg}
                    changed = True


@cache
def _given_by_kernels() -> frozenset[str]:
    """The names of native functions that compiled code calls, which gives what it likes."""
    packages = (semantics, instruments, codegen, compile_)
    named: set[str] = set()
    for package in packages:
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(info.name)
            for node in ast.walk(ast.parse(inspect.getsource(module))):
                if isinstance(node, ast.Name | ast.Attribute):
                    named.add(node.id if isinstance(node, ast.Name) else node.attr)
    return frozenset(named)
