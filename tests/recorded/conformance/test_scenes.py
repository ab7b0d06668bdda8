"""Scenes: products of warps, copies, textures, tensor memory; what a GPU said of them, and what it found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ptxloom.cli import main
from ptxloom.conformance import Scene, suite
from ptxloom.conformance.gpu import Lacking
from ptxloom.conformance.question import Question
from ptxloom.conformance.scenes.here import run_scene
from ptxloom.conformance.verdicts import compared, digest
from ptxloom.conformance.work import Task, done
from ptxloom.isa.target import Target
from ptxloom.isa.tensor_products import product_of
from ptxloom.isa.version import PtxVersion
from recorded.conformance.conformance_cases import SCENES, recorded, scenes
from sweeps import part_and_whole

TARGET, VERSION = Target.parse("sm_90a"), PtxVersion.parse("9.0")
PUBLISHED = Path(__file__).parents[1] / "published" / "b200_paths.json"
PART = 150

# What an H200's report found: steps in linear memory and beyond a border of one dimension, the least integer filtered.
MENDED = (
    *("tex.1d.v4.u32.s32/3", "tex.base.1d.v4.s32.s32/3", "tex.1d.v2.f16x2.f32/3@border.point"),
    *("tex.level.1d.v4.f16.f32/4@border.linear", "tex.base.1d.v4.f32.f32/2@clamp.linear"),
)


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("every", part_and_whole(PART, 1))
def test_every_scene_leaves_what_an_h200_left(name: str, every: int) -> None:
    report = recorded(name)
    rows = [*report.verdicts[::every], *(one for one in report.verdicts if one.path in MENDED)]
    cases = {one.path: one.cases for one in rows}
    wrong = [
        one.path
        for one in rows
        if digest(run_scene(scenes()[one.path], TARGET, VERSION, cases[one.path])) != one.digest
    ]
    assert not wrong


def test_the_reports_have_all_such_scenes() -> None:
    asked = {one.path for name in SCENES for one in recorded(name).verdicts}
    assert asked == set(scenes())
    assert not any(recorded(name).differing or recorded(name).refused for name in SCENES)


def test_wgmma_has_every_type_and_number_of_columns() -> None:
    names = [name for name in scenes() if name.startswith("wgmma")]
    shapes = {one.split(".")[-4].partition("k")[0] for one in names if ".f32.f16.f16@" in one}
    assert len(shapes) == 32
    assert {one.rpartition("@")[2] for one in names} == {"shared", "registers"}
    assert any(".sp." in one for one in names)


@pytest.mark.parametrize(
    "name", ["wgmma.mma_async.m64n8k16.f32.f16.f16@shared", "wgmma.mma_async.sp.m64n24k64.s32.u8.s8@registers"]
)
def test_products_run(name: str) -> None:
    left = run_scene(scenes()[name], TARGET, VERSION, 2)
    assert np.count_nonzero(left) > left.size // 2


def test_the_paths_that_were_compared_with_a_b200_have_names() -> None:
    """All 46, whichever way their scales are spelled."""
    every = scenes("sm_100a")
    assert "tcgen05.mma.kind::mxf4.block32" in every
    for path in json.loads(PUBLISHED.read_text(encoding="utf-8"))["paths"]:
        facts = (path["kind"], path["sparse"], path["scale_vector"], path["saturate"], path["scale_type"])
        types = (path["a_type"], path["b_type"], path["d_type"])
        assert any(getattr(one, "types", ()) == types and _facts(one) == facts for one in every.values()), path["name"]


def _facts(scene: Scene) -> tuple[object, ...]:
    product = product_of(scene.form.words)
    saturate, scale_type = getattr(scene, "saturate", False), getattr(scene, "scale_type", "")
    return (product.kind, product.sparse, product.scale_vector, saturate, scale_type)


@pytest.mark.parametrize(
    "name",
    [
        *("tcgen05.mma.kind::mxf4.block32", "tcgen05.mma.sp.kind::tf32", "tcgen05.mma.kind::i8@s8.saturate"),
        *(
            "tcgen05.ld.16x256b.x2.b32",
            "tcgen05.st.32x32b.x8.unpack::16b.b32",
            "tcgen05.cp.128x256b",
            "tcgen05.shift.down",
        ),
    ],
)
def test_tensor_memory_is_the_same_on_threads(name: str) -> None:
    scene, target = scenes("sm_100a")[name], Target.parse("sm_100a")
    once, again = (run_scene(scene, target, VERSION, 2) for _ in range(2))
    assert np.array_equal(once, again)


def test_a_case_is_a_cta_and_a_difference_names_it() -> None:
    scene = scenes()["cp.async.bulk.global.shared::cta.bulk_group"]
    ours = run_scene(scene, TARGET, VERSION, 2)
    theirs = ours.copy()
    theirs[-1] ^= np.uint64(1)
    found = compared(scene, 64, theirs, ours)
    assert (found.cases, found.differ, found.first[0].case, found.first[0].lane) == (2, 1, 1, 127)


def test_a_judge_that_lacks_a_path_does_not_count_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old:
        def run(self, *_: object) -> None:
            raise Lacking("the driver has no cuTensorMapEncodeTiled")

    old = Old()

    def driver(level: int | None) -> Old:
        del level
        return old

    monkeypatch.setattr("ptxloom.conformance.work._driver", driver)
    name = "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group@UINT8.none"
    (found,) = done(Task(Question("gpu", "sm_90a", "9.0", 64), (name,)))
    assert (found.cases, found.refused) == (0, "the driver has no cuTensorMapEncodeTiled")


def test_patterns_that_fit_nothing_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["conform", "add.u32", "wgmma*", "--full", "--judge", "here", "--target", "sm_80", "--cases", "32"]
    assert main([*words, "--jobs", "1"]) == 0
    said = capsys.readouterr()
    assert "sm_80 has no path that matches wgmma*: not counted" in said.err
    assert "1 path" in said.out


def test_the_driver_makes_maps_textures_and_surfaces(tmp_path: Path) -> None:
    """By ptxloom's own driver: tensor maps, arrays, mipmaps and objects are made by its functions."""
    asked = [
        *("tex.level.2d.v4.f32.f32/3@wrap.linear", "tex.1d.v4.s32.s32/2", "tex.acube.v4.f32.f32/2@clamp.linear"),
        *("sust.b.a2d.b16.zero", "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier*@FLOAT16.64B"),
        *("cp.reduce.async.bulk.tensor.2d*add.tile*@FLOAT32.64B", "wgmma*m64n8k16.f32.f16.f16@*"),
    ]
    command = [sys.executable, "-m", "ptxloom", "exec", "--device", "sm_90a", "--", sys.executable, "-m", "ptxloom"]
    run = subprocess.run(
        [*command, "conform", *asked, "--full", "--cases", "64", "--jobs", "1"],
        capture_output=True, text=True, check=False, env=os.environ, cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "none differ" in run.stdout


def test_the_suite_is_a_function_of_the_target() -> None:
    for target in ("sm_75", "sm_100a", "sm_120a"):
        names = [one.name for one in suite(Target.parse(target), VERSION)]
        assert names == sorted(set(names))
    assert not any(name.startswith(("wgmma", "cp.")) for name in scenes("sm_80") if "bulk" in name)
