"""Copies by tensor maps, right ones and wrong ones, for a GPU and for the machine.

The recorder (`tools/record/tensor_copies.py`) and the replay both take their cases and kernels from here. A case copies
one box between `ROOM` bytes of shared memory and `TENSOR` bytes of global memory that hold numbers drawn from its own
number; what either holds in the end is kept as a digest.
"""

from __future__ import annotations

import hashlib
import random
import struct
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ptxloom.descriptors import DATA_TYPES, Im2col, TensorMap

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RECORDING: Final = Path(__file__).parent / "tensor_copies.json.gz"
SLICES_RECORDING: Final = RECORDING.with_name("slices.json.gz")
ROOM: Final = 16384  # bytes of shared memory
TENSOR: Final = 65536  # bytes of global memory
THREADS: Final = 128
TOLD, NOT_TOLD = 1, 2  # how a wait at the mbarrier ends
CTAS: Final = 2  # that are given something, or one
GIVEN: Final = ROOM + 4  # bytes that a CTA returns: shared memory, and how the wait ended
MAP_BYTES: Final = 128
TYPES: Final = (
    "UINT8", "UINT16", "UINT32", "INT32", "UINT64", "INT64", "FLOAT16", "FLOAT32", "FLOAT64", "BFLOAT16",
    "FLOAT32_FTZ", "TFLOAT32", "TFLOAT32_FTZ",
)  # fmt: skip
OPERATIONS: Final = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
SPANS: Final = {"none": 0, "32B": 32, "64B": 64, "128B": 128}


@dataclass(frozen=True)
class Case:
    """One copy.

    Attributes:
        kernel: What does it: `load_2d`, `load_im2col_4d`, `store_3d`, `add_2d`, `multicast_2d`, ...
        map: The map, of a tensor that begins at `start` in global memory.
        start: Bytes from the start of that memory.
        at: Coordinates, then offsets of im2col.
        near: Where the box lies in shared memory.
        expected: Bytes that the mbarrier waits for.
        words: Words of the map that are not what the encoder writes.
    """

    kernel: str
    map: TensorMap
    start: int = 0
    at: tuple[int, ...] = ()
    near: int = 0
    expected: int = 0
    words: tuple[tuple[int, int], ...] = ()

    @property
    def is_replacement(self) -> bool:
        """Whether a map is changed, and nothing copied."""
        return self.kernel in REPLACEMENTS

    @property
    def ctas(self) -> int:
        """How many CTAs run it."""
        return CTAS if self.kernel.startswith("multicast") else 1

    def before(self, number: int) -> tuple[bytes, bytes]:
        """What shared and global memory hold at first."""
        draw = random.Random(number)
        room, tensor = draw.randbytes(ROOM), draw.randbytes(TENSOR)
        return (self.map.to_bytes() + room[MAP_BYTES:] if self.is_replacement else room), tensor

    def map_bytes(self, memory: int) -> bytes:
        """The 128 bytes for memory at an address."""
        data = bytearray(replace(self.map, global_address=(memory + self.start) % (1 << 64)).to_bytes())
        for number, word in self.words:
            struct.pack_into("<I", data, 4 * number, word)
        return bytes(data)

    def place_bytes(self) -> bytes:
        """The coordinates and offsets as the kernels take them: five and three words."""
        rank = 5 if self.is_replacement else int(self.kernel[-2])
        coordinates, offsets = self.at[:rank], self.at[rank:]
        whole = [*coordinates, *[0] * (5 - len(coordinates)), *offsets, *[0] * (3 - len(offsets))]
        return struct.pack("<8I", *(number & 0xFFFFFFFF for number in whole))


def digest(given: bytes, tensor: bytes) -> str:
    """What a case leaves behind, in short."""
    return hashlib.blake2b(given + tensor, digest_size=8).hexdigest()


# -- kernels

