"""Who stores what while native code runs: Python writes into no worker's memory but that of its own thread.

`python -m attack.stores`, from `tests`, runs launches on several threads of the host and follows every store of theirs
into what native code reads: fields of structs, and what `ctypes` moves and fills. Prints each kind of store that
came while workers ran, and each that none of them may make.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from bisect import bisect_right, insort
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from attack.heap_kernels import OWN_BLOCKS
from ptxloom import kernel, parse
from ptxloom.diagnostics import PtxloomError
from ptxloom.machine.launch.worker import Worker
from ptxloom.machine.memory import arena, heap
from ptxloom.machine.native import language

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ptxloom.machine.launch.launch_state import LaunchState

#: What all workers of a launch share, and Python may store while they run; each is one word, which is stored at once.
SHARED_FIELDS: Final = frozenset({"Launch.stop", "Launch.full", "Launch.masked", "Launch.poisoned", "HeapTable.freed"})
HEAP: Final = "the device heap"
MARKS: Final = "initcheck's marks of global memory"
#: Memory of the launch that Python may fill while workers run: bytes of free blocks, and their marks.
SHARED_ROOMS: Final = frozenset({HEAP, MARKS})

_HEAD: Final = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func free(.param .b64 p);\n"
_PRINT: Final = """.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.global .align 1 .b8 form[4] = {104, 105, 10, 0};
"""
_KERNEL: Final = (
    ".visible .entry k(.param .u64 out) {{ .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n{} ret; }}"
)
_SCENES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    # blocks that are freed and given again, in a heap that is full soon
    (
        OWN_BLOCKS.replace("ROUNDS", "12").replace("PASSES", "2"),
        {"grid": 16, "heap_bytes": 1 << 17, "checks": ["memcheck", "initcheck:global"]},
    ),
    # each CTA waits for all others: more of them have to be admitted
    (
        _HEAD + ".global .u32 come;\n" + _KERNEL.format(
            "mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; @%p1 bra W; atom.global.add.u32 %r2, [come], 1;\n"
            "W: ld.volatile.global.u32 %r2, [come]; setp.lt.u32 %p1, %r2, 64; @%p1 bra W;"
        ),
        {"grid": 64},
    ),
    # warps that part, and print
    (
        _HEAD + _PRINT + _KERNEL.format(
            "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 3; @%p1 bra L; mov.u64 %rd1, form; mov.u64 %rd2, 0;\n"
            "{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [v], %rd2;\n"
            "call (r), vprintf, (f, v); } L:"
        ),
        {"grid": 16},
    ),
    # one CTA ends the launch for all
    (
        _HEAD + _KERNEL.format("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 40; @%p1 trap; W: @!%p1 bra W;"),
        {"grid": 64, "checks": []},
    ),
    # unwritten bits: the variant that follows them is compiled while others run
    (
        _HEAD + _KERNEL.format(
            ".shared .b32 sha[32]; mov.u32 %r1, sha; ld.shared.u32 %r2, [%r1]; add.u32 %r2, %r2, 1;"
            "ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r2;"
        ),
        {"grid": 16, "checks": ["initcheck"]},
    ),
)  # fmt: skip


class _Room(NamedTuple):
    start: int
    size: int
    owner: object  # a worker; what the launch calls it, if it is everybody's


class Stores:
    """What has been seen.

    Attributes:
        met: Kinds of stores that came while workers ran; whether others than a thread's own did is chance.
        breaches: Those among them that are not allowed.
    """

    def __init__(self) -> None:
        self.met: dict[str, int] = {}
        self.breaches: dict[str, int] = {}
        self._rooms: list[_Room] = []
        self._lock = threading.Lock()
        self._running: dict[int, Worker] = {}  # by thread
        self._made: dict[int, Worker] = {}  # the worker that a thread is making
        self._launch_lock: Any = None

    def worker(self) -> Worker | None:
        """The one that this thread is, or makes."""
        thread = threading.get_ident()
        return self._made.get(thread) or self._running.get(thread)

    def take(self, at: int, size: int, what: str) -> None:
        """Memory has been taken from a launch's arena, or for a heap."""
        owner = self.worker()
        with self._lock:
            # what lay there before, of a launch or a heap that is gone, is no longer room
            self._rooms = [one for one in self._rooms if one.start + one.size <= at or at + size <= one.start]
            insort(self._rooms, _Room(at, size, what if owner is None else owner), key=lambda one: one.start)
        if owner is not None and self._running and not self._launch_lock.locked():
            self._tell(self.breaches, "memory of the arena taken without the lock of the launch")

    def store(self, at: int, size: int, name: str) -> None:
        """Python stores some bytes."""
        if not self._running:
            return
        owner = self._owner(at, size)
        if owner is not None and owner is self.worker():
            self._tell(self.met, f"its own {name}")
        elif name in SHARED_FIELDS or (owner in SHARED_ROOMS and self._launch_lock.locked()):
            self._tell(self.met, name if name in SHARED_FIELDS else f"{name} in {owner}")
        else:
            self._tell(self.breaches, f"{name} of {'another worker' if isinstance(owner, Worker) else owner}")

    def _tell(self, into: dict[str, int], what: str) -> None:
        with self._lock:
            into[what] = into.get(what, 0) + 1

    def _owner(self, at: int, size: int) -> object:
        with self._lock:
            index = bisect_right(self._rooms, at, key=lambda one: one.start) - 1
            found = self._rooms[index] if index >= 0 else None
        return found.owner if found is not None and at + size <= found.start + found.size else None

    def watch(self) -> None:
        """Look on from now on, as long as the process lives."""
        self._watch_memory()
        self._watch_fields()
        self._watch_workers()
        for name in ("memset", "memmove"):
            self._watch_function(name)

    def _watch_memory(self) -> None:
        arena_take, heap_zeroed = arena.Arena.take, heap.zeroed

        def take(of: arena.Arena, size: int, what: str = arena.STATE) -> int:
            at = arena_take(of, size, what)
            self.take(at, size, what)
            return at

        def zeroed(size: int, alignment: int, what: str) -> Any:
            found = heap_zeroed(size, alignment, what)
            self.take(found.ctypes.data, size, what)
            return found

        setattr(heap, zeroed.__name__, zeroed)
        arena.Arena.take = take  # type: ignore[method-assign]

    def _watch_fields(self) -> None:
        stores, known = self, dict[type, type]()
        structure = language.structure

        def watched(struct: type) -> type:
            if struct not in known:
                plain = structure(struct)

                class Watched(plain):  # type: ignore[misc,valid-type]
                    def __setattr__(self, name: str, value: object) -> None:
                        field = getattr(plain, name)
                        stores.store(ctypes.addressof(self) + field.offset, field.size, f"{struct.__name__}.{name}")
                        super().__setattr__(name, value)

                known[struct] = Watched
            return known[struct]

        setattr(language, structure.__name__, watched)

    def _watch_workers(self) -> None:
        made, run = Worker.__init__, Worker.run

        def init(worker: Worker, launch: LaunchState, number: int) -> None:
            self._launch_lock = launch.lock
            self._made[threading.get_ident()] = worker
            made(worker, launch, number)
            del self._made[threading.get_ident()]

        def run_watched(worker: Worker, deadline: float | None, *looks: Iterator[int]) -> None:
            self._running[threading.get_ident()] = worker
            try:
                run(worker, deadline, *looks)
            finally:
                del self._running[threading.get_ident()]

        Worker.__init__ = init  # type: ignore[method-assign]
        Worker.run = run_watched  # type: ignore[method-assign]

    def _watch_function(self, name: str) -> None:
        plain: Callable[[int, Any, int], int] = getattr(ctypes, name)

        def watched(at: int, value: Any, size: int) -> int:
            self.store(at, size, name)
            return plain(at, value, size)

        setattr(ctypes, name, watched)

    def forget(self) -> None:
        """What comes next is another launch: memory is given again."""
        self._rooms = [room for room in self._rooms if room.owner == HEAP]


def main() -> int:
    """The command."""
    stores = Stores()
    stores.watch()
    for ptx, asked in _SCENES:
        made = kernel(parse(ptx), "k")
        for threads in (4, 2, 3):
            try:
                made.launch(args=[np.zeros(64, np.uint32)], block=64, threads=threads, timeout=60.0, **asked)
            except PtxloomError as error:
                sys.stdout.write(f"ended {type(error).__name__}\n")
            stores.forget()
    for told, found in (("met", stores.met), ("breach", stores.breaches)):
        sys.stdout.writelines(f"{told} {what}\n" for what in sorted(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
