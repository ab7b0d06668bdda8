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
        name: As the PTX has it.
        type: Of one element, without its dot: "u64", "b8".
        offset: Bytes from the start of the parameters.
        size: Bytes, of all elements.
        alignment: Bytes.
        called: What it is called in the source, or in the PTX where that is not known.
    """

    name: str
    type: str
    offset: int
    size: int
    alignment: int
    called: str


def called(parameters: Iterable[Parameter], names: Sequence[str]) -> tuple[Parameter, ...]:
    """Parameters by the names that they have in the source.

    Args:
        parameters: In order.
        names: One for each of them.
    """
    return tuple(replace(one, called=name) for one, name in zip(parameters, names, strict=True))


def kernel_parameters(parameters: Iterable[Parameter]) -> tuple[KernelParameter, ...]:
    """A program's parameters as its callers see them."""
    return tuple(KernelParameter(p.name, p.type.name, p.offset, p.size, p.alignment, p.called) for p in parameters)
