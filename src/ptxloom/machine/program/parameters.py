"""The parameters of a kernel, as its callers see them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.machine.program.model import Parameter


class KernelParameter(NamedTuple):
    """A parameter of a kernel.

    Attributes:
        name: Its name in the PTX.
        type: The type of one element, without its dot: "u64", "b8".
        offset: Bytes from the start of the parameters.
        size: Bytes, of all elements.
        alignment: Bytes.
        called: Its name in the source, or in the PTX if that is unknown.
    """

    name: str
    type: str
    offset: int
    size: int
    alignment: int
    called: str


def called(parameters: Iterable[Parameter], names: Sequence[str]) -> tuple[Parameter, ...]:
    """Parameters with their names in the source.

    Args:
        parameters: In order.
        names: One for each of them.
    """
    return tuple(replace(one, called=name) for one, name in zip(parameters, names, strict=True))


def kernel_parameters(parameters: Iterable[Parameter]) -> tuple[KernelParameter, ...]:
    """A program's parameters as its callers see them."""
    return tuple(KernelParameter(p.name, p.type.name, p.offset, p.size, p.alignment, p.called) for p in parameters)