_HEAD: Final = """.version 8.6
.target sm_90a
.address_size 64
"""
_ENTRY: Final = """.visible .entry {name}(.param .align 64 .b8 map[128], .param .u64 start, .param .u64 out,
    .param .u32 near, .param .u32 expected, .param .align 4 .b8 at[32], .param .u64 tensor){cluster}
{{
  .reg .pred first, more, ready; .reg .b32 t, here, i, word, box, bytes, tries, rank, c<5>, o<3>; .reg .b16 h<4>;
  .reg .b64 from, to, by, where, token;
  .shared .align 1024 .b8 room[16384]; .shared .align 8 .b64 bar;
  mov.u32 t, %tid.x; setp.eq.u32 first, t, 0; ld.param.u64 from, [start]; ld.param.u64 to, [out];
  ld.param.u32 box, [near]; ld.param.u32 bytes, [expected]; mov.u32 here, room; add.u32 box, box, here;
  ld.param.u32 c0, [at]; ld.param.u32 c1, [at+4]; ld.param.u32 c2, [at+8]; ld.param.u32 c3, [at+12];
  ld.param.u32 c4, [at+16]; ld.param.u32 o0, [at+20]; ld.param.u32 o1, [at+24]; ld.param.u32 o2, [at+28];
  cvt.u16.u32 h0, o0; cvt.u16.u32 h1, o1; cvt.u16.u32 h2, o2; mov.u16 h3, 3;
  mov.b64 where, map; cvta.param.u64 where, where; mov.u32 rank, 0; {rank}
  mad.wide.u32 from, t, 4, from; mad.wide.u32 to, t, 4, to; mad.wide.u32 to, rank, 16388, to;
  mad.lo.u32 here, t, 4, here; mov.u32 i, 0; mov.u64 by, from;
  FILL: ld.global.u32 word, [by]; st.shared.u32 [here], word; add.u64 by, by, 512; add.u32 here, here, 512;
  add.u32 i, i, 1; setp.lt.u32 more, i, 32; @more bra FILL;
  @first mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0; {meet}
  mov.u32 tries, 0;
{body}
  bar.sync 0; {meet}
  sub.u32 here, here, 16384; mov.u32 i, 0; mov.u64 by, to;
  GIVE: ld.shared.u32 word, [here]; st.global.u32 [by], word; add.u64 by, by, 512; add.u32 here, here, 512;
  add.u32 i, i, 1; setp.lt.u32 more, i, 32; @more bra GIVE;
  @first st.global.u32 [by], tries;
  ret;
}}
"""
_EXPECT: Final = "  @first mbarrier.arrive.expect_tx.shared.b64 token, [bar], bytes; bar.sync 0; {meet}\n"
_WAIT: Final = f"""
  WAIT: mbarrier.test_wait.parity.shared.b64 ready, [bar], 0; @ready bra CAME;
  add.u32 tries, tries, 1; nanosleep.u32 100; setp.lt.u32 more, tries, 20000; @more bra WAIT;
  CAME: selp.u32 tries, {TOLD}, {NOT_TOLD}, ready;"""
_DONE: Final = "\n  @first cp.async.bulk.commit_group; @first cp.async.bulk.wait_group 0;"
_TELLS: Final = "mbarrier::complete_tx::bytes"
_RANK: Final = "mov.u32 rank, %cluster_ctarank;"
_MEET: Final = "barrier.cluster.arrive; barrier.cluster.wait;"


def kernels() -> dict[str, str]:
    """Every kernel by its name."""
    found: dict[str, str] = {}
    for rank in range(1, 6):
        spot = "[where, {" + ", ".join(f"c{n}" for n in range(rank)) + "}]"
        load = f"  @first cp.async.bulk.tensor.{rank}d.shared::cluster.global"
        found[f"load_{rank}d"] = f"{_EXPECT}{load}.tile.{_TELLS} [box], {spot}, [bar];{_WAIT}"
        multicast = load.replace("first", "more")
        both = f"setp.eq.and.u32 more, rank, 0, first;\n{multicast}.tile.{_TELLS}.multicast::cluster"
        found[f"multicast_{rank}d"] = f"{_EXPECT}{both} [box], {spot}, [bar], h3;{_WAIT}"
        store = f"  @first cp.async.bulk.tensor.{rank}d.global.shared::cta"
        found[f"store_{rank}d"] = f"{store}.tile.bulk_group {spot}, [box];{_DONE}"
        if rank > 2:
            offsets = "{" + ", ".join(f"h{n}" for n in range(rank - 2)) + "}"
            found[f"load_im2col_{rank}d"] = f"{_EXPECT}{load}.im2col.{_TELLS} [box], {spot}, [bar], {offsets};{_WAIT}"
            found[f"store_im2col_{rank}d"] = f"{store}.im2col_no_offs.bulk_group {spot}, [box];{_DONE}"
        for operation in OPERATIONS if rank in {2, 3} else ():
            reduce = store.replace("cp.async", "cp.reduce.async")
            found[f"{operation}_{rank}d"] = f"{reduce}.{operation}.tile.bulk_group {spot}, [box];{_DONE}"
    for name, text in REPLACEMENTS.items():
        found[name] = f"{_REPLACE}  @first tensormap.replace.tile.{text};\n  bar.sync 0;"
    return {name: _entry(name, body) for name, body in found.items()}


