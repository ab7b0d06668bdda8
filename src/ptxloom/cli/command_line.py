"""The command line's syntax; parsing it imports nothing else of ptxloom, so `--help` is instant."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ptxloom import __version__
from ptxloom.cli.arguments import (
    campaign_arguments,
    cuda_arguments,
    cute_arguments,
    descriptor_arguments,
    exec_arguments,
    explorer_arguments,
    fragment_arguments,
    machine_arguments,
    reading_arguments,
    shared_arguments,
    tool_arguments,
)
from ptxloom.cli.usage import completions, examples
from ptxloom.cli.usage.verb_parser import Overview, VerbParser

if TYPE_CHECKING:
    from collections.abc import Sequence


SPEAKING: Final = frozenset({"exec", "lsp", "mcp"})
"""Verbs without a result to print: servers, and verbs that run another program."""

INTRODUCTION: Final = "Reads, checks, runs and draws NVIDIA PTX on any machine; no GPU is needed."


_OVERVIEW: Final = frozenset({"-h", "--help"})


class Options(argparse.Namespace):
    """Every option of every verb; a verb reads those that it declares."""

    verb: str
    words: list[str]
    output: str | None
    output_format: str
    color: str
    quiet: bool
    summary: str | None
    files: list[str]
    exclude: list[str]
    gitignore: bool
    config: str | None
    isolated: bool
    stdin_filename: str | None
    statistics: bool
    watch: bool
    jobs: int | None
    verbose: bool
    fix: bool
    unsafe_fixes: bool
    file: str
    other: str
    all: bool
    at: str | None
    source: bool
    source_root: str | None
    array: str | None
    cta: str
    values: bool
    colour_by: str
    dark: bool
    transparent: bool
    type: str | None
    offset: int | None
    rows: int
    target: str | None
    cuda_defines: list[str]
    cuda_includes: list[str]
    cuda_standard: str
    cuda_fast_math: bool
    cuda_arch: str | None
    nvcc_flags: list[str]
    nvrtc_flags: list[str]
    ptx_version: str | None
    select: list[str]
    ignore: list[str]
    instruction: str
    operand: str | None
    idesc: int | None
    lane: int | None
    register: int | None
    bit: int | None
    row: int | None
    column: int | None
    matrix: int
    check: bool
    diff: bool
    write: bool
    tree: bool
    schema: bool
    function: str | None
    contract: str | None
    lines: tuple[int, int] | None
    pattern: str | None
    count: bool
    code: bool
    word: str | None
    pitch: int | None
    stride: int | None
    swizzle: tuple[int, int, int] | None
    addresses: str | None
    name: str | None
    mma: str | None
    major: str | None
    blas: str | None
    element: str | None
    language: str
    tile: tuple[int, int] | None
    bits: int | str | None
    kind: str | None
    told: dict[str, int] | None
    generation: str | None
    mode: str | None
    start_address: int | None
    map: str | None
    data_type: str | None
    global_address: int | None
    global_dim: tuple[int, ...] | None
    global_strides: tuple[int, ...] | None
    box_dim: tuple[int, ...] | None
    element_strides: tuple[int, ...] | None
    interleave: str
    l2_promotion: str
    oob_fill: str
    pixel_box_lower_corner: tuple[int, ...] | None
    pixel_box_upper_corner: tuple[int, ...] | None
    channels_per_pixel: int | None
    pixels_per_column: int | None
    coordinate: tuple[int, ...] | None
    offsets: tuple[int, ...] | None
    open: bool
    shared_address: int
    accesses: list[str]
    unchecked: bool
    checks: str | None
    kernel: str | None
    grid: int | list[int] | None
    block: int | list[int] | None
    cluster: int | list[int] | None
    shared_bytes: int | None
    args: list[dict[str, Any]]
    expect: list[str]
    rtol: float | None
    atol: float | None
    accumulate: str | None
    save: list[str]
    init: bool
    profile_launch: str | None
    profile: bool
    fidelity: bool
    provenance: bool
    attempt: bool
    trace: list[str]
    trace_blocks: str
    trace_warps: str
    trace_first: int
    trace_limit: int
    trace_type: str
    trace_operand: str
    lanes: str
    when: str
    stage: str
    part: bool
    threads: int | None
    timeout: float | None
    seed: int
    device: str
    on_hazard: str
    destroy_on_device_error: str
    program: list[str]
    only: list[str]
    judge: str
    ptxas: list[str]
    listed: bool
    full: bool
    cases: int
    level: int | None
    verify: str | None
    report: str | None
    scheduler: str | None
    against: str
    seeds: int
    first_seed: int
    trust: bool
    over: list[str]
    campaign: str | None


def read_arguments(arguments: Sequence[str]) -> Options:
    """The options of one command line; prints help and exits if requested."""
    if arguments and arguments[0] == "help":
        arguments = [*arguments[1:2], "--help"]
    parser = build_parser(*arguments[:1])
    if not arguments:
        parser.print_help(sys.stderr)
        parser.exit(2)
    return parser.parse_args(arguments, Options(words=list(arguments)))


def build_parser(verb: str | None = None) -> VerbParser:
    """The whole command line, or as much of it as one verb needs."""
    parser = VerbParser(prog="ptxloom", description=INTRODUCTION, epilog=examples.of_all())
    parser.formatter_class = partial(Overview, groups=dict(GROUPS.values()))
    parser.add_argument("--version", action="version", version=f"ptxloom {__version__}")
    parser.add_argument(
        "--print-completion",
        action=completions.PrintCompletion,
        choices=completions.SHELLS,
        metavar="SHELL",
        help="print the completion script of bash, zsh, fish or tcsh, and exit",
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=VerbParser, title="verbs")
    for name in (verb,) if verb in VERBS else VERBS:
        summary, declare = VERBS[name]
        described = f"{summary[0].upper()}{summary[1:]}."
        own = verbs.add_parser(name, help=summary, description=described, epilog=examples.of_verb(name))
        if verb in _OVERVIEW:  # names what verbs there are, and ends
            continue
        declare(own)
        if name in COMPILING:
            cuda_arguments.declare(own)
        if name in SPEAKING:
            own.set_defaults(output=None, color="never", quiet=False, summary=None)
            continue
        if own.get_default("summary") is None:
            own.set_defaults(summary=None)
        own.add_argument("-o", "--output", metavar="FILE", help="write the result to FILE instead of standard output")
        own.add_argument("-q", "--quiet", action="store_true", help="no remarks on standard error, only errors")
        own.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour the result")
    return parser


GROUPS: Final = {
    "reading": ("read", ("inspect", "check", "parse", "query", "graph", "fmt", "diff", "explain")),
    "tiles": (
        "lanes, banks and tiles",
        ("map", "where", "banks", "swizzle", "atom", "descriptor", "tensormap", "emit", "web"),
    ),
    "running": ("run", ("run", "exec", "sweep", "shared", "why", "debug")),
    "agreement": ("agreement", ("conform", "fuzz", "judge")),
    "tooling": ("for editors and scripts", ("schema", "examples", "lsp", "mcp", "doctor")),
}
"""The folders of `cli.verbs`, each with its head in `--help` and its verbs, in the order of both."""

COMPILING: Final = frozenset(
    {"inspect", "check", "parse", "query", "graph", "diff", "debug", "run", "why", "shared", "judge", "sweep"}
)
"""Verbs that take CUDA C++."""
VERBS: Final = {
    "inspect": (
        "the contents of PTX files: kernels, resources, every matrix move, findings",
        reading_arguments.inspect,
    ),
    "check": ("check PTX files: errors and warnings, each with its reason and repair", reading_arguments.check),
    "parse": ("read PTX files: summary, tree or JSON", reading_arguments.parse),
    "query": ("find instructions by a pattern", explorer_arguments.query),
    "graph": ("the control-flow graph of functions, as text, DOT, SVG or JSON", explorer_arguments.graph),
    "fmt": ("print PTX files in the canonical form", reading_arguments.fmt),
    "diff": ("the differences of two PTX files, function by function; exit 1 if there are any", reading_arguments.diff),
    "explain": ("the page of a rule, an opcode, or another word of PTX", reading_arguments.explain),
    "map": ("which lane holds which element of a matrix, as a table", fragment_arguments.map_),
    "where": ("what one lane holds, or which lanes hold a row or an element", fragment_arguments.where),
    "banks": ("the bank conflicts of one access to shared memory; exit 1 if there are any", fragment_arguments.banks),
    "swizzle": ("the swizzles and paddings of a tile that avoid every bank conflict", cute_arguments.swizzle),
    "atom": ("CuTe's atoms: names, layouts, and which one suits an operand", cute_arguments.atom),
    "descriptor": (
        "the 64 bits of a matrix descriptor: read, drawn, made",
        descriptor_arguments.descriptor,
    ),
    "tensormap": ("the 128 bytes of a tensor map: read, made, and what a copy does", descriptor_arguments.tensormap),
    "emit": ("a wrapper to paste: CUDA C++, PTX, Triton, CuTe C++ or the CuTe DSL", cute_arguments.emit),
    "web": ("the explorer: fragments, banks, descriptors and PTX in one HTML file", explorer_arguments.web),
    "run": ("run a kernel on the CPU, bit for bit, as a launch file describes it", machine_arguments.run),
    "exec": ("run a program that uses CUDA, on a driver that needs no GPU", exec_arguments.declare),
    "sweep": ("a kernel over shapes, seeds, variants, flags: checked and profiled", campaign_arguments.sweep),
    "shared": ("the contents of shared memory at a point of a run, bank by bank", shared_arguments.shared),
    "why": ("why a kernel's result is wrong: the cause, the line, the repair", machine_arguments.why),
    "debug": ("a kernel on its way to machine code: plan, IR, assembly, run-time functions", machine_arguments.debug),
    "conform": ("whether a GPU, or ptxas, agrees with this machine: every instruction", campaign_arguments.conform),
    "fuzz": ("random programs: whether a GPU, ptxas and this machine leave the same bits", campaign_arguments.fuzz),
    "judge": ("whether a kernel really computes what a reference does", campaign_arguments.judge),
    "schema": ("the JSON Schema of what a verb prints as JSON, or of launch files", reading_arguments.schema),
    "doctor": ("what is installed, what is missing for what, which compilers were found", reading_arguments.doctor),
    "examples": ("write the kernels that the README and the documentation use to a folder", reading_arguments.examples),
    "lsp": ("the language server, for editors to start", reading_arguments.lsp),
    "mcp": ("tools of the Model Context Protocol, for assistants to start", tool_arguments.mcp),
}
