"""The legal contents of a TOML file, as data: files are checked against it; schema and document are made from it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.records import Json as Value

_LONGEST: Final = 60  # characters of a value that a sentence shows


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is not empty, or one of several."""

    choices: tuple[str, ...] = ()

    @property
    def legal(self) -> str:
        """What it must be."""
        return " or ".join(f'"{choice}"' for choice in self.choices) or "a text"

    def holds(self, value: object) -> bool:
        """Whether a value is one."""
        return isinstance(value, str) and bool(value) and (not self.choices or value in self.choices)

    def schema(self) -> dict[str, Value]:
        """The kind as JSON Schema."""
        return {"enum": list(self.choices)} if self.choices else {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class Number:
    """A number; a whole one, one from `low` up."""

    whole: bool = False
    low: float | None = None

    @property
    def legal(self) -> str:
        """What it must be."""
        return f"a {'whole ' * self.whole}number{'' if self.low is None else f' from {self.low:g} up'}, within 64 bits"

    def holds(self, value: object) -> bool:
        """Whether a value is one; infinities are where nothing bounds it."""
        if isinstance(value, bool) or not isinstance(value, int if self.whole else (int, float)):
            return False
        if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
            return False
        return self.low is None or (value >= self.low and value < math.inf)

    def schema(self) -> dict[str, Value]:
        """The kind as JSON Schema."""
        kind: dict[str, Value] = {"type": "integer" if self.whole else "number"}
        return kind if self.low is None else {**kind, "minimum": self.low}


@dataclass(frozen=True, slots=True)
class Numbers:
    """Whole numbers, at most `most` of them; a single one needs no brackets."""

    most: int
    low: int | None = 0
    alone: bool = True

    @property
    def legal(self) -> str:
        """What it must be."""
        alone = "a whole number, or " if self.alone else ""
        return f"{alone}whole numbers in brackets, {self.most} at most"

    def holds(self, value: object) -> bool:
        """Whether a value is such a list."""
        one = Number(whole=True, low=self.low)
        if isinstance(value, list):
            several = cast("list[object]", value)
            return len(several) <= self.most and all(map(one.holds, several))
        return self.alone and one.holds(value)

    def schema(self) -> dict[str, Value]:
        """The kind as JSON Schema."""
        one = Number(whole=True, low=self.low).schema()
        several: dict[str, Value] = {"type": "array", "items": one, "maxItems": self.most}
        return {"oneOf": [one, several]} if self.alone else several


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    @property
    def legal(self) -> str:
        """What it must be."""
        return "true or false"

    def holds(self, value: object) -> bool:
        """Whether a value is one."""
        return isinstance(value, bool)

    def schema(self) -> dict[str, Value]:
        """The kind as JSON Schema."""
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts in brackets."""

    @property
    def legal(self) -> str:
        """What it must be."""
        return "texts in brackets"

    def holds(self, value: object) -> bool:
        """Whether a value is such a list."""
        return isinstance(value, list) and all(map(Text().holds, cast("list[object]", value)))

    def schema(self) -> dict[str, Value]:
        """The kind as JSON Schema."""
        return {"type": "array", "items": Text().schema()}


@dataclass(frozen=True, slots=True)
class Named:
    """A table whose keys are names of its user's."""

    kind: Texts

    @property
    def legal(self) -> str:
        """What it must be."""
        return f"a table, each key {self.kind.legal}"

    def holds(self, value: object) -> bool:
        """Whether a value is such a table."""
        return isinstance(value, dict) and all(map(self.kind.holds, cast("dict[str, object]", value).values()))

    def schema(self) -> dict[str, Value]:
        """The kind as JSON Schema."""
        return {"type": "object", "additionalProperties": self.kind.schema()}


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table of keys; `several` of them in a list."""

    keys: tuple[Key, ...]
    several: bool = False

    @property
    def legal(self) -> str:
        """What it must be."""
        return "tables, each written [[...]]" if self.several else f"a table such as {{ {self._example()} }}"

    def _example(self) -> str:
        return ", ".join(f"{key.name} = {key.example}" for key in self.keys if key.example)

    def holds(self, value: object) -> bool:
        """Whether a value is one, whatever its keys hold."""
        if self.several:
            return isinstance(value, list) and all(isinstance(one, dict) for one in cast("list[object]", value))
        return isinstance(value, dict)

    def schema(self) -> dict[str, Value]:
        """The kind as JSON Schema."""
        required: list[Value] = [key.name for key in self.keys if key.required]
        one: dict[str, Value] = {
            "type": "object",
            "additionalProperties": False,
            "properties": {key.name: {"description": key.about, **key.kind.schema()} for key in self.keys},
            **({"required": required} if required else {}),
        }
        return {"type": "array", "items": one} if self.several else one


Kind: TypeAlias = Text | Number | Numbers | Flag | Texts | Named | TomlTable


@dataclass(frozen=True, slots=True)
class Key:
    """A key: its legal values and its meaning.

    Attributes:
        name: Its spelling.
        kind: The kind of its values.
        about: Its meaning, as a sentence without the full stop.
        required: Whether a table must have it.
        example: A value as TOML; without it the key is in no example.
    """

    name: str
    kind: Kind
    about: str
    required: bool = False
    example: str = ""


def complaint(table: Mapping[str, Any], model: TomlTable, where: str) -> tuple[str, str] | None:
    """The first error in a table: where, and the rest of the sentence; None if the table is legal."""
    from ptxloom.isa.spelling import near_misses  # noqa: PLC0415 - the command line reads the model, too

    known = {key.name: key for key in model.keys}
    for name in table:
        if name not in known:
            near = next(iter(near_misses(name, known)), "")
            meant = f"; did you mean {near}?" if near else f"; known are {', '.join(sorted(known))}"
            return where, f"holds {_shown(name)}, which means nothing{meant}"
    for key in model.keys:
        if key.name not in table:
            if key.required:
                return where, f"needs {key.name}" + (f", such as {key.name} = {key.example}" if key.example else "")
            continue
        value = table[key.name]
        if not key.kind.holds(value):
            return where, f"has {key.name} = {_shown(value)}; it must be {key.kind.legal}"
        for place, inner in _inner(value, key, where):
            assert isinstance(key.kind, TomlTable)  # noqa: S101 - only tables have any
            if found := complaint(inner, key.kind, place):
                return found
    return None


def _inner(value: Any, key: Key, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables in a value, each with its name."""
    name = key.name if where == TOP else f"{where}.{key.name}"
    if isinstance(key.kind, TomlTable):
        if key.kind.several:
            yield from ((f"{name}[{number}]", one) for number, one in enumerate(value))
        else:
            yield name, value


TOP: Final = "the file"
"""The name of the outermost table."""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def schema(model: TomlTable, title: str) -> dict[str, Value]:
    """The JSON Schema of a file."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **model.schema()}


def markdown(model: TomlTable) -> str:
    """The keys of a table as a table of Markdown; those of inner tables are listed on their own."""
    rows = ["| key | holds | means |", "|---|---|---|"]
    for key in model.keys:
        holds = (
            "a table"
            if isinstance(key.kind, TomlTable) and not key.kind.several
            else key.kind.legal.replace("|", "\\|")
        )
        needed = " (needed)" if key.required else ""
        rows.append(f"| `{key.name}` | {holds}{needed} | {key.about} |")
    return "\n".join(rows) + "\n"
