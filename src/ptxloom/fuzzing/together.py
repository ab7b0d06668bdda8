"""Steps of all threads of a CTA or a cluster: each has barriers of its own, so the order of threads does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.fuzzing.banks import BLOCK, CELL_BYTES, EXCHANGE, OBJECTS
from ptxloom.fuzzing.engines import boxed, looked_up, tensor_product
from ptxloom.fuzzing.nodes import Step
from ptxloom.fuzzing.statements import register

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from ptxloom.fuzzing.vocabulary import Vocabulary

PLACES: Final = (
    ".reg .b64 %a, %o; .reg .b32 %m; .reg .pred %z; mov.u64 %o, area; setp.eq.u32 %z, %t, 0;"
    f" mad.wide.u32 %a, %t, {CELL_BYTES}, %o;"
)
_WAIT: Final = "bar.sync 0;"


def _other(chance: Random) -> str:
    """Set `%a` to the place of another thread."""
    return f"xor.b32 %m, %t, {chance.randrange(1, BLOCK)}; mad.wide.u32 %a, %m, {CELL_BYTES}, %o;"


def _exchange(chance: Random) -> str:
    """A word of each thread to another one."""
    barrier = chance.choice((_WAIT, f"bar.sync 1, {BLOCK};", "barrier.sync 2;"))
    return (
        f"st.shared.b32 [%a+{EXCHANGE}], {register(chance, 'w')}; {barrier} {_other(chance)} "
        f"ld.shared.b32 {register(chance, 'w')}, [%a+{EXCHANGE}]; {_WAIT}"
    )


def _vectors(chance: Random) -> str:
    """Sixteen bytes of each thread to another one."""
    return (
        f"st.shared.v4.b32 [%a+{EXCHANGE}], {{%x0, %x1, %x2, %x3}}; {_WAIT} {_other(chance)} "
        f"ld.shared.v4.b32 {{%x0, %x1, %x2, %x3}}, [%a+{EXCHANGE}]; {_WAIT}"
    )


def _counted(chance: Random) -> str:
    """Every thread adds to one word: operations whose order does not matter."""
    operation, type_ = chance.choice(
        [(one, kind) for one in ("add", "min", "max") for kind in ("u32", "s32", "u64")]
        + [(one, kind) for one in ("and", "or", "xor") for kind in ("b32", "b64")]
    )
    wide = type_.endswith("64")
    letter, bits = ("d", 64) if wide else ("w", 32)
    spelled = chance.choice(("red.shared", "red.relaxed.cta.shared", "atom.shared"))
    given = register(chance, letter)
    result = f".reg .b{bits} %old; " if spelled.startswith("atom") else ""
    first = "%old, " if result else ""
    return (
        f"{result}@%z st.shared.b64 [%o+{OBJECTS}], {chance.getrandbits(31)}; {_WAIT} "
        f"{spelled}.{operation}.{type_} {first}[%o+{OBJECTS}], {given}; {_WAIT} "
        f"ld.shared.b{bits} {register(chance, letter)}, [%o+{OBJECTS}]; {_WAIT}"
    )


def _voted(chance: Random) -> str:
    """A barrier that counts, or combines, predicates."""
    p, q = register(chance, "p"), register(chance, "p")
    if chance.random() < 0.4:
        return f"barrier.cta.red.popc.aligned.u32 {register(chance, 'w')}, 0, {p};"
    return f"bar.red.{chance.choice(('and', 'or'))}.pred {q}, 0, {'!' if chance.random() < 0.5 else ''}{p};"


def _arrived(chance: Random) -> str:
    """A word of each thread to another one, ordered by an mbarrier."""
    wait = chance.choice(("mbarrier.test_wait", "mbarrier.try_wait"))
    place = f"[%o+{OBJECTS + 64}]"
    return (
        f".reg .b64 %s; .reg .pred %q; @%z mbarrier.init.shared.b64 {place}, {BLOCK}; {_WAIT} "
        f"st.shared.b32 [%a+{EXCHANGE}], {register(chance, 'w')}; mbarrier.arrive.shared.b64 %s, {place};\n"
        f"W: {wait}.shared.b64 %q, {place}, %s; @!%q bra W;\n{_other(chance)} "
        f"ld.shared.b32 {register(chance, 'w')}, [%a+{EXCHANGE}]; {_WAIT} "
        f"@%z mbarrier.inval.shared.b64 {place}; {_WAIT}"
    )


def _copied(chance: Random) -> str:
    """`cp.async`, and a wait for it."""
    size = chance.choice((4, 8, 16))
    given = f", {chance.randrange(size + 1)}" if chance.random() < 0.3 else ""
    kind = "cg" if size == 16 and chance.random() < 0.5 else "ca"
    wait = chance.choice(("cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"))
    return (
        f"cp.async.{kind}.shared.global [%a+{EXCHANGE}], [%in+{16 * chance.randrange(8)}], {size}{given}; {wait} "
        f"{_WAIT} {_other(chance)} ld.shared.b32 {register(chance, 'w')}, [%a+{EXCHANGE}]; {_WAIT}"
    )


def _bulk(chance: Random) -> str:
    """A bulk copy by one thread, for which all wait."""
    size = 16 * chance.randrange(1, 64)
    place = f"[%o+{OBJECTS + 64}]"
    return (
        f".reg .pred %q; .reg .b64 %s; @%z mbarrier.init.shared.b64 {place}, 1; fence.proxy.async; {_WAIT} "
        f"@%z mbarrier.arrive.expect_tx.shared.b64 %s, {place}, {size};\n"
        "@%z cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
        f"[%o+{EXCHANGE}], [%in], {size}, {place};\n"
        f"W: mbarrier.try_wait.parity.shared.b64 %q, {place}, 0; @!%q bra W;\n"
        f"rem.u32 %m, %t, {size // 4}; mad.wide.u32 %a, %m, 4, %o; "
        f"ld.shared.b32 {register(chance, 'w')}, [%a+{EXCHANGE}]; "
        f"{_WAIT} @%z mbarrier.inval.shared.b64 {place}; {_WAIT}"
    )


def _of_pair(chance: Random) -> str:
    """A word of each thread to the other CTA of its cluster."""
    meet = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    return (
        f".reg .b32 %rank; mov.u32 %rank, %cluster_ctarank; xor.b32 %rank, %rank, 1; "
        f"st.shared.b32 [%a+{EXCHANGE}], {register(chance, 'w')}; {meet} {_other(chance)} "
        f"mapa.shared::cluster.u64 %a, %a, %rank; "
        f"ld.shared::cluster.b32 {register(chance, 'w')}, [%a+{EXCHANGE}]; {meet}"
    )


_PRODUCTS: Final = (
    ("k16.f32.f16.f16", "f", True),
    ("k16.f32.bf16.bf16", "f", True),
    ("k8.f32.tf32.tf32", "f", False),
    *((f"k32.f32.{a}.{b}", "f", False) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
    *((f"k32.s32.{a}.{b}", "w", None) for a in ("s8", "u8") for b in ("s8", "u8")),
)
_DESCRIPTOR: Final = 128 >> 4 << 16 | 256 >> 4 << 32
"""Core matrices 128 bytes from each other in one direction and 256 in the other, not swizzled."""


def _product(chance: Random) -> str:
    """`wgmma` of data that the threads stored in shared memory."""
    shape, letter, transposed = chance.choice(_PRODUCTS)
    registers = ", ".join(f"%{letter}{at}" for at in range(4))
    scales = ", 1, 1" if letter == "f" else ""
    major = ", 0, 0" if transposed else ""
    return (
        f".reg .b64 %da, %db; mad.wide.u32 %a, %t, 16, %o; "
        f"st.shared.v4.b32 [%a+{EXCHANGE}], {{%x0, %x1, %x2, %x3}}; "
        f"xor.b32 %m, %x0, %t; st.shared.v4.b32 [%a+{EXCHANGE + 16 * BLOCK}], {{%m, %x1, %x3, %x2}}; "
        f"fence.proxy.async; {_WAIT} add.u64 %a, %o, {EXCHANGE}; shr.u64 %a, %a, 4; and.b64 %a, %a, 16383; "
        f"or.b64 %da, %a, {_DESCRIPTOR}; add.u64 %db, %da, {16 * BLOCK >> 4}; wgmma.fence.sync.aligned;\n"
        f"wgmma.mma_async.sync.aligned.m64n8{shape} {{{registers}}}, %da, %db, {chance.randrange(2)}{scales}{major};\n"
        f"wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; {_WAIT}"
    )


_CTA: Final = (_exchange, _vectors, _counted, _voted, _arrived, _copied)
_ENGINES: Final = {"tensor": (_bulk, boxed), "mma_async": (_product,), "kind::f16": (tensor_product,)}
"""Statements that use a CTA's engines, by a qualifier of their instructions."""


def together(chance: Random, words: Vocabulary, *, clustered: bool) -> Step:
    """A step of all threads of a CTA; in a cluster, sometimes one of its two CTAs."""
    kinds: list[Callable[[Random], str]] = [*_CTA, looked_up]
    kinds += [one for name, several in _ENGINES.items() if name in words.engines for one in several]
    if clustered:
        kinds += [_of_pair] * 4
    return Step(f"{{ {PLACES} {chance.choice(kinds)(chance)} }}")
