"""`ptxloom sweep`: a launch file over shapes, seeds, variants and compiler flags, each result checked and profiled."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxloom import __version__
from ptxloom.campaigns import Killed, Share
from ptxloom.cli.launch_files.launch_file import table_of
from ptxloom.cli.launch_files.variations import axes, points, varied
from ptxloom.cli.results.output import CLEAN, FINDINGS, Outcome, style_for
from ptxloom.cli.spreading import carried_on, shards_of
from ptxloom.cli.sweeping import Point, told_before, tried
from ptxloom.files.names import is_file
from ptxloom.machine.port.prepare import read_checks
from ptxloom.source import title
from ptxloom.views.runs import sweeps

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options

_WORDS = (
    "isolated", "config", "cuda_defines", "cuda_includes", "cuda_standard", "cuda_fast_math", "cuda_arch", "keep_ptx",
    "nvcc_flags", "nvrtc_flags",
)  # fmt: skip
_CLEAN = ("right", "ran")


def run(options: Options) -> Outcome:
    """Run every combination; exit 1 if any is wrong, has hazards, or did not run."""
    over = axes(options.over)
    names = tuple(name for axis in over for name in axis.names)
    table = table_of(options.file)
    every = [*points(over)]
    for point in every[:1] if not over else _each_step(every, names):
        varied(options.file, table, point)  # wrong names and values are reported before anything runs
    if "checks" in names:
        for point in every:
            read_checks(point["checks"])
    read_checks(options.checks)
    found = _results(options, every)
    rows = [{"values": point, **found[_id(point)]} for point in every]
    match options.output_format:
        case "json":
            text = sweeps.as_json(names, rows)
        case "csv":
            text = sweeps.as_csv(names, rows)
        case "markdown":
            text = sweeps.markdown(names, rows)
        case _:
            text = sweeps.full(names, rows, style_for(options))
    bad = sum(row["outcome"] not in _CLEAN for row in rows)
    remark = f"{len(rows):,} runs, {bad:,} of them with findings" if bad else f"{len(rows):,} runs, no findings"
    return Outcome(text, FINDINGS if bad else CLEAN, remark)


def _each_step(every: list[dict[str, str]], names: tuple[str, ...]) -> list[dict[str, str]]:
    """Points in which each value of each name occurs."""
    seen: set[tuple[str, str]] = set()
    found: list[dict[str, str]] = []
    for point in every:
        new = {(name, point[name]) for name in names} - seen
        if new:
            found.append(point)
            seen |= new
    return found


def _results(options: Options, every: list[dict[str, str]]) -> dict[str, dict[str, Any]]:
    """The outcome of each point, by its id."""
    words = Namespace(**{name: getattr(options, name, None) for name in _WORDS})
    shares = [
        Share(
            _id(point),
            Point(options.file, point, words, options.timeout, options.memory_limit, options.checks or "all"),
        )
        for point in every
    ]
    shards = shards_of(options, _campaign(options))
    found: dict[str, dict[str, Any]] = {}
    with closing(shards) if shards is not None else nullcontext():
        for id_, result in carried_on(tried, shares, options, shards, "runs", read=told_before):
            if isinstance(result, Killed):
                found[id_] = {"outcome": "killed", "said": title(result.why), "hazards": [], "costs": {}}
            else:
                found[id_] = result
    return found


def _campaign(options: Options) -> dict[str, Any]:
    """The identity of a sweep: its files, its tools, ptxloom; its points may change."""
    table = table_of(options.file)
    files = [Path(options.file), Path(options.file).parent / str(table["ptx"])]
    digests = [sha256(one.read_bytes()).hexdigest() if is_file(one) else "" for one in files]
    words = [str(getattr(options, name, None)) for name in _WORDS]
    return {"sweep": digests, "checks": options.checks or "all", "words": words, "ptxloom": __version__}


def _id(point: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in point.items()) or "as it is"
