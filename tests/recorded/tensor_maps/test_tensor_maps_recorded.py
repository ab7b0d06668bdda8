"""The driver's encoders on an H200, 6,000 parameter sets: the same bytes, or refused alike."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from ptxloom.descriptors import DATA_TYPES, TensorMap, encode_im2col, encode_im2col_wide, encode_tiled
from ptxloom.descriptors.tensor_types import INTERLEAVES, L2_PROMOTIONS, OOB_FILLS, SWIZZLES
from ptxloom.diagnostics import UsageError
from recorded.tensor_maps.tensor_map_cases import CASES, RECORDING, RECORDING_WIDE, WIDE_CASES

if TYPE_CHECKING:
    from recorded.tensor_maps.tensor_map_cases import Case


@pytest.fixture(scope="module")
def recorded() -> list[Case]:
    recording: Any = json.loads(gzip.decompress(RECORDING.read_bytes()))
    assert (recording["gpu"], recording["driver"]) == ("NVIDIA H200", 13000)
    return recording["maps"]


def ours(case: Case) -> TensorMap:
    shared: dict[str, Any] = {
        "data_type": list(DATA_TYPES)[case["kind"]],
        "global_address": case["address"],
        "global_dim": case["dim"],
        "global_strides": case["strides"],
        "element_strides": case["steps"],
        "interleave": list(INTERLEAVES)[case["interleave"]],
        "swizzle": SWIZZLES[case["swizzle"]],
        "architecture": 90,
        "l2_promotion": L2_PROMOTIONS[case["l2"]],
        "oob_fill": OOB_FILLS[case["fill"]],
    }
    if "box" in case:
        return encode_tiled(**shared, box_dim=case["box"])
    if "mode" in case:
        return encode_im2col_wide(
            **shared,
            pixel_box_lower_corner_width=case["lower"],
            pixel_box_upper_corner_width=case["upper"],
            channels_per_pixel=case["channels"],
            pixels_per_column=case["pixels"],
        )
    return encode_im2col(
        **shared,
        pixel_box_lower_corner=case["lower"],
        pixel_box_upper_corner=case["upper"],
        channels_per_pixel=case["channels"],
        pixels_per_column=case["pixels"],
    )


def test_every_map_is_the_drivers_byte_for_byte_and_read_again(recorded: list[Case]) -> None:
    made = [case for case in recorded if case["status"] == 0]
    assert len(made) == 2862
    for case in made:
        found = ours(case)
        assert found.to_bytes().hex() == case["bytes"], case
        assert TensorMap.from_bytes(bytes.fromhex(case["bytes"])) == found


def test_what_the_driver_refuses_is_refused_in_a_sentence(recorded: list[Case]) -> None:
    refused = [case for case in recorded if case["status"]]
    assert len(refused) == CASES - 2862
    for case in refused:
        with pytest.raises(UsageError, match="it must be"):
            ours(case)


def test_maps_along_the_width_are_the_drivers_and_hold_no_mode() -> None:
    """The function is documented for sm_100 alone; the driver of an H200 answers, too."""
    recording: Any = json.loads(gzip.decompress(RECORDING_WIDE.read_bytes()))
    assert (recording["gpu"], recording["driver"], len(recording["maps"])) == ("NVIDIA H200", 13000, WIDE_CASES)
    made = [case for case in recording["maps"] if case["status"] == 0]
    assert {case["mode"] for case in made} == {0, 1}
    assert [ours(case).to_bytes().hex() for case in made] == [case["bytes"] for case in made]
    for case in recording["maps"]:
        if case["status"] and case["mode"] < 2:  # there are two modes
            with pytest.raises(UsageError, match="it must be"):
                ours(case)
