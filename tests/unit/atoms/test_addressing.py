"""Byte offsets of a tile, lane by lane: ldmatrix at these addresses gives every lane what the mma takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.atoms.addressing import row_offsets
from ptxloom.banks.tiles import make_tile
from ptxloom.cli import main

if TYPE_CHECKING:
    from pathlib import Path

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


@pytest.mark.parametrize("pitch", [128, 144, 256])
@pytest.mark.parametrize(("operand", "major"), [("a", "k"), ("a", "m"), ("b", "k"), ("b", "n")])
def test_what_is_loaded_there_is_what_the_mma_takes(operand: str, major: str, pitch: int) -> None:
    best = pl.atoms.advise(MMA, operand, major).best
    assert best is not None
    offsets = row_offsets(best, make_tile(64, 64, "f16", pitch))
    memory = np.arange(64 * pitch // 2, dtype=np.uint16).reshape(64, pitch // 2)
    lanes = np.resize(np.array(offsets.lanes, np.uint32), 32)
    fragment = pl.fragment(MMA, operand)
    for first, second in ((0, 0), (1, 0), (0, 2)):
        start = first * offsets.steps[0] + second * offsets.steps[1]
        registers = pl.ldmatrix(best.atom.ptx, memory.view(np.uint8).reshape(-1), lanes + np.uint32(start))
        extent = best.usage.mma.extent(best.usage.operand)
        for i in range(extent[0]):
            for k in range(extent[1]):
                held = fragment.holder(row=i, column=k) if operand == "a" else fragment.holder(row=k, column=i)
                got = int(registers[held.lane, held.register]) >> held.bit & 0xFFFF
                at = (first * extent[0] + i, second * extent[1] + k)
                assert got == memory[at if major == "k" else at[::-1]]


def test_the_command_prints_them_for_a_shape_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["atom", "--mma", "m16n8k16", "--tile", "64x64", "--pitch", "128"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("A of SM80_16x8x16_F32F16F16F32_TN, K-major")
    assert "  lanes  8 to 15  1,024  1,152  1,280  1,408  1,536  1,664  1,792  1,920\n" in out
    assert "next      along m: 2,048 bytes further; along k: 32\n" in out
    assert "\n\nB of SM80_16x8x16_F32F16F16F32_TN, K-major" in out


def test_programs_get_them_too(tmp_path: Path) -> None:
    path = tmp_path / "atom.json"
    main(["atom", "--mma", MMA, "--blas", "NT", "--tile", "32x64", "--output-format", "json", "-o", str(path)])
    a, b = json.loads(path.read_text(encoding="utf-8"))
    found: list[Any] = [pl.atoms.advise(MMA, name, major).best for name, major in (("a", "m"), ("b", "n"))]
    tile = make_tile(32, 64, "f16")
    assert [a["offsets"], b["offsets"]] == [list(row_offsets(one, tile).lanes) for one in found]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mma", "m16n8k16", "--tile", "8x8"], "tile is '8x8'; it must be at least 16x16"),
        (["--mma", MMA, "--blas", "TN", "--pitch", "128"], "needs a tile, such as `--tile 64x64`"),
        (["--tile", "64x64"], "name the mma for the atom"),
        (["--mma", MMA, "--tile", "64x64", "--pitch", "100"], "--pitch is 100; it must be a multiple of 16"),
    ],
)
def test_what_does_not_fit_is_a_sentence(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(["atom", *arguments]) == 2
    assert said in capsys.readouterr().err
