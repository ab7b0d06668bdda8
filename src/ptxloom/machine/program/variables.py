"""The variables in memory that belong to the whole module (PTX ISA 5.4)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.isa.spaces import Owner, spelled
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.syntax.module import Module

_LASTING: Final = spelled(Owner.MODULE)  # the spaces of variables that outlive a kernel


class Lasting(NamedTuple):
    """A global or const variable: its declaration, and the function around it, if any."""

    declaration: tree.Declaration
    declarator: tree.Declarator
    owner: str = ""
    number: int = 1  # among the variables of this name in its function

    @property
    def name(self) -> str:
        """Its external name: `function.variable` if it is a function's own, and then `function.variable#2`."""
        inner = f"{self.owner}." if self.owner else ""
        return f"{inner}{self.declarator.name}{f'#{self.number}' if self.number > 1 else ''}"


def module_variables(module: Module) -> tuple[Lasting, ...]:
    """The global and const variables of a module; their order numbers them. A definition wins over its declarations.

    Those declared inside functions come last.
    """
    found: dict[str, Lasting] = {}
    inner: list[Lasting] = []
    for statement in module.statements:
        match statement:
            case tree.Declaration(space=space) if space in _LASTING:
                for declarator in statement.declarators:
                    if declarator.name not in found or statement.linkage != "extern":
                        found[declarator.name] = Lasting(statement, declarator)
            case tree.Function(name=name, body=tree.Block(statements=statements)):
                seen = Counter[str]()
                for declaration, declarator in _declared(statements):
                    seen[declarator.name] += 1
                    inner.append(Lasting(declaration, declarator, name, seen[declarator.name]))
            case _:
                pass
    return (*found.values(), *inner)


def _declared(statements: tuple[tree.Statement, ...]) -> Iterator[tuple[tree.Declaration, tree.Declarator]]:
    """The global and const variables of a function, including its blocks."""
    for statement in statements:
        match statement:
            case tree.Declaration(space=space, declarators=declarators) if space in _LASTING:
                for declarator in declarators:
                    yield statement, declarator
            case tree.Block(statements=inner):
                yield from _declared(inner)
            case _:
                pass


def function_codes(module: Module) -> Mapping[str, int]:
    """The number of every function of a module, from which its address is made."""
    return {name: number for number, name in enumerate(module.functions)}
