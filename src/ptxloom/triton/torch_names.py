"""The device's name where PyTorch bypasses function modes: generators, autocast, saved files."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import torch as _torch

from ptxloom.triton import torch_memory

if TYPE_CHECKING:
    from collections.abc import Callable

# untyped: PyTorch is not a dependency
torch: Any = _torch
Storage: TypeAlias = Any
_Generator: Any = torch.Generator

_FIRST: Final = 0  # before PyTorch's own


def put_in_place() -> None:
    """Make "cuda" mean the device there, too."""
    torch.Generator = Generator
    autocast = torch.amp.autocast_mode.autocast
    autocast.__enter__, autocast.__exit__ = _entered(autocast), _left(autocast)
    torch.serialization.register_package(_FIRST, _tag, _placed)


class Generator(_Generator):  # pyright: ignore[reportUntypedBaseClass]
    """A random number generator of the device, which is the host's."""

    def __new__(cls, device: object = "cpu") -> Any:
        """Make one of the host's."""
        made: Any = _Generator.__new__(cls)
        made.named = torch.device(device)
        return made

    @property
    def device(self) -> Any:
        """The device that it was made for."""
        return self.named


class DefaultGenerator(Generator):
    """The device's default one: its state is a seed and an offset for kernels; PyTorch's functions use the host's."""

    def __new__(cls) -> Any:
        """With the host's seed."""
        made = Generator.__new__(cls, "cuda:0")
        made.restart()
        return made

    def restart(self) -> None:
        """Restart from the host's seed."""
        self.seed_and_offset = (torch.default_generator.initial_seed(), 0)

    def get_state(self) -> Any:
        """A seed and an offset, 16 bytes."""
        return torch.frombuffer(bytearray(struct.pack("<Qq", *self.seed_and_offset)), dtype=torch.uint8)

    def set_state(self, new_state: Any) -> Any:
        """Set the seed and the offset."""
        self.seed_and_offset = struct.unpack("<Qq", bytes(new_state.tolist()))
        return self

    def manual_seed(self, seed: int) -> Any:
        """Restart from a seed, also for the host's functions."""
        torch.default_generator.manual_seed(seed)
        self.restart()
        return self

    def seed(self) -> int:
        """Restart from a random seed."""
        torch.default_generator.seed()
        self.restart()
        return self.initial_seed()

    def initial_seed(self) -> int:
        """The seed."""
        return self.seed_and_offset[0]


def _entered(autocast: Any) -> Callable[[Any], Any]:
    """Enter autocast for the CPU, where the device's functions run."""
    enter = autocast.__enter__

    def entered(self: Any) -> Any:
        if self.device == "cuda":
            self.beside = autocast("cpu", self.fast_dtype, self._enabled)
            enter(self.beside)
        return enter(self)

    return entered


def _left(autocast: Any) -> Callable[..., Any]:
    leave = autocast.__exit__

    def left(self: Any, *error: object) -> Any:
        result = leave(self, *error)
        if self.device == "cuda":
            leave(self.beside, *error)
        return result

    return left


def _tag(storage: Storage) -> str | None:
    """The device of a saved storage; None to let PyTorch decide."""
    return "cuda:0" if torch_memory.is_storage_marked(storage) else None


def _placed(storage: Storage, location: str) -> Storage | None:
    """A storage that was loaded, on its device; None to let PyTorch place it."""
    if not location.startswith("cuda"):
        return None
    there = torch_memory.on_device(torch, storage) if storage.nbytes() else storage
    torch_memory.mark(there)
    return there
