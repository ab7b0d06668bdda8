"""What a launch must know about a program (`Needs`), computed from the program itself."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from ptxloom.machine.compile.meaning import called, lasting_names, meaning, names_register
from ptxloom.machine.compile.needs import Needs
from ptxloom.machine.native import language
from ptxloom.machine.program.variables import function_codes, module_variables
from ptxloom.machine.runtime import state
from ptxloom.readings.effects import uses_tensor_memory

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Program

_LOOK_UPS: Final = frozenset({"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"})


def needs_of(program: Program) -> Needs:
    """The needs of a program."""
    digest = hashlib.sha256(meaning(program).encode("utf-8", "surrogatepass")).hexdigest()
    names = {variable.name for variable in module_variables(program.module)}
    return Needs(
        code=f"{program.entry.name} {program.target} {digest}",
        target=program.target,
        sites=len(program.ops),
        entry=program.entry.first,
        frame_bytes=program.entry.frame_bytes,
        register_bytes=program.register_bytes,
        shared_bytes=program.shared_bytes,
        reserved_bytes=program.reserved_bytes,
        has_calls=program.has_calls,
        has_call_sites=bool(program.calls),
        parameters=program.parameters,
        parameter_bytes=program.parameter_bytes,
        function_count=len(program.module.functions),
        functions=_function_table(program).hex(),
        runtime_calls=called(program),
        has_workspace=names_register(program, "%envreg"),
        variables=lasting_names(program) & names if names else frozenset(),
        looks_up=any(op.opcode in _LOOK_UPS for op in program.ops),
        uses_tensor_memory=any(uses_tensor_memory(op.node) for op in program.ops),
    )


def _function_table(program: Program) -> bytes:
    """A module's functions, as native code looks them up for calls through addresses; kernels cannot be called."""
    kind = language.structure(state.FunctionEntry)
    table = (kind * len(program.module.functions))(*[kind(block=state.NONE)] * len(program.module.functions))
    codes = function_codes(program.module)
    for f in program.functions:
        if not f.is_entry:
            table[codes[f.name]] = kind(f.first, program.signature_number(f.signature), f.frame_bytes)
    return bytes(table)
