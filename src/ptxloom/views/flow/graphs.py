"""Control-flow graphs as text, in the DOT language and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError
from ptxloom.flow import EdgeKind
from ptxloom.names.demangling import demangled
from ptxloom.records import Natural, Positive, Record, taken
from ptxloom.syntax import print_statements
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.flow import BasicBlock, FlowGraph
    from ptxloom.syntax.tree import Instruction

SHOWN: Final = 6
"""The number of instructions of a block that a picture shows by default."""
WIDTH: Final = 72
"""The longest line of code in a picture."""
NESTED: Final = 8
"""The number of loops around a block that a table shows."""
LISTED: Final = 1_000_000
"""How many blocks the loops of a function may list as JSON, each loop those of the loops in it, too."""


def full(graph: FlowGraph, *, code: bool = False, style: Style = PLAIN) -> str:
    """A table of the blocks; with `code`, their instructions below."""
    edges, loops = len(graph.edges), len(graph.loops)
    head = (
        f"{demangled(graph.function.name)}: {_count(len(graph.blocks), 'block')}, {_count(edges, 'edge')}, "
        f"{_count(loops, 'loop')}"
    )
    lines = [style.paint(harmless(head), Ink.BOLD), *(f"  {line}" for line in text_table(_table(graph), style))]
    if graph.irreducible:
        shown = ", ".join(f"{one.source} -> {one.target}" for one in graph.irreducible)
        lines.append(f"  cycles with several entries, through {shown}")
    lines += [f"  line {one.span.line}: the target of `{code_line(one)}` is not known" for one in graph.unresolved]
    if code:
        for block in graph.blocks:
            lines += ["", *_listing(graph, block, style)]
    return "\n".join(lines) + "\n"


def _table(graph: FlowGraph) -> Table:
    inside = _loops_by_block(graph)
    head = ("block", "lines", "instructions", "loops", "dominator", "goes to", "label")
    return Table(
        head,
        tuple(
            row(
                block.number,
                _lines(graph, block),
                len(block.instructions),
                inside[block.number],
                "" if (above := graph.dominators[block.number]) is None else above,
                goes_to(graph, block),
                harmless(" ".join(block.labels)),
            )
            for block in graph.blocks
        ),
    )


def _loops_by_block(graph: FlowGraph) -> dict[int, str]:
    """The headers of the loops that each block is in, the outermost first; of many the innermost ones."""
    found = {block.number: "" for block in graph.blocks}
    around: list[tuple[int, ...]] = []  # the innermost loops, by loop
    for loop in graph.loops:
        headers = (*(() if loop.outer is None else around[loop.outer]), loop.header)
        around.append(headers[-NESTED:])
        left_out = loop.depth - len(around[-1])
        text = " ".join(map(str, around[-1]))
        found |= dict.fromkeys(loop.own, f"... {left_out} more, {text}" if left_out else text)
    return found


def goes_to(graph: FlowGraph, block: BasicBlock) -> str:
    """The successors of a block in words: `3 if taken, 1 if not`."""
    kinds = {"taken": "{} if taken", "passed": "{} if not", "table": "{}", "jump": "{}", "next": "{}"}
    said = [kinds[edge.kind].format(edge.target) for edge in block.successors]
    if block.leaves:
        said.insert(0, "the end" if block.leaves == "end" else block.leaves)
    text = ", ".join(said)
    return f"{text} (unreachable)" if block.number in graph.unreachable else text


def _lines(graph: FlowGraph, block: BasicBlock) -> str:
    span = graph.span(block.number)
    if span is None:
        return ""
    return str(span.line) if span.line == span.end_line else f"{span.line}-{span.end_line}"


def _listing(graph: FlowGraph, block: BasicBlock, style: Style) -> list[str]:
    head = f"block {block.number}" + (f" {harmless(' '.join(block.labels))}" if block.labels else "")
    lines = [style.paint(head, Ink.BOLD)]
    lines += [f"  {one.span.line:>5}  {code_line(one)}" for one in block.instructions]
    return [*lines, f"         -> {goes_to(graph, block) or 'nowhere'}"]


def code_line(node: Instruction) -> str:
    """An instruction on one line."""
    return harmless(" ".join(print_statements((node,)).split()))


def shown_code(block: BasicBlock, *, code: bool) -> list[str]:
    """The lines of a block in a picture: all, or the first and the last ones."""
    lines = [_shortened(code_line(one)) for one in block.instructions]
    if code or len(lines) <= SHOWN:
        return lines
    left_out = len(lines) - SHOWN + 1
    return [*lines[: SHOWN // 2], f"... {left_out} more", *lines[-(SHOWN // 2 - 1) :]]


def _shortened(line: str) -> str:
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."


def dot(graphs: Sequence[FlowGraph], *, code: bool = False) -> str:
    """One directed graph in the DOT language, a cluster for each function; dashed edges: the guard does not hold."""
    lines = ["digraph ptx {", '  node [shape=box, fontname="monospace", fontsize=10];', "  edge [fontsize=9];"]
    for at, graph in enumerate(graphs):
        lines += [f"  subgraph cluster_{at} {{", f"    label={_quoted(demangled(graph.function.name))};"]
        for block in graph.blocks:
            text = "".join(_escaped(line) + "\\l" for line in [_title(block), *shown_code(block, code=code)])
            lines.append(f'    f{at}b{block.number} [label="{text}"];')
        for edge in graph.edges:
            style = ", style=dashed" if edge.kind == "passed" else ""
            lines.append(f'    f{at}b{edge.source} -> f{at}b{edge.target} [label="{edge.kind}"{style}];')
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def _title(block: BasicBlock) -> str:
    return f"block {block.number}" + (f" {' '.join(block.labels)}" if block.labels else "")


def _escaped(text: str) -> str:
    return harmless(text).replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


class BlockRecord(Record):
    """A basic block; one without instructions or labels stands on no line."""

    number: Natural
    labels: tuple[str, ...]
    line: Positive | None
    end_line: Positive | None
    leaves: str
    reachable: bool
    dominator: int | None
    postdominator: int | None
    instructions: tuple[str, ...]


class EdgeRecord(Record):
    """A way from one block to another, both by number."""

    source: Natural
    target: Natural


class KindOfEdgeRecord(EdgeRecord):
    """The same with why control goes there."""

    kind: EdgeKind


class LoopRecord(Record):
    """A loop, its blocks by number."""

    header: Natural
    blocks: tuple[int, ...]
    latches: tuple[int, ...]
    depth: Positive


class GraphRecord(Record):
    """The control-flow graph of a function."""

    file: str
    function: str
    demangled: str
    blocks: tuple[BlockRecord, ...]
    edges: tuple[KindOfEdgeRecord, ...]
    loops: tuple[LoopRecord, ...]
    irreducible: tuple[EdgeRecord, ...]


def as_json(graphs: Sequence[FlowGraph]) -> str:
    """Every function as an object of one array.

    Raises:
        UsageError: Loops nest so deep that their lists of blocks are longer than anybody wants.
    """
    for one in graphs:
        listed = sum(len(loop.blocks) for loop in one.loops)
        if listed > LISTED:
            seen = f"{len(one.loops):,} loops that list {listed:,} blocks"
            raise UsageError("graph", seen, f"at most {LISTED:,} in JSON; text and DOT have no limit")
    return to_text([_record(one) for one in graphs])


def _record(graph: FlowGraph) -> GraphRecord:
    return GraphRecord(
        file=graph.function.source.name,
        function=graph.function.name,
        demangled=demangled(graph.function.name),
        blocks=tuple(_block(graph, one) for one in graph.blocks),
        edges=tuple(taken(KindOfEdgeRecord, one) for one in graph.edges),
        loops=tuple(taken(LoopRecord, one, blocks=tuple(sorted(one.blocks))) for one in graph.loops),
        irreducible=tuple(taken(EdgeRecord, one) for one in graph.irreducible),
    )


def _block(graph: FlowGraph, block: BasicBlock) -> BlockRecord:
    span = graph.span(block.number)
    return taken(
        BlockRecord,
        block,
        line=None if span is None else span.line,
        end_line=None if span is None else span.end_line,
        reachable=block.number not in graph.unreachable,
        dominator=graph.dominators[block.number],
        postdominator=graph.postdominators[block.number],
        instructions=tuple(map(code_line, block.instructions)),
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)
