"""Hazards as values: a kernel's error, its place, and the memory concerned."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Severity
from ptxloom.display import mimebundle
from ptxloom.names.demangling import demangled
from ptxloom.syntax.places import place_at
from ptxloom.wording import lanes_text, ranges

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.source import Span
    from ptxloom.syntax.origins import SourceLine


@dataclass(frozen=True, slots=True)
class Party:
    """Some lanes of a warp at an instruction.

    Attributes:
        span: The instruction in the PTX.
        instruction: The instruction as PTX, on one line.
        origin: The line of the program that was compiled, if the PTX records it.
        block: The CTA's (x, y, z).
        warp: The warp within the CTA.
        lanes: The lanes.
        action: Their action there, such as `reads 16 bytes`.
    """

    span: Span
    instruction: str
    origin: SourceLine | None
    block: tuple[int, int, int]
    warp: int
    lanes: tuple[int, ...]
    action: str = ""

    @property
    def line(self) -> int:
        """The PTX line."""
        return self.span.line

    @property
    def who(self) -> str:
        """The lanes in words, such as `lanes 0-15 of warp 2, block (1, 0, 0)`."""
        if not self.lanes:
            return f"another thread of block {self.block}"
        return f"{lanes_text(self.lanes)} of warp {self.warp}, block {self.block}"


@dataclass(frozen=True, slots=True)
class Hazard:
    """An error of a kernel, in compute-sanitizer's words.

    Attributes:
        tool: memcheck, racecheck, initcheck or synccheck.
        kind: Such as `out-of-bounds`.
        message: One sentence, lower case, no full stop.
        party: The lanes at fault, and their place.
        severity: A warning if the results can be right anyway.
        other: The other side: for a race, the earlier access; for divergence, where the missing lanes are; for a use of
            unwritten bytes, the load that found them.
        space: The state space; empty where no memory is concerned.
        address: The first byte at fault, within the space; in global memory, as the kernel sees it.
        size: Bytes at fault.
        symbol: The address as a user would write it, such as `tile+0x40` or `args[2]+0x100`; may be empty.
        element: For a matrix move, the row at fault and the lanes that hold it; may be empty.
        section: The manual's section; may be empty.
        help: What to do.
        count: How often it occurred; the other fields describe the first one.
        kernel: The kernel at fault, if another kernel launched it; else empty.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> body = ".shared .b32 s; .reg .b32 %r; ld.shared.u32 %r, [s]; bar.sync %r; ret;"
        >>> text = f".version 9.0 .target sm_90 .entry k() {{ {body} }}"
        >>> hazard = kernel(parse(text), "k").launch(1, 32, checks=["initcheck"]).hazards[0]
        >>> hazard.rule, hazard.symbol, hazard.size
        ('initcheck.uninitialised', 's', 4)
    """

    tool: str
    kind: str
    message: str
    party: Party
    severity: Severity = Severity.ERROR
    other: Party | None = None
    space: str = ""
    address: int = 0
    size: int = 0
    symbol: str = ""
    element: str = ""
    section: str = ""
    help: str = ""
    count: int = 1
    kernel: str = ""

    _repr_mimebundle_ = mimebundle

    @property
    def rule(self) -> str:
        """The rule, such as `memcheck.misaligned`, which `ptxloom explain` describes."""
        return f"{self.tool}.{self.kind}"

    @property
    def span(self) -> Span:
        """The instruction in the PTX."""
        return self.party.span

    @property
    def line(self) -> int:
        """The PTX line."""
        return self.party.line

    @property
    def instruction(self) -> str:
        """The instruction as PTX, on one line."""
        return self.party.instruction

    @property
    def origin(self) -> SourceLine | None:
        """The line of the program that was compiled, if the PTX records it."""
        return self.party.origin

    @property
    def block(self) -> tuple[int, int, int]:
        """The CTA's (x, y, z)."""
        return self.party.block

    @property
    def warp(self) -> int:
        """The warp within the CTA."""
        return self.party.warp

    @property
    def lanes(self) -> tuple[int, ...]:
        """The lanes at fault."""
        return self.party.lanes

    @property
    def likeness(self) -> object:
        """A key that is equal for findings of one rule and one source line, as an unrolled loop produces."""
        if self.origin is None:
            return id(self)
        return self.rule, self.origin, self.other and self.other.origin

    def __str__(self) -> str:
        lines = [f"{self.rule}: {self.message}", f"  at {_at(self.party)}: {self.instruction}", f"  {self.party.who}"]
        if self.kernel:
            lines.append(f"  in kernel {demangled(self.kernel)}, which a kernel launched")
        if self.element:
            lines.append(f"  {self.element}")
        if self.other is not None:
            lines += [f"  and {_at(self.other)}: {self.other.instruction}", f"  {self.other.who}"]
        if self.count > 1:
            lines.append(f"  seen {self.count:,} times")
        return "\n".join(lines)


