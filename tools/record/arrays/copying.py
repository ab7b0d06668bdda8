"""Copies to, from and between arrays: boxes within them and beyond by one, wrong memory, nodes of graphs."""

from __future__ import annotations

import ctypes as ct
from typing import Any

from calls import (
    ARRAY,
    CUBE,
    DEVICE,
    F32,
    HOST,
    LAYERED,
    S16,
    U8,
    U16,
    U32,
    UNIFIED,
    Array3D,
    Copy2D,
    Copy3D,
    Structure,
    allocate,
    ask,
    box,
    downloaded,
    made_array,
    must,
    pattern,
    read,
    sum_of,
    tell,
    write,
)

_ROOM = 1 << 14


class _Peer3D(Structure):
    """`CUDA_MEMCPY3D_PEER`: as a copy in three dimensions, with a context on each side."""

    _fields_ = tuple(
        (name if not name.endswith("_reserved") else name.replace("reserved", "context"), kind)
        for name, kind, *_ in Copy3D._fields_
    )


class _Bench:
    """An array, a buffer of the host and one of the device, as they are before each copy."""

    def __init__(self, *shape: int, of: int = U32, channels: int = 1, flags: int = 0) -> None:
        self.array = made_array(*shape, of=of, channels=channels, flags=flags)
        self.host = ct.create_string_buffer(_ROOM)
        self.device = allocate(_ROOM)
        self.reset()

    def reset(self) -> None:
        """Everything holds what it held at first."""
        width, rows, slices = box(self.array)
        write(self.array, pattern(width * rows * slices, 1))
        ct.memmove(self.host, pattern(_ROOM, 2), _ROOM)
        must("cuMemcpyHtoD_v2", ct.c_uint64(self.device), self.host, ct.c_size_t(_ROOM))

    def sums(self) -> list[int]:
        """What everything holds, as numbers."""
        return [sum_of(read(self.array)), sum_of(self.host.raw), sum_of(downloaded(self.device, _ROOM))]

    def drop(self) -> None:
        """Free all."""
        ask("cuArrayDestroy", self.array)
        ask("cuMemFree_v2", ct.c_uint64(self.device))


def _side(bench: _Bench, name: str, kind: int, pitch: int, rows: int) -> dict[str, Any]:
    known = {
        HOST: {"host": ct.addressof(bench.host), "pitch": pitch, "height": rows},
        DEVICE: {"device": bench.device, "pitch": pitch, "height": rows},
        UNIFIED: {"device": bench.device, "pitch": pitch, "height": rows},
        ARRAY: {"array": bench.array.value},
    }[kind]
    return {f"{name}_type": kind, **{f"{name}_{member}": value for member, value in known.items()}}


def _try(bench: _Bench, question: str, name: str, structure: type[Structure], members: dict[str, Any]) -> None:
    known = {field[0] for field in structure._fields_}
    given = structure(**{member: value for member, value in members.items() if member in known})
    arguments = (ct.byref(given), None) if name.endswith(("Async", "Async_v2")) else (ct.byref(given),)
    status = ask(name, *arguments)
    tell(question, status, *([] if status else bench.sums()))
    if not status:
        bench.reset()


