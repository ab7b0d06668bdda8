"""The evidence for instructions: which a GPU's recordings confirm, and which rest on documents alone.

The table, `confirmed.txt`, is made from the recordings themselves (`tests/recorded/test_fidelity.py`), all of one H200.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.descriptors.tensor_instruction import is_tensor_product
from ptxloom.isa.tensor_products import PUBLISHED, product_of

if TYPE_CHECKING:
    from collections.abc import Mapping

BITS: Final = "bits"
KERNELS: Final = "kernels"
OTHERS: Final = "published"
DOCUMENTS: Final = "documents"
LEVELS: Final = {
    BITS: "recorded by themselves on an H200, over their inputs: these bits",
    KERNELS: "recorded on an H200 in whole kernels, whose output has these bits",
    OTHERS: f"sums {PUBLISHED}",
    DOCUMENTS: "by the manual, ptxas and what others published: not recorded",
}
"""The evidence for an instruction, in words."""

_TENSOR: Final = frozenset({"mma", "wmma", "wgmma"})  # whose sums differ from architecture to architecture
_RECORDED_ON: Final = "sm_90"


def is_recorded(target: str) -> bool:
    """Whether a target's tensor cores are those of the recordings."""
    return target.startswith(_RECORDED_ON)


def level_of(spelled: str, *, is_recorded_target: bool = True) -> str:
    """The evidence for an instruction.

    Args:
        spelled: The instruction, without operands.
        is_recorded_target: Whether its tensor cores are those of the recordings.
    """
    opcode, *qualifiers = spelled.split(".")
    if is_tensor_product(spelled):
        return OTHERS if product_of(tuple(qualifiers)).is_published else DOCUMENTS
    if opcode in _TENSOR and not is_recorded_target:
        return DOCUMENTS
    return _table().get(spelled, DOCUMENTS)


@cache
def _table() -> Mapping[str, str]:
    """By instruction, its evidence."""
    lines = Path(__file__).with_name("confirmed.txt").read_text(encoding="utf-8").splitlines()
    return {spelled: level for level, spelled in (line.split(" ", 1) for line in lines)}
