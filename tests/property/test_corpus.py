import re
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest

from corpus_files import CorpusFile, corpus_files
from ptxloom.syntax import instructions, parse

FILES = corpus_files()


def independent_count(text: str) -> int:
    """Instructions counted without a parser: statements within function bodies that start with an opcode."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"[^"]*"', '""', text)
    text = re.sub(r"\.section\s+\S+\s*\{[^}]*\}", "", text)
    text = re.sub(r"(?m)^\s*\.(loc|file|target|version|address_size)\b[^\n]*$", "", text)
    text = re.sub(r"=\s*\{.*?\};", ";", text, flags=re.DOTALL)
    statement = r"(?:(?<=[;{}:])|^)\s*(?:@!?[\w$%]+\s+)?[a-z]\w*(?:\.[\w:]+)*(?=[\s;])[^:;{}=]*(?:\{[^{}]*\}[^;{}]*)*;"
    return len(re.findall(statement, text))


def test_the_manifest_names_every_file_of_the_corpus() -> None:
    folder = Path(__file__).resolve().parents[1] / "corpus"
    manifest = tomllib.loads((folder / "manifest.toml").read_text())
    written = {file.path.name: sha256(file.read().encode()).hexdigest() for file in FILES if file.path.parent == folder}
    stated = {name: entry["sha256"] for name, entry in manifest.items() if name != "tools"}
    assert {name: digest[:16] for name, digest in written.items()} == stated


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_compilers_write_reads_and_prints(file: CorpusFile) -> None:
    text = file.read()
    module = parse(text, name=file.path.name)
    assert module.diagnostics == ()
    printed = str(module)
    again = parse(printed, name=file.path.name)
    assert again.diagnostics == ()
    assert again.statements == module.statements
    assert str(again) == printed


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_instruction_is_lost(file: CorpusFile) -> None:
    text = file.read()
    assert sum(1 for _ in instructions(parse(text))) == independent_count(text)