class Hazards(tuple[Hazard, ...]):  # noqa: SLOT001 - a tuple's own slots are of no use to `more`
    """The hazards of a run: a tuple that draws itself.

    Attributes:
        more: The number of further hazards, of other kinds or at other places, that are not kept.
        limits: A sentence for each tool that ran out of space: it may have missed something, or reported too much.
    """

    more: int = 0
    limits: tuple[str, ...] = ()

    _repr_mimebundle_ = mimebundle

    @property
    def rest(self) -> str:
        """A note on hazards that are not kept, and on what had no room; empty if there are no such."""
        more = [f"and {self.more:,} more place{'s' * (self.more > 1)}"] if self.more else []
        return "\n".join([*more, *self.limits])

    def __str__(self) -> str:
        alike: dict[object, list[Hazard]] = {}
        for hazard in self:
            alike.setdefault(hazard.likeness, []).append(hazard)
        lines = [str(first) + _also(first, rest) for first, *rest in alike.values()]
        return "\n".join([*(lines or ["no hazards"]), *([self.rest] if self.rest else [])])


def _also(first: Hazard, rest: list[Hazard]) -> str:
    """The further PTX lines of findings like the first one, on either side."""
    parties = [party for hazard in rest for party in (hazard.party, hazard.other) if party is not None]
    shown = {first.line, first.other.line if first.other else 0}
    lines = tuple(sorted({party.line for party in parties} - shown))
    return f"\n  also line{'s' * (len(lines) > 1)} {ranges(lines)}, from the same source" if lines else ""


def _at(party: Party) -> str:
    place = place_at(party.span, party.origin)
    return f"line {party.line}" if place.ptx is None else f"{place}, PTX line {party.line}"


def joined(hazards: Iterable[Hazard]) -> Hazards:
    """Hazards in the order of the text; those of one kind at one pair of places made one, their counts added.

    Of two lines that race across warps, a missing order within a warp too is not worth a second finding.
    """
    found: dict[tuple[str, int, int], Hazard] = {}
    for hazard in hazards:
        key = (hazard.rule, hazard.span.start, -1 if hazard.other is None else hazard.other.span.start)
        seen = found.get(key)
        if seen is not None:
            first = min(seen, hazard, key=lambda h: _rank(h.party))
            hazard = replace(first, count=seen.count + hazard.count)  # noqa: PLW2901 - the two made one
        found[key] = hazard
    if not found:
        return Hazards()
    races = {key[1:] for key, h in found.items() if h.tool == "racecheck" and h.kind != "warp-order"}
    told = (h for key, h in found.items() if h.kind != "warp-order" or key[1:] not in races)
    return Hazards(sorted(told, key=lambda h: (h.span.start, h.rule, h.other is None or h.other.span.start)))


def _rank(party: Party) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """Blocks in the order of z, y, x; then warps, then lanes."""
    return party.block[::-1], party.warp, party.lanes