def boxes_2d() -> None:
    """A two-dimensional array of 16 by 8 words, 64 bytes a row."""
    bench = _Bench(16, 8)
    base = {"width": 64, "rows": 8}
    changed: dict[str, dict[str, Any]] = {
        "as it is": {},
        "a part": {"{a}_x": 8, "{a}_y": 2, "width": 16, "rows": 3},
        "one byte wide": {"width": 65},
        "an element wide": {"width": 68},
        "an element beyond": {"{a}_x": 4},
        "a row beyond": {"{a}_y": 1},
        "a row more": {"rows": 9},
        "from the end": {"{a}_x": 64, "width": 4},
        "behind the end": {"{a}_y": 8, "rows": 1},
        "between elements": {"{a}_x": 2, "width": 8},
        "half an element": {"width": 6},
        "nothing wide": {"width": 0},
        "nothing high": {"rows": 0},
        "nothing beyond": {"{a}_x": 68, "width": 0},
        "huge x": {"{a}_x": (1 << 64) - 4, "width": 8},
        "huge y": {"{a}_y": (1 << 64) - 1, "rows": 2},
        "huge width": {"width": 1 << 62},
        "huge height": {"rows": 1 << 40},
        "type 0": {"{o}_type": 0},
        "type 5": {"{o}_type": 5},
        "type 0 of the array": {"{a}_type": 0},
        "pitch 0": {"{o}_pitch": 0},
        "pitch smaller": {"{o}_pitch": 60},
        "pitch larger": {"{o}_pitch": 80},
        "pitch odd": {"{o}_pitch": 67},
        "other x": {"{o}_x": 5, "width": 32, "{o}_pitch": 80},
        "other x too far": {"{o}_x": 40, "width": 32},
        "other y": {"{o}_y": 3},
    }
    for kind in (HOST, DEVICE, UNIFIED):
        for to_array in (True, False):
            there, other = ("dst", "src") if to_array else ("src", "dst")
            members = base | _side(bench, there, ARRAY, 64, 8) | _side(bench, other, kind, 64, 8)
            for what, how in changed.items():
                given = {name.format(a=there, o=other): value for name, value in how.items()}
                for name in ("cuMemcpy2D_v2", "cuMemcpy2DUnaligned_v2", "cuMemcpy2DAsync_v2"):
                    _try(bench, f"{name} {there} {kind} {what}", name, Copy2D, members | given)
    tell("cuMemcpy2D_v2 of nothing", ask("cuMemcpy2D_v2", None))
    tell("cuMemcpy2DUnaligned_v2 of nothing", ask("cuMemcpy2DUnaligned_v2", None))
    bench.drop()


def boxes_3d() -> None:
    """Arrays of each geometry, and levels and slices that there are not."""
    shapes: dict[str, tuple[tuple[int, ...], int]] = {
        "deep": ((8, 4, 3), 0),
        "line": ((8,), 0),
        "flat": ((8, 4), 0),
        "lines": ((8, 0, 3), LAYERED),
        "layers": ((8, 4, 3), LAYERED),
        "cube": ((4, 4, 6), CUBE),
    }
    for name, (shape, flags) in shapes.items():
        bench = _Bench(*shape, flags=flags)
        width, rows, slices = box(bench.array)
        base = {"width": width, "rows": rows, "slices": slices}
        changed: dict[str, dict[str, Any]] = {
            "as it is": {},
            "a part": {"{a}_x": 4, "width": 8, "slices": 1, "{a}_z": slices - 1},
            "one byte wide": {"width": width + 1},
            "a row more": {"rows": rows + 1},
            "a slice more": {"slices": slices + 1},
            "a slice beyond": {"{a}_z": 1, "slices": slices},
            "behind the last slice": {"{a}_z": slices, "slices": 1},
            "between elements": {"{a}_x": 2, "width": 8},
            "nothing deep": {"slices": 0},
            "nothing high": {"rows": 0},
            "level 1": {"{a}_lod": 1},
            "level of the other": {"{o}_lod": 1},
            "reserved": {"{a}_reserved": 1},
            "reserved of the other": {"{o}_reserved": 1},
            "pitch and height 0": {"{o}_pitch": 0, "{o}_height": 0},
            "height 0": {"{o}_height": 0},
            "height smaller": {"{o}_height": max(rows - 1, 0)},
            "height larger": {"{o}_height": rows + 2},
            "huge z": {"{a}_z": (1 << 64) - 1, "slices": 2},
            "huge depth": {"slices": 1 << 50},
        }
        for kind in (HOST, DEVICE):
            for there, other in (("dst", "src"), ("src", "dst")):
                members = base | _side(bench, there, ARRAY, width, rows) | _side(bench, other, kind, width, rows)
                for what, how in changed.items():
                    given = {member.format(a=there, o=other): value for member, value in how.items()}
                    question = f"3D {name} {there} {kind} {what}"
                    _try(bench, question, "cuMemcpy3D_v2", Copy3D, members | given)
                _try(bench, f"3DAsync {name} {there} {kind}", "cuMemcpy3DAsync_v2", Copy3D, members)
                _try(bench, f"2D {name} {there} {kind}", "cuMemcpy2D_v2", Copy2D, members)
                _peers(bench, f"{name} {there} {kind}", members)
        bench.drop()
    tell("cuMemcpy3D_v2 of nothing", ask("cuMemcpy3D_v2", None))


