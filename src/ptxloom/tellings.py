"""Where the code defines an instruction: its data, its row, its effects, and every module that names it.

An instruction is data (`isa/data`) and a meaning (rows of words, effects); all other code asks these. Modules that name
an opcode nevertheless are found here: they compare one, or have a table of some.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa.form import Form
from ptxloom.isa.load import instruction_spec, known
from ptxloom.isa.types import is_type
from ptxloom.meaning.deeds import effects_of_form
from ptxloom.solver import reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ptxloom.isa.spec import Constraint, InstructionSpec
    from ptxloom.meaning.effects import Effect
    from ptxloom.meaning.family import Row

_PACKAGE: Final = Path(__file__).parent
TOLD: Final = ("isa", "meaning", "machine/semantics")
"""Where opcodes may be named: data, meaning, and rows that do more than compute."""


@dataclass(frozen=True, slots=True, order=True)
class Telling:
    """A place where a module names opcodes.

    Attributes:
        module: Its path within the package, such as `flow/blocks.py`.
        line: Where.
        table: Whether it is a table at the level of a module or a class, of two opcodes or more; else a comparison.
        opcodes: Those that are named.
    """

    module: str
    line: int
    table: bool
    opcodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpcodeTellings:
    """All that the code knows of an opcode.

    Attributes:
        forms: Its syntax lines.
        rows: Where its meaning is defined, and the docstring there.
        words: The words of its rows, including those of functions that they call.
        effects: What any of its forms does besides computing values.
        tellings: The other modules that name it.
    """

    opcode: str
    forms: tuple[str, ...]
    rows: tuple[str, ...]
    words: tuple[str, ...]
    effects: tuple[str, ...]
    tellings: tuple[Telling, ...]


def told(opcode: str) -> OpcodeTellings:
    """Collect everything that the code knows of an opcode.

    Raises:
        UsageError: There is no such opcode.
    """
    from ptxloom.machine.port.stages import rows_of  # noqa: PLC0415 - takes half a second, for this alone

    spec = instruction_spec(opcode)
    rows = rows_of(opcode)
    places = tuple(dict.fromkeys(_place(row) for row in rows))
    words = sorted(set[str]().union(*(_words(row.build) for row in rows)))
    named = tuple(one for one in tellings() if opcode in one.opcodes)
    return OpcodeTellings(
        opcode, tuple(line.text for line in spec.lines), places, tuple(words), _effects(opcode), named
    )


# ------------------------------------------------------------------------------------------------- rows and effects


def _place(row: Row[Any, Any]) -> str:
    """`machine/semantics/matrix.py:31 ldmatrix: what it does`."""
    function = inspect.unwrap(row.build)
    path = Path(inspect.getsourcefile(function) or "").relative_to(_PACKAGE)
    _, line = inspect.getsourcelines(function)
    about = (inspect.getdoc(function) or "").partition("\n")[0]
    return f"{path.as_posix()}:{line} {function.__name__}: {about}"


def _words(function: Callable[..., Any]) -> frozenset[str]:
    """The methods of a reader that a function calls, or that functions call which it hands the reader to."""
    found: set[str] = set()

    def handed_to(one: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
        for node in ast.walk(ast.parse(inspect.cleandoc("\n" + inspect.getsource(one)))):
            if not isinstance(node, ast.Call):
                continue
            match node.func:
                case ast.Attribute(value=ast.Name(id="b"), attr=word):
                    found.add(word)
                case _ if any(isinstance(given, ast.Name) and given.id == "b" for given in node.args):
                    called = _function(one, node.func)
                    if called is not None:
                        yield called
                case _:
                    pass

    reached([function], handed_to)
    return frozenset(found)


def _function(caller: Callable[..., Any], name: ast.expr) -> Callable[..., Any] | None:
    """What a name means in a function's module, if that is a function in Python."""
    match name:
        case ast.Name(id=own):
            found = inspect.unwrap(caller).__globals__.get(own)
        case ast.Attribute(value=ast.Name(id=module), attr=attribute):
            found = getattr(inspect.unwrap(caller).__globals__.get(module), attribute, None)
        case _:
            found = None
    return found if inspect.isfunction(found) else None


