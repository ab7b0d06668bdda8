"""The machine code of a variant, from the cache if it has been compiled before; cached code needs no translation."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine.compile import tiers
from ptxloom.machine.compile.needs import SYMBOL
from ptxloom.machine.instruments.wanted import is_watched
from ptxloom.machine.native import emission, interrupts, jit
from ptxloom.machine.runtime import library

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.compile.variant import Variant
    from ptxloom.machine.native.llvm import Code
    from ptxloom.machine.program.model import Program
    from ptxloom.machine.program.planned import Planned


class Compiled(NamedTuple):
    """A variant's machine code.

    Attributes:
        code: The code.
        is_outlined: Whether better code can be made of it.
        may_turn_hot: Whether hot code may be possible, as far as is known, once it has run for a while.
    """

    code: Code
    is_outlined: bool
    may_turn_hot: bool = False


def accepted(
    program: Program, name: str, *, whole: bool, checks: frozenset[str], judge: Callable[[], None] | None
) -> Variant | None:
    """Refuse a program that cannot be run, which translation finds without LLVM.

    Args:
        program: The program.
        name: The name of its code (`Needs.code`).
        whole: The variant to translate: the likelier one.
        checks: The tools that watch.
        judge: Raises if the program is not legal.

    Returns:
        The translation; None if, by the cache, the program was accepted before.

    Raises:
        UnsupportedInstruction: The machine does not know an instruction.
    """
    made: list[Variant] = []

    def make() -> bytes:
        if judge is not None:
            judge()
        made.append(_translate(program, whole=whole, checks=checks))
        return b"accepted"

    jit.cached(f"accepted {_key(name, checks, judge)}", make)
    return made[0] if made else None


def compile_variant(
    planned: Planned,
    called: str,
    *,
    whole: bool,
    checks: frozenset[str],
    judge: Callable[[], None] | None,
    made: Variant | None = None,
    careful: bool | None = None,
) -> Compiled:
    """One variant's machine code, from the cache if it has been compiled before.

    Args:
        planned: What to compile: used only if it has not been compiled before.
        called: The name of its code (`Needs.code`).
        whole: For warps whose lanes all run.
        checks: The tools that watch.
        judge: Raises if the program is not legal: called before code is made, so that cached code needs no other check.
        made: An already translated variant, perhaps this one.
        careful: Whether compiling without outlining is worthwhile; None for a program that is too short.

    Raises:
        UnsupportedInstruction: The machine does not know an instruction.
    """
    kept = [made] if made is not None and made.serves(whole=whole, checks=checks, careful=bool(careful)) else []

    hot: bytes | None = None
    may_turn_hot = tiers.may_turn_hot(whole=whole, checks=checks)
    if may_turn_hot:
        hot = kept_hot(called, checks, judge)
    elif tiers.is_hot(whole=whole, checks=checks):
        hot = _hot(planned, called, checks, judge)
    if hot:
        return loaded_hot(planned, hot, checks)

    def variant() -> Variant:
        if not kept:
            kept.append(_translate(planned.program, whole=whole, checks=checks, careful=bool(careful)))
        return kept[0]

    def make() -> bytes:
        if judge is not None:
            judge()
        return _content(variant(), 0)

    key = f"kernel {'whole' if whole else 'part'} {_key(called, checks, judge)}"
    made_or_kept = _loaded(_kept_or_made(key, make, careful), variant, checks)
    return made_or_kept._replace(may_turn_hot=may_turn_hot and hot is None)


def _hot(planned: Planned, called: str, checks: frozenset[str], judge: Callable[[], None] | None) -> bytes | None:
    """The hot code of a kernel, from the cache if it has been compiled before; empty if the kernel has none.

    Its compilation does not count against the kernel's time limit.

    """

    def make() -> bytes:
        if judge is not None:
            judge()
        return hot_content(planned.program, checks)

    key = _hot_key(called, checks, judge)
    return jit.kept(key) if interrupts.is_limited() else jit.cached(key, make)


def hot_content(program: Program, checks: frozenset[str]) -> bytes:
    """The hot code of a kernel, in the form of the cache; empty if it has none.

    Raises:
        UnsupportedInstruction: The machine does not know an instruction.
    """
    from ptxloom.machine.compile.hot_variant import hot_variant  # noqa: PLC0415 - as in `_translate`
    from ptxloom.machine.hot.refusal import NotHot  # noqa: PLC0415 - likewise

    try:
        return _content(hot_variant(program, checks), emission.TWICE)
    except NotHot:
        return b""


def kept_hot(called: str, checks: frozenset[str], judge: Callable[[], None] | None) -> bytes | None:
    """The cached hot code of a kernel; empty if the kernel has none, None if nothing is cached."""
    return jit.kept(_hot_key(called, checks, judge))


def keep_hot(content: bytes, called: str, checks: frozenset[str], judge: Callable[[], None] | None) -> None:
    """Cache the hot code of a checked kernel, or the fact that it has none."""
    jit.keep(_hot_key(called, checks, judge), content)


def loaded_hot(planned: Planned, content: bytes, checks: frozenset[str]) -> Compiled:
    """Load cached hot code of a kernel, with all that it calls."""

    def variant() -> Variant:
        from ptxloom.machine.compile.hot_variant import hot_variant  # noqa: PLC0415 - likewise

        return hot_variant(planned.program, checks)

    return _loaded(content, variant, checks)


def _hot_key(called: str, checks: frozenset[str], judge: Callable[[], None] | None) -> str:
    return f"hot {_key(called, checks, judge)}"


def _content(variant: Variant, level: int) -> bytes:
    """The code of a variant in the form of the cache: after the list of what it needs."""
    b = variant.builder
    natives = [library.native_name(function) for function in b.natives.values()]
    needs = {"natives": natives, "accesses": sorted(b.accesses), "helpers": sorted(b.helpers)}
    head = json.dumps(needs | {"outlined": variant.is_outlined})
    return head.encode() + b"\n" + jit.compiled(variant.ir, level)


def _loaded(content: bytes, variant: Callable[[], Variant], checks: frozenset[str]) -> Compiled:
    """Load cached code, with all that it calls."""
    head, _, code = content.partition(b"\n")
    needs = json.loads(head)
    watched = is_watched(checks)
    for name in needs["natives"]:
        library.named_address(name, watched=watched)
    library.load_accesses(needs["accesses"], watched=watched)
    for name in needs["helpers"]:
        jit.helper_address(name, lambda name=name: variant().builder.helpers[name])
    return Compiled(jit.loaded([code], [SYMBOL], watched=watched)[SYMBOL], needs["outlined"])


def _kept_or_made(key: str, make: Callable[[], bytes], careful: bool | None) -> bytes:
    """The code of a variant: code without outlining has its own cache entry, and is preferred."""
    if careful is None:
        return jit.cached(key, make)
    best = jit.kept(f"careful {key}")
    if best is None and careful:
        best = jit.kept(key)
        if best is None or json.loads(best.partition(b"\n")[0])["outlined"]:
            best = jit.cached(f"careful {key}", make)
    return jit.cached(key, make) if best is None else best


def _key(name: str, checks: frozenset[str], judge: Callable[[], None] | None) -> str:
    """The cache key: everything that the code of a kernel depends on, whatever the variant."""
    return f"{'unchecked' if judge is None else 'legal'} {' '.join(sorted(checks))} {name}"


def _translate(program: Program, *, whole: bool, checks: frozenset[str], careful: bool = False) -> Variant:
    from ptxloom.machine.compile.variant import translate  # noqa: PLC0415 - kept code does not need what translates

    return translate(program, whole=whole, checks=checks, careful=careful)
