"""LLVM IR to an object file; as a program, from input to output, it imports only LLVM."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

from llvmlite import binding

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
TWICE: Final = 3  # the level that optimises like 2, and once more: the second pass removes repeated bounds checks


@cache
def _machine(level: int) -> binding.TargetMachine:
    """The compiler of a level, shared."""
    return new_machine(level)


def new_machine(level: int) -> binding.TargetMachine:
    """A compiler for this host."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    target = binding.Target.from_default_triple()
    return target.create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features(), opt=level, reloc="pic", codemodel="default", jit=True
    )


@cache
def features() -> str:
    """The features of this processor, in LLVM's notation."""
    found = binding.get_host_cpu_features()
    found["prefer-256-bit"] = False
    return found.flatten()


def emitted(ir: str, level: int, emit: Callable[[binding.TargetMachine, binding.ModuleRef], T]) -> T:
    """Emit a module of IR, optimised unless the level is 0.

    Raises:
        RuntimeError: The IR is wrong (a bug in ptxloom).
    """
    machine = _machine(min(level, 2))
    module = binding.parse_assembly(ir)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    for _ in range(2 if level == TWICE else min(level, 1)):
        tuning = binding.create_pipeline_tuning_options(2)
        builder = binding.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
    return emit(machine, module)


def object_file(ir: str, level: int) -> bytes:
    """An object file for a module of IR.

    Raises:
        RuntimeError: The IR is wrong (a bug in ptxloom).
    """
    return bytes(emitted(ir, level, binding.TargetMachine.emit_object))


if __name__ == "__main__":
    sys.stdout.buffer.write(object_file(sys.stdin.buffer.read().decode(), int(sys.argv[1])))
