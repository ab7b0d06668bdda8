"""`--profile` and `--trace`: what a run is asked to count and to record, and how that is shown."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from ptxloom.cli.inputs import read
from ptxloom.cli.launch_file import read_launch
from ptxloom.cli.output import talk
from ptxloom.cli.watch_arguments import BESIDE_TRACE
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.isa.limits import LANES
from ptxloom.machine.kernels import kernel
from ptxloom.machine.results.trace import Trace
from ptxloom.views.runs import traces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.cli.arguments import Options
    from ptxloom.machine.results.profile import Profile
    from ptxloom.machine.results.trace import TraceRecord
    from ptxloom.syntax import Module

_LONGEST_NUMBER: Final = 12


def requests(options: Options) -> tuple[Trace, ...]:
    """What `--trace` and the options beside it ask for.

    Raises:
        PtxloomError: A list of numbers cannot be read as one, or nothing is to be recorded.
    """
    unused = [name for name, default in BESIDE_TRACE.items() if getattr(options, name) != default]
    if unused and not options.trace:
        option = f"--{unused[0].replace('_', '-')}"
        raise PtxloomError(f"`{option}` goes with `--trace`, which says what instruction to record")
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
    """Whether a text is a whole number of a size that lines, blocks and warps have."""
    return text.strip().isdecimal() and len(text) <= _LONGEST_NUMBER


def wants_picture(options: Options) -> bool:
    """Whether the result is to be a picture of a traced matrix."""
    return options.output_format == "svg" or bool(
        options.trace and options.output and PurePath(options.output).suffix == ".svg"
    )


def picture(records: Sequence[TraceRecord], options: Options) -> str:
    """The first record that holds a matrix, drawn.

    Raises:
        UsageError: None does.
    """
    drawable = [record for record in records if record.operands]
    if not drawable:
        raise UsageError("--trace", ", ".join(options.trace), "an instruction that moves matrices, to be drawn")
    if len(drawable) > 1:
        choices = "--trace-blocks, --trace-warps and --trace-first choose"
        talk(f"ptxloom: the first of {len(drawable)} records is drawn; {choices}")
    return traces.svg(drawable[0], options.trace_type, options.trace_operand)


def profile_of(name: str, modules: Sequence[Module]) -> tuple[Module, Profile]:
    """Run what a launch file says on the one of these modules that it names, and count.

    Raises:
        PtxloomError: The launch file names another module.
        LaunchError: The kernel was ended by an error.
    """
    launch = read_launch(name)
    text = read(str(launch.ptx), launch.target).text
    module = next((m for m in modules if m.source.text == text), None)
    if module is None:
        raise PtxloomError(f"{name} runs {launch.ptx}, which is not among the files that are shown")
    compiled = kernel(module, launch.kernel, launch.target)
    values = [a.passed for a in launch.arguments]
    result = compiled.launch(
        launch.grid, launch.block, values, launch.shared_bytes, cluster=launch.cluster, profile=True
    )
    assert result.profile is not None  # noqa: S101 - it was asked for
    return module, result.profile
