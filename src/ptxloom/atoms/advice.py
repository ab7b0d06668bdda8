"""Finds the copy atoms for an operand by testing each with `fit`, not from a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.atoms.copy import CopyAtom, copy_atoms
from ptxloom.atoms.fit import AXES, Fit, Major, Usage, fit
from ptxloom.atoms.lookup import mma_atom
from ptxloom.atoms.mma import MmaAtom
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UnsupportedForm, UsageError, must_be
from ptxloom.display import mimebundle
from ptxloom.isa.resolution.forms import resolve
from ptxloom.isa.target import Target
from ptxloom.isa.version import NEWEST

if TYPE_CHECKING:
    from ptxloom.atoms.mma import Operand
    from ptxloom.isa.spec import Feature

BLAS: Final = {"t": ("k", "n"), "n": ("m", "k")}  # transposed or not -> the contiguous coordinate of A, and of B


@dataclass(frozen=True, slots=True)
class Advice:
    """The recommendation for an operand.

    Attributes:
        usage: The operand.
        target: The architecture.
        best: The atom that fills it with the fewest instructions; None if no atom of the target does.
        others: Every other atom of the target that fits, in the order of preference.
        elsewhere: The first atom that fits, if only other targets have one.

    Example:
        >>> advice = advise("m16n8k16.row.col.f32.f16.f16.f32", "a", "m")
        >>> advice.best.atom.name, advice.then
        ('SM75_U16x8_LDSM_T', '')
    """

    usage: Usage
    target: Target
    best: Fit | None
    others: tuple[Fit, ...]
    elsewhere: Fit | None

    _repr_mimebundle_ = mimebundle

    @property
    def then(self) -> str:
        """What must be done to the registers between the load and the mma; may be empty."""
        if self.best is None or not self.usage.shift:
            return ""
        return f"shift each register left by {self.usage.shift} bits: {self.usage.element} is in the middle of a byte"

    @property
    def instead(self) -> str:
        """The usual alternative if there is no atom; else empty."""
        return "" if self.best is not None else _instead(self.usage)

    @property
    def why_not(self) -> str:
        """Why there is no atom, as a sentence; empty if there is one."""
        if self.best is not None:
            return ""
        if self.elsewhere is not None:
            needs = availability(self.elsewhere.atom)
            return f"{self.elsewhere.atom} fits, but needs {needs}, and {self.target} is not that"
        return f"no matrix move distributes the elements of {self.usage} to the threads that need them"


def advise(
    mma: MmaAtom | str, operand: str, major: str, target: Target | str = "sm_90", element: str | None = None
) -> Advice:
    """The copy atom for an operand in shared memory.

    Args:
        mma: The mma atom, or its name.
        operand: "a", "b", "c" or "d".
        major: The coordinate along which elements are contiguous: "k", or "m" for A, "n" for B; "m" or "n" for D.
        target: The architecture, such as "sm_90".
        element: The element's type in memory; by default the mma's own. For D, the type after conversion.

    Returns:
        The atom, alternatives, and necessary further steps; or why there is no such atom.

    Raises:
        UsageError: There is no such operand, or it has no such coordinate.
        UnsupportedForm: There is no such mma.

    Example:
        >>> print(advise("m16n8k16.row.col.f32.f16.f16.f32", "b", "n").best.atom)
        SM75_U16x4_LDSM_T
    """
    found = mma_atom(mma) if isinstance(mma, str) else mma
    usage = usage_of(found, operand, major, element)
    judged_for = Target.of(target)
    storing = usage.operand == "c"
    fits = [fit(atom, usage) for atom in copy_atoms() if atom.loads != storing]
    good = sorted((one for one in fits if one), key=_preference)
    here = [one for one in good if available(one.atom, judged_for)]
    elsewhere = next((one for one in good if one not in here), None) if not here else None
    return Advice(usage, judged_for, here[0] if here else None, tuple(here[1:]), elsewhere)


def usage_of(mma: MmaAtom, operand: str, major: str, element: str | None = None) -> Usage:
    """Read the operand's name, its contiguous coordinate, and its type.

    Raises:
        UnsupportedForm: The product is that of a warpgroup.
        UsageError: One of them is illegal.
    """
    must_be(MmaAtom, "mma", mma, "an mma atom, as `mma_atom` returns it")
    must_be(str, "operand", operand, "a, b, c or d")
    must_be(str, "major", major, "k, m or n")
    if mma.instruction.opcode == "wgmma":
        raise UnsupportedForm(f"`{mma}` takes B, and A where it can, from shared memory by descriptors, not by copies")
    lower = "c" if operand.lower() == "d" else operand.lower()
    if lower not in AXES:
        raise UsageError("operand", operand, "a, b, c or d")
    which: Operand = "a" if lower == "a" else "b" if lower == "b" else "c"
    axes = AXES[which]
    if major.lower() not in axes:
        raise UsageError("major", major, f"{axes[0]} or {axes[1]} for operand {operand}")
    along: Major = "k" if major.lower() == "k" else "m" if major.lower() == "m" else "n"
    return Usage(mma, which, along, element or mma.instruction.type_of("d" if which == "c" else which))


def blas_majors(letters: str) -> tuple[str, str]:
    """The contiguous coordinates of A and B that BLAS letters name: "tn" is A row-major, B column-major.

    Raises:
        UsageError: They are not two of T and N.

    Example:
        >>> blas_majors("NT")
        ('m', 'n')
    """
    must_be(str, "letters", letters, "TN, NT, NN or TT")
    lower = letters.lower()
    if len(lower) != 2 or any(letter not in BLAS for letter in lower):
        raise UsageError("transposition", letters, "TN, NT, NN or TT")
    return BLAS[lower[0]][0], BLAS[lower[1]][1]


def available(atom: CopyAtom, target: Target) -> bool:
    """Whether the newest PTX lets a target use an atom's instruction."""
    must_be(CopyAtom, "atom", atom, "a copy atom, as `copy_atom` returns one")
    return all(feature.available(NEWEST, target) for feature in _features(atom))


