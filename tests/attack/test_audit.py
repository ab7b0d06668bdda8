"""The rule of the sandbox on the code of kernels, and of what they access memory by; the judges see breaches."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from attack.access_audit import Audit, called
from attack.edges import kernel_of, statements
from attack.ir_text import Function, functions, thawed
from attack.kernel_audit import broken_rules
from attack.kernel_loops import endless
from kernels.catalog import cases
from ptxloom.machine import semantics
from ptxloom.machine.compile.hot_variant import hot_variant
from ptxloom.machine.compile.variant import translate
from ptxloom.machine.hot.refusal import NotHot
from ptxloom.machine.instruments.wanted import POISON, PROFILE, PROVENANCE, keys_of
from ptxloom.machine.native.closure import ATTRIBUTES
from ptxloom.machine.plan.planner import plan
from ptxloom.machine.runtime import library
from ptxloom.machine.runtime.initcheck import fast_path as init_path
from ptxloom.machine.runtime.memory import access, quick_access
from ptxloom.machine.runtime.racecheck.fast_path import look as race_path
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from kernels.case import KernelCase
    from ptxloom.machine.compile.variant import Variant

TOOLS: Final = (
    (),
    ("memcheck", "synccheck"),
    ("racecheck",),
    ("racecheck", "racecheck:global"),
    ("initcheck", "initcheck:global"),
    ("initcheck", "initcheck:global", POISON),
    (PROFILE,),
    ("trace",),
    (PROVENANCE,),
)
PAIRS: Final = [(case, architecture) for case in cases() for architecture in case.architectures]


def variants_of(ptx: str, name: str, tools: tuple[str, ...]) -> list[tuple[Variant, tuple[int, ...]]]:
    """A kernel's code for whole warps and for parts of warps, and what of it is traced."""
    program = plan(parse(ptx), name, semantics.BlockCuts())
    sites = tuple(range(len(program.ops))) if "trace" in tools else ()
    checks = frozenset(tools) - {"trace"} | keys_of(sites)
    ways = (False,) if POISON in tools else (True, False)
    return [(translate(program, whole=whole, checks=checks), sites) for whole in ways]


@cache
def attacked(tools: tuple[str, ...]) -> list[tuple[Variant, tuple[int, ...]]]:
    """The code of every instruction that has an address."""
    return variants_of(kernel_of(statements(), narrow=False, guard=True), "k", tools)


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("tools", TOOLS)
def test_the_code_of_every_instruction_with_an_address_keeps_the_rule(tools: tuple[str, ...]) -> None:
    for variant, sites in attacked(tools):
        assert broken_rules(variant, sites) == []


@pytest.mark.sample(every=60)
@pytest.mark.parametrize(("case", "architecture"), PAIRS, ids=[f"{c.name}-{a}" for c, a in PAIRS])
def test_the_code_of_recorded_kernels_keeps_the_rule(case: KernelCase, architecture: str) -> None:
    number = PAIRS.index((case, architecture))
    for tools in (TOOLS[number % len(TOOLS)], TOOLS[(number + 3) % len(TOOLS)]):
        for variant, sites in variants_of(case.ptx(architecture), case.kernel, tools):
            assert broken_rules(variant, sites) == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "%f1 = load i64, ptr %w, align 8\n%f2 = inttoptr i64 %f1 to ptr\nstore i32 0, ptr %f2",
            "a number as a pointer",
        ),
        ("%f1 = load i64, ptr %w, align 8\n%f2 = getelementptr i8, ptr %w, i64 %f1\nstore i32 0, ptr %f2", "moves"),
        ("%f2 = getelementptr i8, ptr %w, i64 99999999\nstore i32 0, ptr %f2", "of the warp"),
        ("%f2 = getelementptr i8, ptr %w, i64 -8\nstore i32 0, ptr %f2", "of the warp"),
        (
            "%f1 = load i32, ptr %w, align 4\n%f2 = getelementptr i8, ptr %w, i64 2060\nstore i32 %f1, ptr %f2",
            "in the warp",
        ),
        ("%f1 = load ptr, ptr %w, align 8\nstore i32 0, ptr %f1", "not one for a kernel"),
        ("call void @llvm.memset.p0.i64(ptr %w, i8 0, i64 99, i1 false)", "an intrinsic"),
        ("call void @free(ptr %w)", "nothing that is known"),
        ("%f1 = load i64, ptr %w, align 8\nindirectbr ptr null, [label %dispatch]\nnext:", "does not know"),
    ],
)
def test_the_judge_of_kernels_sees_code_that_breaks_the_rule(line: str, why: str) -> None:
    variant, _ = attacked(())[0]
    head = "declare void @free(ptr)\n" if "@free" in line else ""
    ir = head + variant.ir.replace("br label %dispatch\n", f"{line}\nbr label %dispatch\n", 1)  # behind the rooms
    broken = broken_rules(replace(variant, ir=ir))
    assert broken
    assert any(why in one for one in broken), broken


