"""The 46 paths that were compared with a B200 elsewhere, as the documents list them: what of each is confirmed here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

import ptxloom as pl
from ptxloom.checker import check
from ptxloom.machine import kernel

FOLDER: Final = Path(__file__).with_name("published")
PAGE: Final = Path(__file__).parents[2] / "docs" / "confirmed.md"
PATHS: Final[list[dict[str, Any]]] = json.loads((FOLDER / "b200_paths.json").read_text(encoding="utf-8"))["paths"]
WORDS: Final[list[dict[str, Any]]] = json.loads((FOLDER / "b200_words.json").read_text(encoding="utf-8"))["words"]
FACTS: Final = ("kind", "a_type", "b_type", "d_type", "saturate", "scale_type", "scale_vector")


def spelling(path: dict[str, Any]) -> str:
    """The instruction of a path."""
    sparse = ".sp" * path["sparse"]
    scaled = f".block_scale.scale_vec::{path['scale_vector']}" if path["scale_vector"] else ""
    return f"tcgen05.mma{sparse}.cta_group::1.kind::{path['kind']}{scaled}"


def words_of(path: dict[str, Any]) -> int:
    """How many published words are of a path; `test_published_words.py` holds the machine to each."""
    if path["sparse"]:
        return 0
    return sum(all(word[fact] == path[fact] for fact in FACTS) for word in WORDS)


def row(path: dict[str, Any]) -> str:
    """The row of a path in the table."""
    types = path["a_type"] if path["a_type"] == path["b_type"] else f"{path['a_type']}, {path['b_type']}"
    more = f"; scales {path['scale_type']}" * bool(path["scale_type"]) + "; saturates" * path["saturate"]
    count = words_of(path)
    found = f"{count} published word{'s' * (count > 1)} equal" if count else "runs; no word of it is published"
    return f"| {path['name']} | `{spelling(path)}` | {types}: {path['d_type']}{more} | {found} |"


def test_the_table_is_that_of_the_data() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if "`tcgen05.mma" in line and line.startswith("| ")] == [
        *map(row, PATHS)
    ]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path["name"])
def test_every_path_can_be_prepared(path: dict[str, Any]) -> None:
    meta = ", [t]" * path["sparse"]
    scales = ", [t], [t]" if path["scale_vector"] else ""
    text = f""".version 9.0
.target sm_100a
.address_size 64
.visible .entry k() {{
  .reg .b32 t; .reg .b32 i; .reg .b64 a; .reg .pred p; mov.u32 t, 0; mov.u32 i, 0; mov.u64 a, 0; setp.eq.u32 p, t, 0;
  {spelling(path)} [t], a, a{meta}, i{scales}, p; ret;
}}
"""
    module = pl.parse(text)
    assert not check(module)
    kernel(module, "k")
