"""PyTorch's "cuda" without a GPU: tensors that are on the CPU but report that they are on the device.

For programs that ask for `device="cuda"`. Tensors are marked on their storage, so that views, parameters
and gradients are where their memory is, and moving one to the other side is a copy, as it is with a GPU. PyTorch's own
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

# nothing is known of the types of PyTorch, which nothing here brings
torch: Any = _torch
TorchFunctionMode: Any = torch.overrides.TorchFunctionMode
BackwardCFunction: Any = torch.autograd.function.BackwardCFunction
default: Any = _torch_default  # where `torch.set_default_device` leaves its argument

_NAMED: Final = re.compile(r"cuda(:\d+)?")
_CPU: Final = torch.device("cpu")
_CUDA: Final = torch.device("cuda", 0)


@cache
def install() -> None:
    """Let PyTorch have a device "cuda" from now on, in this thread and those to come; not where it has its own."""
    if torch.version.cuda or torch.version.hip:
        return
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # processes of its own would each begin anew
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
    """Call the program's gradients with those that come in marked: PyTorch made them outside the mode."""

    @wraps(function)
    def called(self: Any, *gradients: Any) -> Any:
        for one in torch_tensors.tensors_of(gradients):
            torch_tensors.mark(one)
        return function(self, *gradients)

    return called


def _under(mode: CudaOnCpu, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function in which the mode holds: it is left during a call, and gradients call a program's code."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with mode, torch_operators.redirected(on_device=True):
            return function(*args, **kwargs)

    return called


class CudaOnCpu(TorchFunctionMode):  # pyright: ignore[reportUntypedBaseClass]
    """What every function of PyTorch comes by: names of the device become the CPU, and results are marked."""

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
    """Call a function where there is one, and note where its results are."""
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
    """Whether a function makes a tensor on the default device of `torch.set_default_device`, and that is this one."""
    there = default.CURRENT_DEVICE
    return (
        there is not None
        and there.type == "cuda"
        and kwargs.get("device") is None
        and func in default._device_constructors()  # noqa: SLF001 - as above
    )


def _renamed(value: Any, asked: list[bool]) -> Any:
    """An argument, with the CPU in place of the device; what it asks for is noted."""
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
    """Where `tensor.to(...)` puts its result: on a device that is named, where another tensor is, or where it was."""
    if asked:
        return asked[-1]
    others = [one for one in args[1:2] if isinstance(one, torch.Tensor)]
    return torch_memory.is_marked((others or args)[0])


def _named(*args: Any) -> tuple[Any, ...]:
    """Arguments of which the first may be the number of a device: then it is a device."""
    if args and isinstance(args[0], int) and not isinstance(args[0], bool):
        return (torch.device("cuda", args[0]), *args[1:])
    return args


def _device(*args: Any, **kwargs: Any) -> Any:
    return torch.device(*_named(*args), **kwargs)


def _parse_to(*args: Any, **kwargs: Any) -> Any:
    """What `Module.to` reads its arguments by; the device keeps its name."""
    return torch._C._nn._parse_to(*_named(*args), **kwargs)  # noqa: SLF001 - PyTorch's own


def _nothing(*_: Any, **__: Any) -> None:
    """There is nothing to do."""


def _summed_in_f32(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that a GPU sums in f32 whatever its arguments are, and the CPU does not: it would round each sum."""

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
    """A product whose result a GPU returns in a wider type, `out_dtype`, and the CPU does not."""

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
"""Of which the gradients, at least, are wrong by more than a rounding where the CPU sums in f16 or bf16."""

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
"""Attributes that do not depend on the device and make no tensor: they are used directly, several times a launch."""

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
