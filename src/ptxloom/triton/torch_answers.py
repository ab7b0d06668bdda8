"""The functions of `torch.cuda` without a GPU: for one device, its memory, random numbers."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import torch as _torch

from ptxloom.isa.limits import STATIC_SHARED_BYTES
from ptxloom.machine.port.region import Budget
from ptxloom.triton import clock, properties, recorded, torch_graphs, torch_memory, torch_names, torch_streams

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# untyped: PyTorch is not a dependency
Tensor: TypeAlias = Any
torch: Any = _torch

_CUDA: Final = torch.device("cuda", 0)
_DEFAULT_GENERATOR: Final = torch_names.DefaultGenerator()


def put_in_place() -> None:
    """Replace the functions of `torch.cuda`, of its submodules, and of `torch.accelerator`."""
    gathered = ("memory", "random", "streams", "graphs", "nvtx", "profiler")
    places = [torch.cuda, *(getattr(torch.cuda, name) for name in gathered)]
    for name, value in {**_plain_answers(), **_FUNCTIONS}.items():
        for place in places:
            if place is torch.cuda or hasattr(place, name):
                setattr(place, name, value)
    torch.cuda.default_generators = (_DEFAULT_GENERATOR,)
    for name in ("range_push", "range_pop", "range_start", "range_end", "mark"):
        setattr(torch.cuda.nvtx, name, _answering(name, None))
    torch.cuda.nvtx.range = torch_streams.nvtx_range
    for name in ("start", "stop"):
        setattr(torch.cuda.profiler, name, _answering(name, None))
    torch._C._host_emptyCache = _answering("_host_emptyCache", None)  # noqa: SLF001 - the first call of a graph capture
    for name, value in _for_accelerator().items():
        setattr(torch.accelerator, name, value)


def _device_properties(*_: object, **__: object) -> SimpleNamespace:
    """The result of `torch.cuda.get_device_properties`."""
    number = properties.capability()
    known = properties.properties()
    return SimpleNamespace(
        name=f"ptxloom sm_{number}",
        gcnArchName=f"ptxloom sm_{number}",  # used by PyTorch's compiler if PyTorch was not built for CUDA
        major=number // 10,
        minor=number % 10,
        total_memory=Budget().limit,
        multi_processor_count=known["multiprocessor_count"],
        warp_size=known["warpSize"],
        regs_per_multiprocessor=known["max_num_regs"],
        max_threads_per_multi_processor=2048,
        shared_memory_per_block=STATIC_SHARED_BYTES,
        shared_memory_per_block_optin=known["max_shared_mem"],
        shared_memory_per_multiprocessor=known["max_shared_mem"],
        L2_cache_size=1 << 22,
    )


def _memory_allocated(*_: object, **__: object) -> int:
    return torch_memory.allocated()


def _max_memory_allocated(*_: object, **__: object) -> int:
    return torch_memory.most_allocated()


def _reset_peak(*_: object, **__: object) -> None:
    torch_memory.forget_most_allocated()


def _memory_stats(*_: object, **__: object) -> Counter[str]:
    """The available statistics; any other name is zero."""
    stats: Counter[str] = Counter(num_ooms=0, num_alloc_retries=0)
    for kind in ("allocated", "reserved", "active", "requested"):
        stats[f"{kind}_bytes.all.current"] = torch_memory.allocated()
        stats[f"{kind}_bytes.all.peak"] = torch_memory.most_allocated()
    return stats


def _mem_get_info(*_: object, **__: object) -> tuple[int, int]:
    total = Budget().limit
    return max(total - torch_memory.allocated(), 0), total


def _seed_by(seed: int) -> None:
    _DEFAULT_GENERATOR.manual_seed(int(seed))


def _seed() -> None:
    _DEFAULT_GENERATOR.seed()


def _get_rng_state(*_: object, **__: object) -> Tensor:
    return torch.get_rng_state()


def _set_rng_state(new_state: Tensor, *_: object, **__: object) -> None:
    torch.set_rng_state(new_state)


def _get_rng_state_all() -> list[Tensor]:
    return [torch.get_rng_state()]


def _set_rng_state_all(states: Iterable[Tensor]) -> None:
    for state in states:
        torch.set_rng_state(state)


def _initial_seed() -> int:
    return torch.default_generator.initial_seed()


def _answering(name: str, answer: object) -> Callable[..., object]:
    """A function that always returns the same value; a new one each time, as PyTorch's compiler expects."""

    def answering(*_: object, **__: object) -> object:
        return answer

    return _renamed(name, answering)


