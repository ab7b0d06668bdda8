"""What GPUs said of every path, by `ptxloom conform --full --report`."""

from __future__ import annotations

import lzma
from functools import cache
from pathlib import Path

from ptxloom.conformance import Path as Question
from ptxloom.conformance import Report, Scene, paths, read, suite
from ptxloom.isa.target import Target
from ptxloom.isa.version import PtxVersion

FOLDER = Path(__file__).parent
SCENES = ("h200_images", "h200_copies", "h200_products")
"""Reports on scenes: textures and surfaces, copies by the async proxy, products of `wgmma`."""


@cache
def recorded(name: str = "h200") -> Report:
    """The report of a GPU."""
    return read(lzma.decompress((FOLDER / f"{name}.json.xz").read_bytes()).decode())


@cache
def known(name: str = "h200") -> dict[str, Question]:
    """The paths that a report's target has, by name."""
    report = recorded(name)
    return {path.name: path for path in paths(Target.parse(report.target), PtxVersion.parse(report.version))}


@cache
def scenes(target: str = "sm_90a") -> dict[str, Scene]:
    """The scenes of a target, by name."""
    every = suite(Target.parse(target), PtxVersion.parse("9.0"))
    return {one.name: one for one in every if isinstance(one, Scene)}
