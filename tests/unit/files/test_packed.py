"""Zstandard and LZ4 are unpacked as their own libraries would, and damaged bytes are reported as such."""

from __future__ import annotations

import contextlib
import random
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxloom.files import fatbins, toolkits
from ptxloom.files.packed import lz4, zstandard
from ptxloom.files.packed.damage import DamagedError

CORPUS: Final = Path(__file__).parents[2] / "corpus"
_DRAWN: Final = random.Random(1)
TEXTS: Final = {
    "nothing": b"",
    "a byte": b"a",
    "one byte often": b"a" * 300_000,
    "noise": _DRAWN.randbytes(150_000),
    "few letters": bytes(_DRAWN.choices(b"abcd", weights=[100, 10, 2, 1], k=90_000)),
    **{name: (CORPUS / f"{name}.ptx").read_bytes() for name in ("halves-sm_75", "mma-sm_90", "sorting-sm_80")},
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("level", [-5, 1, 9, 19])
def test_what_zstandard_packs_is_unpacked(name: str, level: int) -> None:
    library: Any = pytest.importorskip("zstandard")
    text = TEXTS[name]
    packed: bytes = library.ZstdCompressor(level=level, write_checksum=level > 1).compress(text)
    assert zstandard.decompress(packed, len(text)) == text
    if text:
        with pytest.raises(DamagedError):
            zstandard.decompress(packed, len(text) - 1)


@pytest.mark.parametrize("seed", range(20))
def test_damaged_frames_are_told(seed: int) -> None:
    library: Any = pytest.importorskip("zstandard")
    draw = random.Random(seed)
    text = TEXTS["mma-sm_90"][:4000]
    whole: bytes = library.ZstdCompressor(level=draw.choice([1, 19])).compress(text)
    for _ in range(20):
        packed = bytearray(whole[: draw.randrange(1, len(whole))] if draw.random() < 0.3 else whole)
        for _ in range(draw.randrange(1, 4)):
            packed[draw.randrange(len(packed))] = draw.randrange(256)
        with contextlib.suppress(DamagedError):
            assert len(zstandard.decompress(bytes(packed), len(text))) <= len(text)


@given(st.binary(max_size=60), st.booleans())
def test_nothing_makes_more_than_it_may(data: bytes, framed: bool) -> None:
    with contextlib.suppress(DamagedError):
        assert len(lz4.decompress(data, 100)) <= 100
    with contextlib.suppress(DamagedError):
        assert len(zstandard.decompress(b"(\xb5/\xfd\x20\x64" + data if framed else data, 100)) <= 100


def test_matches_overlap_what_they_make() -> None:
    assert lz4.decompress(b"\x2fab\x02\x00\x07\x10c", 29) == b"ab" * 14 + b"c"


@pytest.mark.oracle
def test_every_way_in_which_nvcc_packs(tmp_path: Path) -> None:
    nvcc = toolkits.find_nvcc()
    if nvcc is None:
        pytest.skip("nvcc is absent: pip install nvidia-cuda-nvcc")
    (tmp_path / "k.cu").write_text('extern "C" __global__ void k(int* x) { *x = __popc(*x) * 3; }', encoding="utf-8")
    found: list[tuple[tuple[str, bytes], ...]] = []
    for mode in ("none", "default", "size", "speed", "balance"):
        command = [nvcc, "-fatbin", f"-compress-mode={mode}", "-gencode", "arch=compute_80,code=[sm_80,compute_80]",
                   "-gencode", "arch=compute_90a,code=compute_90a", "-o", "k.fatbin", "k.cu"]  # fmt: skip
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        found.append(fatbins.ptx_in((tmp_path / "k.fatbin").read_bytes(), "k.fatbin"))
    assert [arch for arch, _ in found[0]] == ["sm_80", "sm_90a"]
    assert all(one == found[0] for one in found)
    assert all(b".entry k(" in text for _, text in found[0])
