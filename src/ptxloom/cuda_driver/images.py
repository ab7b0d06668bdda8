"""The PTX that a program hands to its driver: text, a fatbin, or a file with PTX beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.checker.legality import errors
from ptxloom.cuda_driver.errors import CudaError, Refused
from ptxloom.diagnostics import UsageError
from ptxloom.files import UnreadableFile, texts_of
from ptxloom.files.fatbins import ptx_in
from ptxloom.files.reading import decoded, is_compiled
from ptxloom.files.written import around
from ptxloom.isa import Target
from ptxloom.source import Source, title
from ptxloom.syntax.parser import parse_source

if TYPE_CHECKING:
    from ptxloom.syntax.module import Module

_NO_PTX = (
    "this program hands machine code to the driver, which holds no PTX: build it with "
    "`-gencode arch=compute_80,code=compute_80` or `-lineinfo`, or have its framework make PTX (docs/driver.md)"
)

_ANY: Final = Target(0)


def module_of(image: bytes, path: str, capability: int) -> Module:
    """The module in an image, parsed.

    Args:
        image: The bytes that the program passed.
        path: The file that it was read from, if any.
        capability: The device's compute capability, times ten.

    Raises:
        Refused: It holds no PTX, none for this device, or illegal PTX.
    """
    source = _source(image, path, capability)
    if ".version" not in source.text:
        raise Refused(CudaError.INVALID_IMAGE)
    module = parse_source(source)
    if wrong := errors(module):
        raise Refused(CudaError.INVALID_PTX, "\n".join(f"ptxloom: {d}" for d in wrong[:8]))
    made_for = made_for_of(module)
    if not made_for.runs_on(capability):
        why = f"ptxloom: {source.title} was made for {made_for}; the device is sm_{capability} (`--device`)"
        raise Refused(CudaError.INVALID_PTX, why)
    if ".address_size" in source.text and module.address_size == 32:
        raise Refused(CudaError.INVALID_PTX, f"ptxloom: {source.title} has addresses of 32 bits")
    return module


def _source(image: bytes, path: str, capability: int) -> Source:
    name = path or "module"
    try:
        if not is_compiled(image):
            return Source(decoded(image, name), name, around(path))
        found = ptx_in(image, name)
        if not found:
            return texts_of(image, path, None)[-1] if path else _none()
        fitting = ptx_for(image, name, capability)
        if not fitting:
            made_for = ", ".join(arch for arch, _ in found)
            why = f"the PTX in {title(name)} was made for {made_for}; the device is sm_{capability} (`--device`)"
            raise Refused(CudaError.NO_BINARY_FOR_GPU, f"ptxloom: {why}")
        target, text = max(fitting, key=lambda one: one[0].closeness)
        return Source(decoded(text, name), f"{name}:{target}.ptx", around(path))
    except UnreadableFile as error:
        raise Refused(CudaError.NO_BINARY_FOR_GPU, f"ptxloom: {error}") from None


def ptx_for(image: bytes, name: str, capability: int) -> list[tuple[Target, bytes]]:
    """The PTX in an image that a device can run, each text with its target.

    Raises:
        Refused: The file that holds it is damaged.
    """
    try:
        found = [(_target(arch), text) for arch, text in ptx_in(image, name)]
    except UnreadableFile as error:
        raise Refused(CudaError.NO_BINARY_FOR_GPU, f"ptxloom: {error}") from None
    return [(target, text) for target, text in found if target is not None and target.runs_on(capability)]


def made_for_of(module: Module) -> Target:
    """The architecture that a module was made for."""
    return next((Target.parse(name) for name in module.target if name.startswith("sm_")), _ANY)


def _target(arch: str) -> Target | None:
    """The target that a header names; None if it is not an architecture."""
    try:
        return Target.parse(arch)
    except UsageError:
        return None


def _none() -> Source:
    raise Refused(CudaError.NO_BINARY_FOR_GPU, f"ptxloom: {_NO_PTX}")
