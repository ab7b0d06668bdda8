"""Every instruction that libcu++ wraps (`cuda::ptx`) has a form: its headers follow the newest PTX."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from ptxloom.isa import known, resolve

_ASM = re.compile(r'asm\s*(?:volatile)?\s*\(((?:\s*"(?:[^"\\]|\\.)*")+)')
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_GUARD = re.compile(r"^@\S+\s+")
AT_LEAST = 1000


def headers() -> tuple[Path, ...]:
    """The generated headers, where `nvidia-cuda-cccl` is installed."""
    spec = find_spec("nvidia")
    roots = [Path(root) for root in (spec.submodule_search_locations or ())] if spec else []
    return tuple(
        header
        for root in roots
        for header in sorted(root.glob("cu*/include/cccl/cuda/__ptx/instructions/generated/*.h"))
    )


def instructions(text: str) -> set[str]:
    """The statements of all inline assembly in a header."""
    found: set[str] = set()
    for match in _ASM.finditer(text):
        lines = "".join(_TEXT.findall(match[1])).replace("\\t", " ").split("\\n")
        assembly = " ".join(line.partition("//")[0] for line in lines)
        statements = (_GUARD.sub("", each.strip().lstrip("{").strip()) for each in assembly.split(";"))
        found |= {each for each in statements if each and not each.startswith((".", "}"))}
    return found


@pytest.mark.oracle
@pytest.mark.skipif(not headers(), reason="libcu++ is not installed (nvidia-cuda-cccl)")
def test_every_wrapped_instruction_has_a_form() -> None:
    asked = 0
    for header in headers():
        for each in instructions(header.read_text(encoding="utf-8")):
            opcode, *words = each.split()[0].split(".")
            assert known(opcode), f"{header.name}: {each}"
            assert resolve(opcode, tuple(words)).form is not None, f"{header.name}: {each}"
            asked += 1
    assert asked > AT_LEAST
