"""PyTorch's "cuda" where there is no GPU: tensors that lie on the CPU and say that they are on the device.

For programs that ask for `device="cuda"`. Tensors are told apart by a mark on their storage, so that views, parameters
and gradients are where their memory is, and moving one to the other side is a copy, as it is with a GPU. PyTorch's own
functions run on the CPU. What asks for PyTorch's CUDA library itself (graphs, streams that overlap, NCCL) is not there.
"""

from __future__ import annotations

import re
from contextlib import nullcontext
from functools import cache, wraps
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import torch as _torch

from ptxloom.isa.limits import STATIC_SHARED_BYTES
from ptxloom.machine.memory.arena import default_limit
from ptxloom.triton import clock, properties, torch_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# nothing is known of the types of PyTorch, which nothing here brings
Tensor: TypeAlias = Any
torch: Any = _torch
TorchFunctionMode: Any = torch.overrides.TorchFunctionMode
BackwardCFunction: Any = torch.autograd.function.BackwardCFunction

_MARK: Final = "on_ptxloom"
_NAMED: Final = re.compile(r"cuda(:\d+)?")
_CPU: Final = torch.device("cpu")
_CUDA: Final = torch.device("cuda", 0)


@cache
def install() -> None:
    """Let PyTorch have a device "cuda" from now on, in this thread; not where it has one of its own."""
    if torch.version.cuda or torch.version.hip:
        return
    for name, value in _functions().items():
        setattr(torch.cuda, name, value)
    for name, value in _ACCELERATOR.items():
        setattr(torch.accelerator, name, value)
    mode = CudaOnCpu()
    torch.autograd._engine_run_backward = _under(mode, torch.autograd._engine_run_backward)  # noqa: SLF001
    BackwardCFunction.apply = _marking(BackwardCFunction.apply)
    mode.__enter__()


def _marking(function: Callable[..., Any]) -> Callable[..., Any]:
    """What calls the program's gradients, with those that come in marked: PyTorch has made them where nobody looked."""

    @wraps(function)
    def called(self: Any, *gradients: Any) -> Any:
        for one in _tensors(gradients):
            _mark(one)
        return function(self, *gradients)

    return called


