import pytest

from corpus_files import CorpusFile, corpus_files
from oracle.cubin import machine_code
from oracle.ptxas import find_ptxas
from ptxloom.syntax import parse

SMALL_BYTES = 16_384
FILES = [
    file for file in corpus_files() if file.path.parent.name == "corpus" and file.path.stat().st_size < SMALL_BYTES
]

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed (pip install ptxloom[oracle])"),
]


@pytest.mark.sample(every=9)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_printed_text_assembles_to_the_same_code(file: CorpusFile) -> None:
    module = parse(file.read())
    target = next(part for part in module.target if part.startswith("sm_"))
    original = machine_code(file.read(), target)
    assert any(name.startswith(".text") for name in original)
    assert machine_code(str(module), target) == original
