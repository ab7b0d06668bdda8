"""Factors through descriptors: fields worked out from memory, lines, and repairs that mend the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from diagnosis.planted import hopper_bugs
from diagnosis.planted.diagnosing import named
from diagnosis.planted.kernels import PAIRED
from diagnosis.planted.launching import launch
from diagnosis.planted.model import Edit
from diagnosis.test_planted_bugs import NOT_NAMED_FIRST
from ptxloom.diagnosis import diagnose
from ptxloom.machine import LaunchError, kernel

if TYPE_CHECKING:
    from diagnosis.planted.model import PlantedBug

BY_NAME: Final = {bug.id: bug for bug in hopper_bugs.BUGS}
MENDED: Final = tuple(bug for bug in hopper_bugs.BUGS if bug.cause == "descriptor" and bug.name != "both-strides-512")


def test_there_are_twenty_bugs_and_more() -> None:
    assert len(hopper_bugs.BUGS) >= 20


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("bug", hopper_bugs.BUGS, ids=lambda bug: bug.id)
def test_the_laws_alone_name_the_cause_and_the_line(bug: PlantedBug) -> None:
    """Nothing declares what is computed."""
    record = launch(bug.kernel, bug.text, (bug.make or bug.kernel.make)(), provenance=True).provenance
    assert record is not None
    found = diagnose(record)
    assert (named(bug, found) is not None) == (bug.id in NOT_NAMED_FIRST)
    assert [one.cause for one in found if one.certain and one.cause != bug.cause] == []


@pytest.mark.sample(every=5)
@pytest.mark.parametrize("bug", MENDED, ids=lambda bug: bug.id)
def test_the_repair_of_a_descriptor_mends_the_result(bug: PlantedBug) -> None:
    arguments = (bug.make or bug.kernel.make)()
    record = launch(bug.kernel, bug.text, arguments, provenance=True).provenance
    assert record is not None
    first = diagnose(record, bug.kernel.says, names=dict(enumerate(bug.kernel.names)))[0]
    assert first.repair is not None
    again = bug.kernel.make()
    kernel(first.repair.apply(), "k").launch(bug.kernel.grid, bug.kernel.block, again, bug.kernel.shared_bytes)
    found = again[bug.kernel.output]
    assert isinstance(found, np.ndarray)
    assert np.array_equal(found, bug.kernel.reference(*again))


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("hopper-f16/a-stride-512", "the stride dimension byte offset is 512, and should be 1024"),
        ("hopper-f16-plain/a-leading-128", "the leading dimension byte offset is 128, and should be 1024"),
        ("hopper-f16/b-mode-none", "the swizzling mode is none, and should be 128B"),
        ("hopper-f16/b-base-offset", "the base offset is 1, and should be 0"),
        ("hopper-f16/b-starts-late", "the start address is 1024 bytes too high"),
    ],
)
def test_what_is_wrong_is_said_in_words(name: str, detail: str) -> None:
    bug = BY_NAME[name]
    record = launch(bug.kernel, bug.text, bug.kernel.make(), provenance=True).provenance
    assert record is not None
    assert diagnose(record)[0].detail == detail


def test_products_behind_many_that_never_run_are_asked_too() -> None:
    """Compilers unroll a loop, and leave the copy that runs to the end."""
    bug = BY_NAME["hopper-f16/a-stride-512"]
    product = next(line for line in bug.text.split("\n") if line.startswith("wgmma.mma_async"))
    skipped = "\n".join(["mov.b64 d12, 0;", "mov.b64 d13, 0;", "bra.uni begun;", *[product] * 20, "begun:", ""])
    text = bug.text.replace("mov.u32 r7, 0;\n", f"{skipped}mov.u32 r7, 0;\n", 1)
    record = launch(bug.kernel, text, bug.kernel.make(), provenance=True).provenance
    assert record is not None
    (found,) = diagnose(record)
    assert (found.cause, found.certain) == ("descriptor", True)


def test_a_wrong_phase_of_a_ring_of_a_pair_is_told_where_it_ends_the_kernel() -> None:
    """The product runs ahead of the copies, and frees stages that are filled for the second time."""
    text = Edit("first-phase", "0;", "1;").apply(PAIRED.text)
    with pytest.raises(LaunchError, match="mbarrier-overrun") as told:
        launch(PAIRED, text, PAIRED.make(), provenance=True)
    (line,) = PAIRED.lines("bytes")
    assert f"line {line}:" in str(told.value)