def _under(mode: CudaOnCpu, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function in which the mode holds: it is left while it answers a call, and gradients call a program's code."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with mode:
            return function(*args, **kwargs)

    return called


class CudaOnCpu(TorchFunctionMode):  # pyright: ignore[reportUntypedBaseClass]
    """What every function of PyTorch comes by: names of the device become the CPU, and results are marked."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function of PyTorch."""
        answer = _ANSWERS.get(func)
        if answer is not None and _is_marked(args[0]):
            return answer
        special = _SPECIAL.get(func)
        if special is not None:
            return special(*args, **(kwargs or {}))
        asked: list[bool] = []
        args = tuple(_renamed(one, asked) for one in args)
        kwargs = {name: _renamed(one, asked) for name, one in (kwargs or {}).items()}
        if isinstance(kwargs.get("device"), int):
            kwargs["device"] = _renamed(_CUDA, asked)
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        result = func(*args, **kwargs)
        if func == torch.Tensor.to:
            return _moved(args[0], result, _goes_to_device(args, asked))
        given = tuple(_tensors((*args, *kwargs.values())))
        if asked[-1] if asked else any(map(_is_marked, given)):
            for tensor in _tensors((result,)):
                if not any(tensor is one for one in given):  # what is written in place stays where it is
                    _mark(tensor)
        return result


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
    return _is_marked((others or args)[0])


def _moved(tensor: Tensor, result: Tensor, on_device: bool) -> Tensor:
    """A tensor on the other side is a copy; on the same side it may be itself."""
    if on_device != _is_marked(tensor) and result.untyped_storage() is tensor.untyped_storage():
        result = result.clone()
    if on_device:
        _mark(result)
    return result


def _tensors(values: tuple[Any, ...]) -> Iterator[Tensor]:
    """The tensors among values, and in tuples and lists among them."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, tuple | list):
            yield from _tensors(tuple(cast("tuple[Any, ...]", value)))


def _is_marked(tensor: Any) -> bool:
    try:
        return hasattr(tensor.untyped_storage(), _MARK)
    except (AttributeError, NotImplementedError, RuntimeError):  # sparse ones, and the like, have no storage
        return False


def _mark(tensor: Tensor) -> None:
    """Put a tensor on the device."""
    try:
        storage = tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):  # as above
        return
    if not hasattr(storage, _MARK) and storage.device.type == "cpu" and storage.nbytes():
        storage = torch_memory.on_device(torch, storage)
        there = torch.empty(0, dtype=tensor.dtype).set_(
            storage, tensor.storage_offset(), tensor.size(), tensor.stride()
        )
        tensor.data = there
    setattr(storage, _MARK, True)


def _to_cuda(tensor: Tensor, *_: Any, **__: Any) -> Tensor:
    return _moved(tensor, tensor, on_device=True)


def _to_cpu(tensor: Tensor, *_: Any, **__: Any) -> Tensor:
    return _moved(tensor, tensor, on_device=False)


def _itself(tensor: Tensor, *_: Any, **__: Any) -> Tensor:
    return tensor


def _nothing(*_: Any, **__: Any) -> None:
    """There is nothing to do."""


def _dlpack(tensor: Tensor, *args: Any, **kwargs: Any) -> object:
    capsule = tensor.__dlpack__(*args, **kwargs)
    return torch_memory.said_to_be_on_device(capsule) if torch_memory.is_apart() and _is_marked(tensor) else capsule


def _dlpack_device(tensor: Tensor) -> tuple[int, int]:
    apart = torch_memory.is_apart() and _is_marked(tensor)
    return (torch_memory.DLPACK_CUDA, 0) if apart else tensor.__dlpack_device__()


_ANSWERS: Final[dict[Any, Any]] = {
    torch.Tensor.is_cuda.__get__: True,
    torch.Tensor.is_cpu.__get__: False,
    torch.Tensor.device.__get__: _CUDA,
    torch.Tensor.get_device: 0,
}
"""What a tensor on the device says of itself."""

_SPECIAL: Final[dict[Any, Callable[..., Any]]] = {
    torch.Tensor.cuda: _to_cuda,
    torch.Tensor.cpu: _to_cpu,
    torch.Tensor.pin_memory: _itself,
    torch.Tensor.record_stream: _nothing,
    torch.Tensor.__dlpack__: _dlpack,
    torch.Tensor.__dlpack_device__: _dlpack_device,
    torch.device: torch.device,
    torch._C._nn._parse_to: torch._C._nn._parse_to,  # noqa: SLF001 - what `Module.to` reads its arguments by
}


class Stream:
    """An order of work, which is done when a call returns."""

    cuda_stream = 0
    device = _CUDA

    def __init__(self, *_: Any, **__: Any) -> None:
        """Nothing need be said of it."""

    synchronize = wait_stream = wait_event = _nothing

    def record_event(self, event: clock.Event | None = None) -> clock.Event:
        """A moment in it: now."""
        made = event or clock.Event()
        made.record()
        return made

    def query(self) -> bool:
        """Whether its work is done."""
        return True


class DeviceGuard(nullcontext[None]):
    """`with torch.cuda.device(0):`, which changes nothing, as there is one."""

    def __init__(self, device: object = None) -> None:
        super().__init__()
        self.idx = device


def _get_rng_state(_device: object = None) -> Tensor:
    return torch.get_rng_state()


def _set_rng_state(state: Tensor, _device: object = None) -> None:
    torch.set_rng_state(state)


def _functions() -> dict[str, object]:
    """What takes the place of functions of `torch.cuda`."""
    stream = Stream()
    number = properties.capability()

    def seed(value: int) -> None:
        torch.default_generator.manual_seed(int(value))

    def device_properties(_device: object = None) -> SimpleNamespace:
        return _device_properties()

    does_nothing = (
        "synchronize", "empty_cache", "ipc_collect", "set_device", "set_stream", "init", "reset_peak_memory_stats",
        "reset_max_memory_allocated", "reset_accumulated_memory_stats",
    )  # fmt: skip
    answers: dict[str, object] = {
        "is_available": True,
        "is_bf16_supported": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_name": f"ptxloom sm_{number}",
        "get_device_capability": divmod(number, 10),
        "current_stream": stream,
        "default_stream": stream,
        "mem_get_info": (_device_properties().total_memory,) * 2,
        "memory_stats": {},
        **dict.fromkeys(("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved"), 0),
    }
    return {
        **dict.fromkeys(does_nothing, _nothing),
        **{name: _answering(answer) for name, answer in answers.items()},
        "get_device_properties": device_properties,
        "manual_seed": seed,
        "manual_seed_all": seed,
        "get_rng_state": _get_rng_state,
        "set_rng_state": _set_rng_state,
        "Event": clock.Event,
        "Stream": Stream,
        "stream": nullcontext,
        "device": DeviceGuard,
        "device_of": DeviceGuard,
    }


def _answering(answer: object) -> Callable[..., object]:
    """A function that answers the same whatever it is asked."""
    return lambda *_, **__: answer


def _device_properties() -> SimpleNamespace:
    """What `torch.cuda.get_device_properties` says."""
    number = properties.capability()
    known = properties.properties()
    return SimpleNamespace(
        name=f"ptxloom sm_{number}",
        major=number // 10,
        minor=number % 10,
        total_memory=default_limit(),
        multi_processor_count=known["multiprocessor_count"],
        warp_size=known["warpSize"],
        regs_per_multiprocessor=known["max_num_regs"],
        max_threads_per_multi_processor=2048,
        shared_memory_per_block=STATIC_SHARED_BYTES,
        shared_memory_per_block_optin=known["max_shared_mem"],
        shared_memory_per_multiprocessor=known["max_shared_mem"],
        L2_cache_size=1 << 22,
    )


_ACCELERATOR: Final[dict[str, object]] = {
    "is_available": _answering(True),
    "device_count": _answering(1),
    "current_accelerator": _answering(torch.device("cuda")),
    "current_device_index": _answering(0),
    "set_device_index": _nothing,
    "synchronize": _nothing,
}
