"""Types as people write them on a command line."""

from __future__ import annotations


def type_name(text: str) -> str:
    """What PTX calls a type that CUDA or NumPy may call otherwise.

    Example:
        >>> type_name("fp16"), type_name("bf16")
        ('f16', 'bf16')
    """
    from ptxloom.isa.spelling import CALLED  # noqa: PLC0415 - reading a command line imports nothing

    return CALLED.get(text.lower(), text)
