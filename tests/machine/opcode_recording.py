"""The opcode recordings as files: what hardware gave for each case, kept small.

Of each exact case the first 256 outputs are kept whole and all 4096 as four digests; of an approximate case, all.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from machine.opcode_inputs import INPUTS, SAMPLE, width_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from machine.opcode_cases import Case

FOLDER = Path(__file__).parents[1] / "recorded" / "opcodes"
DIGESTS = 4


@dataclass(frozen=True, slots=True)
class Recording:
    """What hardware gave for one case.

    Attributes:
        outputs: The outputs kept whole: (256,) or, for an approximate case, (4096,) uint64.
        digests: (4,) uint64, one for each quarter of the 4096 outputs.
    """

    outputs: np.ndarray
    digests: np.ndarray


def _container(case: Case) -> int:
    width = width_of(case.destination)
    return max(width, 8)  # bits


def digests(outputs: np.ndarray) -> np.ndarray:
    """Four 64-bit digests of (4096,) uint64 outputs."""
    quarters = outputs.astype("<u8").reshape(DIGESTS, -1)
    found = [int.from_bytes(hashlib.blake2b(q.tobytes(), digest_size=8).digest(), "little") for q in quarters]
    return np.array(found, np.uint64)


def save(path: Path, provenance: Mapping[str, str], results: Mapping[Case, np.ndarray]) -> None:
    """Write a family: `results` maps each accepted case to its (4096,) uint64 outputs."""
    arrays: dict[str, np.ndarray] = {"names": np.array([str(c) for c in results])}
    arrays["digests"] = np.stack([digests(o) for o in results.values()])
    arrays["provenance"] = np.array(json.dumps(dict(provenance)))
    for bits in sorted({_container(c) for c in results}):
        kept = [o if c.approximate else o[:SAMPLE] for c, o in results.items() if _container(c) == bits]
        arrays[f"outputs{bits}"] = np.concatenate(kept).astype(f"<u{bits // 8}")
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # pyright: ignore[reportArgumentType] - the stub wants no keywords
    path.write_bytes(lzma.compress(buffer.getvalue(), preset=9))


def load(path: Path, cases: tuple[Case, ...]) -> dict[Case, Recording]:
    """Read a family back: the cases that the hardware's assembler accepted, each with what it gave."""
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as arrays:
        by_name = {str(c): c for c in cases}
        position: dict[int, int] = {}
        result: dict[Case, Recording] = {}
        for name, digest in zip(arrays["names"].tolist(), arrays["digests"], strict=True):
            case = by_name[name]
            bits = _container(case)
            start = position.get(bits, 0)
            position[bits] = start + (INPUTS if case.approximate else SAMPLE)
            outputs = arrays[f"outputs{bits}"][start : position[bits]].astype(np.uint64)
            result[case] = Recording(outputs, digest)
    return result
