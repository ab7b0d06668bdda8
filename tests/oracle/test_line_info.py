"""What ptxas keeps of the PTX in a cubin is the text that it was given, line by line."""

import subprocess
from pathlib import Path

import pytest

import ptxloom as pl
from oracle.ptxas import find_ptxas
from ptxloom.syntax.visitor import instructions

pytestmark = pytest.mark.oracle
EXAMPLES = ("vector_add", "hgemm")


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_text_comes_back_line_by_line(name: str, tmp_path: Path) -> None:
    ptxas = find_ptxas()
    if ptxas is None:
        pytest.skip("ptxas is not installed")
    source = Path("examples") / f"{name}.ptx"
    made = tmp_path / f"{name}.cubin"
    subprocess.run([ptxas, "-lineinfo", "-arch=sm_90", "-o", str(made), str(source)], check=True, capture_output=True)
    assert _lines(pl.load(made)) == _lines(pl.load(source))


def _lines(module: pl.Module) -> list[tuple[int, str]]:
    """Every instruction with the line that it stands in."""
    source = module.source
    found = instructions(module)
    return [(source.location(one.start)[0], source.text[one.start : one.end].replace("\t", " ")) for one in found]
