"""The ISA data files, one per instruction, read on first use."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ptxloom.diagnostics import UnsupportedForm, UsageError, must_be
from ptxloom.isa.notation import DataError, SyntaxLine, read_syntax
from ptxloom.isa.spec import (
    DOES,
    KINDS,
    TRAITS,
    Condition,
    Constraint,
    Feature,
    InstructionSpec,
    Limits,
    Need,
    OperandRule,
    Tolerance,
)
from ptxloom.isa.spelling import near_misses
from ptxloom.isa.version import PtxVersion

if TYPE_CHECKING:
    from collections.abc import Mapping

DATA: Final = Path(__file__).parent / "data"
_Table = dict[str, Any]


@cache
def opcodes() -> tuple[str, ...]:
    """The opcodes that the data describes, in alphabetical order."""
    return tuple(sorted(path.stem for path in DATA.glob("[!_]*.toml")))


def known(opcode: str) -> bool:
    """Whether the data describes this opcode."""
    return opcode in opcodes()


@cache
def judged(opcode: str) -> bool:
    """Whether the checker uses the data of this opcode."""
    return known(opcode) and instruction_spec(opcode).judged


@cache
def instruction_spec(opcode: str) -> InstructionSpec:
    """The data of an opcode.

    Raises:
        UnsupportedForm: The data does not describe it.
    """
    must_be(str, "opcode", opcode, "an opcode such as ldmatrix")
    if not known(opcode):
        near = near_misses(opcode, opcodes())
        hint = f"did you mean `{near[0]}`?" if near else f"it describes {len(opcodes())} others"
        raise UnsupportedForm(f"the ISA data describes no instruction `{opcode}`; {hint}")
    path = DATA / f"{opcode}.toml"
    return read_spec(path.read_text(encoding="utf-8"), path.name)


@cache
def instruction_classes() -> dict[str, str]:
    """Every opcode of PTX, described here or not, and its purpose."""
    table = tomllib.loads((DATA / "_opcodes.toml").read_text(encoding="utf-8"))
    return {opcode: purpose for purpose, opcodes_ in table.items() for opcode in opcodes_}


def read_spec(text: str, file: str) -> InstructionSpec:
    """The instruction that the text of a data file describes.

    Raises:
        DataError: The file breaks the format; the message names file and line.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        raise DataError(file, int(found[1]) if found else 1, str(error)) from error
    return _Reader(text, file, table).spec()


