"""The messages between a judge and the process in which a Python file calls its kernels: JSON, and bytes of arrays.

Nothing received is run or unpickled: a message is a length, JSON of that length, and the bytes that the JSON announces.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any, Final, cast

import ml_dtypes
import numpy as np

from ptxloom.fragments.number_types import is_array

if TYPE_CHECKING:
    from typing import BinaryIO

_LENGTH: Final = struct.Struct("<Q")
_MOST_TEXT: Final = 1 << 20


class BrokenError(ValueError):
    """The bytes received are not a message, or the other side is gone."""


def send(stream: BinaryIO, said: dict[str, Any], arguments: dict[str, Any]) -> None:
    """Send words, and arrays and numbers by name."""
    arrays = {name: value for name, value in arguments.items() if is_array(value)}
    numbers = {name: _number(value) for name, value in arguments.items() if not is_array(value)}
    shapes = {name: [value.dtype.name, list(value.shape)] for name, value in arrays.items()}
    head = json.dumps({"said": said, "order": list(arguments), "arrays": shapes, "numbers": numbers}).encode()
    stream.write(_LENGTH.pack(len(head)) + head)
    stream.writelines(value.tobytes() for value in arrays.values())
    stream.flush()


def receive(stream: BinaryIO, most: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Receive a message of `send`.

    Args:
        stream: The source.
        most: The largest accepted number of bytes in arrays.

    Raises:
        BrokenError: It is no message.
    """
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    if length > _MOST_TEXT:
        raise BrokenError("a message is too long")
    try:
        head: dict[str, Any] = json.loads(_exactly(stream, length))
        order, shapes, numbers = head["order"], head["arrays"], head["numbers"]
        found = {name: _of_number(value) for name, value in numbers.items()}
        for name, (dtype, shape) in shapes.items():
            kind = _dtype(dtype)
            size = int(np.prod([int(n) for n in shape], dtype=object)) * kind.itemsize if shape else kind.itemsize
            if not 0 <= size <= most:
                raise BrokenError("a message holds more than was requested")
            found[name] = np.frombuffer(bytearray(_exactly(stream, size)), kind).reshape(shape)
        return head["said"], {name: found[name] for name in order}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BrokenError(f"a message cannot be read: {error}") from None


def _exactly(stream: BinaryIO, count: int) -> bytes:
    found = stream.read(count)
    if len(found) != count:
        raise BrokenError("the process ended in the middle of a call")
    return found


def _number(value: Any) -> list[Any]:
    """A number, and its type where NumPy has one."""
    if not isinstance(value, np.generic):
        return ["", value]
    given = cast("Any", value)
    return [given.dtype.name, given.item() if given.dtype.kind in "iufb" else float(given)]


def _of_number(said: list[Any]) -> Any:
    name, value = said
    return _dtype(name).type(value) if name else value


def _dtype(name: str) -> np.dtype[Any]:
    """A type of numbers by its name, of NumPy or of ml_dtypes."""
    return np.dtype(getattr(ml_dtypes, name, name) if name.isidentifier() else "u1")
