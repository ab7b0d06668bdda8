"""Optimises light functions of the run-time in a background process: IR goes in, object files come out.

In that process it imports only LLVM. The result does not depend on when it runs, only the timing does.
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
_MOST_BYTES: Final = 1 << 16  # of compressed IR at a time: LLVM takes a second for it


class OptimisedRequest(NamedTuple):
    """Modules to optimise.

    Attributes:
        packed_modules: Their IR by key: compressed, in base 64.
        mark: The mark before and after the result, in hexadecimal digits.
        maker: The module that serves it.
    """

    packed_modules: dict[str, str]
    mark: str
    maker: str = __name__

    def packed(self) -> bytes:
        """The request as one line of the process's input."""
        return json.dumps(self._asdict()).encode() + b"\n"

    @classmethod
    def unpacked(cls, content: bytes) -> OptimisedRequest:
        """The request from its packed form."""
        return cls(**json.loads(content))


class _Work:
    """The running process, if any, and modules that failed before."""

    making: beside.Making | None = None
    failed: Final[set[str]] = set()
    keys: tuple[str, ...] = ()


def made(modules: Mapping[str, Callable[[], bytes | None]]) -> Mapping[str, bytes] | None:
    """The object files that are ready; if no process is running, one is started with the next modules.

    Args:
        modules: Functions that return the compressed IR of modules to optimise, by key; None if it is lost.

    Returns:
        None if no process can be started.
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
    """The first of some modules, few enough that a process is done soon."""
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
    """Optimise the modules of a request."""
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
