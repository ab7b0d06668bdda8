"""Hostile programs, a few in every run; from the tests' folder `python -m attack.siege --seconds 3600` runs on."""

from __future__ import annotations

import ctypes

import pytest

from attack.hostile import hostile, pool
from attack.siege import LATE, siege
from attack.zones import Zones
from ptxloom.machine.instruments.wanted import lets_be_hot

SWEEPS = [pytest.param(start, 300, marks=pytest.mark.sweep) for start in (0, 1_000_000)]


@pytest.mark.parametrize(("start", "cases"), [(0, 24), *SWEEPS])
def test_no_hostile_program_gets_through(start: int, cases: int) -> None:
    found = siege(1200.0, start, cases, keep=True)
    assert not found.failures
    judged = found.number - start - found.outcomes.get(LATE, 0)  # on a busy machine fewer end within their time
    assert found.outcomes.get("ran", 0) >= judged // 8, "most programs end too soon to attack anything"
    assert found.number > start


def test_zones_that_are_left_are_given_back_while_others_are_made_and_looked_at_first() -> None:
    zones = Zones()
    for number in range(3000):
        zone = zones.make(64, 64, f"zone {number}")
        if number == 100:
            ctypes.memset(zone.address - 1, 0, 1)
        zones.left.append(zone)
        assert len(zones.live) < 1100, "a process is allowed so many mappings"
    assert zones.check() == ["zone 100"]
    assert not zones.live
    assert not zones.check()


def test_programs_of_every_kind_are_drawn() -> None:
    statements = pool()
    cases = [hostile(seed, statements) for seed in range(600)]
    assert {case.threads for case in cases} == set(range(1, 9))
    hot = [case for case in cases if case.tier == "hot" and case.block >= 32 and lets_be_hot(frozenset(case.checks))]
    assert len(hot) >= 20
    many = [case for case in cases if case.threads > 1 and case.grid > 1]
    for words in (
        "bulk.tensor",
        "tensormap.",
        "tex.",
        "tld4.",
        "suld.",
        "sust.",
        "sured.",
        "malloc,",
        "free,",
        "tcgen05.alloc",
        "tcgen05.mma",
    ):
        drawn = [case for case in many if words in case.text]
        assert len(drawn) >= 6, f"{words} in {len(drawn)} of {len(many)} programs on several threads"
    followed = [case for case in cases if case.provenance]
    for words in ("alloc", "ld.", "st.", "cp.", "shift.", "mma.", "mma.sp.", "cta_group::2"):
        drawn = [case for case in followed if f"tcgen05.{words}" in case.text or words == "cta_group::2" in case.text]
        assert len(drawn) >= 6, f"{words} in {len(drawn)} of {len(followed)} programs that are followed"
    launching = [case for case in cases if "launch" in case.text.lower() and "child" in case.text]
    assert len(launching) >= 40
    for words in (", 1025;", ", -1; st.b64", "cudaLaunchDevice,", "LaunchDeviceV2,", "mov.b64 %w1, 3;", "%w0, k;"):
        assert sum(words in case.text for case in launching) >= 3, words
    assert {case.heap_bytes for case in many if "malloc," in case.text} >= {None, 0, 1 << 16}
