"""The results of a scene on this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ptxloom.conformance.kernel_text import BLOCK, module_text
from ptxloom.conformance.scenes.things import Maps, SurfaceObject, TextureObject
from ptxloom.machine import kernel, surface, texture
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from ptxloom.conformance.inputs import Words
    from ptxloom.conformance.scenes.scene import Bytes, Scene
    from ptxloom.isa.target import Target
    from ptxloom.isa.version import PtxVersion

_ALIGNMENT = 256


def run_scene(scene: Scene, target: Target, version: PtxVersion, cases: int) -> Words:
    """The results of the CTAs of a number of cases.

    Raises:
        PtxloomError: The machine cannot run it.
    """
    out, given = arrays(scene, cases)
    module = parse(module_text(version, target, [scene.text("k")]))
    kernel(module, "k").launch(grid=cases, block=BLOCK, args=[out, given, _made(scene, cases, out, given)])
    return out.view(np.uint64)


def arrays(scene: Scene, cases: int) -> tuple[Bytes, Bytes]:
    """The arrays `out` and `in` of a scene's kernel."""
    out, given = (_aligned(cases * size) for size in (scene.out_bytes, scene.in_bytes))
    for case in range(cases):
        out[case * scene.out_bytes :][: scene.out_bytes] = scene.before(case)
        given[case * scene.in_bytes :][: scene.in_bytes] = scene.given(case)
    return out, given


def _aligned(size: int) -> Bytes:
    whole = np.zeros(size + _ALIGNMENT, np.uint8)
    return whole[-whole.ctypes.data % _ALIGNMENT :][:size]


def _made(scene: Scene, cases: int, out: Bytes, given: Bytes) -> object:
    """The third argument."""
    match scene.thing(cases):
        case Maps(maps, written):
            base = (out if written else given).ctypes.data
            moved = [replace(one, global_address=one.global_address + base).to_bytes() for one in maps]
            made = _aligned(128 * len(moved))
            made[:] = np.frombuffer(b"".join(moved), np.uint8)
            return made
        case TextureObject(geometry, levels, sampling):
            return texture(levels, geometry, **sampling)
        case SurfaceObject(geometry, array):
            return surface(array.copy(), geometry)
        case None:
            return np.zeros(1, np.uint64)
