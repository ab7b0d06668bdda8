"""Whether the tables of the run-time have as many elements as native code takes them to have.

`python -m attack.declared_counts`, from `tests`, launches kernels under every tool with each piece of the machine's
state in a zone of its own, and follows the structs from a worker on: what a field declares has to lie in one zone.
Prints how many tables it has seen, and each that is shorter than declared.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from attack.zones import Zones, guard
from ptxloom.machine.native.language import record, structure
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.native.language import NativeType

_TOOLS: Final = (
    ("memcheck",),
    ("racecheck",),
    ("initcheck",),
    ("provenance",),
    ("racecheck", "initcheck", "racecheck:global", "initcheck:global"),
)
_ELSEWHERE: Final = ("HeapTable", "TracedSite")  # whose tables belong to the module, and to who reads the trace
KERNEL: Final = """.version 8.6
.target sm_90
.address_size 64
.const .align 4 .b8 con[20];
.func (.param .u32 r) f (.param .u32 a) {
  .reg .u32 %a; ld.param.u32 %a, [a]; st.param.u32 [r], %a; ret;
}
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;
  .shared .align 16 .b8 area[64]; .shared .align 8 .b64 bar;
  .local .align 8 .b8 own[24];
  ld.param.u64 %rd1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, area; mov.u32 %r2, bar;
  st.local.u32 [own], %r0;
  { .param .u32 r; .param .u32 a; st.param.u32 [a], %r0; call (r), f, (a); ld.param.u32 %r3, [r]; }
  setp.ne.u32 %p, %r0, 0;
  @%p bra DONE;
  mbarrier.init.shared.b64 [%r2], 1;
  cp.async.ca.shared.global [%r1], [%rd1], 16;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; cp.async.wait_all;
  fence.acq_rel.gpu; atom.global.add.u32 %r4, [%rd1], 1;
DONE: ret;
}
"""


@dataclass
class Walk:
    """A walk over structs: where it has been, and what it has found."""

    zones: Zones
    seen: set[tuple[type, int]] = field(default_factory=set[tuple[type, int]])
    short: list[str] = field(default_factory=list[str])
    tables: int = 0

    def struct(self, kind: type, at: int) -> None:
        """A struct and all that its fields lead to."""
        if (kind, at) in self.seen or not at or kind.__name__ in _ELSEWHERE:
            return
        self.seen.add((kind, at))
        held: Any = structure(kind).from_address(at)
        for name, one in record(kind).kinds.items():
            if one.bound and getattr(held, name):
                self.table(f"{kind.__name__}.{name}", one, getattr(held, name), self.count(kind, at, one.bound))
            elif one.struct is not None:
                self.struct(one.struct, getattr(held, name))

    def table(self, name: str, kind: NativeType, start: int, count: int) -> None:
        """What a field points to."""
        element = kind.element
        assert element is not None
        if element.struct is not None and element.struct.__name__ in _ELSEWHERE:
            return
        self.tables += 1
        size = count * element.stride
        kept = [*self.zones.live, *self.zones.kept]
        if not any(z.address <= start and start + size <= z.address + z.size for z in kept):
            self.short.append(f"{name}: {count} elements are {size} bytes from {start:#x} on")
        elif element.struct is state.Resident:
            for number in range(count):
                self.struct(element.struct, start + number * element.stride)

    def count(self, kind: type, at: int, bound: str) -> int:
        """How many elements a bound says, in a struct at an address."""
        fields = {name: _Field(kind, at, name).value for name in record(kind).kinds}
        names = {**vars(sys.modules[kind.__module__]), **fields, "address": int}
        return int(eval(bound, names))  # noqa: S307 - from an annotation of ours


@dataclass
class _Field:
    """A field of a struct, of which further ones can be asked for if it points to a struct."""

    struct: type
    at: int
    name: str

    @property
    def value(self) -> object:
        """A number, or what stands for a struct."""
        kind = record(self.struct).kinds[self.name]
        held: object = getattr(structure(self.struct).from_address(self.at), self.name)
        return _Struct(kind.struct, int(str(held))) if kind.struct is not None else held


class _Struct:
    """A struct at an address; its fields are looked up when asked for."""

    def __init__(self, kind: type, at: int) -> None:
        self._kind = kind
        self._at = at

    def __getattr__(self, name: str) -> object:
        return _Field(self._kind, self._at, name).value


def walks() -> Iterator[Walk]:
    """Launches under each choice of tools, alone and in clusters, and what has been found before they ran."""
    import numpy as np  # noqa: PLC0415 - after the guard

    import ptxloom as pl  # noqa: PLC0415 - after the guard
    from ptxloom.machine.launch.worker import Worker  # noqa: PLC0415 - after the guard

    zones = Zones()
    guard(zones)
    walk = Walk(zones)
    run = Worker.run

    def look(worker: Worker, deadline: float | None) -> None:
        walk.struct(state.Worker, ctypes.addressof(worker.state))
        for at in worker.ctas:
            cta: Any = structure(state.Cta).from_address(at)
            for number in range(worker.launch.native.warps):
                walk.struct(state.Warp, cta.warps + number * worker.launch.warp_bytes)
        run(worker, deadline)

    Worker.run = look  # pyright: ignore[reportAttributeAccessIssue]
    kernel = pl.kernel(pl.parse(KERNEL), "k")
    for tools in _TOOLS:
        for cluster in (None, 2):
            walk = Walk(zones)
            array = np.zeros(64, np.uint8)
            checks = tuple(tool for tool in tools if tool != "provenance")
            follow = pl.Provenance(budget=1 << 20) if checks != tools else False
            kernel.launch(4, 70, [array], 24, cluster=cluster, checks=checks, threads=1, provenance=follow)
            yield walk


def main() -> int:
    """The command."""
    short: list[str] = []
    for walk in walks():
        print(f"{walk.tables} tables in {len(walk.seen)} structs")  # noqa: T201
        short += walk.short
    print("\n".join(short))  # noqa: T201
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