def _renamed(name: str, function: Callable[..., object]) -> Callable[..., object]:
    """A distinct function with the name of the one that it replaces."""

    def called(*args: object, **kwargs: object) -> object:
        return function(*args, **kwargs)

    called.__name__ = called.__qualname__ = name
    called.__module__ = "torch.cuda"
    return called


def _plain_answers() -> dict[str, object]:
    """The functions of `torch.cuda` that return constants, by name."""
    number = properties.capability()
    nothing = (
        "synchronize", "empty_cache", "ipc_collect", "set_device", "init", "_lazy_init",
        "reset_accumulated_memory_stats", "set_sync_debug_mode", "set_per_process_memory_fraction",
    )  # fmt: skip
    answers: dict[str, object] = {
        **dict.fromkeys(nothing),
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "is_tf32_supported": True,
        "can_device_access_peer": False,
        "device_count": 1,
        "current_device": 0,
        "get_sync_debug_mode": 0,
        "get_device_name": f"ptxloom sm_{number}",
        "get_device_capability": divmod(number, 10),
        "get_arch_list": [f"sm_{number}"],
        "default_stream": torch_streams.DEFAULT,
    }
    return {name: _answering(name, answer) for name, answer in answers.items()}


_FUNCTIONS: Final[dict[str, object]] = {
    "Event": clock.Event,
    "Stream": torch_streams.Stream,
    "device": torch_streams.DeviceGuard,
    "device_of": torch_streams.DeviceOf,
    "CUDAGraph": torch_graphs.CUDAGraph,
    **{
        name: _renamed(name, function)
        for name, function in {
            "stream": torch_streams.entered,
            "set_stream": torch_streams.set_current,
            "current_stream": torch_streams.current,
            "is_current_stream_capturing": recorded.is_on,
            "graph_pool_handle": torch_graphs.pool_handle,
            "get_device_properties": _device_properties,
            "mem_get_info": _mem_get_info,
            "memory_stats": _memory_stats,
            "memory_allocated": _memory_allocated,
            "memory_reserved": _memory_allocated,
            "max_memory_allocated": _max_memory_allocated,
            "max_memory_reserved": _max_memory_allocated,
            "reset_peak_memory_stats": _reset_peak,
            "reset_max_memory_allocated": _reset_peak,
            "manual_seed": _seed_by,
            "manual_seed_all": _seed_by,
            "seed": _seed,
            "seed_all": _seed,
            "initial_seed": _initial_seed,
            "get_rng_state": _get_rng_state,
            "set_rng_state": _set_rng_state,
            "get_rng_state_all": _get_rng_state_all,
            "set_rng_state_all": _set_rng_state_all,
        }.items()
    },
}


def _for_accelerator() -> dict[str, object]:
    """The functions of `torch.accelerator`."""
    answers = {
        "is_available": True,
        "device_count": 1,
        "current_accelerator": _CUDA,
        "current_device_index": 0,
        "current_device_idx": 0,
        "set_device_index": None,
        "set_device_idx": None,
        "synchronize": None,
        "empty_cache": None,
    }
    alike = (
        "current_stream", "set_stream", "memory_stats", "memory_allocated", "max_memory_allocated", "memory_reserved",
        "max_memory_reserved", "reset_peak_memory_stats",
    )  # fmt: skip
    return {
        **{name: _answering(name, answer) for name, answer in answers.items()},
        **{name: _renamed(name, getattr(torch.cuda, name)) for name in alike},
    }
