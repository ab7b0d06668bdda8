"""The data of an atom for emitted code in any language: its operands, its name, and its targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.atoms.copy import CopyAtom
from ptxloom.dataclass import dataclass
from ptxloom.isa.products import features_of
from ptxloom.isa.resolution.forms import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.atoms.mma import MmaAtom
    from ptxloom.isa.spec import Feature
    from ptxloom.isa.target import TargetRange
    from ptxloom.isa.version import PtxVersion


@dataclass(frozen=True, slots=True)
class Registers:
    """A vector of registers: one operand.

    Attributes:
        name: `d`, `a`, `b`, `c`, or the name of a scale.
        count: Their number.
        c_type: Its C type.
        ptx_type: Its PTX type.
        constraint: The letter of inline assembly.
    """

    name: str
    count: int
    c_type: str
    ptx_type: str
    constraint: str


_KINDS: Final = {
    "f32": ("float", "f32", "f"),
    "f64": ("double", "f64", "d"),
    "s32": ("int", "b32", "r"),
}
_PACKED: Final = ("unsigned", "b32", "r")


def registers(name: str, count: int, element: str) -> Registers:
    """The registers of an operand whose elements are of a type; those narrower than 32 bits are packed."""
    return Registers(name, count, *_KINDS.get(element, _PACKED))


def mma_operands(atom: MmaAtom) -> tuple[Registers, ...]:
    """D, A, B and C of an mma; multiplicands of 32 bits are passed as bits."""
    form = atom.instruction
    return tuple(
        registers(name, form.registers(name), form.type_of(name) if name in "dc" or form.a_type == "f64" else "")
        for name in ("d", "a", "b", "c")
    )


def c_name(atom: CopyAtom | MmaAtom) -> str:
    """The instruction's spelling as a name in C, without the common parts."""
    common = {"sync", "aligned", "shared"}
    if not isinstance(atom, CopyAtom) and not atom.instruction.quad_pairs:
        common |= {"row", "col"}
    name = "_".join(word for word in atom.ptx.split(".") if word not in common).replace("::", "_")
    return f"{name}_permuted" if isinstance(atom, CopyAtom) and atom.permuted else name


@dataclass(frozen=True, slots=True)
class Requirements:
    """What an instruction needs: a PTX version, and one of some ranges of targets (none given: any target)."""

    version: PtxVersion | None
    targets: tuple[TargetRange, ...]

    def __str__(self) -> str:
        version = f"PTX {self.version} or later and " if self.version else ""
        return version + (" or ".join(map(str, self.targets)) or "any target")

    @property
    def targets_in_words(self) -> str:
        """Only the targets."""
        return " or ".join(map(str, self.targets)) or "any target"

    @property
    def condition(self) -> str:
        """The preprocessor's condition on the device."""
        return " || ".join(_condition(one) for one in self.targets) or "1"


def needs_of(atom: CopyAtom | MmaAtom) -> Requirements:
    """The requirements of an atom's instruction."""
    if not isinstance(atom, CopyAtom):
        return _needs_of_mma(atom)
    form = resolve(atom.instruction.opcode, tuple(atom.ptx.split(".")[1:])).form
    return needs_of_features(form.features if form is not None else ())


def needs_of_features(features: Sequence[Feature]) -> Requirements:
    """The combined requirements of several features."""
    versions = [min(need.version for need in feature.needs) for feature in features]
    limits = [tuple(need.targets for need in feature.needs if need.targets) for feature in features]
    narrowest = max((limit for limit in limits if limit), key=lambda limit: (limit[-1].base.number, len(limit)))
    return Requirements(max(versions), narrowest)


def _needs_of_mma(atom: MmaAtom) -> Requirements:
    """The architecture in the atom's oldest name; fp8 forms without a CuTe name came with the named ones."""
    from ptxloom.isa.target import TargetRange  # noqa: PLC0415 - beside its only use

    if atom.instruction.opcode == "wgmma":
        needs = [need for feature in features_of(atom.instruction) for need in feature.needs]
        return Requirements(
            max(need.version for need in needs), tuple(dict.fromkeys(filter(None, (n.targets for n in needs))))
        )
    if atom.instruction.kind:
        return Requirements(None, (TargetRange.parse("sm_120f"),))
    numbers = [int(name[2:4]) for name in atom.names] or [70 if atom.instruction.quad_pairs else 89]
    return Requirements(None, (TargetRange.parse(f"sm_{min(numbers)}"),))


_SUFFIX: Final = "(defined(__CUDA_ARCH_SPECIFIC__) || defined(__CUDA_ARCH_FAMILY_SPECIFIC__))"


def _condition(one: TargetRange) -> str:
    number = one.base.number * 10
    if one.any_suffix:
        return f"(__CUDA_ARCH__ >= {number} && {_SUFFIX})"
    match one.base.suffix:
        case "a":
            return f"(__CUDA_ARCH__ == {number} && defined(__CUDA_ARCH_SPECIFIC__))"
        case "f":
            return f"(__CUDA_ARCH__ >= {number} && __CUDA_ARCH__ < {number // 100 * 100 + 100} && {_SUFFIX})"
        case _:
            return f"__CUDA_ARCH__ >= {number}"


def rows_in_words(atom: CopyAtom) -> str:
    """The lanes that provide row addresses."""
    count = atom.instruction.address_lanes
    return "each lane" if count == 32 else f"each of lanes 0 to {count - 1}"
