"""What provenance said of every kernel, as digests: `python tests/kernels/provenance_digests.py` records them anew.

Where everything comes from, node by node and path by path, does not depend on how tags are kept. Who changes what is
followed records it anew, and says in the commit what has changed.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ptxloom.machine import ProvenanceRecord

RECORDED = Path(__file__).parents[1] / "recorded" / "kernels" / "provenance.json"


def digests(record: ProvenanceRecord) -> dict[str, str]:
    """A digest of each part of a record."""
    raw = record.raw
    operands = [
        record.operands(np.flatnonzero(raw.kinds == kind), name) for kind in range(len(raw.sites)) for name in "abc"
    ]
    contents = [record.contents(array.number) for array in record.arrays if array.nbytes]
    shared = record.shared(0)
    return {
        "contents": _digest(part for one in contents for part in (one.origins, one.stored_at, one.stored_twice)),
        "nodes": _digest([record.nodes]),
        "operands": _digest(operands),
        "paths": _digest([raw.paths]),
        "shared": _digest([] if shared is None else [shared]),
    }


@cache
def recorded() -> dict[str, dict[str, str]]:
    """Those of each kernel when they were recorded, by its name and architecture."""
    return json.loads(RECORDED.read_text())


def _digest(arrays: Iterable[NDArray[Any]]) -> str:
    found = blake2b(digest_size=6)
    for array in arrays:
        found.update(f"{array.dtype} {array.shape}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _record() -> None:
    from kernels.catalog import cases  # noqa: PLC0415 - found once the path is set
    from kernels.launching import launch  # noqa: PLC0415 - likewise

    result: dict[str, dict[str, str]] = {}
    for case in cases():
        architecture = case.architectures[-1]
        record = launch(case, architecture, case.arguments(), timeout=120, provenance=True).provenance
        assert record is not None
        result[f"{case.name}-{architecture}"] = digests(record)
    RECORDED.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    _record()
