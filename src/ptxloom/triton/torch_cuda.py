"""PyTorch's "cuda" without a GPU: tensors that are on the CPU but report that they are on the device.

For programs that use `device="cuda"`. Tensors are marked on their storage, so that views, parameters
and gradients are where their memory is, and moving one to the other side is a copy, as with a GPU. PyTorch's own
functions run on the CPU. Features that need PyTorch's CUDA library itself (overlapping streams, NCCL) do not exist.
"""

from __future__ import annotations

import os
import re
from functools import cache, wraps
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

import torch as _torch
import torch.utils._device as _torch_default

from ptxloom.triton import (
    recorded,
    torch_answers,
    torch_compilers,
    torch_memory,
    torch_names,
    torch_operators,
    torch_tensors,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# untyped: PyTorch is not a dependency
torch: Any = _torch
TorchFunctionMode: Any = torch.overrides.TorchFunctionMode
BackwardCFunction: Any = torch.autograd.function.BackwardCFunction
default: Any = _torch_default  # where `torch.set_default_device` stores its argument

_NAMED: Final = re.compile(r"cuda(:\d+)?")
_CPU: Final = torch.device("cpu")
_CUDA: Final = torch.device("cuda", 0)


@cache
def install() -> None:
    """Give PyTorch a device "cuda" from now on, in this thread and new ones, unless it has its own."""
    if torch.version.cuda or torch.version.hip:
        return
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # its worker processes would each start from scratch
    torch_answers.put_in_place()
    torch_names.put_in_place()
    torch_compilers.put_in_place()
    mode = CudaOnCpu()
    torch_operators.put_in_place(mode)
    Thread.run = _under(mode, Thread.run)
    torch.autograd._engine_run_backward = _under(mode, torch.autograd._engine_run_backward)  # noqa: SLF001
    BackwardCFunction.apply = _marking(BackwardCFunction.apply)
    mode.__enter__()


def _marking(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call the program's gradient function with marked inputs: PyTorch made them outside the mode."""

    @wraps(function)
    def called(self: Any, *gradients: Any) -> Any:
        for one in torch_tensors.tensors_of(gradients):
            torch_tensors.mark(one)
        return function(self, *gradients)

    return called


def _under(mode: CudaOnCpu, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that runs in the mode: calls leave it, but gradients call a program's code."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with mode, torch_operators.redirected(on_device=True):
            return function(*args, **kwargs)

    return called


class CudaOnCpu(TorchFunctionMode):  # pyright: ignore[reportUntypedBaseClass]
    """Intercepts every function of PyTorch: the device's names become the CPU, and results are marked."""

    is_ptxloom = True

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function of PyTorch."""
        if func in _PLAIN:
            return func(*args, **(kwargs or {}))
        answer = _ANSWERS.get(func)
        if answer is not None and torch_memory.is_marked(args[0]):
            return answer
        special = _SPECIAL.get(func)
        if special is not None:
            return special(*args, **(kwargs or {}))
        if func == torch.Tensor.to:
            args = (args[0], *_named(*args[1:]))
        return _on_cpu(func, args, dict(kwargs or {}))


def _on_cpu(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function on the CPU, and mark its results."""
    asked: list[bool] = []
    args = tuple(_renamed(one, asked) for one in args)
    kwargs = {name: _renamed(one, asked) for name, one in kwargs.items()}
    if isinstance(kwargs.get("device"), int) or _is_made_by_default(func, kwargs):
        kwargs["device"] = _renamed(_CUDA, asked)
    is_pinned = kwargs.get("pin_memory")
    if is_pinned:
        kwargs["pin_memory"] = False
    number = recorded.count()
    given = tuple(torch_tensors.tensors_of((*args, *kwargs.values())))
    on_device = asked[-1] if asked else any(map(torch_memory.is_marked, given))
    with torch_operators.redirected(on_device):
        result = func(*args, **kwargs)
    if func == torch.Tensor.to:
        return torch_tensors.moved(args[0], result, _goes_to_device(args, asked))
    if on_device:
        torch_tensors.mark_results(result, given)
    else:
        recorded.drop_since(number)
        if is_pinned:
            torch_memory.mark_pinned(result)
    return result


def _is_made_by_default(func: Callable[..., Any], kwargs: dict[str, Any]) -> bool:
    """Whether a function makes a tensor on the device of `torch.set_default_device`, and this is the one here."""
    there = default.CURRENT_DEVICE
    return (
        there is not None
        and there.type == "cuda"
        and kwargs.get("device") is None
        and func in default._device_constructors()  # noqa: SLF001 - as above
    )


def _renamed(value: Any, asked: list[bool]) -> Any:
    """An argument, with the device replaced by the CPU; `asked` receives the side that it names."""
    if isinstance(value, torch.device):
        named = value.type
    elif isinstance(value, str) and (value == "cpu" or _NAMED.fullmatch(value)):
        named = value.partition(":")[0]
    else:
        return value
    if named not in {"cpu", "cuda"}:
        return value
    asked.append(named == "cuda")
    return _CPU


def _goes_to_device(args: tuple[Any, ...], asked: list[bool]) -> bool:
    """Whether the result of `tensor.to(...)` is on the device: the named one, another tensor's, or its own."""
    if asked:
        return asked[-1]
    others = [one for one in args[1:2] if isinstance(one, torch.Tensor)]
    return torch_memory.is_marked((others or args)[0])


def _named(*args: Any) -> tuple[Any, ...]:
    """Arguments, the first converted to a device if it is a device number."""
    if args and isinstance(args[0], int) and not isinstance(args[0], bool):
        return (torch.device("cuda", args[0]), *args[1:])
    return args


def _device(*args: Any, **kwargs: Any) -> Any:
    return torch.device(*_named(*args), **kwargs)


def _parse_to(*args: Any, **kwargs: Any) -> Any:
    """The parser of `Module.to`'s arguments; the device keeps its name."""
    return torch._C._nn._parse_to(*_named(*args), **kwargs)  # noqa: SLF001 - PyTorch's own


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def _summed_in_f32(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that sums in f32, as a GPU does for any arguments; the CPU would round each partial sum."""

    def called(*args: Any, **kwargs: Any) -> Any:
        given = torch_tensors.tensors_of((*args, *kwargs.values()))
        narrow = {one.dtype for one in given if one.dtype in _NARROW and torch_memory.is_marked(one)}
        if len(narrow) != 1:
            return _on_cpu(function, args, kwargs)
        wide = [_widened(one, narrow) for one in args]
        result = function(*wide, **{name: _widened(one, narrow) for name, one in kwargs.items()}).to(*narrow)
        torch_tensors.mark(result)
        return result

    return called


def _widened(value: Any, narrow: set[Any], wide: Any = torch.float32) -> Any:
    return value.to(wide) if isinstance(value, torch.Tensor) and value.dtype in narrow else value


def _of_another_type(function: Callable[..., Any]) -> Callable[..., Any]:
    """A product whose result has a wider type, `out_dtype`, which the CPU does not support."""

    def called(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[-1], torch.dtype):
            args, kwargs = args[:-1], {**kwargs, "out_dtype": args[-1]}
        wanted = kwargs.pop("out_dtype", None)
        given = tuple(torch_tensors.tensors_of((*args, *kwargs.values())))
        if wanted is None or not any(map(torch_memory.is_marked, given)):
            return _on_cpu(function, args, kwargs)
        types = {one.dtype for one in given} - {wanted}
        result = function(*(_widened(one, types, wanted) for one in args), **kwargs)
        torch_tensors.mark_results(result, given)
        return result

    return called


_NARROW: Final = frozenset((torch.float16, torch.bfloat16))
_SUMS: Final = (
    torch.nn.functional.layer_norm,
    torch.nn.functional.group_norm,
    torch.nn.functional.scaled_dot_product_attention,
    torch.conv1d,
    torch.conv2d,
    torch.conv3d,
)
"""Functions whose gradients, at least, are off by more than rounding if the CPU sums in f16 or bf16."""

_ANSWERS: Final[dict[Any, Any]] = {
    torch.Tensor.is_cuda.__get__: True,
    torch.Tensor.is_cpu.__get__: False,
    torch.Tensor.device.__get__: _CUDA,
    torch.Tensor.get_device: 0,
}
"""The attributes of a tensor on the device."""

_PLAIN: Final = frozenset(
    (
        torch.Tensor.data_ptr,
        torch.Tensor.untyped_storage,
        torch.Tensor.storage_offset,
        torch.Tensor.stride,
        torch.Tensor.size,
        torch.Tensor.dim,
        torch.Tensor.numel,
        torch.Tensor.element_size,
        torch.Tensor.is_contiguous,
        torch.Tensor.is_floating_point,
        torch.Tensor.dtype.__get__,
        torch.Tensor.shape.__get__,
        torch.Tensor.ndim.__get__,
        torch.Tensor.requires_grad.__get__,
    )
)
"""Attributes that do not depend on the device and make no tensor: they are read directly, several times per launch."""

_SPECIAL: Final[dict[Any, Callable[..., Any]]] = {
    torch.Tensor.cuda: torch_tensors.to_cuda,
    torch.Tensor.cpu: torch_tensors.to_cpu,
    torch.Tensor.pin_memory: torch_tensors.pinned,
    torch.Tensor.is_pinned: torch_memory.is_pinned,
    torch.Tensor.type: torch_tensors.type_of,
    torch.Tensor.numpy: torch_tensors.numpy,
    torch.Tensor.__array__: torch_tensors.array,
    torch.Tensor.record_stream: _nothing,
    torch.Tensor.__dlpack__: torch_tensors.dlpack,
    torch.Tensor.__dlpack_device__: torch_tensors.dlpack_device,
    torch.device: _device,
    torch._C._nn._parse_to: _parse_to,  # noqa: SLF001 - likewise
    **{function: _summed_in_f32(function) for function in _SUMS},
    **{function: _of_another_type(function) for function in (torch.mm, torch.bmm, torch.addmm, torch.baddbmm)},
}
