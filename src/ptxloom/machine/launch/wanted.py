"""Rarely used options of launches: traces, provenance, comparisons. Each imports what it needs on first use."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.instruments.wanted import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.machine.launch.expected import Expected, References
    from ptxloom.machine.launch.launch_limits import Dim3
    from ptxloom.machine.memory.arena import Budget
    from ptxloom.machine.program.model import Parameter, Program
    from ptxloom.machine.results.outcome import LaunchResult
    from ptxloom.machine.results.provenance_choice import Provenance
    from ptxloom.machine.results.recording import Recording
    from ptxloom.machine.results.trace import Request

_MOST_PRODUCTS: Final = 64  # instructions at which shared memory is kept because they multiply its contents


def compared(reference: References, parameters: Sequence[Parameter], args: Sequence[object]) -> tuple[Expected, ...]:
    """Each array that is to be compared, proved to be comparable before anything runs.

    Raises:
        UsageError: Something else is named, or the shapes or types do not fit.
    """
    if reference is None:
        return ()
    from ptxloom.machine.launch.expected import references_of  # noqa: PLC0415 - see the module's docstring

    return references_of(reference, parameters, args)


def with_comparisons(
    result: LaunchResult, several: Sequence[Expected], program: Program, grid: tuple[int, ...]
) -> LaunchResult:
    """The result of a launch, with its arrays compared with what they must be."""
    from ptxloom.machine.launch.expected import outcomes  # noqa: PLC0415 - likewise

    return replace(result, comparisons=outcomes(several, program, grid, result.provenance))


def recording(trace: Sequence[Request], program: Program, shape: Dim3, budget: Budget) -> Recording:
    """Room for what is traced.

    Raises:
        UsageError: It names no instructions.
    """
    from ptxloom.machine.results.recording import Recording  # noqa: PLC0415 - likewise
    from ptxloom.machine.results.trace_choice import choose  # noqa: PLC0415 - likewise

    traced = choose(trace, program, shape.grid, -(-shape.threads // LANES))
    return Recording(program, traced, shape.grid, shape.block, budget)


def words_followed(following: Provenance, program: Program) -> frozenset[str]:
    """What provenance has compiled into a kernel.

    Raises:
        UsageError: It names no instructions.
    """
    return words_of(_sites(following, program))


def _sites(following: Provenance, program: Program) -> Iterator[int]:
    """The instructions at which shared memory is kept."""
    if following.shared_at:
        from ptxloom.machine.results.trace_choice import named_sites  # noqa: PLC0415 - likewise

        for what in following.shared_at:
            yield from named_sites(what, program, "shared_at")
    if following.shared_at_products:
        from ptxloom.readings.effects import goes_by_async_proxy, multiplies  # noqa: PLC0415 - likewise

        described = (op.site for op in program.ops if multiplies(op.node) and goes_by_async_proxy(op.node))
        yield from islice(described, _MOST_PRODUCTS)
