"""ptxas gives constant expressions the values that are recorded of it."""

from __future__ import annotations

import struct

import pytest

from oracle.cubin import machine_code
from oracle.ptxas import assemble, find_ptxas
from recorded.ptxas.constant_cases import module_text, recorded

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed (nvidia-cuda-nvcc)"),
]

GOOD = {text: value for text, value in recorded().items() if value is not None}
BAD = [text for text, value in recorded().items() if value is None]


def test_values() -> None:
    (data,) = (d for name, d in machine_code(module_text(GOOD), "sm_90").items() if name.startswith(".nv.global"))
    assert dict(zip(GOOD, struct.unpack(f"<{len(GOOD)}Q", data[8:]), strict=True)) == GOOD


def test_refused() -> None:
    assert [text for text in BAD if assemble(module_text([text]), "sm_90").accepted] == []
