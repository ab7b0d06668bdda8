"""PyTorch's compilers: `torch.compile` uses Triton; those that need a GPU report it, and what to do."""

from __future__ import annotations

import warnings
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, NoReturn

import torch as _torch

from ptxloom.triton import torch_memory, torch_tensors
from ptxloom.triton.imported import follow

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from types import ModuleType

# untyped: PyTorch is not a dependency
torch: Any = _torch

_LEFT: Final = (
    "torch.compile leaves this function as it is under ptxloom, and PyTorch's own operators run it: PyTorch's compiler "
    "sees tensors of the device on the CPU, and could not compile it"
)
_NO_EXTENSIONS: Final = (
    "PyTorch extensions with CUDA sources cannot be built under ptxloom: they are linked against PyTorch's CUDA "
    "libraries, which its CPU build does not have; compile the kernels by themselves (`nvcc -ptx`, `cuda.core` or "
    "Triton) and launch them with the tensors' `data_ptr()`"
)
_EXTENSIONS: Final = "torch.utils.cpp_extension"
_KERNELS: Final = "torch._inductor.runtime.triton_helpers"


def put_in_place() -> None:
    """Let `torch.compile` generate Triton kernels, and extensions report that they cannot be built."""
    torch.compile = _for_triton(torch.compile)
    follow(_KERNELS, _keep_driver)
    follow(_EXTENSIONS, _refuse)


def _for_triton(compile_: Any) -> Any:
    """`torch.compile` with Triton kernels for the CPU: the compiler sees where tensors really are."""

    @wraps(compile_)
    def called(*args: Any, **kwargs: Any) -> Any:
        function = args[0] if args else kwargs.get("model")
        made = compile_(*args, **kwargs)
        if function is None or made is function:  # a decorator, which gets here again; or compiling is off
            return made
        from torch._inductor import config  # noqa: PLC0415 # pyright: ignore - takes a second

        config.cpu_backend = "triton"
        if isinstance(made, torch.nn.Module):
            made.forward = _aside(made.forward, function)
            return made
        return _aside(made, function)

    return called


def _aside(compiled: Any, function: Any) -> Any:
    """A call outside the mode that emulates the device, into which the compiler would trace."""
    is_left: list[bool] = []

    @wraps(compiled)
    def called(*args: Any, **kwargs: Any) -> Any:
        if is_left:
            return function(*args, **kwargs)
        given = tuple(tensors_in((args, kwargs)))
        held = function.parameters() if isinstance(function, torch.nn.Module) else ()
        on_device = any(map(torch_memory.is_marked, (*given, *held)))
        try:
            with without_mode():
                result = compiled(*args, **kwargs)
        except (torch._dynamo.exc.BackendCompilerFailed, torch._dynamo.exc.TorchRuntimeError) as error:  # noqa: SLF001 - PyTorch's own
            is_left.append(True)
            warnings.warn(f"{_LEFT} ({' '.join(str(error).split()[:24])})", UserWarning, stacklevel=2)
            return function(*args, **kwargs)
        if on_device:
            for one in tensors_in(result):
                if not any(one is other for other in given):
                    torch_tensors.mark(one)
        return result

    return called


def tensors_in(values: Any) -> Iterator[Any]:
    """The tensors in a PyTorch tree."""
    return (one for one in torch.utils._pytree.tree_leaves(values) if isinstance(one, torch.Tensor))  # noqa: SLF001 - PyTorch's own


@contextmanager
def without_mode() -> Generator[None]:
    """Leave the topmost function mode in this context, if it is ours."""
    with ExitStack() as stack:
        modes = torch.overrides._get_current_function_mode_stack()  # noqa: SLF001 - as above
        for mode in reversed(modes):
            if not getattr(mode, "is_ptxloom", False):
                break
            stack.enter_context(torch.overrides._pop_mode_temporarily())  # noqa: SLF001 - as above
        yield


def _keep_driver(helpers: ModuleType) -> None:
    """Keep Triton's driver, which is ours: PyTorch looks for one named after the CPU, and warns."""
    helpers.set_driver_to_cpu = _nothing  # type: ignore[attr-defined]


def _nothing() -> None:
    """Do nothing."""


def _refuse(extensions: ModuleType) -> None:
    extensions._join_cuda_home = _refused  # type: ignore[attr-defined] # noqa: SLF001 - called by all that need CUDA


def _refused(*_: object) -> NoReturn:
    """Replaces the look-up of CUDA's folder.

    Raises:
        OSError: Always, as in PyTorch without CUDA.
    """
    raise OSError(_NO_EXTENSIONS)
