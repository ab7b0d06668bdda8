"""State spaces: one row each, and nothing about them elsewhere."""

from __future__ import annotations

from ptxloom.isa.load import instruction_spec, opcodes
from ptxloom.isa.spaces import MEMORY, QUALIFIERS, STATE_SPACES
from ptxloom.machine.runtime import state


def test_numbers_and_windows_tell_spaces_apart() -> None:
    numbers = [space.number for space in MEMORY.values()]
    assert sorted(numbers) == list(range(state.GENERIC + 1, len(numbers) + 1))
    windows = [space.window for space in STATE_SPACES if space.window]
    assert len(set(windows)) == len(windows)
    assert all(window % state.WINDOW_BYTES == 0 and window < state.CODE_WINDOW for window in windows)


def test_every_space_that_an_instruction_may_name_is_known() -> None:
    for opcode in ("ld", "st", "atom", "red", "cvta", "isspacep", "prefetch"):
        assert opcode in opcodes()
        for line in instruction_spec(opcode).lines:
            for slot in line.slots:
                if slot.name in {"ss", "space"}:
                    assert set(slot.values) <= QUALIFIERS.keys(), (opcode, slot.values)
