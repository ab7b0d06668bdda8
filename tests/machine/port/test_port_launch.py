"""Launches that are judged once: what they heed of options, and of those who come to watch later."""

from __future__ import annotations

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.machine import LaunchError, LaunchOptions
from ptxloom.machine.port.launch import Prepared, watching

RACE = """.version 9.0 .target sm_90 .entry k(.param .u64 p) { .shared .b32 s; .reg .b32 %t; .reg .b64 %a;
mov.u32 %t, %tid.x; st.shared.u32 [s], %t; ld.param.u64 %a, [p]; st.global.u32 [%a], 7; ret; }"""
SURFACE = """.version 9.0 .target sm_90 .entry k(.param .u64 p) { .reg .b64 %a; .reg .b32 %r;
ld.param.u64 %a, [p]; suld.b.1d.b32.trap {%r}, [%a, {COORDINATE}]; ret; }"""


def prepared(text: str = RACE, options: LaunchOptions | None = None) -> tuple[Prepared, bytes]:
    device = pl.Device("sm_90")
    place = device.alloc(64)
    return Prepared(device.kernel(text), 1, 64, device, options or {}), place.address.to_bytes(8, "little")


def test_those_who_watch_later_are_heeded_and_those_who_left_are_not() -> None:
    ready, params = prepared()
    assert not ready.launch(params).hazards
    told: list[str] = []
    with watching(("racecheck",), lambda name, _: told.append(name), provenance=True):
        watched = ready.launch(params)
    assert {one.tool for one in watched.hazards} == {"racecheck"}
    assert watched.provenance is not None
    assert told == ["k"]
    after = ready.launch(params)
    assert not after.hazards
    assert after.provenance is None


def test_a_profile_and_provenance_are_options() -> None:
    ready, params = prepared(options={"profile": True, "provenance": True})
    result = ready.launch(params)
    assert result.profile is not None
    assert result.provenance is not None


def test_an_option_that_would_be_passed_over_is_refused() -> None:
    with pytest.raises(pl.UsageError, match=r"options is 'timeout'; it must be any of cluster, heap_bytes"):
        prepared(options={"timeout": 1.0})


def test_more_launches_by_kernels_than_can_wait_count_as_the_most() -> None:
    device = pl.Device("sm_90")
    Prepared(device.kernel(RACE), 1, 64, device, pending_launches=(1 << 64) - 1)
    with pytest.raises(pl.UsageError, match="pending_launches"):
        Prepared(device.kernel(RACE), 1, 64, device, pending_launches=-1)


@pytest.mark.parametrize(("coordinate", "fault"), [("3", "misaligned"), ("4096", "illegal-surface-access")])
def test_the_fault_of_a_launch_is_what_hardware_reports(coordinate: str, fault: str) -> None:
    shown = pl.surface(np.zeros(16, np.uint32), "1d")
    kernel = pl.kernel(pl.parse(SURFACE.replace("COORDINATE", coordinate)))
    with pytest.raises(LaunchError) as ended:
        kernel.launch(1, 32, [shown])
    assert ended.value.hazards[0].kind == "illegal-surface-access"
    assert ended.value.fault == fault


def test_a_kernel_that_no_hazard_ended_has_no_fault() -> None:
    assert LaunchError("the time is up").fault == ""