class _Reader:
    """A data file that is being read: knows the line of each part."""

    def __init__(self, text: str, file: str, table: _Table) -> None:
        self.text = text
        self.file = file
        self.table = table

    def spec(self) -> InstructionSpec:
        syntax = self.entry("syntax")
        leads = frozenset(self.tolerance().leads)
        read = read_syntax(syntax, self.file, self.line_of("syntax") + 1)
        lines = tuple(replace(line, leads=leads) for line in read)
        opcode = self.entry("opcode")
        for line in lines:
            if line.opcode != opcode:
                raise DataError(self.file, line.line, f"the line describes `{line.opcode}`, the file `{opcode}`")
        return InstructionSpec(
            opcode=opcode,
            section=self.entry("section"),
            title=self.entry("title"),
            about=self.entry("about").strip(),
            lines=lines,
            syntax=syntax.strip(),
            operands=self.operands(lines),
            qualifiers=dict(self.table.get("qualifiers", {})),
            constraints=tuple(self.constraint(row, lines, at) for at, row in self.rows("constraint")),
            features=tuple(self.feature(row, lines, at) for at, row in self.rows("feature")),
            tolerance=self.tolerance(),
            examples=tuple(self.table.get("examples", ())),
            file=self.file,
            judged=self.table.get("judged", False),
        )

    def entry(self, key: str) -> str:
        value = self.table.get(key)
        if not isinstance(value, str) or not value:
            raise DataError(self.file, 1, f"`{key}` is missing")
        return value

    def line_of(self, key: str) -> int:
        """The line that sets a key, or opens its table."""
        found = re.search(rf"^(\[+)?{re.escape(key)}\b", self.text, re.MULTILINE)
        return self.text.count("\n", 0, found.start()) + 1 if found else 1

    def rows(self, name: str) -> list[tuple[int, _Table]]:
        """The tables of an array, each with the line on which it opens."""
        headers = re.finditer(rf"^\[\[{name}\]\]", self.text, re.MULTILINE)
        places = [self.text.count("\n", 0, header.start()) + 1 for header in headers]
        return list(zip(places, self.table.get(name, []), strict=True))

    def operands(self, lines: tuple[SyntaxLine, ...]) -> dict[str, OperandRule]:
        at = self.line_of("operands")
        rules: dict[str, OperandRule] = {}
        for name, entry in self.table.get("operands", {}).items():
            words = entry["is"].split()
            written = words[0] in {"out", "inout"}
            kind, *types = words[written:]
            if kind not in KINDS or len(types) > (2 if kind in {"vector", "place"} else 1):
                raise DataError(
                    self.file, at, f"operand `{name}` is `{entry['is']}`; a kind is one of {', '.join(KINDS)}"
                )
            type_, length = (*types, "", "")[:2]
            rules[name] = OperandRule(
                name,
                kind,
                type_,
                written,
                entry["about"],
                length,
                entry.get("with", ""),
                entry.get("such", ""),
                self.words(name, entry.get("also", ""), TRAITS, lines, at),
                _limits(entry),
                entry.get("space", ""),
                words[0] == "inout",
                self.words(name, entry.get("does", ""), DOES, lines, at),
                PtxVersion.parse(entry["since"]) if "since" in entry else None,
            )
        for line in lines:
            for name in (name for slot in line.operands for name in slot.names):
                if name not in rules:
                    raise DataError(self.file, line.line, f"operand `{name}` is not described")
        return rules

    def words(
        self, operand: str, said: str | _Table, known: Mapping[str, str], lines: tuple[SyntaxLine, ...], at: int
    ) -> tuple[tuple[str, Condition], ...]:
        """The properties of an operand: words, or a table with the forms in which each holds."""
        table: _Table = dict.fromkeys(said.split(), True) if isinstance(said, str) else said
        for word in table:
            if word not in known:
                raise DataError(
                    self.file, at, f"operand `{operand}` has the word `{word}`, which is not one of {', '.join(known)}"
                )
        return tuple(
            (word, Condition() if when is True else self.condition(when, lines, at))
            for word, whens in table.items()
            for when in (cast("list[_Table]", whens) if isinstance(whens, list) else [whens])
        )

    def tolerance(self) -> Tolerance:
        table: _Table = self.table.get("ptxas", {})
        keys = ("repeats", "ignores", "leads", "ignores_in")
        repeats, ignores, leads, ignores_in = (tuple(table.get(key, ())) for key in keys)
        return Tolerance(repeats, ignores, table.get("misreads", {}), leads, ignores_in)

    def constraint(self, row: _Table, lines: tuple[SyntaxLine, ...], at: int) -> Constraint:
        when, require = self.condition(row.get("when", {}), lines, at), self.condition(row["require"], lines, at)
        return Constraint(when, require, row["why"], at, lax=row.get("lax", False))

    def feature(self, row: _Table, lines: tuple[SyntaxLine, ...], at: int) -> Feature:
        needs = row["needs"]
        words = [needs] if isinstance(needs, str) else list(needs)
        try:
            alternatives = tuple(Need.parse(word) for word in words)
            gone = Need.parse(row["gone"]) if "gone" in row else None
        except UsageError as error:
            raise DataError(self.file, at, str(error)) from error
        operand = row.get("operand", "")
        if operand and not any(operand in line.operand_names for line in lines):
            raise DataError(self.file, at, f"no syntax line has an operand `{operand}`")
        return Feature(row["name"], self.condition(row.get("when", {}), lines, at), alternatives, at, operand, gone)

    def condition(self, table: _Table, lines: tuple[SyntaxLine, ...], at: int) -> Condition:
        return Condition(tuple((name, self.allowed(name, value, lines, at)) for name, value in table.items()))

    def allowed(self, name: str, value: object, lines: tuple[SyntaxLine, ...], at: int) -> tuple[str, ...]:
        """The values that a condition allows: one, several, true (present) or false (absent)."""
        slots = [slot for line in lines for slot in line.slots if slot.name == name]
        if not slots:
            raise DataError(self.file, at, f"no syntax line has a qualifier `.{name}`")
        every = tuple(dict.fromkeys(each for slot in slots for each in slot.values))
        match value:
            case True:
                return every
            case False:
                return ("",)
            case str() if value[:1] == "." and any(slot.name == value[1:] for line in lines for slot in line.slots):
                return (value,)
            case str():
                wanted = (value,)
            case _:
                wanted = tuple(cast("list[str]", value))
        for each in wanted:
            if each not in (*every, ""):
                raise DataError(self.file, at, f"`.{each}` is not a value of `.{name}`")
        return wanted


def _limits(entry: _Table) -> Limits | None:
    """`within = [0, 31]`, `among = [4, 8, 16]`, `multiple = 16`: the integers that an operand may be."""
    if not entry.keys() & {"within", "among", "multiple"}:
        return None
    least, most = entry.get("within", (0, (1 << 32) - 1))
    return Limits(least, most, tuple(entry.get("among", ())), entry.get("multiple", 1))
