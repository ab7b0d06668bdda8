"""What is printed as JSON, and its schemas: both follow from the types of members."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import jsonschema
import numpy as np
import pytest

from ptxloom.records import ABSENT, Absent, Keywords, Natural, Record, Spliced, record, taken
from ptxloom.records.schemas import Shape, schema

if TYPE_CHECKING:
    from ptxloom.records import Json


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Place(Record):
    file: str
    line: Annotated[int, Keywords(minimum=1)]


class Leaf(Record, define="leaf"):
    place: Spliced[Place]
    colour: Colour
    next: Leaf | None
    weights: Mapping[str, float]
    pair: tuple[int, int]
    mixed: tuple[int | str, ...]
    kind: Literal["a", "b"] = "a"
    note: str | Absent = ABSENT


def leaf(**others: Any) -> Leaf:
    members: dict[str, Any] = {
        "place": Place(file="k.ptx", line=3), "colour": Colour.RED, "next": None,
        "weights": {"w": 1.5}, "pair": (1, 2), "mixed": (1, "x"),
    }  # fmt: skip
    return Leaf(**{**members, **others})


PLAIN = {
    "file": "k.ptx", "line": 3, "colour": "red", "next": None,
    "weights": {"w": 1.5}, "pair": [1, 2], "mixed": [1, "x"], "kind": "a",
}  # fmt: skip


def test_members_stand_in_their_order_and_spliced_ones_among_them() -> None:
    made = record(leaf())
    assert made == PLAIN
    assert isinstance(made, dict)
    assert list(made) == list(PLAIN)
    assert record(leaf(next=leaf(note="n"), kind="b")) == PLAIN | {"next": PLAIN | {"note": "n"}, "kind": "b"}


def test_members_that_are_missing_or_unknown_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Leaf: .*colour"):
        Leaf(place=Place(file="", line=1))  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match=r"Place: column"):
        Place(file="", line=1, column=2)  # pyright: ignore[reportCallIssue]


def test_a_record_is_taken_from_the_attributes_of_a_value() -> None:
    class Value(NamedTuple):
        file: str
        start: int

    value = Value("k.ptx", 6)
    assert taken(Place, value, line=value.start + 1) == Place(file="k.ptx", line=7)
    with pytest.raises(AttributeError, match="line"):
        taken(Place, value)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (1 + 2j, "(1+2j)"),
        (Colour.BLUE, "blue"),
        (np.float32(0.5), 0.5),
        (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
        ({"a": (True, None)}, {"a": [True, None]}),
    ],
)
def test_any_value_has_a_word_in_json(value: object, told: Json) -> None:
    assert record(value) == told


def test_values_may_nest_deeper_than_the_stack() -> None:
    deep = leaf()
    for _ in range(2 * sys.getrecursionlimit()):
        deep = leaf(next=deep)
    depth, inner = 0, record(deep)
    while isinstance(inner, dict):
        depth, inner = depth + 1, inner["next"]
    assert depth == 2 * sys.getrecursionlimit() + 1


def test_the_schema_is_that_of_the_types() -> None:
    made: Any = schema(tuple[Leaf, ...], "Leaves")
    assert made["title"] == "Leaves"
    assert made["items"] == {"$ref": "#/$defs/leaf"}
    said = made["$defs"]["leaf"]
    assert said["required"] == [*PLAIN]
    assert said["properties"]["line"] == {"type": "integer", "minimum": 1}
    assert said["properties"]["pair"] == {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    assert said["properties"]["colour"] == {"enum": ["red", "blue"]}
    judge: Any = jsonschema.Draft202012Validator(made)
    good: Any = [record(leaf(next=leaf(), note="n"))]
    judge.validate(good)
    for name, wrong in (
        ("line", 0),
        ("pair", [1]),
        ("colour", "green"),
        ("weights", {"w": "x"}),
        ("next", 1),
        ("x", 1),
    ):
        assert not judge.is_valid([good[0] | {name: wrong}]), name
    assert not judge.is_valid([{name: value for name, value in good[0].items() if name != "kind"}])


def test_a_document_that_is_a_definition_stands_at_the_top() -> None:
    class Whole(Record, define="whole"):
        count: Natural

    assert schema(Whole) == {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"count": {"type": "integer", "minimum": 0}},
        "required": ["count"],
        "additionalProperties": False,
    }
    assert schema(Leaf)["$ref"] == "#/$defs/leaf"


def test_other_classes_say_their_shapes_and_unions_their_names() -> None:
    class Node:
        pass

    def shape_of(kind: Any) -> Shape | None:
        return (
            Shape({"node": Literal["Node"], "inside": Node | str | None}, "Node", "A node.") if kind is Node else None
        )

    made: Any = schema(Node | str, shape_of=shape_of, unions={"Thing": Node | str})
    assert made["$ref"] == "#/$defs/Thing"
    assert made["$defs"]["Thing"] == {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "string"}]}
    assert made["$defs"]["Node"]["properties"]["inside"] == {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Thing"}]}
    with pytest.raises(TypeError, match="JSON"):
        schema(object)
