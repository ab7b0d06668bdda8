"""Objects of the host for a scene's kernel: tensor maps, a texture, a surface; each judge makes its own."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.descriptors import TensorMap


@dataclass(frozen=True, slots=True)
class Maps:
    """Tensor maps, one per CTA, in global memory; the kernel gets the address of the first.

    Attributes:
        maps: The maps, with addresses relative to the start of the array.
        written: Whether the tensors are in `out`; otherwise in `in`.
    """

    maps: tuple[TensorMap, ...]
    written: bool


@dataclass(frozen=True, slots=True, eq=False)
class TextureObject:
    """A texture.

    Attributes:
        geometry: The geometry, as in `ptxloom.texture`.
        levels: Its arrays.
        sampling: The other arguments of `ptxloom.texture`.
    """

    geometry: str
    levels: tuple[NDArray[Any], ...]
    sampling: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceObject:
    """The arguments of `ptxloom.surface`; the surface's final contents are not read."""

    geometry: str
    array: NDArray[Any]


Thing: TypeAlias = "Maps | TextureObject | SurfaceObject"