def _peers(bench: _Bench, question: str, members: dict[str, Any]) -> None:
    context = ct.c_void_p()
    must("cuCtxGetCurrent", ct.byref(context))
    both = members | {"src_context": context.value, "dst_context": context.value}
    _try(bench, f"3DPeer {question}", "cuMemcpy3DPeer", _Peer3D, both)
    _try(bench, f"3DPeerAsync {question}", "cuMemcpy3DPeerAsync", _Peer3D, both)
    _try(bench, f"3DPeer of no context {question}", "cuMemcpy3DPeer", _Peer3D, members)


def between() -> None:
    """From array to array, of the same elements and of others."""
    bench = _Bench(16, 8)
    others = {
        "words": made_array(16, 8),
        "floats": made_array(16, 8, of=F32),
        "bytes": made_array(16, 8, of=U8, channels=4),
        "shorts": made_array(16, 8, of=S16, channels=2),
        "smaller": made_array(32, 8, of=U16),
        "larger": made_array(16, 8, of=U32, channels=2),
        "layers": made_array(16, 8, 2, flags=LAYERED),
        "line": made_array(16),
        "itself": bench.array,
    }
    for name, other in others.items():
        if name != "itself":
            width, rows, slices = box(other)
            write(other, bytes(width * rows * slices))
        for what, how in {
            "all": {"width": 64, "rows": 8},
            "row": {"width": 64, "rows": 1},
            "part": {"width": 8, "rows": 2, "src_x": 8, "dst_x": 16, "dst_y": 3},
            "beyond": {"width": 64, "rows": 8, "dst_x": 4},
        }.items():
            facts = {"src_type": ARRAY, "dst_type": ARRAY, "src_array": bench.array.value, "dst_array": other.value}
            given = Copy2D(**(facts | how))
            status = ask("cuMemcpy2D_v2", ct.byref(given))
            tell(f"between {name} {what}", status, *([] if status else [sum_of(read(other))]))
            given = Copy3D(**(facts | how | {"slices": 1}))
            status = ask("cuMemcpy3D_v2", ct.byref(given))
            tell(f"between {name} {what} 3D", status, *([] if status else [sum_of(read(other))]))
            bench.reset()


def rows_of_bytes() -> None:
    """Bytes from an offset on, within the first row and beyond it."""
    for name, shape, flags in (
        ("line", (16,), 0),
        ("flat", (16, 8), 0),
        ("deep", (8, 4, 3), 0),
        ("lines", (16, 0, 3), LAYERED),
    ):
        bench = _Bench(*shape, flags=flags)
        other = made_array(16)
        write(other, bytes(64))
        for at, size in (
            (0, 64),
            (0, 32),
            (4, 60),
            (4, 64),
            (0, 65),
            (0, 68),
            (2, 8),
            (0, 6),
            (64, 4),
            (64, 64),
            (0, 128),
            (60, 8),
            (0, 0),
            (128, 64),
            ((1 << 64) - 4, 8),
        ):
            where, count = ct.c_size_t(at), ct.c_size_t(size)
            for function, arguments in {
                "cuMemcpyHtoA_v2": (bench.array, where, bench.host, count),
                "cuMemcpyAtoH_v2": (bench.host, bench.array, where, count),
                "cuMemcpyDtoA_v2": (bench.array, where, ct.c_uint64(bench.device), count),
                "cuMemcpyAtoD_v2": (ct.c_uint64(bench.device), bench.array, where, count),
                "cuMemcpyHtoAAsync_v2": (bench.array, where, bench.host, count, None),
                "cuMemcpyAtoHAsync_v2": (bench.host, bench.array, where, count, None),
            }.items():
                status = ask(function, *arguments)
                tell(f"{function} {name} {at} {size}", status, *([] if status else bench.sums()))
                if not status:
                    bench.reset()
            status = ask("cuMemcpyAtoA_v2", other, ct.c_size_t(0), bench.array, where, count)
            tell(f"cuMemcpyAtoA_v2 {name} {at} {size}", status, *([] if status else [sum_of(read(other))]))
            status = ask("cuMemcpyAtoA_v2", bench.array, where, other, ct.c_size_t(0), count)
            tell(f"cuMemcpyAtoA_v2 to {name} {at} {size}", status, *([] if status else bench.sums()))
            bench.reset()
        four = ct.c_size_t(4)
        none = ct.c_size_t(0)
        tell(f"{name} HtoA no array", ask("cuMemcpyHtoA_v2", None, none, bench.host, four))
        tell(f"{name} HtoA no host", ask("cuMemcpyHtoA_v2", bench.array, none, None, four))
        tell(f"{name} AtoH no host", ask("cuMemcpyAtoH_v2", None, bench.array, none, four))
        tell(f"{name} DtoA no device", ask("cuMemcpyDtoA_v2", bench.array, none, ct.c_uint64(0), four))
        tell(f"{name} AtoD no device", ask("cuMemcpyAtoD_v2", ct.c_uint64(0), bench.array, none, four))
        bench.drop()


