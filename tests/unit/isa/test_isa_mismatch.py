"""Why a spelling has no form: the mistakes that people make, each blamed on what they would change."""

from __future__ import annotations

import pytest

from ptxloom.isa.resolution.phrase import reasons

WORDS = {
    "cvt.f16.f32": "`cvt` requires `.rn`, `.rz`, `.rm` or `.rp`",
    "cvt.f32.f64": "`cvt` requires `.rn`, `.rz`, `.rm` or `.rp`",
    "cvt.s32.f32": "`cvt` requires `.rni`, `.rzi`, `.rmi` or `.rpi`",
    "cvt.rn.s32.f32": "`.rn` does not go with the other qualifiers of this `cvt`; "
    "here it takes `.rni`, `.rzi`, `.rmi` or `.rpi`",
    "cvt.rn.f32.f16": "`.rn` does not go with the other qualifiers of this `cvt`; leave it out",
    "cvt.rn.u32.s32": "`.rn` does not go with the other qualifiers of this `cvt`; leave it out",
    "mul.lo.f32": "`mul` with `.f32` takes no `.lo`",
    "add.rn.s32": "`add` with `.s32` takes no `.rn`",
    "atom.inc.s32": "`atom` with `.inc` takes no `.s32`; it takes `.u32`",
    "cp.async.cg.global.shared": "`.shared` must precede `.global` in `cp`",
    "cp.async.wait": "`cp` takes no `.wait`; did you mean `.wait_group` or `.wait_all`?",
    "mbarrier.wait.shared.b64": "`mbarrier` takes no `.wait`; did you mean `.test_wait` or `.try_wait`?",
    "tcgen05.wait": "`tcgen05` takes no `.wait`; did you mean `.wait::ld` or `.wait::st`?",
    "membar.gpu": "`membar` takes no `.gpu`; it takes `.cta`, `.gl` or `.sys`",
    "ld.global.v3.f32": "`ld` takes no `.v3`; it takes `.v2`, `.v4` or `.v8`",
    "prefetch.global.L3": "`prefetch` takes no `.L3`; it takes `.L1` or `.L2`",
    "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16": "`wgmma` takes no `.m64n12k16`; it takes `.m64n8k16`, "
    "`.m64n16k16`, `.m64n24k16`, `.m64n32k16` or one of 28 others",
}


@pytest.mark.parametrize("spelling", WORDS)
def test_a_mistake_is_named_as_people_make_it(spelling: str) -> None:
    opcode, *qualifiers = spelling.split(".")
    assert reasons(opcode, tuple(qualifiers)) == WORDS[spelling]
