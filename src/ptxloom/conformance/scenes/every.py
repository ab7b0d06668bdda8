"""All scenes that a target has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.conformance.scenes.copies import copies
from ptxloom.conformance.scenes.images import images
from ptxloom.conformance.scenes.products import products
from ptxloom.conformance.scenes.tensor_memory import in_tensor_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.conformance.scenes.scene import Scene
    from ptxloom.isa.form import Form


def scenes(forms: Iterable[Form]) -> Iterator[Scene]:
    """The scenes of forms."""
    known = list(forms)
    for family in (products, copies, images, in_tensor_memory):
        yield from family(known)
