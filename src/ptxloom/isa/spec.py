"""The ISA data of one instruction: syntax, constraints, availability, words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.display import mimebundle
from ptxloom.isa.target import TargetRange
from ptxloom.isa.version import PtxVersion
from ptxloom.lazy import cached_property

if TYPE_CHECKING:
    from ptxloom.isa.notation import SyntaxLine
    from ptxloom.isa.target import Target

Filling = Mapping[str, str]
"""The qualifier in each slot of a syntax line, by name; an empty string for an omitted optional one."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A conjunction over slots: each named slot holds one of its values ("" = omitted).

    On a line without the slot, a condition for applying fails; a requirement treats the slot as omitted.
    A value with a leading dot names another slot: both hold the same. An empty condition always holds.
    """

    allowed: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def holds(self, filling: Filling, absent: str | None = None) -> bool:
        """Whether the filling meets it; `absent` is the value of slots that its line does not have."""
        for name, values in self.allowed:  # a plain loop: millions of fillings are tested, and most fail at once
            held = filling.get(name, absent)
            if held not in values and (values[0][:1] != "." or filling.get(name) != filling.get(values[0][1:])):
                return False
        return True

    def __str__(self) -> str:
        return " and ".join(_phrase(name, values) for name, values in self.allowed)


@dataclass(frozen=True, slots=True)
class Constraint:
    """Where `when` holds, `require` must hold too.

    Attributes:
        when: The fillings to which it applies.
        require: What must hold for them.
        why: The reason, in our words.
        line: Its line in the data file.
        lax: Whether only the manual requires it, and ptxas does not enforce it: a warning, not an error.
    """

    when: Condition
    require: Condition
    why: str
    line: int
    lax: bool = False

    def admits(self, filling: Filling) -> bool:
        """Whether the filling satisfies the constraint."""
        return not self.when.holds(filling) or self.require.holds(filling, absent="")


@dataclass(frozen=True, slots=True)
class Need:
    """A PTX version, and targets, that together have a feature; no targets = all of them."""

    version: PtxVersion
    targets: TargetRange | None = None

    @staticmethod
    def parse(text: str) -> Need:
        """Parse a data file's spelling, "8.6 sm_100f" or "7.0".

        Raises:
            UsageError: It is spelled otherwise.
        """
        version, *targets = text.split()
        return Need(PtxVersion.parse(version), TargetRange.parse(targets[0]) if targets else None)

    def met(self, version: PtxVersion, target: Target) -> bool:
        """Whether a module of this version and target meets it."""
        return version >= self.version and (self.targets is None or target in self.targets)

    def __str__(self) -> str:
        return f"PTX {self.version} or later" + (f" and {self.targets}" if self.targets else "")


@dataclass(frozen=True, slots=True)
class Feature:
    """A part of an instruction that is newer, or only on some targets: any one of its needs suffices.

    Attributes:
        name: Its name.
        when: The forms that use it.
        needs: What a module must state; one of these suffices.
        line: Its line in the data file.
        operand: Only forms whose syntax line has this operand use it; empty: no such condition.
        gone: The version, and the targets, that removed it; None if it was never removed.
    """

    name: str
    when: Condition
    needs: tuple[Need, ...]
    line: int
    operand: str = ""
    gone: Need | None = None

    def available(self, version: PtxVersion, target: Target) -> bool:
        """Whether a module of this version and target may use it."""
        return any(need.met(version, target) for need in self.needs) and not (
            self.gone and self.gone.met(version, target)
        )


_WORD = (1 << 32) - 1  # the largest value of 32 bits, which means no upper limit


@dataclass(frozen=True, slots=True)
class Limits:
    """The integers that an operand may be."""

    least: int
    most: int
    among: tuple[int, ...] = ()
    multiple: int = 1

    def admit(self, value: int) -> bool:
        """Whether the value is one of them."""
        inside = value in self.among if self.among else self.least <= value <= self.most
        return inside and value % self.multiple == 0

    def __str__(self) -> str:
        if self.among:
            *first, last = map(str, self.among)
            return f"{', '.join(first)} or {last}" if first else last
        words = f"a multiple of {self.multiple}" if self.multiple > 1 else ""
        if self.most >= _WORD:
            least = f"at least {self.least}" if self.least else ""
            return ", ".join(filter(None, (words, least))) or "any number"
        return f"{words} from {self.least} to {self.most}".strip()


TRAITS = {
    "wider": "a register wider than the type",
    "integral": "no floating-point register wider than the type",
    "long": "a register of 64 bits",
    "predicate": "a predicate register",
    "special": "a special register",
    "whole": "a special register that is a vector",
    "sink": "`_`",
    "symbol": "the name of a variable or function, for its address",
    "pack": "a vector of the parts in braces",
    "minus": "a register with `-` before it",
    "part": "a byte or a half of a register: `.b0` to `.b3`, `.h0`, `.h1`",
    "halves": "two halves of a pair of registers: `.h10`, `.h32`",
    "bytes": "bytes of a pair of registers: `.b3210`, `.b7654`",
    "bare": "no constant",
    "braced": "in braces, even if it is one value",
    "brace": "one value in braces, which ptxas accepts",
    "element": "an element of an array, for its address",
    "predicates": "a predicate, which ptxas accepts",
    "braces": "one value in braces, or several, which ptxas accepts",
    "texture": "a texture, which stands for its sampler",
    "integer": "an integer where the manual has a float, which ptxas accepts",
    "narrow": "a register of 32 bits where the address has 64",
    "word": "no register of fewer than 32 bits",
    "ordinary": "no special register",
    "anything": "a register of any type, which ptxas accepts",
    "absolute": "an address that is a constant, which ptxas accepts",
    "holes": "`_` for some elements",
    "single": "one value instead of a vector, which ptxas accepts",
    "numbers": "no predicate among numbers",
    "result": "no parameter that the function receives",
    "untyped": "a register of any type of the same width, which ptxas accepts",
    "register": "the address is in a register, not the name of a variable",
    "bits32": "in a `.b32` register, not in an integer register",
    "returned": "no parameter that no call has returned",
    "received": "a parameter of the kernel itself, not of a call",
    "lone": "a constant or an address instead of a vector, which ptxas accepts",
    "spare": "it may be missing, which ptxas accepts",
    "twin": "a `.f16x2` register",
    "longest": "an address, but not of 32 bits, which ptxas no longer assembles",
    "bits": "a floating-point constant only by its bits: `0f3F800000`",
}
"""Further kinds of legal operands; those in `RESTRICTIONS` exclude something."""

RESTRICTIONS = frozenset(
    (
        *("bare", "braced", "word", "ordinary", "numbers", "result", "longest", "bits"),
        *("bits32", "register", "integral", "received", "returned"),
    )
)


DOES = {
    "reads": "read there",
    "writes": "written there",
    "updates": "read, combined and written there in one step",
    "object": "an object there is operated on, such as an mbarrier or a tensor map",
    "names": "nothing is read or written there: a hint, a query or a fence names the place",
}
"""An instruction's effect on the memory at an address."""