# -------------------------------------------------------------------------------------- what kernels access memory by

ACCESSES: Final = [
    access.access_name(verb, window, bits, parts)
    for verb in ("load", "store")
    for window in ("global", "shared", "local")
    for bits in (8, 16, 32, 64)
    for parts in (1, 2, 4)
]
LOOKS: Final = [
    *(
        race_path.race_name(v, w, 32, n)
        for v in ("read", "write", "touch")
        for w in ("shared", "wide", "generic")
        for n in (1, 4)
    ),
    *(
        init_path.init_name(verb, window, size)
        for verb in ("read", "write")
        for window in ("shared", "wide")
        for size in (1, 4, 16)
    ),
]


@pytest.mark.sample(every=60)
@pytest.mark.parametrize(("case", "architecture"), PAIRS, ids=[f"{c.name}-{a}" for c, a in PAIRS])
def test_hot_code_of_recorded_kernels_keeps_the_rule(case: KernelCase, architecture: str) -> None:
    program = plan(parse(case.ptx(architecture)), case.kernel, semantics.BlockCuts())
    for checks in (frozenset[str](), frozenset((PROFILE,))):
        try:
            variant = hot_variant(program, checks)
        except NotHot:
            return
        plain = thawed(variant.ir)
        assert broken_rules(replace(variant, ir=plain)) == []
        assert endless(plain) == []


def made(name: str) -> tuple[Function, ...]:
    """The functions of an access of a warp, or of what looks at one."""
    return functions(library.made(name)[0] + ATTRIBUTES)


def inlined(name: str) -> tuple[Function, ...]:
    """What of an access is inlined into hot code."""
    return functions(thawed(quick_access.quick_access(name)[1]) + ATTRIBUTES)


def judged(code: tuple[Function, ...], values: int) -> list[str]:
    """What breaks the rule where addresses, offset and mask are the kernel's, and so are the values from a place on."""
    forged = {(f.name, n) for f in code for n in (2, 3)}
    data = {(f.name, n) for f in code for n in (1, *range(values, len(f.parameters)))}
    return Audit(code, forged, data).run()


def unbound(code: tuple[Function, ...]) -> tuple[Function, ...]:
    """Functions without their bounds."""
    always = "icmp eq i32 1, 1"
    return tuple(
        replace(f, code=tuple(replace(o, text=always) if o.text.startswith("icmp u") else o for o in f.code))
        for f in code
    )


def test_what_hot_code_does_in_line_goes_through_checked_addresses_only() -> None:
    for name in filter(quick_access.has_quick, ACCESSES):
        assert judged(inlined(name), 6) == [], name
        assert judged(unbound(inlined(name)), 6), name


def test_rows_of_global_memory_bring_the_next_ones_near_in_both_tiers() -> None:
    for name in ACCESSES:
        tiers = [made(name), *([inlined(name)] if quick_access.has_quick(name) else [])]
        fetched = [any(called(one).startswith("llvm.prefetch") for f in code for one in f.code) for code in tiers]
        assert set(fetched) == {name.startswith("ptxloom_load_global")}, name


@pytest.mark.parametrize(("names", "values"), [(ACCESSES, 6), (LOOKS, 5)])
def test_accesses_of_a_warp_go_through_checked_addresses_only(names: list[str], values: int) -> None:
    for name in names:
        assert judged(made(name), values) == [], name


@pytest.mark.parametrize(("names", "values"), [(ACCESSES, 6), (LOOKS, 5)])
def test_a_bound_that_is_missing_in_an_access_is_seen(names: list[str], values: int) -> None:
    for name in names:
        assert judged(unbound(made(name)), values), name
