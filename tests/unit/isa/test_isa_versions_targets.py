from __future__ import annotations

import pytest

from ptxloom.diagnostics import UsageError
from ptxloom.isa.target import Target, TargetRange, targets
from ptxloom.isa.version import NEWEST, PtxVersion, versions

# A target's own minimum version, restated on its own.
SINCE = """75:6.3 80:7.0 86:7.1 87:7.4 89:7.8 90:7.8 90a:8.0 88:9.0 100:8.6 100a:8.6 101:8.6 101a:8.6 120:8.7 120a:8.7
100f:8.8 101f:8.8 103:8.8 103a:8.8 103f:8.8 120f:8.8 121:8.8 121a:8.8 121f:8.8 110:9.0 110a:9.0 110f:9.0
107:9.4 107a:9.4 107f:9.4"""

# Which f targets' modules ptxas 13.5 assembles for which targets (`ptxas -arch`).
FAMILIES = {
    "100f": "100a 100f 103a 103f 107a 107f",
    "101f": "110a 110f",
    "103f": "103a 103f 107a 107f",
    "107f": "107a 107f",
    "110f": "110a 110f",
    "120f": "120a 120f 121a 121f",
    "121f": "121a 121f",
}


@pytest.mark.parametrize("pair", SINCE.split())
def test_minimum_version_of_a_target(pair: str) -> None:
    name, version = pair.split(":")
    assert Target.parse(f"sm_{name}").since == PtxVersion.parse(version)


def test_versions_are_ordered_and_the_missing_ones_are_missing() -> None:
    every = versions()
    assert list(every) == sorted(set(every))
    assert every[0] == PtxVersion(1, 0)
    assert every[-1] == NEWEST == PtxVersion(9, 5)
    for missing in ("6.6", "7.9", "8.9", "2.4", "10.0"):
        version = PtxVersion.parse(missing)
        assert not version.released
        assert version.beyond_known is (missing == "10.0")
    assert all(version.released and not version.beyond_known for version in every)


@pytest.mark.parametrize("text", ["", "8", "8.", "8.6.1", "v8.6", " 8.6", "-1.0", "99999.0", "8." + "9" * 5000, "٨.٦"])
def test_no_version(text: str) -> None:
    with pytest.raises(UsageError, match="ptx_version"):
        PtxVersion.parse(text)


def test_families_as_ptxas_sees_them() -> None:
    family = [t for t in targets() if t.suffix and t.number in (100, 103, 107, 110, 120, 121)]
    for base, members in FAMILIES.items():
        found = {str(t)[3:] for t in family if t in TargetRange.parse(f"sm_{base}")}
        assert found == set(members.split()), base


def test_ranges() -> None:
    names = ("sm_75", "sm_80", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_120f", "sm_101a", "sm_110a")
    every = [Target.parse(name) for name in names]

    def members(text: str) -> list[str]:
        return [str(t) for t in every if t in TargetRange.parse(text)]

    assert members("sm_75") == list(names)
    assert members("sm_90") == list(names[2:])
    assert members("sm_90a") == ["sm_90a"]
    assert members("sm_110a") == ["sm_101a", "sm_110a"]
    assert members("sm_100+af") == ["sm_100a", "sm_120f", "sm_101a", "sm_110a"]


def test_a_mistyped_target_gets_a_hint() -> None:
    with pytest.raises(UsageError, match="did you mean sm_90a"):
        Target.parse("sm90a")
    with pytest.raises(UsageError, match="target range"):
        TargetRange.parse("sm_100+x")


def test_targets_stay_open_ended() -> None:
    new = Target.parse("sm_150a")
    assert new.since is None
    assert new.beyond_known
    assert not Target.parse("sm_91").beyond_known
    assert new in TargetRange.parse("sm_100+af")
    assert str(new) == "sm_150a"


# Which devices take PTX that was made for a target (CUDA Programming Guide, "Compute Capability"), restated.
TAKEN = {
    "75": "75 80 86 89 90 100 103 110 120 121",
    "89": "89 90 100 103 110 120 121",
    "90": "90 100 103 110 120 121",
    "90a": "90",
    "100": "100 103 110 120 121",
    "100a": "100",
    "100f": "100 103",
    "103f": "103",
    "101a": "110",
    "110f": "110",
    "120f": "120 121",
    "121a": "121",
}


@pytest.mark.parametrize("target", TAKEN)
def test_a_device_takes_what_was_made_for_it_or_its_family(target: str) -> None:
    devices = (75, 80, 86, 89, 90, 100, 103, 110, 120, 121)
    taken = [one for one in devices if Target.parse(f"sm_{target}").runs_on(one)]
    assert taken == [int(one) for one in TAKEN[target].split()]


def test_of_several_the_one_that_knows_most_of_the_device_is_closest() -> None:
    names = ("sm_90", "sm_100a", "sm_100f", "sm_80", "sm_90a", "sm_100")
    ordered = sorted(map(Target.parse, names), key=lambda one: one.closeness)
    assert [str(one) for one in ordered] == ["sm_80", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_100a"]
