"""What of PyTorch compiles, and cannot where there is no GPU: it says so, and what to do."""

from __future__ import annotations

import warnings
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, NoReturn

import torch as _torch

from ptxloom.triton.imported import follow

if TYPE_CHECKING:
    from types import ModuleType

# nothing is known of the types of PyTorch, which nothing here brings
torch: Any = _torch

_LEFT: Final = (
    "torch.compile leaves functions as they are under ptxloom: they run by PyTorch's own operators; "
    "the kernels that it would write in Triton do not run"
)
_NO_EXTENSIONS: Final = (
    "PyTorch extensions with CUDA sources cannot be built under ptxloom: they are linked against PyTorch's CUDA "
    "libraries, which its CPU build does not have; compile the kernels by themselves (`nvcc -ptx`, `cuda.core` or "
    "Triton) and launch them with the tensors' `data_ptr()`"
)
_EXTENSIONS: Final = "torch.utils.cpp_extension"
_is_told: Final[list[bool]] = []


def put_in_place() -> None:
    """Let `torch.compile` and extensions say what they do not do."""
    torch.compile = _saying(torch.compile)
    follow(_EXTENSIONS, _refuse)


def _saying(compile_: Any) -> Any:
    @wraps(compile_)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not _is_told:
            _is_told.append(True)
            warnings.warn(_LEFT, UserWarning, stacklevel=2)
        return compile_(*args, **kwargs)

    return called


def _refuse(extensions: ModuleType) -> None:
    extensions._join_cuda_home = _refused  # type: ignore[attr-defined] # noqa: SLF001 - through which all go that need CUDA


def _refused(*_: object) -> NoReturn:
    """In the place of where CUDA is.

    Raises:
        OSError: As PyTorch does without CUDA.
    """
    raise OSError(_NO_EXTENSIONS)