def availability(atom: CopyAtom) -> str:
    """The targets that an atom's instruction needs, in words."""
    needs = [str(need.targets) for feature in _features(atom) for need in feature.needs if need.targets is not None]
    return " or ".join(dict.fromkeys(needs[-1:] if len(needs) > 1 else needs)) or "any target"


def _features(atom: CopyAtom) -> tuple[Feature, ...]:
    form = resolve(atom.instruction.opcode, tuple(atom.ptx.split(".")[1:])).form
    return form.features if form is not None else ()


def _preference(one: Fit) -> tuple[bool, int, bool]:
    """A sort key: whole operands first, then the most registers at once; CuTe C++ names before nameless forms."""
    return not one.whole, -one.atom.instruction.registers, not one.atom.name


def _instead(usage: Usage) -> str:
    if usage.bits > 32:
        text = "let each lane load its own elements, with ld.shared.b64 or ld.shared.v2.b64"
    elif usage.operand == "c":
        text = _instead_of_storing(usage)
    elif usage.memory_bits != usage.bits:
        text = f"unpack while filling shared memory, so that every element takes {usage.bits} bits there"
    elif usage.major == "k" or usage.mma.instruction.quad_pairs:
        text = "let each lane load its own elements, with ld.shared"
    elif usage.bits == 8:
        text = (
            "transpose while filling shared memory, so that it is K-major; or load pairs with .m8n8.trans.b16, each "
            "pair two neighbours along the contiguous coordinate, and exchange bytes between registers with prmt"
        )
    else:
        text = "transpose while filling shared memory, so that it is K-major; or load element by element with ld.shared"
    return text


def _instead_of_storing(usage: Usage) -> str:
    if usage.bits == 32:
        return "convert to 16 bits and use stmatrix, or store pairs with st.shared.v2.b32"
    return "transpose through shared memory, or store element by element with st.shared"
