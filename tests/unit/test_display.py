"""Every value that draws itself finds its renderer."""

import base64
import xml.etree.ElementTree as ET
from importlib import import_module
from typing import Any

import pytest

import ptxloom as pl
from ptxloom.display import RENDERERS

FINDING = pl.Diagnostic("r", pl.Severity.NOTE, "a <b> & c", pl.source.Span(pl.source.Source("x", "k.ptx"), 0, 1))
MMA = pl.atoms.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 1, 1))
VALUES: list[tuple[object, str]] = [
    (FINDING, "text/html"),
    (pl.bank_conflicts("ldmatrix.sync.aligned.m8n8.x1.b16", [128 * lane for lane in range(32)]), "image/svg+xml"),
    (pl.fragment("ldmatrix.sync.aligned.m8n8.x1.b16"), "image/svg+xml"),
    (pl.layout.Layout((4, (2, 2)), (2, (1, -8))), "image/svg+xml"),
    (pl.layout.composition(pl.layout.Swizzle(2, 0, 3), pl.layout.Layout((8, 8))), "image/svg+xml"),
    (pl.atoms.atom("SM100_U8x8_LDSM_T"), "image/svg+xml"),
    (pl.atoms.atom("SM80_16x8x16_F32F16F16F32_TN"), "image/svg+xml"),
    (MMA, "image/svg+xml"),
    (pl.atoms.make_tiled_copy_a("SM75_U32x4_LDSM_N", MMA), "image/svg+xml"),
    (pl.MatrixDescriptor(0x400, 16, 1024, "128B"), "image/svg+xml"),
    (pl.descriptors.SharedOperand(pl.MatrixDescriptor(0, 128, 256), 64, 8, "tf32"), "image/svg+xml"),
    (pl.descriptors.SharedTile(128, 64, "f16", "mn"), "image/svg+xml"),
    (pl.descriptors.encode_tiled("UINT8", 0, (64,), (), (64,)), "image/svg+xml"),
    (pl.descriptors.Box(pl.descriptors.encode_tiled("INT64", 0, (64,), (), (64,)), (32,)), "image/svg+xml"),
    (pl.parse(".version 9.0\n.target sm_90\n.visible .entry f() { ret; }"), "text/html"),
]


@pytest.mark.parametrize(("value", "kind"), VALUES, ids=lambda v: type(v).__name__)
def test_a_value_draws_itself(value: Any, kind: str) -> None:
    bundle = value._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"].endswith("\n")
    assert bundle[kind].startswith("<")


def test_a_picture_shrinks_with_its_page_and_has_a_text() -> None:
    bundle = pl.fragment("ldmatrix.sync.aligned.m8n8.x1.b16")._repr_mimebundle_()
    image = ET.fromstring(bundle["text/html"].replace('">', '"/>'))  # noqa: S314 - it is ours
    assert image.get("style") == "max-width:100%;height:auto"
    assert image.get("alt") == "ldmatrix.sync.aligned.m8n8.x1.b16"
    kind, _, data = image.get("src", "").partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(data).decode() == bundle["image/svg+xml"]


def test_html_is_escaped() -> None:
    assert "a &lt;b&gt; &amp; c" in FINDING._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("name", RENDERERS)
def test_every_registered_class_exists_and_uses_the_hook(name: str) -> None:
    module, _, kind = name.rpartition(".")
    assert hasattr(getattr(import_module(module), kind), "_repr_mimebundle_")
