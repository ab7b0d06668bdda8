"""What the ISA data says an instruction does at each address is what its row tells all who look on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from machine.semantics.recorded_rows import built
from ptxloom.binding.touches import NAMES, OBJECT, READS, UPDATES, WRITES, touches
from ptxloom.isa import instruction_spec, opcodes
from ptxloom.isa.prove import is_place
from ptxloom.machine import semantics
from ptxloom.machine.codegen.access import READ, UPDATE, WRITE, Access
from ptxloom.machine.codegen.builder import Instrument
from ptxloom.syntax import tree
from recorded.ptxas.isa_cases import Case, legal

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

KINDS = {READ: READS, WRITE: WRITES, UPDATE: UPDATES}
WITH_PLACES = [
    opcode for opcode in opcodes() if any(is_place(rule) for rule in instruction_spec(opcode).operands.values())
]
# What a run-time function alone tells of: where in memory it is, nothing before it knows.
BY_THE_RUNTIME = {"tex", "tld4", "tcgen05"}


class Recorder(Instrument):
    """Keeps what it receives."""

    def __init__(self) -> None:
        self.accesses: list[Access] = []

    def access(self, b: Builder, access: Access) -> None:
        """Keep it."""
        del b
        self.accesses.append(access)


def told(case: Case) -> tuple[Op, list[Access]] | None:
    """What the row of an instruction tells; None if the machine does not run it."""
    recorder = Recorder()
    found = built(case, recorder)
    return None if found is None else (found[0], recorder.accesses)


def place_of(op: Op, access: Access) -> int:
    """The operand by which an access is addressed."""
    if access.is_mbarrier:
        return next(touch.place for touch in touches(op.node) if touch.does == OBJECT)
    if access.operand is not None:
        return access.operand
    return next(n for n, one in enumerate(op.operands) if isinstance(one, (tree.Address, tree.Indexed)))


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("opcode", WITH_PLACES)
def test_rows_touch_what_the_data_says(opcode: str) -> None:
    ran = 0
    for case in legal(opcode, 3):
        found = told(case)
        if found is None:
            continue
        op, accesses = found
        ran += 1
        expected = {touch.place: touch.does for touch in touches(op.node)}
        done = {(place_of(op, one), OBJECT if one.is_mbarrier else KINDS[one.kind]) for one in accesses}
        assert all(expected[place] == does for place, does in done), (case.text, done)
        silent = {place for place, does in expected.items() if does not in {NAMES, OBJECT}} - {p for p, _ in done}
        assert not silent or opcode in BY_THE_RUNTIME or is_told_elsewhere(op, silent), (case.text, silent)
    assert ran or semantics.ROWS.get(opcode) is None or opcode == "fabric"


def is_told_elsewhere(op: Op, silent: set[int]) -> bool:
    """Parameters of the entry are read once for all lanes; what `.ignore_oob` may find outside is not read."""
    return op.has("param", "param::entry") or (op.has("ignore_oob") and silent == {1})


@pytest.mark.parametrize("opcode", [opcode for opcode in opcodes() if opcode not in WITH_PLACES])
def test_what_names_no_place_touches_no_memory(opcode: str) -> None:
    for case in legal(opcode, 1):
        found = told(case) if semantics.ROWS.get(opcode) else None
        assert found is None or not found[1], case.text


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("rest", ["", ", 2", ", b32r1"])
def test_a_copy_of_a_few_bytes_touches_as_many_on_both_sides(size: int, rest: str) -> None:
    found = told(Case("cp", (), f"cp.async.ca.shared.global [b32r0], [b64r1], {size}{rest};", 0))
    assert found is not None
    assert [(one.kind, one.bytes, one.is_issued) for one in found[1]] == [(WRITE, size, True), (READ, size, True)]


def test_a_request_for_a_cluster_is_made_for_the_lane_that_asks() -> None:
    text = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [b32r0], [b32r1];"
    found = told(Case("clusterlaunchcontrol", (), text, 0))
    assert found is not None
    assert [one.is_issued for one in found[1] if one.kind == WRITE] == [True]


def test_an_allocation_writes_one_address() -> None:
    found = told(Case("tcgen05", (), "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [b32r0], 64;", 0))
    assert found is not None
    assert [(one.kind, one.bits, one.parts) for one in found[1]] == [(WRITE, 32, 1)]
