"""What threads of the host share during a launch: ARCHITECTURE.md, "The sandbox", row by row."""

from __future__ import annotations

import ast
import importlib
import inspect
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from attack.declared_lengths import native_functions
from attack.guarded import Attack, Room, attack
from attack.heap_kernels import ALONE, TOOLS, WAITS, freed_elsewhere, own_blocks
from attack.test_native_bounds import child_of
from machine.small_kernels import entry
from ptxloom.machine.launch import worker
from ptxloom.machine.native import language
from ptxloom.machine.native.language import Sealed
from ptxloom.machine.native.writer import MAKERS
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.structs.spans import Span
from ptxloom.machine.runtime.structs.traced_site import TracedSite
from ptxloom.machine.runtime.structs.trail import Trail

if TYPE_CHECKING:
    from collections.abc import Iterator

# ---------------------------------------------------------------------------------------------------- the device heap


@pytest.mark.parametrize("tool", TOOLS)
def test_the_device_heap_serves_two_to_eight_threads_under_every_tool(tool: str) -> None:
    launches = [own_blocks(tool, threads) for threads in range(2, 9)]
    for one, end in zip(launches, attack(launches), strict=True):
        assert (end.kind, end.hazards) == ("done", ()), f"{one.label}: {end}"


@pytest.mark.parametrize("wait", WAITS)
def test_what_another_thread_has_freed_is_out_of_bounds(wait: str) -> None:
    for end in attack([freed_elsewhere(wait, number) for number in range(4)]):
        assert end.kind == "fault", end
        assert "memcheck.use-after-free" in end.hazards


# ------------------------------------------------------------------------------------------------------ who may store


def test_python_stores_into_no_worker_but_its_own() -> None:
    child = child_of("from attack.stores import main; main()")
    told = child.stdout.splitlines()
    assert [line for line in told if line.startswith("breach")] == [], child.stderr[-500:]
    seen = {line.removeprefix("met ") for line in told}
    shared = {"Launch.stop", "Launch.masked", "Launch.poisoned", "HeapTable.freed", "memset in the device heap"}
    assert shared | {"its own Worker.least", "its own Worker.ctas", "its own memmove"} <= seen, child.stderr[-500:]


#: Where `launch/` and the heap store elements, which `attack.stores` does not see: what, and why no worker is in it.
ELEMENTS: Final = {
    "launch/asked.py": {"asked_of": "a dictionary of Python's"},
    "launch/launch_state.py": {
        "_fill": "the launch's extents, before there is a worker",
        "provide": "the address of a variant, one word: who reads it meanwhile goes on in the old code or the new",
        "table": "an array of Python's, whose bytes are published",
    },
    "launch/shadows/initcheck.py": {"mark": "rows of that array"},
    "launch/shadows/provenance.py": {
        "mark": "rows of that array",
        "_make_room": "the trail, before there is a worker",
    },
    "launch/shadows/racecheck.py": {
        "_add_segments": "a row of that array, where `mark` has made it",
        "mark": "rows of that array",
    },
    "launch/tensor_forms.py": {"fill": "a plan that the count does not tell of yet, under the launch's lock"},
    "launch/worker.py": {"add_cluster": "the worker's own table of CTAs"},
    "memory/heap.py": {"allocate": "the heap's tables, under its lock", "release": "the same"},
    "results/word_tags.py": {"clear": "tags of a block that comes from `malloc`, in a launch of one thread"},
}
_MACHINE: Final = Path(worker.__file__).parents[1]
_DICTIONARIES: Final = (  # of Python's own
    "first", "kept", "self._areas", "self._kept", "self._cells", "self._live", "self._freed", "self._starts",
    "self._ends", "self._known", "self._errors", "self._hazards",
)  # fmt: skip


def stored_elements(path: Path) -> set[str]:
    """The functions of a module that store into elements of arrays, or into fields by their names."""
    found: set[str] = set()
    for function in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(function):
            match node:
                case ast.Subscript(value=array, ctx=ast.Store()) if ast.unparse(array) not in _DICTIONARIES:
                    found.add(function.name)
                case ast.Call(func=ast.Name(id="setattr")):
                    found.add(function.name)
                case _:
                    pass
    return found


def test_elements_of_native_arrays_are_stored_where_no_worker_is() -> None:
    others = _MACHINE / "memory" / "heap.py", _MACHINE / "results" / "word_tags.py"
    paths = [*(_MACHINE / "launch").rglob("*.py"), *others]
    found = {str(path.relative_to(_MACHINE)): stored_elements(path) for path in paths}
    assert {name: some for name, some in found.items() if some} == {name: {*some} for name, some in ELEMENTS.items()}


def structs_behind(struct: type, seen: set[type]) -> set[type]:
    """A struct and all that its fields lead to."""
    if struct in seen:
        return seen
    seen.add(struct)
    for kind in language.record(struct).kinds.values():
        inner = kind.struct or (kind.element.struct if kind.element is not None else None)
        if inner is not None:
            structs_behind(inner, seen)
    return seen


def test_native_code_stores_into_no_struct_that_workers_share() -> None:
    alone = structs_behind(Trail, set())  # provenance's: a launch of one thread
    shared = {TracedSite} | structs_behind(state.Launch, set()) | structs_behind(Span, set())
    shared -= alone
    cells = {one for one in shared if one.__module__.endswith("structs.histories")}  # racecheck:global's: likewise
    assert {one.__name__ for one in shared - cells if not issubclass(one, Sealed)} == set()