def nodes() -> None:
    """Copies as nodes of graphs."""
    bench = _Bench(8, 4, 3)
    graph, made = ct.c_void_p(), ct.c_void_p()
    context = ct.c_void_p()
    must("cuCtxGetCurrent", ct.byref(context))
    must("cuGraphCreate", ct.byref(graph), 0)
    members = (
        {"width": 32, "rows": 4, "slices": 3} | _side(bench, "dst", ARRAY, 32, 4) | _side(bench, "src", HOST, 32, 4)
    )
    for what, how in {
        "beyond": {"dst_x": 4},
        "too deep": {"slices": 4},
        "no array": {"dst_array": None},
        "nothing": {"width": 0},
        "level": {"dst_lod": 1},
    }.items():
        node, given = ct.c_void_p(), Copy3D(**(members | how))
        tell(
            f"node {what}",
            ask("cuGraphAddMemcpyNode", ct.byref(node), graph, None, ct.c_size_t(0), ct.byref(given), context),
        )
    must("cuGraphDestroy", graph)
    must("cuGraphCreate", ct.byref(graph), 0)
    node, given, found = ct.c_void_p(), Copy3D(**members), Copy3D()
    tell("node", ask("cuGraphAddMemcpyNode", ct.byref(node), graph, None, ct.c_size_t(0), ct.byref(given), context))
    status = ask("cuGraphMemcpyNodeGetParams", node, ct.byref(found))
    same = [name for name, *_ in Copy3D._fields_ if getattr(found, name) != getattr(given, name)]
    tell("node as it was given", status, same)
    tell("node for nobody", ask("cuGraphMemcpyNodeGetParams", node, None))
    must("cuGraphInstantiateWithFlags", ct.byref(made), graph, ct.c_ulonglong(0))
    tell("launch", ask("cuGraphLaunch", made, None) or ask("cuCtxSynchronize"), *bench.sums())
    bench.reset()
    given = Copy3D(**(members | {"slices": 1, "dst_z": 2}))
    tell("another slice", ask("cuGraphExecMemcpyNodeSetParams", made, node, ct.byref(given), context))
    tell("launch again", ask("cuGraphLaunch", made, None) or ask("cuCtxSynchronize"), *bench.sums())
    given = Copy3D(**(members | {"slices": 2, "dst_z": 2}))
    tell("beyond the slices", ask("cuGraphExecMemcpyNodeSetParams", made, node, ct.byref(given), context))
    tell("beyond the slices, in the graph", ask("cuGraphMemcpyNodeSetParams", node, ct.byref(given)))
    bench.reset()
    stream, captured = ct.c_void_p(), ct.c_void_p()
    must("cuStreamCreate", ct.byref(stream), 1)
    must("cuStreamBeginCapture_v2", stream, 2)
    tell("copy in a recorded stream", ask("cuMemcpy3DAsync_v2", ct.byref(Copy3D(**members)), stream))
    tell("end of recording", ask("cuStreamEndCapture", stream, ct.byref(captured)))
    must("cuGraphInstantiateWithFlags", ct.byref(made), captured, ct.c_ulonglong(0))
    tell("launch of what was recorded", ask("cuGraphLaunch", made, None) or ask("cuCtxSynchronize"), *bench.sums())
    about = Array3D()
    tell("the array is there", ask("cuArray3DGetDescriptor_v2", ct.byref(about), bench.array), about.told())
    bench.drop()
