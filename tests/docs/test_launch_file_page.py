"""The page on launch files and its schema say what the model says."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ptxloom.cli.launch_keys import ARGUMENT, COMPARE, FILLS, LAUNCH, TENSOR_MAP, TITLE
from ptxloom.settings.toml_model import Table, markdown, schema
from ptxloom.views.core.json_text import to_text

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "launch-file.md"
SCHEMA = ROOT / "docs" / "launch-file.schema.json"
TABLES = {
    "LAUNCH": LAUNCH,
    "ARGUMENT": ARGUMENT,
    "FILL": Table(FILLS["integers"]),
    "TENSOR_MAP": TENSOR_MAP,
    "COMPARE": COMPARE,
}


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_those_of_the_model(name: str, request: pytest.FixtureRequest) -> None:
    text = PAGE.read_text(encoding="utf-8")
    between = re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- /{name} -->)", re.DOTALL)
    made = markdown(TABLES[name])
    if request.config.getoption("--update"):
        PAGE.write_text(between.sub(lambda found: found[1] + made + found[3], text), encoding="utf-8")
        return
    found = between.search(text)
    assert found is not None
    assert found[2] == made


def test_the_schema_is_that_of_the_model(request: pytest.FixtureRequest) -> None:
    made = to_text(schema(LAUNCH, TITLE))
    if request.config.getoption("--update"):
        SCHEMA.write_text(made, encoding="utf-8")
    assert SCHEMA.read_text(encoding="utf-8") == made


def test_the_schema_accepts_the_examples_and_refuses_slips() -> None:
    known: Any = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(known)
    judge: Any = jsonschema.Draft202012Validator(known)
    for path in (ROOT / "examples").rglob("*.toml"):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        assert judge.is_valid(table), path
        assert not judge.is_valid({**table, "blok": 1})
        assert not judge.is_valid({**table, "grid": "1"})
        assert not judge.is_valid({**table, "args": [{"zeros": {"dtype": "f32"}}]})
