"""The operands that opcodes write, cached with kernels: reading the ISA data takes a millisecond per opcode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ptxloom import disk_cache
from ptxloom.binding.effects import Effects, effects_of, learn

if TYPE_CHECKING:
    from collections.abc import Iterable


def learn_effects(opcodes: Iterable[str]) -> None:
    """Load the ISA data of opcodes, from the cache if these were requested before."""
    names = sorted(set(opcodes))
    kept = disk_cache.cached(f"effects {' '.join(names)}", lambda: _told(names))
    for name, (updates, leading) in json.loads(kept).items():
        learn(name, Effects(updates, {int(count): number for count, number in leading.items()}))


def _told(names: Iterable[str]) -> bytes:
    return json.dumps({name: effects_of(name) for name in names}).encode()
