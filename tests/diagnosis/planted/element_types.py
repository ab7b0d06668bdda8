"""What elements a product may have, and how small integers look in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from diagnosis.planted.model import Array

STEP_BYTES = 32  # of k, that one product takes


@dataclass(frozen=True, slots=True)
class Type:
    """An element type of A and B, and the product of two such matrices."""

    name: str
    bytes: int
    types: str
    target: str = "sm_80"

    @property
    def step(self) -> int:
        """The product's k."""
        return STEP_BYTES // self.bytes

    @property
    def instruction(self) -> str:
        """The opcode with its qualifiers."""
        return f"mma.sync.aligned.m16n8k{self.step}.row.col.{self.types}"

    @property
    def sums(self) -> type[np.generic]:
        """What it adds up to."""
        return np.int32 if self.name == "s8" else np.float32

    def encode(self, values: Array) -> Array:
        """Small integers as this type; types that NumPy lacks travel as integers of their size."""
        match self.name:
            case "bf16":
                return np.ascontiguousarray(values.astype(np.float32).view(np.uint16)[..., 1::2])
            case "e4m3":
                return _E4M3[values + 4]
            case _:
                return values.astype({"f16": np.float16, "tf32": np.float32, "s8": np.int8}[self.name])

    def decode(self, stored: Array) -> Array:
        """What was encoded, or anything of this type."""
        match self.name:
            case "bf16":
                return (stored.astype(np.uint32) << 16).view(np.float32)
            case "e4m3":
                order = np.argsort(_E4M3)
                return order[np.searchsorted(_E4M3[order], stored)].astype(np.float32) - 4
            case _:
                return stored.astype(self.sums)


_E4M3 = np.array([0xC8, 0xC4, 0xC0, 0xB8, 0x00, 0x38, 0x40, 0x44, 0x48], np.uint8)  # -4 to 4

F16 = Type("f16", 2, "f32.f16.f16.f32")
BF16 = Type("bf16", 2, "f32.bf16.bf16.f32")
TF32 = Type("tf32", 4, "f32.tf32.tf32.f32")
S8 = Type("s8", 1, "s32.s8.s8.s32")
E4M3 = Type("e4m3", 1, "f32.e4m3.e4m3.f32", "sm_89")
