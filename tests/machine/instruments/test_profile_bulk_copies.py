"""What a profile counts of bulk copies: bytes of global and of shared memory, by line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from machine.small_kernels import of_any_target
from ptxloom.machine.results.counts import Counts
from ptxloom.views.runs import heat, profiles

if TYPE_CHECKING:
    from ptxloom.machine import Kernel
    from ptxloom.machine.results.profile import Profile

START = """.reg .pred p<4>; .reg .b16 h0; .reg .b32 r<16>; .reg .b64 d<8>;
.shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar;
mov.u32 r0, %tid.x; setp.eq.u32 p0, r0, 0; mov.u32 r5, %cluster_ctarank; mov.u16 h0, 3;
setp.eq.and.u32 p2, r5, 0, p0; ld.param.u64 d1, [memory]; mov.b64 d2, map; cvta.param.u64 d2, d2;
ld.param.u32 r3, [x]; ld.param.u32 r4, [y];
@p0 mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0;
"""
EXPECT = "@p0 mbarrier.arrive.expect_tx.shared.b64 d3, [bar], {size}; {meet}\n"
WAIT = "W: mbarrier.try_wait.parity.shared.b64 p1, [bar], 0; @!p1 bra W;\n"
MEET = "barrier.cluster.arrive; barrier.cluster.wait;"
TELLS = "mbarrier::complete_tx::bytes"
DONE = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
LOAD = f"cp.async.bulk.tensor.2d.shared::cluster.global.tile.{TELLS}"
STORE = "async.bulk.tensor.2d.global.shared::cta"
SPOT = "[d2, {{r3, r4}}]"  # as it is left when braces are filled in
BOX = 4 * 8 * 4  # bytes of the box: 8 words of 4 rows


def made(body: str, size: int = BOX, meet: str = "") -> Kernel:
    params = ".param .u64 memory, .param .align 64 .b8 map[128], .param .u32 x, .param .u32 y"
    code = (START + body).format(expect=EXPECT.format(size=size, meet=meet), wait=WAIT, meet=meet)
    head = ".version 9.2\n.target sm_90a\n.address_size 64\n"
    return of_any_target(f"{head}.visible .entry k({params})\n{{\n{code}\nret;\n}}\n", "k")


def profile(kernel: Kernel, at: tuple[int, int] = (0, 0), grid: int = 1, block: int = 32, **rest: Any) -> Profile:
    """What a kernel costs on a tensor of 6 rows of 16 words and on memory besides."""
    tensor = np.arange(6 * 16, dtype=np.int32).reshape(6, 16)
    arguments = [np.zeros(1024, np.int32), pl.tensor_map(tensor, (8, 4)), *map(np.int32, at)]
    given = kernel.launch(grid, block, arguments, profile=True, **rest)
    assert given.profile is not None
    return given.profile


def moved(one: Profile) -> list[tuple[int, int]]:
    """Bytes of global and shared memory of the copies, as they stand in the text; no other line has any."""
    found = [row for row in one.rows if row.counts.bulk_bytes]
    assert all(".bulk" in row.instruction for row in found)
    return [(row.counts.bulk_global_bytes, row.counts.bulk_shared_bytes) for row in found]


@pytest.mark.parametrize(
    ("at", "rows", "columns"),
    [
        ((0, 0), 4, 8),
        ((8, 2), 4, 8),
        ((12, 0), 4, 4),
        ((-4, 0), 4, 4),
        ((0, 4), 2, 8),
        ((12, -1), 3, 4),
        ((16, 0), 0, 0),
    ],
)
def test_a_load_reads_what_lies_inside_of_the_tensor_and_fills_its_box(
    at: tuple[int, int], rows: int, columns: int
) -> None:
    found = profile(made(f"{{expect}}@p0 {LOAD} [tile], {SPOT}, [bar]; {{wait}}"), at)
    assert moved(found) == [(4 * rows * columns, BOX)]


def test_a_multicast_reads_once_and_fills_the_box_of_each_block() -> None:
    body = f"{{expect}}@p2 {LOAD}.multicast::cluster [tile], {SPOT}, [bar], h0; {{wait}}{{meet}}"
    assert moved(profile(made(body, meet=MEET), (0, 4), 4, cluster=2)) == [(2 * (BOX // 2), 2 * (2 * BOX))]
    plain = f"cp.async.bulk.shared::cluster.global.{TELLS}.multicast::cluster"
    body = f"{{expect}}@p2 {plain} [tile], [d1], 64, [bar], h0; {{wait}}{{meet}}"
    assert moved(profile(made(body, 64, MEET), grid=2, cluster=2)) == [(64, 2 * 64)]


@pytest.mark.parametrize("form", [f"cp.{STORE}.tile.bulk_group", f"cp.reduce.{STORE}.add.tile.bulk_group"])
@pytest.mark.parametrize(("at", "rows", "columns"), [((0, 0), 4, 8), ((8, 4), 2, 8), ((12, 3), 3, 4), ((0, 6), 0, 0)])
def test_a_store_moves_what_lies_inside_of_the_tensor(form: str, at: tuple[int, int], rows: int, columns: int) -> None:
    found = moved(profile(made(f"@p0 {form} {SPOT}, [tile]; {DONE}"), at))
    assert found == ([(4 * rows * columns,) * 2] if rows else [])


def test_plain_copies_move_what_they_say() -> None:
    body = f"""{{expect}}@p0 cp.async.bulk.shared::cluster.global.{TELLS} [tile], [d1], 48, [bar]; {{wait}}
    @p0 cp.async.bulk.global.shared::cta.bulk_group [d1+256], [tile], 32;
    @p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [d1+512], [tile], 16;
    {DONE}"""
    assert moved(profile(made(body, 48), grid=3)) == [(3 * 48, 3 * 48), (3 * 32, 3 * 32), (3 * 16, 3 * 16)]


def test_a_copy_within_a_cluster_reads_and_writes_shared_memory() -> None:
    body = f"""{{expect}}mov.u32 r6, tile; mapa.shared::cluster.u32 r6, r6, 1; mov.u32 r7, bar;
    mapa.shared::cluster.u32 r7, r7, 1; add.u32 r6, r6, 1024;
    @p2 cp.async.bulk.shared::cluster.shared::cta.{TELLS} [r6], [tile], 128, [r7];
    setp.eq.u32 p3, r5, 0; @p3 bra REST; {{wait}}REST: {{meet}}"""
    assert moved(profile(made(body, meet=MEET), grid=2, cluster=2)) == [(0, 2 * 128)]


def test_bytes_that_are_left_out_are_not_counted() -> None:
    body = f"""{{expect}}@p0 cp.async.bulk.shared::cta.global.{TELLS}.ignore_oob [tile], [d1], 64, 3, 5, [bar]; {{wait}}
    @p0 cp.async.bulk.global.shared::cta.bulk_group.cp_mask [d1], [tile], 64, h0; {DONE}"""
    assert moved(profile(made(body, 64))) == [(64 - 8, 64 - 8), (64 // 16 * 2, 64 // 16 * 2)]


def test_every_lane_and_every_worker_counts() -> None:
    body = f"""shl.b32 r6, r0, 4; cvt.u64.u32 d4, r6; add.u64 d4, d4, d1; mov.u32 r7, tile; add.u32 r6, r6, r7;
    cp.async.bulk.global.shared::cta.bulk_group [d4], [r6], 16; {DONE}"""
    assert moved(profile(made(body), grid=64, threads=2)) == [(64 * 32 * 16, 64 * 32 * 16)]


def test_tables_show_bytes_where_there_are_any() -> None:
    kernel = made(f"{{expect}}@p0 {LOAD} [tile], {SPOT}, [bar]; {{wait}}")
    found = profile(kernel, (0, 4))
    assert str(found).endswith("64 bytes of global and 128 of shared memory by bulk copies")
    table = profiles.full(found)
    assert "divergent  bulk global bytes  bulk shared bytes" in table
    (line,) = (line for line in table.splitlines() if "cp.async" in line)
    assert line.split()[-2:] == ["64", "128"]
    head, *lines = heat.listing(kernel.program.entry.node, found)
    assert head.split()[-5:] == ["bulk", "global", "bulk", "shared", "line"]
    (margin,) = (line.split("|")[0] for line in lines if "cp.async" in line)
    assert margin.split()[-3:-1] == ["64", "128"]
    assert {line.index("|") for line in lines} == {len(head) + 1}
    totals = json.loads(profiles.as_json(found))["totals"]
    assert (totals["bulk_global_bytes"], totals["bulk_shared_bytes"]) == (64, 128)


def test_no_table_has_columns_of_nothing() -> None:
    kernel = made("")
    found = profile(kernel)
    texts = (str(found), profiles.full(found), heat.listing(kernel.program.entry.node, found)[0])
    assert not any("bulk" in text for text in texts)


def test_the_warps_of_a_warpgroup_are_counted_once_each_and_wgmma_by_nothing_else() -> None:
    body = """.reg .f32 f<4>; mov.f32 f0, 0f00000000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0;
    mov.u32 r6, tile; shr.u32 r6, r6, 4; cvt.u64.u32 d4, r6; or.b64 d4, d4, 0x1000080000;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{f0, f1, f2, f3}}, d4, d4, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;"""
    found = [row.counts for row in profile(made(body), block=256).rows if row.instruction.startswith("wgmma")]
    assert found == [Counts(executions=8, lanes=256)] * 4
