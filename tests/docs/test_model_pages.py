"""The pages on launch files and on settings, and their schemas, say what the models say."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ptxloom.cli.arguments.launch_keys import ARGUMENT, COMPARE, FILLS, LAUNCH, TENSOR_MAP, TITLE
from ptxloom.settings import keys
from ptxloom.settings.toml_model import TomlTable, complaint, markdown, schema
from ptxloom.views.core.json_text import to_text

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = DOCS.parent / "examples"
TABLES = {
    "LAUNCH": ("launch-file.md", LAUNCH),
    "ARGUMENT": ("launch-file.md", ARGUMENT),
    "FILL": ("launch-file.md", TomlTable(FILLS["integers"])),
    "TENSOR_MAP": ("launch-file.md", TENSOR_MAP),
    "COMPARE": ("launch-file.md", COMPARE),
    "SETTINGS": ("settings.md", keys.SETTINGS),
}
SCHEMAS = {
    "launch-file.schema.json": schema(LAUNCH, TITLE),
    "settings.schema.json": schema(keys.SETTINGS, keys.TITLE),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_those_of_the_model(name: str, request: pytest.FixtureRequest) -> None:
    page, model = TABLES[name]
    text = (DOCS / page).read_text(encoding="utf-8")
    between = re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- /{name} -->)", re.DOTALL)
    made = markdown(model)
    if request.config.getoption("--update"):
        (DOCS / page).write_text(between.sub(lambda found: found[1] + made + found[3], text), encoding="utf-8")
        return
    found = between.search(text)
    assert found is not None
    assert found[2] == made


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schema_is_that_of_the_model(name: str, request: pytest.FixtureRequest) -> None:
    made = to_text(SCHEMAS[name])
    if request.config.getoption("--update"):
        (DOCS / name).write_text(made, encoding="utf-8")
    assert (DOCS / name).read_text(encoding="utf-8") == made


def test_the_schema_of_launch_files_accepts_the_examples_and_refuses_slips() -> None:
    known: Any = json.loads((DOCS / "launch-file.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(known)
    judge: Any = jsonschema.Draft202012Validator(known)
    for path in EXAMPLES.rglob("*.toml"):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        assert judge.is_valid(table), path
        assert not judge.is_valid({**table, "blok": 1})
        assert not judge.is_valid({**table, "grid": "1"})
        assert not judge.is_valid({**table, "args": [{"zeros": {"dtype": "f32"}}]})


def test_the_settings_that_are_shown_are_settings() -> None:
    shown = re.findall(r"```toml\n(.*?)```", (DOCS / "settings.md").read_text(encoding="utf-8"), re.DOTALL)
    assert shown
    assert [complaint(tomllib.loads(text), keys.SETTINGS, "it") for text in shown] == [None] * len(shown)
