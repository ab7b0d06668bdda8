import tomllib
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from corpus_files import CorpusFile, corpus_files, count_instructions
from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import Module, instructions, parse

FILES = corpus_files()


@cache
def read(file: CorpusFile) -> Module:
    return parse(file.read(), name=file.path.name)


def test_the_manifest_names_every_file_of_the_corpus() -> None:
    folder = Path(__file__).resolve().parents[1] / "corpus"
    manifest = tomllib.loads((folder / "manifest.toml").read_text())
    written = {file.path.name: sha256(file.read().encode()).hexdigest() for file in FILES if file.path.parent == folder}
    stated = {name: entry["sha256"] for name, entry in manifest.items() if name != "tools"}
    assert {name: digest[:16] for name, digest in written.items()} == stated


@pytest.mark.sample(every=21)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_compilers_write_reads_and_prints(file: CorpusFile) -> None:
    module = read(file)
    assert module.diagnostics == ()
    printed = str(module)
    again = parse(printed, name=file.path.name)
    assert again.diagnostics == ()
    assert again.statements == module.statements
    assert str(again) == printed


@pytest.mark.sample(every=7)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_instruction_is_lost(file: CorpusFile) -> None:
    assert sum(1 for _ in instructions(read(file))) == count_instructions(file.read())


@pytest.mark.sample(every=7)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_ptxas_accepts_has_no_errors(file: CorpusFile) -> None:
    found = check(read(file))
    assert [finding for finding in found if finding.severity is Severity.ERROR] == []
