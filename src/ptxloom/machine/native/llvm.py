"""LLVM, through llvmlite: IR text to an object file, an object file to code. The only module that imports llvmlite."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import llvmlite
from llvmlite import binding

from ptxloom.machine.native import forks

_OF_LLVMLITE: Final = binding.ffi.lib._lock._lock  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
forks.wait_at_fork(_OF_LLVMLITE)  # held during each call: finalizers make some
LOCK: Final = forks.Lock()  # of all that LLVM does, and of kernels that are being compiled


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
def host() -> str:
    """What machine code depends on besides its IR."""
    return f"{llvmlite.__version__} {binding.llvm_version_info} {binding.get_host_cpu_name()} {_features()}"


def host_has(feature: str) -> bool:
    """Whether this processor has a feature, as LLVM names it (`avx2`, `f16c`, ...)."""
    return f"+{feature}" in _features().split(",")


def compile_here(ir: str, level: int) -> bytes:
    """An object file for a module of IR; level 0 compiles fast, 2 optimises.

    Raises:
        RuntimeError: The IR is wrong (a fault of ours).
    """
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


def define(name: str, address: int) -> None:
    """Let code that is loaded later find a function by its name."""
    binding.add_symbol(name, address)