@dataclass(frozen=True, slots=True)
class OperandRule:
    """The rule for an operand.

    Attributes:
        name: Its name in the syntax lines.
        kind: One of `KINDS`.
        type: An element type, or the slot (with a leading dot) whose value is the type, or one twice as wide
            (`.type*2`); for an address the state space; empty if not specified.
        written: Whether the instruction writes it.
        about: Its meaning, in our words.
        length: For a vector its length, or the slot (with a leading dot) whose value is the length: `.v4`, `.x4`
            and `.4d` are 4; `.dim-2` is two less, `.cta_group*4` four times as much, `.num/2` half as much.
            For a place in a texture "coordinates", or "dimensions" without array index and sample.
        when: The slot whose qualifier requires this operand: it is present exactly when the qualifier is.
        such: An example, if a register or 1 would not be legal.
        traits: Further legal operands, each with its forms.
        limits: The values that a constant may have; None if any.
        space: The state space, or the slot that names it, of a variable whose name is legal here; empty: any.
        updated: Whether the instruction both reads and writes it.
        does: For an address, what the instruction does there, a word of `DOES`, each with the forms that do it.
        since: The PTX version since which a register of the type is legal here; None if always. Earlier, only
            other registers (`also`) and constants were.
    """

    name: str
    kind: str
    type: str
    written: bool
    about: str
    length: str = ""
    when: str = ""
    such: str = ""
    traits: tuple[tuple[str, Condition], ...] = ()
    limits: Limits | None = None
    space: str = ""
    updated: bool = False
    does: tuple[tuple[str, Condition], ...] = ()
    since: PtxVersion | None = None

    def done(self, filling: Filling) -> str:
        """What a form does at the address, a word of `DOES`; empty if the operand is not an address."""
        return next((word for word, when in self.does if when.holds(filling, absent="")), "")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What ptxas accepts although the manual does not: warnings here, or errors if the result differs.

    Attributes:
        repeats: Qualifiers that may appear twice.
        ignores: Qualifiers that are ignored where they have no slot.
        ignores_in: They are ignored only together with one of these; always, if this is empty.
        misreads: Qualifiers that are taken for another one: written -> taken.
        leads: Qualifiers that belong to the opcode's name: no others may precede them.
    """

    repeats: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    misreads: Mapping[str, str] = field(default_factory=dict[str, str])
    leads: tuple[str, ...] = ()
    ignores_in: tuple[str, ...] = ()


_REPEATABLE = frozenset(("sync", "uni", "sat", "satfinite", "relu", "approx", "cc", "NaN", "shiftamt"))
"""The qualifiers that ptxas allows twice in any instruction in which they have only one meaning."""

KINDS = (
    *("fragment", "register", "value", "constant", "factor", "vector"),
    *("place", "address", "symbol", "list", "sink", "other"),
)
"""Operand kinds: the registers of a matrix fragment, one register, a register or a constant, a constant alone, the
registers of a factor of wgmma or the 64-bit descriptor of one in shared memory, a vector of registers, the
coordinates in a texture or surface or steps there, a memory address, the name of a label, function or variable, a
list in parentheses, `_` alone, anything else."""


@dataclass(frozen=True)
class InstructionSpec:
    """All data of one opcode; `ptxloom explain OPCODE` prints it."""

    opcode: str
    section: str
    title: str
    about: str
    lines: tuple[SyntaxLine, ...]
    syntax: str
    operands: Mapping[str, OperandRule]
    qualifiers: Mapping[str, str]  # slot name -> its meaning, in our words
    constraints: tuple[Constraint, ...]
    features: tuple[Feature, ...]
    tolerance: Tolerance
    examples: tuple[str, ...]
    file: str
    judged: bool = True  # whether its rules were compared with ptxas, so that the checker may use them

    _repr_mimebundle_ = mimebundle

    @cached_property
    def repeatable(self) -> frozenset[str]:
        """The qualifiers that ptxas allows twice."""
        fixed = {slot.name for line in self.lines for slot in line.slots if slot.values == (slot.name,)}
        return frozenset(self.tolerance.repeats) | (fixed & _REPEATABLE)

    @cached_property
    def limited(self) -> bool:
        """Whether the values of some constant operand are restricted."""
        return any(rule.limits is not None for rule in self.operands.values())

    def features_of(self, line: SyntaxLine, filling: Filling) -> tuple[Feature, ...]:
        """The features that a form uses, in the order of the data."""
        return tuple(
            feature
            for feature in self.features
            if feature.when.holds(filling) and (not feature.operand or feature.operand in line.operand_names)
        )


def _phrase(name: str, values: tuple[str, ...]) -> str:
    if values[0][:1] == ".":
        return f"`.{name}` is the same as `{values[0]}`"
    return f"`.{name}` is present" if values == (name,) else f"`.{name}` is {alternatives(values)}"


def alternatives(values: tuple[str, ...]) -> str:
    """Qualifiers as a phrase: "`.x1`, `.x2` or `.x4`"."""
    words = [f"`.{value}`" if value else "absent" for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
