"""The driver and Triton's back end play one device: what both tell a program is the same."""

import pytest

from ptxloom.cuda_driver.facts import attributes
from ptxloom.isa.target import targets
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
