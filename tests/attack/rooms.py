"""What a function may touch behind each of its parameters that is a pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attack.ir_text import bytes_of, split, typed
from ptxloom.machine.native import language
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.initcheck import fast_path as init_path
from ptxloom.machine.runtime.memory import access
from ptxloom.machine.runtime.racecheck.fast_path import look as race_path

if TYPE_CHECKING:
    from attack.ir_text import Function
    from ptxloom.machine.native.language import NativeType

LANES: Final = 32
RECORD: Final = language.record(state.Warp)


def room_of(kind: NativeType) -> int | NativeType:
    """What a native function may touch behind a parameter: a struct, a value a lane, or what its annotation says."""
    if kind.bound:
        return kind
    if kind.struct is not None:
        return language.record(kind.struct).size
    return LANES * kind.element.stride if kind.element is not None else 0


def rooms_of_access(name: str) -> list[int | NativeType]:
    """The same for accesses of a warp and for what looks at them."""
    warp = RECORD.size
    if found := access.NAME.fullmatch(name):
        lanes = LANES * (4 if found[2] == "shared" else 8)
        return [warp, lanes, 0, 0, 0, 0, *[LANES * int(found[3]) // 8] * int(found[4])]
    if found := race_path.NAME.fullmatch(name):
        lanes = LANES * (4 if found[2] == "shared" else 8)
        values = [LANES * int(found[3]) // 8] * int(found[4]) if found[1] == "write" else []
        return [warp, lanes, 0, 0, 0, *values]
    found = init_path.NAME.fullmatch(name)
    assert found is not None
    return [warp, LANES * (4 if found[2] == "shared" else 8), 0, 0, 0]


def rooms_of_helper(function: Function) -> list[int]:
    """The same for code that is made for an instruction: how far its constant offsets reach behind each parameter.

    A parameter may also be where in the warp, the first one, something lies.
    """
    reach = {name: (name, 0) for type_, name in function.parameters if type_ == "ptr"}
    rooms = dict.fromkeys(reach, 0)
    places = {name for type_, name in function.parameters if type_ == "i64"}
    for one in function.code:
        operands = split(one.text.split(" ", 1)[1]) if " " in one.text else []
        if one.opcode == "getelementptr":
            base, index = typed(operands[1])[1], typed(operands[2])[1]
            if base == function.parameters[0][1] and operands[0].endswith("i8") and index in places:
                reach[one.result] = (index, 0)
                rooms.setdefault(index, 0)
            elif base in reach and index.isdecimal():
                scale = bytes_of(operands[0].split(" ")[-1])
                reach[one.result] = (reach[base][0], reach[base][1] + scale * int(index))
            elif base in reach and operands[0].split(" ")[-1] != "i8":
                rooms[reach[base][0]] = max(rooms[reach[base][0]], LANES * bytes_of(operands[0].split(" ")[-1]))
        if one.opcode == "load" and typed(operands[1])[1] in reach:
            root, at = reach[typed(operands[1])[1]]
            rooms[root] = max(rooms[root], at + bytes_of(operands[0]))
        if one.opcode == "store" and typed(operands[1])[1] in reach:
            root, at = reach[typed(operands[1])[1]]
            rooms[root] = max(rooms[root], at + bytes_of(typed(operands[0])[0]))
    return [rooms.get(name, 0) for _, name in function.parameters]
