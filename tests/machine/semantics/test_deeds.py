"""What `meaning.deeds` says of instructions is what their rows do: the run-time functions that they call tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from machine.semantics.recorded_rows import built
from ptxloom.binding.touches import Touch
from ptxloom.isa import opcodes
from ptxloom.machine import semantics
from ptxloom.meaning import table
from ptxloom.meaning.deeds import deeds_of, effects_of
from ptxloom.meaning.effects import (
    Arrive,
    Branch,
    Call,
    Commit,
    Count,
    Exchange,
    Fault,
    Fence,
    Issue,
    Leave,
    Meet,
    Multiply,
    Remap,
    Reserve,
    Wait,
)
from ptxloom.syntax import parse, tree
from recorded.ptxas.isa_cases import legal

if TYPE_CHECKING:
    from collections.abc import Iterable

ROWS = [opcode for opcode in opcodes() if opcode in semantics.ROWS and opcode not in table.ROWS]

# By run-time function, what an instruction does whose row calls it: at least one of these, if any is named.
REALISED: dict[str, tuple[type, ...]] = {
    "allocate_columns": (Reserve,),
    "deallocate": (Reserve,),
    "relinquish": (Reserve,),
    "barrier_arrive": (Arrive,),
    "barrier_reduce": (Meet,),
    "barrier_wait": (Meet,),
    "barrier_wait_at": (Meet,),
    "barrier_whole": (Meet,),
    "cluster_arrive": (Arrive,),
    "cluster_wait": (Meet,),
    "wait_products": (Meet,),
    "commit_products": (Commit,),
    "allocate": (Reserve,),
    "restore_stack": (Reserve,),
    "enter": (Call,),
    "find_functions": (Call,),
    "give_back": (Leave,),
    "leave": (Leave,),
    "leave_whole": (Leave,),
    "scatter": (Branch, Call),
    "diverge": (Branch, Leave),
    "fault": (Fault,),
    "try_cancel": (Issue,),
    "copy_async": (Issue,),
    "copy_bulk": (Issue,),
    "copy_masked": (Issue,),
    "copy_within": (Issue,),
    "load_tensor": (Issue,),
    "store_tensor": (Issue,),
    "copy_rows": (Issue,),
    "shift_rows": (Issue,),
    "replace_field": (Remap,),
    "copy_map": (Fence,),
    "reduce": (Exchange,),
    "match_any": (Exchange,),
    "match_all": (Exchange,),
    "shuffle": (Exchange,),
    "mbarrier": (Count, Commit, Issue),
    "mbarriers_of": (Count, Commit),
    "multiply": (Multiply,),
    "move_surface": (Touch,),
    "reach_surface": (Touch,),
    "look_up": (Touch,),
    "move_lanes": (Touch,),
    "place_lanes_of": (Touch,),
}
# What rows do that no run-time function shows: nothing is left of it in a machine that runs lanes in order.
WITHOUT_A_FUNCTION = (Fence, Wait, Exchange, Multiply, Branch, Fault, Issue, Commit, Meet, Reserve)


def kinds(effects: Iterable[object]) -> set[type]:
    return {type(effect) for effect in effects}


def instruction(text: str) -> tree.Instruction:
    [one] = parse(text).statements
    assert isinstance(one, tree.Instruction)
    return one


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("opcode", ROWS)
def test_rows_do_what_is_said_of_them(opcode: str) -> None:
    for case in legal(opcode, 3):
        found = built(case)
        if found is None:
            continue
        op, builder = found
        said = kinds(effects_of(op.node))
        for native in builder.natives.values():
            name = native.__name__
            wanted = REALISED.get(name, ())
            assert not wanted or said.intersection(wanted), (case.text, name)
        done = {kind for native in builder.natives.values() for kind in REALISED.get(native.__name__, ())}
        unseen = said - done - {Touch, *WITHOUT_A_FUNCTION}
        assert not unseen, (case.text, unseen)


def test_what_has_no_effect_has_a_row_of_words_or_a_reason() -> None:
    """A row outside of `meaning` is there for an effect, or for what the launch alone knows."""
    known = {"activemask", "createpolicy", "istypep", "stacksave", "pmevent", "clusterlaunchcontrol", "mbarrier"}
    silent = {op for op in ROWS if op not in known for case in legal(op, 3) if not effects_of(instruction(case.text))}
    assert silent <= {"tcgen05"}, silent


def test_rows_of_words_have_no_effects() -> None:
    """What its results follow from alone does nothing else."""
    assert not [op for op in table.ROWS for case in legal(op, 1) if deeds_of(instruction(case.text))]
