"""The options of `ptxloom run` that limit what a run may take of this machine."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_SIZE: Final = re.compile(r"(\d{1,18})([KMGT]?)(i?B)?", re.IGNORECASE)
_HELD: Final = (
    "memory that the run may use: arrays of the launch file, variables of the module, the heap, memory and registers "
    "of resident CTAs, what is printed, and what the tools, --profile and --trace remember"
)
_LIMITS: Final = {
    "memory_limit": ("half of what this machine has", _HELD),
    "heap_bytes": ("8M", "how much a kernel can allocate with malloc in all; beyond that it returns NULL"),
    "printf_bytes": ("1M", "how much a kernel can print; the rest is cut off"),
    "stack_bytes": ("16K", "local memory of a thread for calls"),
}


def declare(parser: ArgumentParser, seconds: float | None = None) -> None:
    """Add them.

    Args:
        parser: Of the verb.
        seconds: The default time limit of a kernel; None if it has no limit.
    """
    parser.add_argument("--threads", type=int, metavar="N", help="threads of this machine (default: one per core)")
    usual = "" if seconds is None else f" (default {seconds:g})"
    parser.add_argument(
        "--timeout",
        type=float,
        metavar="SECONDS",
        default=seconds,
        help=f"end the kernel after this time, which includes translating and compiling it{usual}",
    )
    for name, (default, meaning) in _LIMITS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=size, metavar="SIZE", help=f"{meaning} (default {default})"
        )


def size(text: str) -> int:
    """Bytes, written `4096`, `64K`, `8M`, `2G`.

    Raises:
        ArgumentTypeError: It is not a size.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ArgumentTypeError(f"{text!r} is not a size; write bytes, or 64K, 8M, 2G")
    return int(found[1]) << 10 * " KMGT".index(found[2].upper() or " ")


def limits(options: Namespace) -> dict[str, Any]:
    """Those that were given, as `launch` takes them."""
    return {name: given for name in _LIMITS if (given := getattr(options, name)) is not None}
