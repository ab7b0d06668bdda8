"""The driver and Triton's back end play one device: what both tell a program is the same."""

import pytest

from ptxloom.cuda_driver.facts import attributes
from ptxloom.diagnostics import UsageError
from ptxloom.isa.target import targets
from ptxloom.machine.launch.options import multiprocessors
from ptxloom.triton.properties import properties


@pytest.mark.parametrize(
    "target", [target for target in targets() if not target.suffix and target.number >= 75], ids=str
)
def test_every_device_has_one_size(target: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXLOOM_DEVICE", str(target))
    told, asked = properties(), attributes(int(str(target).removeprefix("sm_")))
    assert told["max_shared_mem"] == asked["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"]
    assert told["multiprocessor_count"] == asked["MULTIPROCESSOR_COUNT"]
    assert told["max_num_regs"] == asked["MAX_REGISTERS_PER_BLOCK"]
    assert told["warpSize"] == asked["WARP_SIZE"]


def test_multiprocessors_are_as_many_as_the_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PTXLOOM_MULTIPROCESSORS", raising=False)
    assert multiprocessors() == 16
    monkeypatch.setenv("PTXLOOM_MULTIPROCESSORS", "132")
    assert (properties()["multiprocessor_count"], attributes(90)["MULTIPROCESSOR_COUNT"]) == (132, 132)


@pytest.mark.parametrize("text", ["0", "1025", "four", "-1", "1" * 5000, "\u0661"])
def test_a_number_of_multiprocessors_that_is_wrong_is_one_sentence(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXLOOM_MULTIPROCESSORS", text)
    with pytest.raises(UsageError, match=r"PTXLOOM_MULTIPROCESSORS.*1 to 1,024"):
        multiprocessors()
