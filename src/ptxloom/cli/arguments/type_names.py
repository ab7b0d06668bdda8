"""Types as people write them on a command line."""

from __future__ import annotations


def type_name(text: str) -> str:
    """The PTX name of a type given by its name in PTX, CUDA or NumPy.

    Example:
        >>> type_name("fp16"), type_name("bf16")
        ('f16', 'bf16')
    """
    from ptxloom.isa.spelling import CALLED  # noqa: PLC0415 - reading a command line imports nothing

    return CALLED.get(text.lower(), text)