_REPLACE: Final = "  mov.b64 token, {c0, c1};\n"


def _replacements() -> Iterator[tuple[str, str]]:
    """`tensormap.replace` of every field: new values come as coordinates, modes and types as they are written."""
    for name in ("box_dim", "global_dim", "element_stride"):
        for ordinal in range(5):
            yield f"{name}_{ordinal}_1d", f"{name}.shared::cta.b1024.b32 [room], {ordinal}, c0"
    for ordinal in range(4):
        yield f"global_stride_{ordinal}_1d", f"global_stride.shared::cta.b1024.b64 [room], {ordinal}, token"
    yield "global_address_1d", "global_address.shared::cta.b1024.b64 [room], token"
    yield "rank_1d", "rank.shared::cta.b1024.b32 [room], c0"
    for name, count in (("elemtype", 13), ("interleave_layout", 3), ("swizzle_mode", 4), ("fill_mode", 2)):
        for number in range(count):
            yield f"{name}_{number}_1d", f"{name}.shared::cta.b1024.b32 [room], {number}"


REPLACEMENTS: Final = dict(_replacements())


def _entry(name: str, body: str) -> str:
    clustered = name.startswith("multicast")
    facts = {"cluster": " .reqnctapercluster 2", "rank": _RANK, "meet": _MEET}
    if not clustered:
        facts = dict.fromkeys(facts, "")
    return _ENTRY.format(name=name, body=body.replace("{meet}", facts["meet"]), **facts)


def module_text(names: Sequence[str] = ()) -> str:
    """A module of kernels, of all if none are named."""
    return _HEAD + "\n".join(text for name, text in kernels().items() if name in names or not names)


# -- cases


def cases() -> list[Case]:
    """All of them, in order."""
    draw = random.Random(12)
    found = [case for number in range(620) for case in _random(draw, number)]
    return [*found, *_reductions(draw), *_replaced(), *_wrong(), *_narrow()]


def slice_cases() -> list[Case]:
    """Boxes of more slices than one, of interleaved tensors, recorded apart; some wait for other counts of bytes."""
    draw = random.Random(23)
    found: list[Case] = []
    while len(found) < 160:
        case = _tile(draw, ("load", "load", "store", "multicast")[len(found) % 4], slices=(2, 3, 4, 5))
        if case.map.interleave != "none":
            found.append(case)
    for operation, case in product(("add", "max", "xor"), found):
        if case.kernel == "store_3d":
            whole = replace(case.map, data_type="UINT32", oob_fill="none")
            found.append(replace(case, kernel=f"{operation}_3d", map=whole))
    more = [replace(case, expected=case.expected + 16) for case in found[:32] if case.kernel.startswith("load")]
    return [*found, *more]


def _random(draw: random.Random, number: int) -> Iterator[Case]:
    """A right copy, as far as one can tell."""
    if number % 3 == 2:
        load = _columns(draw, stores=False)
        yield load
        if number % 4 == 0:
            yield _columns(draw, stores=True)
        return
    yield _tile(draw, "load")
    if number % 2:
        yield _tile(draw, "store")
    if number % 12 == 0:
        yield _tile(draw, "multicast")


def _form(draw: random.Random, rank: int) -> dict[str, Any]:
    """Type and modes."""
    interleave = draw.choice(("none", "none", "none", "16B", "32B")) if rank > 2 else "none"
    swizzle = "32B" if interleave == "32B" else draw.choice(("none", "32B", "64B", "128B"))
    kind = draw.choice(TYPES)
    fill = draw.choice(("none", "nan")) if DATA_TYPES[kind].is_float else "none"
    return {"data_type": kind, "interleave": interleave, "swizzle": swizzle, "oob_fill": fill}


def _inner(draw: random.Random, form: dict[str, Any]) -> tuple[int, int]:
    """The bytes of an element of dimension 0, and how many elements a row of the box has."""
    size = DATA_TYPES[form["data_type"]].element_bytes
    if form["interleave"] != "none":
        return int(form["interleave"][:2]), draw.choice((16, 32))
    most = min(SPANS[form["swizzle"]] or 256, 256 * size)
    return size, draw.choice([n for n in (16, 32, 48, 64, 96, 128, 256) if n <= most]) // size


