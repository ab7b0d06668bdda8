"""The pages that are made when the site is built: each instruction that holds matrices shows its maps."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ptxloom.isa import matrix_forms
from ptxloom.isa.matrix import variants

DOCS = Path(__file__).parents[2] / "tools" / "docs"


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    sys.path.insert(0, str(DOCS))
    try:
        return dict(__import__("reference").pages())
    finally:
        sys.path.remove(str(DOCS))


def test_every_instruction_that_holds_matrices_shows_which_lane_holds_what(pages: dict[str, str]) -> None:
    opcodes = {str(move).partition(".")[0] for move in variants()}
    opcodes |= {opcode for opcode in ("mma", "wmma", "wgmma") if next(iter(matrix_forms(opcode)), None)} | {"tcgen05"}
    shown = {name.rpartition("/")[2][:-3] for name, text in pages.items() if "```{picture}" in text}
    assert shown >= opcodes
    for opcode in opcodes:
        page = pages[f"instructions/{opcode}.md"]
        assert f"\nptxloom map {opcode}." in page
        assert page.index("## Which lane holds what") < page.index("```{picture}") < page.index("## Syntax")
        assert page.count("## Syntax") == 1
    assert "ptxloom map ldmatrix.sync.aligned.m8n8.x4.shared.b16 -o map.svg" in pages["instructions/ldmatrix.md"]
    assert "{picture}" not in pages["instructions/add.md"]


def test_a_search_for_which_lane_finds_a_heading() -> None:
    # Sphinx's search takes a query for a heading that it is part of, and at least half as long as.
    text = (DOCS.parents[1] / "docs" / "fragments.md").read_text(encoding="utf-8")
    headings = re.findall(r"(?m)^## (.*)$", text)
    assert [one for one in headings if "which lane" in one.lower() and len(one) <= 2 * len("which lane")]
