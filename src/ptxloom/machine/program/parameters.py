"""What a kernel takes, as its callers see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine.program.model import Parameter


class KernelParameter(NamedTuple):
    """A parameter of a kernel.

    Attributes:
        name: As the PTX has it.
        type: Of one element, without its dot: "u64", "b8".
        offset: Bytes from the start of the parameters.
        size: Bytes, of all elements.
        alignment: Bytes.
    """

    name: str
    type: str
    offset: int
    size: int
    alignment: int


def kernel_parameters(parameters: Iterable[Parameter]) -> tuple[KernelParameter, ...]:
    """A program's parameters as its callers see them."""
    return tuple(KernelParameter(p.name, p.type.name, p.offset, p.size, p.alignment) for p in parameters)
