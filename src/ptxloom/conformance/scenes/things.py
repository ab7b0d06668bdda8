"""What the host makes for a scene's kernel: maps of tensors, a texture, a surface; each judge makes its own."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.descriptors import TensorMap


@dataclass(frozen=True, slots=True)
class Maps:
    """Maps of tensors, one a CTA, in global memory; the kernel gets the address of the first.

    Attributes:
        maps: Their addresses count from where `array` begins.
        written: Whether the tensors are in `out`; otherwise in `in`.
    """

    maps: tuple[TensorMap, ...]
    written: bool


@dataclass(frozen=True, slots=True, eq=False)
class TextureObject:
    """A texture.

    Attributes:
        geometry: As `ptxloom.texture` names it.
        levels: Its arrays.
        sampling: What else `ptxloom.texture` takes.
    """

    geometry: str
    levels: tuple[NDArray[Any], ...]
    sampling: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceObject:
    """A surface, as `ptxloom.surface` takes it; what the kernel leaves there is not read."""

    geometry: str
    array: NDArray[Any]


Thing: TypeAlias = "Maps | TextureObject | SurfaceObject"
