"""`ptxloom shared`: the contents of shared memory at a point of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.cli.launch_files.fitted import fitted
from ptxloom.cli.launch_files.launch_file import read_launch
from ptxloom.cli.results.output import Outcome, style_for, talk
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import read
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.machine import LaunchError, Provenance, kernel, shared_map
from ptxloom.names.demangling import demangled
from ptxloom.syntax.parser import parse_source
from ptxloom.views.runs import shared_maps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.cli.command_line import Options
    from ptxloom.cli.launch_files.launch_file import LaunchFile
    from ptxloom.machine import Kernel, ProvenanceRecord, SharedMap

_LONGEST_NUMBER: Final = 9  # digits


def run(options: Options) -> Outcome:
    """Run the kernel, keep its shared memory, draw it.

    Raises:
        PtxloomError: The launch cannot be made, or no warp came to the place.
    """
    if options.rows < 1:
        raise UsageError("--rows", options.rows, "1 or more")
    found = _map(options)
    shown = shared_maps.Shown(options.rows, options.values or bool(options.type), options.colour_by == "chunk")
    if wanted(options):
        return drawn(shared_maps.figure(found, shown), options)
    if options.output_format == "json":
        return Outcome(shared_maps.as_json(found))
    return Outcome(shared_maps.full(found, shown, style_for(options)))


def _map(options: Options) -> SharedMap:
    """The map of shared memory that the options select.

    Raises:
        PtxloomError: No warp reached the place, or a name is unknown.
    """
    launch = read_launch(options.file)
    source = read(str(launch.ptx), launch.target, flags_for(options, str(launch.ptx), launch.flags, launch.target))
    module = parse_source(source)
    launch = fitted(launch, module)
    compiled = kernel(module, launch.kernel, launch.target)
    record = _record(compiled, launch, _followed(options))
    try:
        found = shared_map(
            record, shared_bytes=launch.shared_bytes, names=_names(record, launch), array=options.array,
            offset=options.offset, type=options.type,
        )  # fmt: skip
    except UsageError as error:
        raise UsageError(f"--{error.argument}", error.value, error.legal) from None
    if found is None:
        raise PtxloomError(f"no warp of the CTA {options.cta} reached {options.at or 'its end'}")
    if not len(found.contents):
        name = demangled(launch.kernel)
        raise PtxloomError(f"`{name}` has no shared memory; set `shared_bytes` in the launch file")
    return found


def _record(compiled: Kernel, launch: LaunchFile, followed: Provenance) -> ProvenanceRecord:
    """The provenance of all bytes in a run, up to the error if one ended it."""
    try:
        record = launch.launch(compiled, provenance=followed).provenance
    except LaunchError as error:
        talk(f"ptxloom: {error.reason}")
        record = error.provenance
    assert record is not None  # noqa: S101 - it was asked for
    return record


def _followed(options: Options) -> Provenance:
    return Provenance(shared_at=_moments(options.at), shared_at_products=False, shared_of=_cta(options.cta))


def _moments(text: str | None) -> tuple[str | int, ...]:
    if text is None:
        return ()
    return (int(text) if text.isdecimal() and len(text) <= _LONGEST_NUMBER else text,)


def _cta(text: str) -> list[int | tuple[int, ...]]:
    """One CTA, by its number or as x,y,z.

    Raises:
        UsageError: The text is neither.
    """
    parts = text.split(",")
    if not all(part.strip().isdecimal() and len(part) <= _LONGEST_NUMBER for part in parts):
        raise UsageError("--cta", text, "a number, or a place such as 1,0")
    return [int(text) if len(parts) == 1 else tuple(map(int, parts))]


def _names(record: ProvenanceRecord, launch: LaunchFile) -> Mapping[int, str]:
    """The names of the arrays in the launch file, or else in the kernel."""
    called = dict(enumerate(argument.name for argument in launch.arguments))
    own = {array.number: called.get(-1 if array.parameter is None else array.parameter, "") for array in record.arrays}
    return {
        a.number: a.name if not own[a.number] or own[a.number].isdecimal() else own[a.number] for a in record.arrays
    }
