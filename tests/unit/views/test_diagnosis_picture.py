"""The picture of a diagnosis: each cell is the element that is held there, and what is wrong has a heavy edge."""

from pathlib import Path

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.cli import main
from ptxloom.diagnosis import Diagnosis, examine
from ptxloom.views.core.palette import hue
from ptxloom.views.drawing.figure import Figure
from ptxloom.views.pictures import figure_of

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def diagnosis() -> Diagnosis:
    compiled = pl.kernel(pl.load(EXAMPLES / "tutorial" / "wrong.ptx"), "product")
    arrays = [np.ones((16, 64), np.float16), np.ones((64, 8), np.float16), np.zeros((16, 8), np.float32)]
    ran = compiled.launch(1, 32, arrays, provenance=True)
    assert ran.provenance is not None
    (found,) = examine(ran.provenance, names={0: "A", 1: "B", 2: "C"}).found
    return found


def test_the_operand_is_drawn_as_it_is_and_as_it_should_be(diagnosis: Diagnosis) -> None:
    figure = figure_of(diagnosis)
    assert isinstance(figure, Figure)
    picture = diagnosis.picture
    assert picture is not None
    ((held, wanted),) = figure.bands
    assert held is not None
    assert wanted is not None
    for grid, places in ((held, picture.held), (wanted, picture.wanted)):
        assert set(grid.cells) == set(np.ndindex(places.shape[:2]))
        for (row, column), cell in grid.cells.items():
            k, n = places[row, column].tolist()
            assert cell.lines == (f"{k},{n}",)
            assert cell.fill == hue(k)
            assert cell.alarm == (grid is held and places[row, column].tolist() != picture.wanted[row, column].tolist())
    assert sum(cell.alarm for cell in held.cells.values()) == 16 * 8 - 16  # the diagonals of two transposed matrices
    assert "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16" in " ".join(figure.notes)


def test_why_draws_it_and_says_where_there_is_nothing_to_draw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", str(EXAMPLES / "tutorial" / "wrong.toml"), "-o", str(tmp_path / "why.svg")]) == 1
    assert (tmp_path / "why.svg").read_text(encoding="utf-8").startswith("<svg")
    assert main(["why", str(EXAMPLES / "tutorial" / "right.toml"), "-o", str(tmp_path / "none.svg")]) == 2
    assert "no law is broken that a picture can show" in capsys.readouterr().err
    assert not (tmp_path / "none.svg").exists()
