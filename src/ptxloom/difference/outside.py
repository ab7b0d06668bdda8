"""What two modules declare outside their functions, and which functions and variables of them are the same ones."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from ptxloom.syntax import print_node
from ptxloom.syntax.tree import Declaration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.survey import FunctionSurvey
    from ptxloom.syntax import Module


def paired_functions(a: Sequence[FunctionSurvey], b: Sequence[FunctionSurvey]) -> dict[str, str]:
    """Which function of the first corresponds to which of the second: by name, or else by kind and parameters.

    Functions of the same kind with the same parameters are taken in order, as long as both have the same number of
    them; then the only remaining kernel of each.
    """
    names = {one.function.name for one in a} & {one.function.name for one in b}
    rest: defaultdict[tuple[str, tuple[str, ...]], tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, several in enumerate((a, b)):
        for one in several:
            if one.function.name not in names:
                types = tuple(parameter.rpartition(" ")[0] for parameter in one.parameters)
                rest[one.function.kind, types][side].append(one.function.name)
    others = {
        name: meant
        for left, right in rest.values()
        if len(left) == len(right)
        for name, meant in zip(left, right, strict=True)
    }
    left, right = ([one.function.name for one in side if one.function.kind == "entry"] for side in (a, b))
    left = [name for name in left if name not in names and name not in others]
    right = [name for name in right if name not in names and name not in others.values()]
    if len(left) == len(right) == 1:
        others[left[0]] = right[0]
    found = {**dict.fromkeys(names), **others}
    return {one.function.name: found[one.function.name] or one.function.name for one in a if one.function.name in found}


def outside_names(a: Module, b: Module, functions: Mapping[str, str]) -> dict[str, str]:
    """What things of the second module are called in the first, where that is another name."""
    found = {other: one for one, other in functions.items() if one != other}
    known = {name for name, _ in _variables(a)}
    there = {name for name, _ in _variables(b)}
    free: defaultdict[str, deque[str]] = defaultdict(deque)
    for name, what in _variables(a):
        if name not in there:
            free[what].append(name)
    for name, what in _variables(b):
        if name not in known and free[what]:
            found[name] = free[what].popleft()
    return found


def _variables(module: Module) -> list[tuple[str, str]]:
    """The names of a module's variables, and how each is declared except for its name."""
    return [
        (declarator.name, _declared(one).replace(declarator.name, "", 1))
        for one in module.statements
        if isinstance(one, Declaration)
        for declarator in one.declarators
    ]


def _declared(one: Declaration) -> str:
    return print_node(one).removesuffix(";")


def module_facts(a: Module, b: Module, names: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
    """The differences of modules outside their functions; a variable that one lacks is "" there."""
    pairs = [
        ("target", ", ".join(a.target), ", ".join(b.target)),
        ("address size", str(a.address_size), str(b.address_size)),
    ]
    one = dict(_variables(a))
    other = {names.get(name, name): what for name, what in _variables(b)}
    pairs += [(name, one.get(name, ""), other.get(name, "")) for name in (*one, *(n for n in other if n not in one))]
    return tuple(pair for pair in pairs if pair[1] != pair[2])
