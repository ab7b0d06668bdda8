"""LLVM IR as values: functions, blocks and instructions of a module, from the form in which LLVM prints it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from llvmlite import binding

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFINE: Final = re.compile(r"define .*?(?P<type>\S+) @(?P<name>[\w.]+)\((?P<params>.*?)\)[^()]*\{$")
_LABEL: Final = re.compile(r"([\w.$-]+):(?:\s*;.*)?$")
_FREEZE: Final = re.compile(r"^(%[\w.]+) = freeze .+ (%[\w.]+)\n", re.MULTILINE)
_RESULT: Final = re.compile(r"(%[\w.$-]+) = (.*)$")
_FIRST: Final = re.compile(r"(?:tail |musttail |notail )*([\w.]+)")
_ATTRIBUTES: Final = re.compile(r"(?:(?:align \d+|[a-z]\w*(?:\(\w+\))?) )+(?=[%@\d-])")  # of an argument of a call
_BITS: Final = {"half": 16, "bfloat": 16, "float": 32, "double": 64, "ptr": 64, "fp128": 128}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: the name of its result ("" if it has none), its opcode, its whole text, its block's label."""

    result: str
    opcode: str
    text: str
    block: str


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its parameters as (type, name), and its instructions in order."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    code: tuple[Instruction, ...]


def thawed(ir: str) -> str:
    """Code without its `freeze`: what that gives is what it was given, unless LLVM may choose."""
    return "\n}\n".join(map(_thawed, ir.split("\n}\n")))


def _thawed(function: str) -> str:
    given = dict(_FREEZE.findall(function))
    return re.sub(r"%[\w.]+", lambda found: given.get(found[0], found[0]), _FREEZE.sub("", function))


def functions(ir: str) -> tuple[Function, ...]:
    """The functions that a module defines."""
    module = binding.parse_assembly(ir)
    module.verify()
    return tuple(_functions(str(module)))


def _functions(text: str) -> Iterator[Function]:
    name, parameters = "", ()
    code: list[Instruction] = []
    block = ""
    open_line = ""
    for line in text.splitlines():
        if found := _DEFINE.match(line):
            name, code, block = found["name"], [], "entry"
            parts = split(found["params"])
            parameters = tuple((p.split()[0] if p[0] != "<" else p[: p.rindex(" ")], p.split()[-1]) for p in parts if p)
        elif line == "}":
            yield Function(name, parameters, tuple(code))
            name = ""
        elif name and (found := _LABEL.match(line)):
            block = found[1]
        elif name and line.strip():
            open_line += line.strip() + " "
            if open_line.count("[") > open_line.count("]"):
                continue  # a `switch` goes on
            code.append(_instruction(open_line.strip(), block))
            open_line = ""


def _instruction(text: str, block: str) -> Instruction:
    found = _RESULT.match(text)
    result, body = (found[1], found[2]) if found else ("", text)
    opcode = _FIRST.match(body)
    assert opcode is not None
    return Instruction(result, opcode[1], body, block)


def split(text: str) -> list[str]:
    """The parts of a list, by the commas that stand in no brackets."""
    parts: list[str] = []
    depth = start = 0
    for at, letter in enumerate(text):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def typed(text: str) -> tuple[str, str]:
    """The type and the value of an operand: `<32 x i32> %t5`, `ptr align 4 %t6`."""
    if text[0] in "<[{":
        depth = 0
        for at, letter in enumerate(text):
            depth += (letter in "<[{") - (letter in ">]}")
            if not depth:
                return text[: at + 1], _ATTRIBUTES.sub("", text[at + 1 :].strip(), count=1)
    type_, _, value = text.partition(" ")
    return type_, _ATTRIBUTES.sub("", value.strip(), count=1)


def bytes_of(type_: str) -> int:
    """What a value of a type takes in memory."""
    if type_[0] in "<[":
        number, _, inner = type_[1:-1].partition(" x ")
        return int(number) * bytes_of(inner) if type_[0] == "[" else -(-int(number) * bits_of(inner) // 8)
    return -(-bits_of(type_) // 8)


def bits_of(type_: str) -> int:
    """The width of a scalar type."""
    return _BITS[type_] if type_ in _BITS else int(type_[1:])