def stores_of(module: str) -> Iterator[ast.expr]:
    """What the functions of a native module store into."""
    for node in ast.walk(ast.parse(inspect.getsource(importlib.import_module(module)))):
        if isinstance(node, ast.Assign):
            yield from (target for target in node.targets if not isinstance(target, ast.Name))


def test_what_may_store_into_sealed_structs_stores_into_its_own_worker() -> None:
    assert {ast.unparse(target) for module in MAKERS for target in stores_of(module)} == {
        "known.start", "known.end", "w.worker.in_heap", "worker.in_heap", "worker.freed",
    }  # fmt: skip


def test_native_code_stores_into_no_table_of_the_launch() -> None:
    for function in native_functions():
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                assert "launch." not in ast.unparse(node.value), function


def test_no_native_function_reads_twice_what_the_heap_says_of_a_block() -> None:
    """Between two reads another thread may free the block, and give its room to a larger one."""
    count = 0
    for function in native_functions():
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        elements = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Subscript)]
        read = [one for one in elements if "heap." in one.partition("[")[0]]
        assert len(read) == len(set(read)), function
        count += len(read)
    assert count >= 2


def test_native_code_changes_one_number_of_the_launch_and_at_once() -> None:
    """The next cluster; what else is changed atomically belongs to the kernel."""
    places: set[str] = set()
    for function in native_functions():
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"atomic", "compare_exchange"}:
                places.add(ast.unparse(node.args[1 if ast.unparse(node.func) == "atomic" else 0]))
    assert "launch.next" in places
    assert [place for place in places if "launch." in place or "worker." in place] == ["launch.next"]


# --------------------------------------------------------------------------------------------------- what comes of it


@pytest.mark.parametrize("threads", range(2, 9))
def test_every_cluster_runs_once(threads: int) -> None:
    count = np.zeros(4096, np.uint32)
    body = "mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd3, %r1, 4, %rd1; red.global.add.u32 [%rd3], 1;"
    entry(body).launch(4096, 1, [count], threads=threads)
    assert (count == 1).all()


@pytest.mark.parametrize("tool", ALONE)
def test_tools_whose_tables_all_ctas_share_run_on_one_thread(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    plain = worker.Worker.__init__

    def init(self: worker.Worker, launch: Any, number: int) -> None:
        made.append(number)
        plain(self, launch, number)

    monkeypatch.setattr(worker.Worker, "__init__", init)
    asked: dict[str, Any] = {"provenance": True} if tool == "provenance" else {"checks": [tool]}
    entry("st.global.u32 [%rd0], %r0;").launch(64, 32, [np.zeros(32, np.uint32)], threads=8, **asked)
    assert made == [0]


def test_what_is_counted_traced_and_printed_is_the_same_on_eight_threads() -> None:
    body = "mov.u32 %r1, %ctaid.x; mad.wide.u32 %rd3, %r1, 128, %rd0; st.global.u32 [%rd3], %r1; ld.u32 %r2, [%rd3];"
    told: list[tuple[object, ...]] = []
    for threads in (1, 8):
        array = np.zeros((128, 32), np.uint32)
        asked: dict[str, Any] = {"profile": True, "trace": ("st", "ld"), "threads": threads}
        result = entry(body).launch(128, 32, [array], **asked)
        traced = [(r.block, r.warp, r.order, r.line) for r in result.trace]
        told.append((result.instructions, str(result.profile), traced, array.tobytes()))
    assert told[0] == told[1]


#: CTAs that copy by a tensor map in global memory, and CTAs that change it meanwhile.
CHANGING_MAP: Final = """.version 8.6
.target sm_90a
.visible .entry k(.param .u64 map, .param .u64 out)
{
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .shared .align 128 .b8 box[8192]; .shared .align 8 .b64 bar;
ld.param.u64 %rd1, [map]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, box; mov.u32 %r3, bar;
mov.u32 %r5, 0; mov.u32 %r6, 2654435761; mad.lo.u32 %r6, %r1, %r6, 12345; and.b32 %r7, %r1, 1;
setp.eq.u32 %p1, %r7, 0; @%p1 bra CHANGE;
mbarrier.init.shared.b64 [%r3], 9;
COPY:
cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r5}], [%r3];
cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r5}], [%r2];
add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 200; @%p1 bra COPY; ret;
CHANGE:
st.global.u64 [%rd1], %rd2; st.global.u64 [%rd1+16], 0; st.global.u64 [%rd1+24], 0; st.global.u64 [%rd1+40], 0;
st.global.u64 [%rd1+32], 63; st.global.u64 [%rd1+48], 216172782113783808; st.global.u64 [%rd1+8], 896;
mad.lo.u32 %r6, %r6, 1664525, 1013904223; shr.u32 %r7, %r6, 26; and.b32 %r7, %r7, 60; cvt.u64.u32 %rd3, %r7;
add.u64 %rd3, %rd3, %rd1; st.global.u32 [%rd3], %r6;
add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 400; @%p1 bra CHANGE; ret;
}
"""


def test_a_tensor_map_that_another_thread_changes_leads_nowhere_else() -> None:
    rooms = (Room(256), Room(256))
    launches = [
        Attack(CHANGING_MAP, rooms, grid=16, block=1, threads=threads, checks=checks, timeout=5.0)
        for threads in (2, 5, 8)
        for checks in (("memcheck",), ("racecheck",), ("initcheck",))
    ]
    assert [end for end in attack(launches) if not end.holds or end.kind == "refused"] == []
