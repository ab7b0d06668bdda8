"""LLVM, through llvmlite: IR text to an object file, an object file to code. The only module that imports llvmlite."""

from __future__ import annotations

import atexit
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

import llvmlite
from llvmlite import binding

from ptxloom.dataclass import dataclass
from ptxloom.machine.native import emission, forks
from ptxloom.machine.native.host_memory import must_have

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

T = TypeVar("T")
_OF_LLVMLITE: Final = binding.ffi.lib._lock._lock  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
forks.wait_at_fork(_OF_LLVMLITE)  # held during each call, as finalizers make calls, too
atexit.register(_OF_LLVMLITE.acquire)  # never released: an ending process destroys LLVM's state under running calls
LOCK: Final = forks.Lock()  # for everything in LLVM, and for kernels being compiled
_WORKING_BYTES: Final = 64  # LLVM's working memory per character of IR: 50 were observed
_COPIES: Final = 4  # of an object, while it is loaded
_LEAST_BYTES: Final = 1 << 23  # for LLVM's own lists
_OBJECTS: Final = 16  # objects per linker, which frees its data only for all together


@cache
def host() -> str:
    """A key of what machine code depends on besides its IR."""
    return f"{llvmlite.__version__} {binding.llvm_version_info} {binding.get_host_cpu_name()} {emission.features()}"


def host_has(feature: str) -> bool:
    """Whether this processor has a feature, by LLVM's name (`avx2`, `f16c`, ...)."""
    return f"+{feature}" in emission.features().split(",")


def compile_here(ir: str, level: int) -> bytes:
    """An object file for a module of IR; level 0 compiles fast, 2 optimises.

    Raises:
        RuntimeError: The IR is wrong (a bug in ptxloom).
        Refused: The host has no memory for it.
    """
    return bytes(_emitted(ir, level, binding.TargetMachine.emit_object))


def assembly(ir: str, level: int) -> str:
    """The host's assembly for a module of IR, as from `compile_here`.

    Raises:
        RuntimeError: The IR is wrong (a bug in ptxloom).
        Refused: The host has no memory for it.
    """
    return _emitted(ir, level, binding.TargetMachine.emit_assembly)


def _emitted(ir: str, level: int, emit: Callable[[binding.TargetMachine, binding.ModuleRef], T]) -> T:
    """Emit a module of IR, optimised by level."""
    must_have_room(ir)
    with LOCK:
        return emission.emitted(ir, level, emit)


def must_have_room(ir: str) -> None:
    """Refuse to compile a module of IR for which LLVM would run out of memory.

    Raises:
        Refused: The host has no memory for it.
    """
    must_have(_WORKING_BYTES * len(ir) + _LEAST_BYTES, "compiling")


@dataclass(frozen=True, slots=True)
class Code:
    """Machine code, in memory as long as this value lives.

    Attributes:
        address: The address of its function.
    """

    address: int
    library: binding.ResourceTracker


class _Loader:
    """Loads object files into memory.

    JITLink allocates one piece of memory for all sections of an object, so that they can reach each other wherever the
    host maps it, and it reports errors, where MCJIT ends the process.
    """

    def __init__(self) -> None:
        self._linker: binding.LLJIT | None = None
        self._count = 0

    def load(self, code: Collection[bytes], symbols: Collection[str], callees: Mapping[str, int]) -> dict[str, Code]:
        must_have(_COPIES * sum(map(len, code)) + _LEAST_BYTES, "machine code")
        if self._linker is None or self._count % _OBJECTS == 0:
            machine = emission.new_machine(0)
            self._linker = binding.create_lljit_compiler(machine, use_jit_link=True, suppress_errors=True)
        self._count += 1
        made = binding.JITLibraryBuilder().add_current_process()
        for one in code:
            made.add_object_img(one)
        for symbol in symbols:
            made.export_symbol(symbol)
        for name, address in callees.items():
            made.import_symbol(name, address)
        library = made.link(self._linker, f"object {self._count}")
        return {symbol: Code(library[symbol], library) for symbol in symbols}


_LOADER: Final = _Loader()


def load(code: Collection[bytes], symbols: Collection[str], callees: Mapping[str, int]) -> dict[str, Code]:
    """Load object files together, and find functions in them.

    Args:
        code: The object files.
        symbols: The functions.
        callees: The addresses of functions that they call, besides symbols that this process exports.

    Raises:
        Refused: The host has no memory for them.
    """
    with LOCK:
        return _LOADER.load(code, symbols, callees)
