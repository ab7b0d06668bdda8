"""Light functions of the run-time, optimised by a process of its own: IR goes to it, object files come back.

As a module of that process it imports LLVM alone. What it makes is the same whenever it is made: only the time differs.
"""

from __future__ import annotations

import base64
import contextlib
import json
import sys
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.machine.native import beside, emission

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LEVEL: Final = 2
_MOST_BYTES: Final = 1 << 16  # of compressed IR in one go: LLVM takes a second for it


class OptimisedRequest(NamedTuple):
    """Modules to be optimised.

    Attributes:
        packed_modules: By their keys, their IR: compressed, in base 64.
        mark: What stands before and behind the answer, in hexadecimal digits.
        maker: The module that serves it.
    """

    packed_modules: dict[str, str]
    mark: str
    maker: str = __name__

    def packed(self) -> bytes:
        """As the process reads it: a line."""
        return json.dumps(self._asdict()).encode() + b"\n"

    @classmethod
    def unpacked(cls, content: bytes) -> OptimisedRequest:
        """As it was packed."""
        return cls(**json.loads(content))


class _Work:
    """The process at work, if there is one, and what failed before."""

    making: beside.Making | None = None
    failed: Final[set[str]] = set()
    keys: tuple[str, ...] = ()


def made(modules: Mapping[str, Callable[[], bytes | None]]) -> Mapping[str, bytes] | None:
    """The object files that are ready by now; if no process is at work, one begins with the next modules.

    Args:
        modules: What returns the compressed IR of what has not been optimised, by its keys; None where it is lost.

    Returns:
        None if none can be made.
    """
    making = _Work.making
    if making is not None and making.is_ours and not making.is_over:
        return {}
    found: dict[str, bytes] = {}
    if making is not None and making.is_ours:
        found = _found(making)
    _Work.making = None
    batch = _batch({key: ir for key, ir in modules.items() if key not in {*found, *_Work.failed}})
    if not batch:
        return found or None
    listed = {key: base64.b64encode(ir).decode() for key, ir in batch.items()}
    _Work.making = beside.started(OptimisedRequest(listed, beside.new_mark()))
    _Work.keys = tuple(batch)
    return found


def _found(making: beside.Making) -> dict[str, bytes]:
    if making.content is None:
        _Work.failed.update(_Work.keys)
        return {}
    listed: dict[str, str] = json.loads(making.content)
    return {key: base64.b64decode(code) for key, code in listed.items()}


def _batch(modules: Mapping[str, Callable[[], bytes | None]]) -> dict[str, bytes]:
    """The first of some modules, of which a process is soon done with all."""
    batch: dict[str, bytes] = {}
    size = 0
    for key, kept in modules.items():
        ir = kept()
        if ir is None:
            _Work.failed.add(key)
            continue
        size += len(ir)
        if batch and size > _MOST_BYTES:
            break
        batch[key] = ir
    return batch


def main(line: bytes) -> None:
    """Optimise what a line asks for."""
    request = OptimisedRequest.unpacked(line)
    beside.stand_back()
    made_here = {key: _optimised(packed) for key, packed in request.packed_modules.items()}
    answer = beside.marked(request.mark, json.dumps(made_here).encode())
    with contextlib.suppress(OSError):
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()


def _optimised(packed: str) -> str:
    ir = zlib.decompress(base64.b64decode(packed)).decode()
    return base64.b64encode(emission.object_file(ir, _LEVEL)).decode()