def _effects(opcode: str) -> tuple[str, ...]:
    """What the forms of an opcode do besides computing values, each effect once."""
    found: dict[Effect, None] = {}
    for form in _forms(instruction_spec(opcode)):
        for operands in form.counts:
            found |= dict.fromkeys(effects_of_form(form, operands))
    return tuple(map(str, found))


def _forms(spec: InstructionSpec) -> Iterator[Form]:
    """The forms of an instruction, one of those that differ in their types alone: no effect depends on a type."""
    for line in spec.lines:
        types = {slot.name: slot.choices for slot in line.slots if all(map(is_type, slot.choices))}
        others = {slot.name: slot.choices for slot in line.slots if slot.name not in types}
        about = [one for one in spec.constraints if not types.keys().isdisjoint(_slots(one))]
        for chosen in _choices(others, [one for one in spec.constraints if one not in about]):
            fillings = ({slot.name: (chosen | one)[slot.name] for slot in line.slots} for one in _choices(types, []))
            admitted = (Form(spec, line, one) for one in fillings if all(each.admits(one) for each in about))
            yield from islice(admitted, 1)


def _choices(slots: Mapping[str, tuple[str, ...]], constraints: Iterable[Constraint]) -> Iterator[dict[str, str]]:
    """What slots may hold by constraints that are about no other slots."""
    for values in product(*slots.values()):
        chosen = dict(zip(slots, values, strict=True))
        if all(one.admits(chosen) for one in constraints):
            yield chosen


def _slots(constraint: Constraint) -> set[str]:
    """The slots that a constraint is about."""
    parts = (*constraint.when.allowed, *constraint.require.allowed)
    return {name for slot, values in parts for name in (slot, *(one[1:] for one in values if one[:1] == "."))}


# ---------------------------------------------------------------------------------------------------- who names them


@cache
def tellings() -> tuple[Telling, ...]:
    """Every place outside of data, meaning and rows that names an opcode."""
    found: list[Telling] = []
    for path in sorted(_PACKAGE.rglob("*.py")):
        module = path.relative_to(_PACKAGE).as_posix()
        if not module.startswith(tuple(f"{one}/" for one in TOLD)):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += (Telling(module, *rest) for rest in (*_tables(tree), *_comparisons(tree)))
    return tuple(sorted(found))


def _tables(tree: ast.Module) -> Iterator[tuple[int, bool, tuple[str, ...]]]:
    bodies = [tree.body, *(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
    for node in (one for body in bodies for one in body):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            named = _in_containers(node.value)
            if len(named) > 1:
                yield node.lineno, True, named


def _in_containers(value: ast.expr) -> tuple[str, ...]:
    """The opcodes in collections of which at least half of the strings are opcodes."""
    found: set[str] = set()
    for node in ast.walk(value):
        match node:
            case ast.Dict(keys=items):
                strings = _strings(one for one in items if one is not None)
            case ast.Set(elts=items) | ast.List(elts=items) | ast.Tuple(elts=items):
                strings = _strings(items)
            case _:
                continue
        named = [one for one in strings if known(one)]
        if len(set(named)) > 1 and 2 * len(named) >= len(strings):
            found.update(named)
    return tuple(sorted(found))


def _comparisons(tree: ast.Module) -> Iterator[tuple[int, bool, tuple[str, ...]]]:
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left=left, comparators=others) if any(map(_is_opcode, (left, *others))):
                strings = _strings(one for side in (left, *others) for one in ast.walk(side))
            case ast.Match(subject=subject, cases=cases) if any(map(_is_opcode, _parts(subject))):
                strings = _strings(one for case in cases for one in ast.walk(case.pattern))
            case _:
                continue
        named = tuple(sorted({one for one in strings if known(one)}))
        if named:
            yield node.lineno, False, named


def _parts(subject: ast.expr) -> tuple[ast.expr, ...]:
    return tuple(subject.elts) if isinstance(subject, ast.Tuple) else (subject,)


def _is_opcode(node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr="opcode") | ast.Name(id="opcode"):
            return True
        case _:
            return False


def _strings(nodes: Iterable[ast.AST]) -> list[str]:
    found: list[str] = []
    for node in nodes:
        match node:
            case ast.Constant(value=str() as text):
                found.append(text)
            case ast.MatchValue(value=ast.Constant(value=str() as text)):
                found.append(text)
            case _:
                pass
    return found
