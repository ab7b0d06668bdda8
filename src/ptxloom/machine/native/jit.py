"""LLVM, through llvmlite: IR text to machine code, kept on disk. The only module that imports llvmlite."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

import llvmlite
from llvmlite import binding

from ptxloom.machine.native import apart, code_cache, forks, interrupts, translation
from ptxloom.machine.runtime.access import access_function

if TYPE_CHECKING:
    from collections.abc import Callable

ATTRIBUTES: Final = "\nattributes #0 = { nounwind }\n"
_OF_LLVMLITE: Final = binding.ffi.lib._lock._lock  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
forks.wait_at_fork(_OF_LLVMLITE)  # held during each call: finalizers make some
LOCK: Final = forks.Lock()  # of all that LLVM does, and of kernels that are being compiled
_LARGE: Final = 1 << 20  # characters of IR that take LLVM about a second
_RUNTIME: Final[dict[str, Code]] = {}  # the run-time's functions, for as long as the process lives


@cache
def _machine(level: int) -> binding.TargetMachine:
    """The compiler of a level, shared."""
    return _new_machine(level)


def _new_machine(level: int) -> binding.TargetMachine:
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=_features(), opt=level, reloc="pic", codemodel="default", jit=True
    )


@cache
def _features() -> str:
    features = binding.get_host_cpu_features()
    features["prefer-256-bit"] = False
    return features.flatten()


@cache
def _host() -> str:
    """What machine code depends on besides its IR."""
    return f"{llvmlite.__version__} {binding.llvm_version_info} {binding.get_host_cpu_name()} {_features()}"


def host_has(feature: str) -> bool:
    """Whether this processor has a feature, as LLVM names it (`avx2`, `f16c`, ...)."""
    return f"+{feature}" in _features().split(",")


def cached(key: str, make: Callable[[], bytes]) -> bytes:
    """What `make` gives, kept on disk under a key to which the host and LLVM belong."""
    return code_cache.cached(f"{_host()}\n{key}", make)


def compile_ir(ir: str, level: int) -> bytes:
    """An object file for a module of IR; level 0 compiles fast, 2 optimises.

    LLVM cannot be interrupted, and takes more than twice as long for a function of twice the size: so large ones are
    compiled by a process of their own, which a time limit or Ctrl-C ends.

    Raises:
        RuntimeError: The IR is wrong (a fault of ours).
        TimeIsUp: The time limit has come.
    """
    interrupts.check()
    if len(ir) > _LARGE and sys.executable:
        return apart.compiled(ir, level)
    return compile_here(ir, level)


def compile_here(ir: str, level: int) -> bytes:
    """The same, in this process."""
    with LOCK:
        machine = _machine(level)
        module = binding.parse_assembly(ir)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        if level:
            tuning = binding.create_pipeline_tuning_options(level)
            builder = binding.create_pass_builder(machine, tuning)
            builder.getModulePassManager().run(module, builder)
        return bytes(machine.emit_object(module))


@dataclass(frozen=True, slots=True)
class Code:
    """Machine code in memory, as long as this value lives.

    Attributes:
        address: Where its function starts.
    """

    address: int
    engine: binding.ExecutionEngine


def load(code: bytes, symbol: str) -> Code:
    """Load an object file and find a function in it."""
    with LOCK:
        engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _new_machine(0))  # it owns its machine
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return Code(engine.get_function_address(symbol), engine)


def native_address(function: Callable[..., object]) -> int:
    """The machine code of a native function, compiled with all it calls."""
    # functions of others are not in the package's state: their text belongs to the key
    inside = function.__module__.startswith("ptxloom.")
    text = "" if inside else translation.translate(function).ir
    return _linked(translation.symbol(function), lambda: _closed(translation.translate(function).ir, [function]), text)


def access_address(name: str) -> int:
    """The machine code of a warp-wide load or store."""

    def ir() -> str:
        from ptxloom.machine.runtime import memory  # noqa: PLC0415 - only where it is needed
        from ptxloom.machine.runtime.initcheck import fast_path as init_path  # noqa: PLC0415 - only where it is needed
        from ptxloom.machine.runtime.racecheck import fast_path as race_path  # noqa: PLC0415 - only where it is needed

        for known, make in ((race_path.NAME, race_path.race_function), (init_path.NAME, init_path.init_function)):
            if known.fullmatch(name):
                look, natives = make(name)
                return _closed(look, [], list(natives))
        text, calls = access_function(name)
        return _closed(text, [], [vars(memory)[c] for c in calls])

    return _linked(name, ir)


def helper_address(name: str, ir: str | Callable[[], str]) -> int:
    """The machine code of a function given as IR; a function `ir` is asked only if the code is not in the cache."""
    return _linked(name, lambda: (ir if isinstance(ir, str) else ir()) + ATTRIBUTES)


def _linked(name: str, ir: Callable[[], str], text: str = "") -> int:
    """The address of a run-time function, loaded when it is first needed."""
    with LOCK:
        if name not in _RUNTIME:
            code = load(cached(f"runtime {name} {text}", lambda: compile_ir(ir(), 2)), name)
            binding.add_symbol(name, code.address)
            _RUNTIME[name] = code
        return _RUNTIME[name].address


def _closed(ir: str, roots: list[Callable[..., object]], extra: list[Callable[..., object]] | None = None) -> str:
    """A module that holds a function and, internally, every native function it calls."""
    inner: dict[str, translation.Native] = {}
    known = {root.__name__: root for root in roots}
    waiting = list(extra or [])
    for root in roots:
        waiting += _callees(root)
    while waiting:
        function = waiting.pop()
        if known.setdefault(function.__name__, function) is not function:
            raise TypeError(f"two native functions are called {function.__name__}")
        if function.__name__ not in inner:
            inner[function.__name__] = translation.translate(function)
            waiting += _callees(function)
    kept = [
        line
        for line in ir.splitlines()
        if not any(f"@{n.name}(" in line and line.startswith("declare") for n in inner.values())
    ]
    bodies = [n.ir.replace("define ", "define internal ", 1) for n in inner.values()]
    return "\n".join([*kept, *bodies]) + ATTRIBUTES


def _callees(function: Callable[..., object]) -> list[Callable[..., object]]:
    names = translation.translate(function).calls
    return [function.__globals__[name] for name in names]  # pyright: ignore[reportFunctionMemberAccess]
