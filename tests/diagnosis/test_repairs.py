"""Repairs of pitches, distances and vectors mend the result; one that does not takes the certainty away."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from diagnosis.planted.catalogue import BUGS
from diagnosis.planted.diagnosing import diagnoses_of
from diagnosis.planted.launching import launch
from ptxloom.cli import main
from ptxloom.diagnosis import Picture, findings
from ptxloom.diagnosis.mending.addresses import of_address

if TYPE_CHECKING:
    from pathlib import Path

    from ptxloom.diagnosis import Repair

BY_ID: Final = {bug.id: bug for bug in BUGS}
MENDED: Final = (
    "gemm-32x32-e4m3/b-read-pitch-without-pad",
    "gemm-16x8-f16/a-pitch-f16",
    "attention/k-leading-dimension",
    "hopper-f16/a-rows-of-the-next",
    "gemm-64x64-s8/a-matrices-1-and-2-s8",
    "gemm-64x64-f16/a-rows-off-by-one",  # in each fragment's row, added to 16 in every second one
    "gemm-32x32-bf16/a-chunk-off-by-one",  # likewise of k
    "gemm-64x64-s8/b-matrices-by-rows-first",  # by the addresses of lanes
    "gemm-64x64-f16/b-matrices-by-columns-first",
    "nvcc-hgemm/b-matrices-1-and-2",  # in the vectors of loads that fill two products
    "gemm-64x64-s8/a-read-without-swizzle",
    "gemm-64x64-s8/b-written-without-swizzle",
    "gemm-32x32-tf32/a-read-without-swizzle-tf32",
    "gemm-128x128-f16/a-swizzle-of-other-rows",
    "gemm-64x64-f16/b-swizzle-of-fewer-bits",
)
UNROLLED: Final = "gemm-64x64-f16/a-rows-off-by-one"


@pytest.mark.parametrize("name", MENDED)
def test_a_repair_of_what_is_known_mends_the_result(name: str) -> None:
    bug = BY_ID[name]
    first = diagnoses_of(bug)[0]
    assert first.repair is not None
    arguments = (bug.make or bug.kernel.make)()
    wanted = bug.kernel.reference(*arguments)
    launch(bug.kernel, first.repair.apply().source.text, arguments)
    assert np.allclose(np.asarray(arguments[bug.kernel.output], np.float32), np.asarray(wanted, np.float32))


def test_a_repair_that_does_not_mend_takes_the_certainty_away(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bug = BY_ID[UNROLLED]  # whose distance stands in several sums

    def of_the_first(*arguments: Any) -> Repair | None:
        repair = of_address(*arguments)
        return repair and replace(repair, edits=repair.edits[:1])

    monkeypatch.setattr(findings, "of_address", of_the_first)
    kernel, arguments = bug.kernel, list(bug.kernel.make())
    (tmp_path / "kernel.ptx").write_text(bug.text)
    lines = [
        f'ptx = "kernel.ptx"\nkernel = "{kernel.entry}"\ngrid = {list(kernel.grid)}\nblock = {kernel.block}',
        f"shared_bytes = {kernel.shared_bytes}",
    ]
    for name, argument in zip(kernel.names, arguments, strict=False):
        lines.append(f'[[args]]\nname = "{name}"')
        if isinstance(argument, np.ndarray):
            np.save(tmp_path / f"{name}.npy", argument)
            lines.append(f'npy = "{name}.npy"')
        else:
            lines.append(f"value = {argument}")
    launch_file = tmp_path / "launch.toml"
    launch_file.write_text("\n".join(lines))
    said: list[dict[str, object]] = []
    for options in (["--timeout", "300"], ["--timeout", "300", "--try"]):
        assert main(["why", str(launch_file), "--output-format", "json", *options]) == 1
        said.append(json.loads(capsys.readouterr().out)["diagnoses"][0])
    assert [one["cause"] for one in said] == ["rows-shifted", "rows-shifted"]
    assert [one["certain"] for one in said] == [True, False]


def test_a_window_of_a_picture_holds_the_most_wrong_elements() -> None:
    held = np.zeros((20, 12, 2), np.int64)
    wanted = held.copy()
    wanted[14:18, 9:11, 0] = 1
    picture = Picture("an operand", held, wanted)
    assert int(picture.wrong.sum()) == 8
    assert picture.window(8, 6) == (10, 5)
    assert picture.window(40, 40) == (0, 0)
