"""How ptxloom starts a Python of its own: it imports as this process would, and never from the current folder."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Generator

_SAFE: Final = "PYTHONSAFEPATH"
_NAMES: Final = ("python", "pypy")


def is_there() -> bool:
    """Whether there is one: a program that has Python inside, or was frozen with it, would only start once more."""
    name = Path(sys.executable or "").name.lower()
    return name.startswith(_NAMES) and not getattr(sys, "frozen", False)


def command(*arguments: str) -> tuple[str, ...]:
    """This Python with arguments, such as `-m` and a module; it does not search the current folder for modules."""
    return (sys.executable, "-P", *arguments)


def serving(module: str) -> tuple[str, ...]:
    """This Python with a module that serves a line of input: it ends with its input, whatever it does then.

    Args:
        module: What has a function `main`, which takes the line; it is imported once the line has been read.
    """
    first = f"from {__name__} import asked, ended; line = asked()"
    return command("-c", f"{first}; from {module} import main; main(line); ended()")


def asked() -> bytes:
    """The line that is to be served."""
    line = sys.stdin.buffer.readline()
    threading.Thread(target=_end_with_input, daemon=True).start()
    return line


def ended() -> NoReturn:
    """End once it has been served: nothing is said by what else would end, or waits for input."""
    os._exit(0)


def _end_with_input() -> None:
    """End once the process that asks is gone, or has lost interest."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


def environment() -> dict[str, str]:
    """This process's environment, and in `PYTHONPATH` the folders in which it finds modules.

    The empty name among them is the current folder, where anybody may have put a module.
    """
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@contextmanager
def safe_path() -> Generator[None]:
    """Have those Pythons not search it that the standard library starts in this block, such as a pool's."""
    before = os.environ.get(_SAFE)
    os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE]
        else:
            os.environ[_SAFE] = before
