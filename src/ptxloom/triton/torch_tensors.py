"""Tensors on the device or on the host: marking and moving them, and their attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import torch as _torch

from ptxloom.triton import recorded, torch_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

# untyped: PyTorch is not a dependency
Tensor: TypeAlias = Any
torch: Any = _torch

_CPU: Final = torch.device("cpu")


def tensors_of(values: tuple[Any, ...]) -> Iterator[Tensor]:
    """The tensors among values, including nested tuples and lists."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, tuple | list):
            yield from tensors_of(tuple(cast("tuple[Any, ...]", value)))


def mark(tensor: Tensor) -> None:
    """Put a tensor on the device."""
    try:
        storage = tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):  # sparse ones, and the like, have no storage
        return
    if not torch_memory.is_marked(tensor) and storage.device.type == "cpu" and storage.nbytes():
        storage = torch_memory.on_device(torch, storage)
        with recorded.aside():
            there = torch.empty(0, dtype=tensor.dtype, device=_CPU)
            tensor.data = there.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
    torch_memory.mark(storage)


def mark_results(result: Any, given: tuple[Tensor, ...]) -> None:
    """Put results on the device; tensors written in place stay where they are."""
    for tensor in tensors_of((result,)):
        if not any(tensor is one for one in given):
            mark(tensor)


def moved(tensor: Tensor, result: Tensor, on_device: bool) -> Tensor:
    """A tensor on the other side is a copy; on the same side it may be itself."""
    if on_device != torch_memory.is_marked(tensor) and result.untyped_storage() is tensor.untyped_storage():
        result = result.clone()
    if on_device:
        mark(result)
    return result


def to_cuda(tensor: Tensor, *_: Any, **__: Any) -> Tensor:
    """A tensor on the device."""
    return moved(tensor, tensor, on_device=True)


def to_cpu(tensor: Tensor, *_: Any, **__: Any) -> Tensor:
    """A tensor on the host."""
    return moved(tensor, tensor, on_device=False)


def pinned(tensor: Tensor, *_: Any, **__: Any) -> Tensor:
    """A pinned copy, unless it is pinned already."""
    if torch_memory.is_pinned(tensor):
        return tensor
    copy = tensor.clone()
    torch_memory.mark_pinned(copy)
    return copy


def type_of(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
    """The name of its type, or a tensor of another type."""
    if not args and not kwargs:
        name = str(tensor.type())
        return name.replace("torch.", "torch.cuda.", 1) if torch_memory.is_marked(tensor) else name
    wanted, *others = args or (kwargs.pop("dtype"),)
    on_device = torch_memory.is_marked(tensor)
    if isinstance(wanted, str):
        on_device = wanted.startswith("torch.cuda.")
        wanted = wanted.replace("torch.cuda.", "torch.", 1)
    return moved(tensor, tensor.type(wanted, *others, **kwargs), on_device)


def numpy(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
    """A host tensor as an array; an error for one on the device."""
    if torch_memory.is_marked(tensor):
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy: use Tensor.cpu() to copy it to the host first"
        )
    return tensor.numpy(*args, **kwargs)


def array(tensor: Tensor, dtype: Any = None) -> Any:
    """A tensor as an array, for NumPy's protocol."""
    found = numpy(tensor)
    return found if dtype is None else found.astype(dtype, copy=False)


def dlpack(tensor: Tensor, *args: Any, **kwargs: Any) -> object:
    """A tensor for other packages: on a CUDA device, if its memory is the driver's."""
    apart = torch_memory.is_apart() and torch_memory.is_marked(tensor)
    capsule = tensor.__dlpack__(*args, **kwargs)
    return torch_memory.said_to_be_on_device(capsule) if apart else capsule


def dlpack_device(tensor: Tensor) -> tuple[int, int]:
    """The device of a tensor for other packages."""
    apart = torch_memory.is_apart() and torch_memory.is_marked(tensor)
    return (torch_memory.DLPACK_CUDA, 0) if apart else tensor.__dlpack_device__()
