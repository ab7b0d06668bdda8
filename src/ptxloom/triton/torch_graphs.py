"""CUDA graphs of PyTorch: `replay()` repeats the work on the device during the capture.

A GPU does not execute captured work. Here it is executed, as later steps need results, and undone: after the capture
the device's memory and the random numbers are as before. A replay writes to the memory that the capture wrote to.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import torch as _torch
import torch.utils._python_dispatch as _torch_dispatch
import torch.utils._pytree as _torch_pytree

from ptxloom.triton import recorded, torch_memory

if TYPE_CHECKING:
    from collections.abc import Callable

# untyped: PyTorch is not a dependency
torch: Any = _torch
dispatch: Any = _torch_dispatch
tree_leaves: Any = _torch_pytree.tree_leaves

PoolHandle: TypeAlias = tuple[int, int]

_pools: Final = count(1)


def pool_handle() -> PoolHandle:
    """A memory pool that graphs may name; it holds no memory here."""
    return (0, next(_pools))


class CUDAGraph:
    """Replaces `torch.cuda.CUDAGraph`."""

    def __init__(self, keep_graph: bool = False) -> None:
        del keep_graph
        self._steps: list[Callable[[], None]] = []
        self._pool = pool_handle()

    def capture_begin(self, pool: PoolHandle | None = None, **_: object) -> None:
        """Capture from now on.

        Raises:
            RuntimeError: A graph is being captured.
        """
        if recorded.is_on():
            raise RuntimeError("a CUDA graph is being captured already")
        self._pool = pool or self._pool
        self._before = torch_memory.contents(), torch.get_rng_state()
        self._mode = _Recording()
        recorded.begin()
        self._mode.__enter__()

    def capture_end(self) -> None:
        """End the capture, and undo its effects."""
        self._mode.__exit__(None, None, None)
        self._steps = recorded.end()
        memory, random = self._before
        torch_memory.restore(memory)
        torch.set_rng_state(random)
        del self._before

    def instantiate(self) -> None:
        """Do nothing: it can be replayed already."""

    def register_generator_state(self, generator: object) -> None:
        """Do nothing: the device uses the host's random numbers."""

    def replay(self) -> None:
        """Repeat the captured work in the same memory.

        Raises:
            RuntimeError: Another graph is being captured.
        """
        if recorded.is_on():
            raise RuntimeError("a CUDA graph cannot be replayed while another is captured")
        with torch.no_grad():
            for step in self._steps:
                step()

    def reset(self) -> None:
        """Forget the captured work."""
        self._steps = []

    def pool(self) -> PoolHandle:
        """The pool that other graphs may share."""
        return self._pool


class _Recording(dispatch.TorchDispatchMode):  # pyright: ignore[reportUntypedBaseClass]
    """Intercepts PyTorch's operators below autograd while a graph is captured."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call an operator, and keep the call."""
        given = kwargs or {}
        if func is torch.ops.aten._local_scalar_dense.default and torch_memory.is_marked(args[0]):  # noqa: SLF001
            raise RuntimeError("while a CUDA graph is captured, a value of the device cannot be read by the host")
        results = func(*args, **given)
        recorded.note(lambda: _again(func, args, given, results))
        return results


def _again(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], before: Any) -> None:
    """Call an operator again, with its results in the same place."""
    with dispatch._disable_current_modes():  # noqa: SLF001 - device names have been replaced already
        after = func(*args, **kwargs)
    for old, new in zip(tree_leaves(before), tree_leaves(after), strict=True):
        if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():  # else a view, or written in place
            old.copy_(new)
