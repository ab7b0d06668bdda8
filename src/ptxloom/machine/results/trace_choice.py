"""Resolves trace requests: which instructions of which warps a launch records."""

from __future__ import annotations

import re
from math import prod
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be, must_be_several
from ptxloom.isa.limits import LANES
from ptxloom.machine.instruments.trace import fields_of
from ptxloom.machine.results.trace import Trace
from ptxloom.machine.results.trace_condition import condition
from ptxloom.machine.results.trace_names import known_names
from ptxloom.syntax.places import origins_in
from ptxloom.syntax.visitor import instructions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.program.model import Program
    from ptxloom.machine.results.trace import Blocks, Request, TraceRecord
    from ptxloom.machine.results.trace_condition import Condition
    from ptxloom.syntax.origins import SourceLine

_SOURCE: Final = re.compile(r"(.+):(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A request resolved for a program and a launch: sites by number, CTAs by index."""

    sites: tuple[int, ...]
    blocks: Sequence[int]
    warps: tuple[int, ...]
    first: int
    limit: int
    lanes: frozenset[int]
    condition: Condition | None

    def keeps(self, record: TraceRecord) -> bool:
        """Whether an execution is requested; one without lanes is, if there is no condition on lanes."""
        return bool(record.chosen) or (not record.lanes and self.condition is None)


def choose(requests: Sequence[Request], program: Program, grid: tuple[int, int, int], warps: int) -> tuple[Chosen, ...]:
    """Find the requested instructions; each belongs to the first request that names it.

    Raises:
        UsageError: A request names nothing, or a CTA or warp that does not exist.
    """
    taken = set[int]()
    found: list[Chosen] = []
    must_be_several("trace", requests, "patterns, lines and `Trace`s")
    for request in requests:
        trace = request if isinstance(request, Trace) else Trace(request)
        sites = tuple(site for site in named_sites(trace.what, program, "trace") if site not in taken)
        taken.update(sites)
        numbers = tuple(range(warps)) if trace.warps is None else tuple(sorted(set(trace.warps)))
        if any(not 0 <= n < warps for n in numbers):
            raise UsageError("warps", trace.warps, f"warps from 0 to {warps - 1}")
        if trace.first < 0:
            raise UsageError("first", trace.first, "0 or more")
        if trace.limit < 1:
            raise UsageError("limit", trace.limit, "1 or more")
        asked = condition(trace.when) if trace.when else None
        sites = _with_names(sites, program, asked)
        blocks = chosen_blocks(trace.blocks, grid, "blocks")
        found.append(Chosen(sites, blocks, numbers, trace.first, trace.limit, _lanes(trace), asked))
    return tuple(found)


def _lanes(trace: Trace) -> frozenset[int]:
    """The lanes to record.

    Raises:
        UsageError: There is no such lane, or `lanes` is empty.
    """
    lanes = frozenset(range(LANES) if trace.lanes is None else trace.lanes)
    if not lanes or not lanes <= {*range(LANES)}:
        raise UsageError("lanes", trace.lanes, f"lanes from 0 to {LANES - 1}")
    return lanes


def _with_names(sites: tuple[int, ...], program: Program, asked: Condition | None) -> tuple[int, ...]:
    """The instructions with all names that a condition uses.

    Raises:
        UsageError: No instruction has.
    """
    if asked is None or not sites:
        return sites
    known = {site: known_names(fields_of(program.ops[site])) for site in sites}
    fit = tuple(site for site in sites if asked.names <= known[site])
    if not fit:
        names = sorted({name for each in known.values() for name in each if name.startswith("%")})
        missing = next(name for name in sorted(asked.names) if not all(name in each for each in known.values()))
        legal = f"about what the instruction has ({missing!r} it has not): {', '.join(names)}"
        raise UsageError("when", asked.text, legal)
    return fit


def named_sites(what: str | int, program: Program, argument: str) -> tuple[int, ...]:
    """The instructions that an argument names.

    Raises:
        UsageError: It names no instructions.
    """
    must_be(str | int, argument, what, "a pattern or a line")
    ops = [op for op in program.ops if op.node.end > op.node.start]
    match what:
        case int():
            sites = [op.site for op in ops if op.line == what]
        case _ if source := _SOURCE.fullmatch(what):
            origins = origins_in(program.module)
            sites = [op.site for op in ops if _comes_from(origins.at(op.node.start), source[1], int(source[2]))]
        case _:
            sites = [op.site for op in ops if any(instructions(op.node, what))]
    if not sites:
        raise UsageError(
            argument,
            what,
            "a PTX line, a source line such as 'kernel.cu:45', or a pattern that some "
            "instruction of the kernel matches",
        )
    return tuple(sites)


def _comes_from(origin: SourceLine | None, file: str, line: int) -> bool:
    while origin is not None:
        path, wanted = PurePath(origin.file).parts, PurePath(file).parts
        if origin.line == line and path[-len(wanted) :] == wanted:
            return True
        origin = origin.into
    return False


def chosen_blocks(blocks: Blocks, grid: tuple[int, int, int], argument: str) -> Sequence[int]:
    """The CTAs that an argument names, by index, in order.

    Raises:
        UsageError: There is no such CTA.
    """
    total = prod(grid)
    if isinstance(blocks, str):
        if blocks != "all":
            raise UsageError(argument, blocks, "blocks by number or as (x, y, z), or 'all'")
        return range(total)
    found: list[int] = []
    for block in blocks:
        x, y, z = (block, 0, 0) if isinstance(block, int) else (*block, 0, 0)[:3]
        most, too_long = (total, False) if isinstance(block, int) else (grid[0], len(block) > len(grid))
        if too_long or not (0 <= x < most and 0 <= y < grid[1] and 0 <= z < grid[2]):
            raise UsageError(argument, block, f"within the grid {grid}, by number or as (x, y, z)")
        found.append(x + grid[0] * (y + grid[1] * z))
    return tuple(sorted(set(found)))
