"""Operators that programs register for CUDA: they run for tensors of the device.

The tensors are on the CPU, so PyTorch looks for an operator's CPU kernel. An operator without one gets the program's.
If there are two (a program replaces one of PyTorch's own for CUDA), the program's is called if a tensor of the device
is among the arguments, or if the call makes a tensor there.
"""

from __future__ import annotations

import threading
import weakref
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import torch as _torch
import torch.utils._python_dispatch as _torch_dispatch

from ptxloom.triton import torch_memory, torch_tensors

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

# untyped: PyTorch is not a dependency
torch: Any = _torch
dispatch: Any = _torch_dispatch
Mode: TypeAlias = Any

_DEVICE_KEY: Final = "CUDA"
_WITH_GRADIENTS: Final = "AutogradCUDA"
_COMPOSITES: Final = ("CompositeExplicitAutograd", "CompositeImplicitAutograd")

_replaced: Final[dict[str, list[tuple[Any, Callable[..., Any]]]]] = {}
"""By the operator's full name: the libraries (weak) that replace it for CUDA, with their functions; the last counts."""


def put_in_place(mode: Mode) -> None:
    """Intercept the operators that programs register.

    Args:
        mode: The mode in which the device's name is known, as a program's functions expect.
    """
    library = torch.library.Library
    register = library.impl

    @wraps(register)
    def impl(self: Any, op_name: Any, fn: Any, dispatch_key: str = "", **options: Any) -> None:
        key = dispatch_key or self.dispatch_key
        if fn is torch.library.fallthrough_kernel or not callable(fn) or key == "Meta":
            register(self, op_name, fn, dispatch_key, **options)
            return
        known = _known(mode, fn)
        name = _whole_name(self.ns, op_name)
        is_alone = not any(_has_kernel(name, other) for other in ("CPU", *_COMPOSITES))
        register(self, op_name, known, dispatch_key, **options)
        if key == _WITH_GRADIENTS and not _has_kernel(name, "AutogradCPU"):
            register(self, op_name, known, "AutogradCPU", **options)
        elif key == _DEVICE_KEY and is_alone:
            register(self, op_name, known, "CPU", **options)
        elif key == _DEVICE_KEY and not options.get("with_keyset"):
            _replaced.setdefault(name, []).append((weakref.ref(self), known))

    library.impl = impl


def redirected(on_device: bool) -> AbstractContextManager[Any]:
    """Use the program's registered operators for tensors on the device in this context.

    Args:
        on_device: Whether operators without tensor arguments make tensors on the device.
    """
    return _redirected(on_device) if _replaced else nullcontext()


@contextmanager
def _redirected(on_device: bool) -> Generator[None]:
    before, _now.makes = _now.makes, on_device
    is_there = any(isinstance(mode, _Redirecting) for mode in dispatch._get_current_dispatch_mode_stack())  # noqa: SLF001 - PyTorch's own
    try:
        with nullcontext() if is_there else _Redirecting():
            yield
    finally:
        _now.makes = before


class _Now(threading.local):
    """Per thread: whether it makes tensors on the device."""

    makes = False


_now: Final = _Now()


class _Redirecting(dispatch.TorchDispatchMode):  # pyright: ignore[reportUntypedBaseClass]
    """Intercepts PyTorch's operators below autograd."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call an operator."""
        given = kwargs or {}
        tensors = tuple(torch_tensors.tensors_of((*args, *given.values())))
        on_device = any(map(torch_memory.is_marked, tensors)) if tensors else _now.makes
        if not on_device:
            return func(*args, **given)
        ours = _replacement(func.name())
        if ours is None:
            result = func(*args, **given)
        else:
            with self:
                result = ours(*args, **given)
        torch_tensors.mark_results(result, tensors)
        return result


def _replacement(name: str) -> Callable[..., Any] | None:
    """The function for an operator on the device, if a program has registered one and not removed it."""
    found = _replaced.get(name, [])
    while found:
        library, function = found[-1]
        known = library()
        if known is not None and known.m is not None:
            return function
        found.pop()
    return None


def _known(mode: Mode, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that runs in the mode, where the device's name is known; its callers do not."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        with mode:
            return function(*args, **kwargs)

    return called


def _whole_name(namespace: str, operator: Any) -> str:
    """`aten::add.Tensor`, of an operator or of its name with or without its namespace."""
    name = operator if isinstance(operator, str) else operator.name()
    return name if "::" in name else f"{namespace}::{name}"


def _has_kernel(name: str, key: str) -> bool:
    """Whether an existing operator has a kernel of its own for a dispatch key."""
    library: Any = torch._C  # noqa: SLF001 - PyTorch's own
    asked = (library._dispatch_has_kernel, library._dispatch_has_kernel_for_dispatch_key)  # noqa: SLF001 - likewise
    return asked[0](name) and asked[1](name, key)
