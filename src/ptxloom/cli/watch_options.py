"""`--profile` and `--trace`: what a run counts and records, and how that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.cli.arguments.watch_arguments import BESIDE_TRACE
from ptxloom.cli.launch_files.fitted import fitted
from ptxloom.cli.launch_files.launch_file import read_launch
from ptxloom.cli.results.output import talk
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import read
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.isa.limits import LANES
from ptxloom.machine import Trace, kernel
from ptxloom.source import title
from ptxloom.views.runs import hazard_picture, traces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.machine import Hazard, Profile, TraceRecord
    from ptxloom.syntax import Module
    from ptxloom.views.drawing.figure import Figure

_LONGEST_NUMBER: Final = 12
_BESIDE_PROFILE: Final = frozenset(("source", "source_root"))


def requests(options: Options) -> tuple[Trace, ...]:
    """The traces that `--trace` and its companion options request.

    Raises:
        PtxloomError: A list of numbers cannot be read as one, or nothing is to be recorded.
    """
    beside = (name for name in BESIDE_TRACE if not (options.profile and name in _BESIDE_PROFILE))
    unused = [name for name in beside if getattr(options, name) != BESIDE_TRACE[name]]
    if unused and not options.trace:
        option = f"--{unused[0].replace('_', '-')}"
        raise PtxloomError(f"`{option}` goes with `--trace`, which selects the instruction to record")
    blocks = "all" if options.trace_blocks == "all" else _blocks(options.trace_blocks)
    warps = None if options.trace_warps == "all" else _numbers("--trace-warps", options.trace_warps)
    lanes = None if options.lanes == "all" else _ranges("--lanes", options.lanes)
    bounds = (options.trace_first, options.trace_limit, lanes, options.when)
    return tuple(Trace(int(what) if _is_number(what) else what, blocks, warps, *bounds) for what in options.trace)


def _ranges(option: str, text: str) -> tuple[int, ...]:
    """Numbers and ranges of them, `0-7,16`."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not _is_number(first) or (dash and not _is_number(last)):
            raise UsageError(option, text, "whole numbers and ranges of them, such as 0-7,16, or all")
        found += range(int(first), min(int(last if dash else first), LANES) + 1) or [-1]
    return tuple(found)


def _blocks(text: str) -> list[int | tuple[int, ...]]:
    """Blocks separated by blanks or semicolons, each a number or x,y,z."""
    found = [_numbers("--trace-blocks", part) for part in text.replace(";", " ").split()]
    return [block if len(block) > 1 else sum(block) for block in found]


def _numbers(option: str, text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(map(_is_number, parts)):
        raise UsageError(option, text, "whole numbers separated by commas, or all")
    return tuple(map(int, parts))


def _is_number(text: str) -> bool:
    """Whether a text is a whole number in the range of lines, blocks and warps."""
    return text.strip().isdecimal() and len(text) <= _LONGEST_NUMBER


def figure(
    records: Sequence[TraceRecord],
    profile: Profile | None,
    hazards: Sequence[Hazard],
    options: Options,
    of_profile: Callable[[Profile], Figure],
) -> Figure:
    """The picture of a run: its first requested record, else the profile, else the first hazard.

    Raises:
        PtxloomError: None of these was recorded.
    """
    if options.trace:
        return _of_trace(records, options)
    if profile is not None:
        return of_profile(profile)
    if not hazards:
        raise PtxloomError("there is nothing to draw: give `--trace` or `--profile`; no hazard was found")
    if len(hazards) > 1:
        talk(f"ptxloom: the first of {len(hazards)} hazards is drawn")
    return hazard_picture.figure(next((one for one in hazards if one.other is not None), hazards[0]))


def _of_trace(records: Sequence[TraceRecord], options: Options) -> Figure:
    """The first record that holds a matrix, or the first of all if no record does."""
    drawable = [record for record in records if record.operands] or list(records)
    if not drawable:
        raise UsageError("--trace", ", ".join(options.trace), "an instruction that runs, to be drawn")
    if len(drawable) > 1:
        choices = "--trace-blocks, --trace-warps and --trace-first choose"
        talk(f"ptxloom: the first of {len(drawable)} records is drawn; {choices}")
    return traces.figure(drawable[0], options.trace_type, options.trace_operand, options.colour_by)


def profile_of(name: str, modules: Sequence[Module], options: Options) -> tuple[Module, Profile]:
    """Run a launch file on the one of these modules that it names, and count.

    Raises:
        PtxloomError: The launch file names another module.
        LaunchError: The kernel was ended by an error.
    """
    launch = read_launch(name)
    text = read(str(launch.ptx), launch.target, flags_for(options, str(launch.ptx), launch.flags, launch.target)).text
    module = next((m for m in modules if m.source.text == text), None)
    if module is None:
        raise PtxloomError(f"{title(name)} runs {title(launch.ptx)}, which is not among the files that are shown")
    launch = fitted(launch, module)
    compiled = kernel(module, launch.kernel, launch.target)
    result = launch.launch(compiled, profile=True)
    assert result.profile is not None  # noqa: S101 - it was asked for
    return module, result.profile