def _strides(draw: random.Random, dims: Sequence[int], size: int, unit: int) -> tuple[int, ...] | None:
    """Strides of rows that do not overlap, with room between them sometimes; None if the tensor is too large."""
    strides: list[int] = []
    below = size * dims[0]
    for extent in dims[1:]:
        strides.append(-(-below // unit) * unit + unit * draw.choice((0, 0, 0, 1, 3)))
        below = strides[-1] * extent
    return tuple(strides) if below <= TENSOR - 4096 else None


def _tile(draw: random.Random, kernel: str, slices: Sequence[int] = (1,)) -> Case:
    """A tile of any rank; of how many slices, if the tensor is interleaved, is drawn from `slices`."""
    while True:
        rank = draw.choice((1, 2, 2, 3, 3, 4, 5))
        form = _form(draw, rank)
        size, inner = _inner(draw, form)
        interleaved = form["interleave"] != "none"
        unit = 32 if form["interleave"] == "32B" else 16
        per = max(16 // size, 1)
        dims = (draw.choice((inner, inner + 1, 2 * inner, 3 * per, 5 * per + draw.randrange(per), 1)),
                *(draw.choice((1, 2, 3, 5, 8, 11)) for _ in range(rank - 1)))  # fmt: skip
        strides = _strides(draw, dims, size, unit)
        box = [inner, *(draw.choice((1, 2, 3, 4, 7, 8)) for _ in range(rank - 1))]
        if interleaved:
            box[rank - 2] = slices[0] if len(slices) == 1 else draw.choice(slices)
        steps = tuple(draw.choice((1, 1, 1, 2, 3)) for _ in range(rank))
        if strides is None:
            continue
        made = TensorMap(global_address=0, global_dim=dims, global_strides=strides, box_dim=tuple(box),
                         element_strides=steps, **form)  # fmt: skip
        near = draw.choice((0, 128, 512, 1024))
        if _room(made) + near > ROOM:
            continue
        low = 0 if kernel == "store" else -1
        first = (
            draw.choice((0, 0, low * per, per, 2 * per)) if not interleaved else draw.choice((0, low, 2 * low, 1, 5))
        )
        at = (first, *(draw.choice((0, 0, low, 3 * low, 1, 2, extent - 1, extent)) for extent in dims[1:]))
        return Case(f"{kernel}_{rank}d", made, unit * draw.randrange(16), at, near, made.transaction_bytes)


def _room(made: TensorMap) -> int:
    """What a box takes of shared memory, at most."""
    rows = made.transaction_bytes
    if made.im2col is None:
        row = made.counts[0] * made.element_bytes
    else:
        row = made.im2col.channels_per_pixel * made.type.element_bytes
        if made.interleave != "none":
            rows, row = 32 * made.im2col.pixels_per_column, 32
    return -(-rows // row) * max(row, SPANS[made.swizzle])


def _columns(draw: random.Random, *, stores: bool) -> Case:
    """Columns of im2col."""
    while True:
        rank = draw.choice((3, 4, 4, 5))
        form = _form(draw, rank)
        size, inner = _inner(draw, form)
        interleaved = form["interleave"] != "none"
        unit = 32 if form["interleave"] == "32B" else 16
        own = DATA_TYPES[form["data_type"]].element_bytes
        per = max(16 // own, 1)
        space = [draw.choice((1, 2, 3, 4, 6, 7)) for _ in range(rank - 2)]
        if interleaved:
            dims = (*space, draw.choice((1, 2, 3)), draw.choice((1, 2, 3)))
            inner = unit // own
        else:
            dims = (draw.choice((inner, inner + 1, 2 * inner, per)), *space, draw.choice((1, 2, 3)))
        strides = _strides(draw, dims, size, unit)
        if strides is None:
            continue
        lower = tuple(draw.choice((0, 0, -1, -2, 1) if not stores else (0, 0, 1)) for _ in space)
        upper = tuple(draw.choice((0, 0, -1, 1, -2) if not stores else (0, 0, -1)) for _ in space)
        if any(extent + high - low <= 0 for extent, low, high in zip(space, lower, upper, strict=True)):
            continue
        pixels = draw.choice((1, 4, 7, 16, 32, 33))
        steps = [draw.choice((1, 1, 1, 2)) for _ in range(rank)]
        made = TensorMap(global_address=0, global_dim=dims, global_strides=strides, box_dim=(),
                         element_strides=tuple(steps), im2col=Im2col(lower, upper, inner, pixels), **form)  # fmt: skip
        near = draw.choice((0, 128, 1024))
        if _room(made) + near > ROOM:
            continue
        starts = [draw.choice((low, low, max(low, 0), extent + high - 1, min(low + 1, extent + high - 1)))
                  for extent, low, high in zip(space, lower, upper, strict=True)]  # fmt: skip
        offsets = tuple(draw.choice((0, 0, 1, 2)) for _ in space)
        if interleaved:
            at = (*starts, draw.choice((0, 0, dims[-2] - 1)), draw.choice((0, 0, dims[-1] - 1)))
        else:
            first = draw.choice((0, 0, per)) if stores else draw.choice((0, 0, per, -per))
            at = (first, *starts, draw.choice((0, 0, dims[-1] - 1)))
        kernel = f"store_im2col_{rank}d" if stores else f"load_im2col_{rank}d"
        return Case(kernel, made, unit * draw.randrange(16), (*at, *(() if stores else offsets)), near,
                    made.transaction_bytes)  # fmt: skip


def _plain(kind: str = "FLOAT32", **more: Any) -> TensorMap:
    """A tensor of 16 rows of 128 bytes, a box of 4 rows of 64."""
    size = DATA_TYPES[kind].element_bytes
    facts: dict[str, Any] = {
        "data_type": kind, "global_address": 0, "global_dim": (128 // size, 16), "global_strides": (128,),
        "box_dim": (64 // size, 4), "element_strides": (1, 1),
    }  # fmt: skip
    return TensorMap(**facts | more)


def _reductions(draw: random.Random) -> Iterator[Case]:
    """Every operation with every type, cut off by the tensor's end in some."""
    for operation, kind in product(OPERATIONS, TYPES):
        size = DATA_TYPES[kind].element_bytes
        yield Case(f"{operation}_2d", _plain(kind), 64, (64 // size, 13))
        if operation in {"add", "max"}:
            box = (32 // size, 2, 2)
            dims = (48 // size + 1, 5, 3)
            made = _plain(kind, global_dim=dims, global_strides=(64, 512), box_dim=box, element_strides=(1, 2, 1),
                          swizzle=draw.choice(("none", "32B", "128B")))  # fmt: skip
            yield Case(f"{operation}_3d", made, 128, (32 // size, 3, 1))


def _replaced() -> Iterator[Case]:
    """Maps that are changed field by field, at the start of shared memory."""
    made = TensorMap("FLOAT16", 0, (64, 40, 30, 20, 10), (256, 5120, 2 << 36, 3 << 36), (64, 2, 3, 4, 5),
                     (1, 2, 3, 4, 5), "none", "128B", "256B", "nan")  # fmt: skip
    for name in REPLACEMENTS:
        low, high = (0x1230, 0x9) if "stride_" in name and "global" in name else (3, 5)
        yield Case(name, made, 0, (low, high))


def _wrong() -> Iterator[Case]:
    """What is refused, or might be."""
    tile = Case("load_2d", _plain(), 64, (4, 2), 0, 256)
    yield tile
    yield from _wrong_places(tile)
    yield from _wrong_words(tile)
    yield from _wrong_boxes(tile)
    yield from _wrong_columns()


def _wrong_places(tile: Case) -> Iterator[Case]:
    """Coordinates, destinations, and instructions for other maps."""
    store = replace(tile, kernel="store_2d")
    for near in (16, 32, 64):
        yield replace(tile, near=near)
        yield replace(store, near=near)
    for column in (1, 2, 3, -1, -4, -16, 32, 36, 1 << 30, -(1 << 30), (1 << 31) - 4, -(1 << 31)):
        yield replace(tile, at=(column, 2))
        yield replace(store, at=(column, 2))
    for row in (-1, -4, 16, 15, (1 << 31) - 1, -(1 << 31)):
        yield replace(tile, at=(4, row))
        yield replace(store, at=(4, row))
    yield replace(tile, kernel="load_1d", at=(4,))
    yield replace(tile, kernel="load_3d", at=(4, 2, 0))
    yield replace(tile, kernel="load_im2col_3d", at=(4, 2, 0, 0))
    yield replace(store, kernel="store_3d", at=(4, 2, 0))
    yield replace(tile, expected=512)


def _wrong_words(tile: Case) -> Iterator[Case]:
    """Words of the map."""
    head = struct.unpack_from("<I", tile.map.to_bytes(), 8)[0]
    for bit in (1, 2, 3, 15, 16, 17, 18, *range(19, 32)):
        yield replace(tile, words=((2, head ^ 1 << bit),))
    for kind in range(11, 16):
        yield replace(tile, words=((2, head & ~(15 << 7) | kind << 7),))
    for rank in (0, 2, 5, 6, 7):
        yield replace(tile, words=((2, head & ~(7 << 4) | rank << 4),))
    for interleave in (1, 2, 3):
        yield replace(tile, words=((2, head | interleave << 11),))
    for number in (15, 16, 17, 18, 19, 20, 24, 31):
        yield replace(tile, words=((number, 0),))
        yield replace(tile, words=((number, 0xFFFFFFFF),))
    yield replace(tile, words=tuple((n, 0) for n in range(32)))
    yield replace(tile, words=tuple((n, 0xFFFFFFFF) for n in range(32)))
    for inner in (1, 3, 5, 6):
        yield replace(tile, words=((13, (inner - 1) << 24),), expected=inner * 16)


def _wrong_boxes(tile: Case) -> Iterator[Case]:
    """Tensors that lie askew, boxes too large."""
    for start in (1, 4, 8):
        yield replace(tile, start=start)
    wide = _plain(swizzle="32B")
    yield replace(tile, map=wide)
    yield replace(tile, map=_plain(swizzle="64B", box_dim=(32, 4)), expected=512)
    yield replace(tile, map=_plain(box_dim=(32, 256), global_dim=(32, 64)), expected=32768)
    yield replace(tile, kernel="store_2d", map=_plain(box_dim=(32, 256), global_dim=(32, 64)))


def _wrong_columns() -> Iterator[Case]:
    """Where columns of im2col begin, their offsets and corners."""
    columns = TensorMap("FLOAT16", 0, (32, 6, 5, 2), (64, 384, 1920), (), (1, 1, 1, 1), swizzle="64B",
                        im2col=Im2col((-1, -1), (-1, -1), 32, 16))  # fmt: skip
    yield Case("load_im2col_4d", columns, 0, (0, -1, -1, 0, 1, 1), 0, 1024)
    yield Case("load_4d", columns, 0, (0, 0, 0, 0), 0, 1024)
    for at in (
        (0, -2, 0, 0),
        (0, 5, 0, 0),
        (0, 6, 4, 0),
        (0, 0, 4, 0),
        (0, 0, 0, 2),
        (0, 0, 0, -1),
        (8, 0, 0, 0),
        (4, 0, 0, 0),
    ):
        yield Case("load_im2col_4d", columns, 0, (*at, 0, 0), 0, 1024)
    for offset in (3, 255, 256, 0xFFFF):
        yield Case("load_im2col_4d", columns, 0, (0, 0, 0, 0, offset, 0), 0, 1024)
    inside = replace(columns, im2col=Im2col((0, 0), (0, 0), 32, 16))
    for corners in (
        ((-1, 0), (0, 0)),
        ((0, -1), (0, 0)),
        ((0, 0), (1, 0)),
        ((0, 0), (0, 1)),
        ((0, 0), (0, 0)),
        ((1, 1), (-1, -1)),
    ):
        yield Case("store_im2col_4d", replace(columns, im2col=Im2col(*corners, 32, 16)), 0, (0, 1, 1, 0))
    for at in ((0, -1, 0, 0), (0, 0, -1, 0), (0, 0, 0, -1), (-8, 0, 0, 0), (4, 0, 0, 0), (0, 6, 0, 0), (0, 0, 0, 2)):
        yield Case("store_im2col_4d", inside, 0, at)


def _narrow() -> Iterator[Case]:
    """Boxes of slices narrower than the swizzle, and taken in steps."""
    for swizzle, width, step in product(("none", "32B", "64B", "128B"), (1, 2, 3, 5), (1, 2)):
        made = TensorMap("FLOAT16", 0, (6, 4, 2, 2), (96, 384, 768), (width, 3, 1, 2), (step, 1, 1, 1), "16B", swizzle)
        yield Case("load_4d", made, 64, (1, 2, 1, 0), 128, made.transaction_bytes)
        yield Case("store_4d", made, 64, (1, 1, 0, 0), 256)
