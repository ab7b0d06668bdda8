"""Paths: every instruction that can be tested alone, enumerated from the ISA data, each with a name.

A path is a form (opcode, qualifiers, number of operands). Its name is the spelling without `.sync` and `.aligned`, such
as `ldmatrix.m8n8.x4.trans.shared.b16`; if a form takes several numbers of operands, `/3` selects one; for a generic
address, `@global` or `@shared` is the space that it points to.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from zlib import crc32

from ptxloom.conformance.operands import GENERIC, Operand, Slot, Unsuited, all_operands, operands_of
from ptxloom.dataclass import dataclass
from ptxloom.isa import instruction_spec, opcodes
from ptxloom.isa.prove import some_forms
from ptxloom.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ptxloom.isa.form import Form
    from ptxloom.isa.target import Target
    from ptxloom.isa.version import PtxVersion

SMOKE: Final = 4
"""The number of forms of every syntax line in the first tier."""

_UNSPOKEN: Final = frozenset({"sync", "aligned"})
_HINTS: Final = frozenset(
    (
        *("weak", "volatile", "sem", "scope", "cop", "ncop", "nc", "unified", "level", "level::prefetch_size"),
        *("level::eviction_priority", "level1::eviction_priority", "level2::eviction_priority"),
        *("level::cache_hint", "level2::cache_hint", "mmio"),
    )
)
"""Slots for the ordering or caching of accesses: results of one thread's own memory do not depend on them."""

_ELSEWHERE: Final = {
    "alloca": "its result is an address",
    "bar": "its result depends on other warps",
    "barrier": "its result depends on other warps",
    "createpolicy": "its result is opaque",
    "cvta": "its operand is an address",
    "getctarank": "its operand is an address",
    "isspacep": "its operand is an address",
    "istypep": "its operand is a texture or surface",
    "ldu": "it reads memory that must not be written",
    "mapa": "its operand is an address",
    "mbarrier": "its operand is an object in memory",
    "multimem": "its operand is an address of several devices",
    "stackrestore": "its operand is an address",
    "stacksave": "its result is an address",
    "tcgen05": "its operands are in tensor memory",
    "tensormap": "its operand is an object in memory",
    "txq": "its operand is a texture",
    "wgmma": "its operands are matrices in shared memory, and it completes later",
}
_OF_SHARED: Final = {"ldmatrix": ("shared",), "stmatrix": ("shared",)}
"""Instructions whose addresses are in shared memory only."""

WHOLE_WARP: Final = frozenset(
    ("activemask", "elect", "ldmatrix", "match", "mma", "movmatrix", "redux", "shfl", "stmatrix", "vote", "wmma")
)
"""Instructions of whole warps: a case is a warp; for others it is a thread."""

READS_CARRY: Final = frozenset({"addc", "subc", "madc"})


@dataclass(frozen=True)
class Path:
    """One form as a test.

    Attributes:
        name: Its name.
        form: The form.
        slots: Its operands.
    """

    name: str
    form: Form
    slots: tuple[Slot, ...]

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        """Its operands, each followed by its partner."""
        return tuple(all_operands(self.slots))

    @property
    def lanes(self) -> int:
        """The number of threads of a case."""
        return 32 if self.form.opcode in WHOLE_WARP else 1

    @property
    def reads_carry(self) -> bool:
        """Whether the condition code is an input."""
        return self.form.opcode in READS_CARRY

    @property
    def writes_carry(self) -> bool:
        """Whether the condition code is a result."""
        return bool(self.form.filling.get("cc"))

    @property
    def cell(self) -> Operand | None:
        """The operand that is an address, if any."""
        return next((one for one in self.operands if one.role == "cell"), None)


def paths(target: Target, version: PtxVersion, only: Sequence[str] = ()) -> tuple[Path, ...]:
    """The paths that a target has in a version of PTX, in the order of their names.

    Args:
        target: Such as sm_90a.
        version: The version of PTX that a judge reads.
        only: Glob patterns of names; empty: all.
    """
    found = all_paths(target, version)
    return tuple(path for path in found if not only or any(fnmatchcase(path.name, pattern) for pattern in only))


@lru_cache(maxsize=4)
def all_paths(target: Target, version: PtxVersion) -> tuple[Path, ...]:
    """All of them, in the order of their names."""
    return tuple(sorted(_told_apart(_paths(target, version)), key=lambda path: path.name))


def left_out(target: Target, version: PtxVersion) -> Counter[str]:
    """The number of other forms of the target for each reason that they are not paths, after the opcode."""
    reasons: Counter[str] = Counter()
    for form in forms_of(target, version):
        for count in form.counts:
            try:
                _slots(form, count, "shared" if form.opcode in _OF_SHARED else "global")
            except Unsuited as reason:
                reasons[f"{form.opcode}: {reason}"] += 1
    return reasons


@lru_cache(maxsize=4)
def forms_of(target: Target, version: PtxVersion) -> tuple[Form, ...]:
    """The forms that a target has, without hints about order and caches."""
    return tuple(_forms(target, version))


def _forms(target: Target, version: PtxVersion) -> Iterator[Form]:
    for opcode in opcodes():
        for form in some_forms(instruction_spec(opcode)):
            leveled = "lod" in {slot.name for slot in form.line.operands}
            hinted = any(form.filling.get(name) for name in _HINTS if not (leveled and name == "level"))
            if not hinted and all(each.available(version, target) for each in form.features):
                yield form


def _paths(target: Target, version: PtxVersion) -> Iterator[Path]:
    for form in forms_of(target, version):
        for count in form.counts:
            name = ".".join((form.opcode, *(word for word in form.words if word not in _UNSPOKEN)))
            name = name if len(form.counts) == 1 else f"{name}/{count}"
            for home, slots in _suited(form, count):
                yield Path(f"{name}@{home}" if home else name, form, slots)


def _told_apart(found: Iterable[Path]) -> Iterator[Path]:
    """Paths with distinct names: lines with the same spelling get the number of operands."""
    several = list(found)
    times = Counter(path.name for path in several)
    for path in several:
        yield path if times[path.name] == 1 else replace(path, name=f"{path.name}/{len(path.slots)}")


def _suited(form: Form, count: int) -> Iterator[tuple[str, tuple[Slot, ...]]]:
    """The paths of a form: the space of a generic address, and the operands; empty if it is unsuited."""
    for home in _OF_SHARED.get(form.opcode, GENERIC):
        try:
            slots = _slots(form, count, home)
        except Unsuited:
            continue
        generic = any(one.role == "cell" and not one.space for one in all_operands(slots))
        yield (home if generic else "", slots)
        if not generic:
            return


def _slots(form: Form, count: int, home: str) -> tuple[Slot, ...]:
    """The operands of a path.

    Raises:
        Unsuited: The form is not a path; the text says why.
    """
    if form.filling.get("async"):
        raise Unsuited("it completes later")
    if form.opcode in _ELSEWHERE:
        raise Unsuited(_ELSEWHERE[form.opcode])
    spare = {
        name
        for name in {slot.name for slot in form.line.operands} - {slot.name for slot in form.operands(count)}
        if any(word == "spare" and not when.holds(form.filling) for word, when in form.spec.operands[name].traits)
    }
    if spare:
        raise Unsuited("an operand that only ptxas allows to omit")
    slots = operands_of(form, count, crc32(form.spelling.encode()), home)
    found = list(all_operands(slots))
    if not any(one.role == "kept" or one.does in {"writes", "updates"} for one in found):
        raise Unsuited("it has no result")
    if sum(one.role == "cell" for one in found) > 1:
        raise Unsuited("more than one address")
    return slots
