"""Copies and transposes through shared memory: no product says what a tile should be, only what comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from diagnosis.planted.model import Argument, Array, RightKernel
from diagnosis.planted.writer import Writer, registers

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZE = 32  # rows and columns of a matrix; a warp moves a tile of 16 x 16 of f16
TILE = 16
PITCH = 48
F32_PITCH = 4 * 32 + 4


def transpose_by_ldmatrix(name: str) -> RightKernel:
    """Whole chunks in, `ldmatrix.trans`, pairs out."""
    return _halves(name, _chunks_in, _load_trans)


def transpose_by_movmatrix(name: str) -> RightKernel:
    """Whole chunks in, `ldmatrix`, `movmatrix.trans`, pairs out."""
    return _halves(name, _chunks_in, _load_and_move)


def transpose_by_stmatrix(name: str) -> RightKernel:
    """Pairs in, `stmatrix.trans`, whole chunks out."""
    return _halves(name, _pairs_in, _store_trans)


def copy_by_matrices(name: str) -> RightKernel:
    """Whole chunks in, `ldmatrix`, `stmatrix`, whole chunks out."""
    return _halves(name, _chunks_in, _load_and_store, transposes=False)


def transpose_of_words(name: str) -> RightKernel:
    """The transpose of the textbooks: 32 x 32 words, rows padded by one, 32 x 8 threads."""
    w = Writer()
    w.start("X", "Y", sizes=("n",))
    w("mov.u32 %tiles, tiles")
    _tile(w, 32)
    for part in range(4):
        w(f"add.u32 %row, %warp, {8 * part}", "in-row")
        w("add.u32 %g_row, %row, %tile_row", "in-tile-row")
        w("add.u32 %g_column, %lane, %tile_column", "in-tile-column")
        w("mad.lo.u32 %at, %g_row, %n, %g_column", "in-leading-dimension")
        w("mul.wide.u32 %rd_from, %at, 4")
        w("add.u64 %rd_from, %rd_X, %rd_from")
        w("ld.global.b32 %word, [%rd_from]", "in-load")
        w(f"mad.lo.u32 %at, %row, {F32_PITCH}, %tiles", "write-pitch")
        w("mad.lo.u32 %at, %lane, 4, %at", "write-column")
        w("st.shared.b32 [%at], %word", "write")
    w("bar.sync 0", "barrier")
    for part in range(4):
        w(f"add.u32 %row, %warp, {8 * part}", "out-row")
        w(f"mad.lo.u32 %at, %lane, {F32_PITCH}, %tiles", "read-pitch")
        w("mad.lo.u32 %at, %row, 4, %at", "read-column")
        w("ld.shared.b32 %word, [%at]", "read")
        w("add.u32 %g_row, %row, %tile_column", "out-tile-row")
        w("add.u32 %g_column, %lane, %tile_row", "out-tile-column")
        w("mad.lo.u32 %at, %g_row, %n, %g_column", "out-leading-dimension")
        w("mul.wide.u32 %rd_to, %at, 4")
        w("add.u64 %rd_to, %rd_Y, %rd_to")
        w("st.global.b32 [%rd_to], %word", "out-store")
    text = w.kernel(("X", "Y"), ("n",), 32 * F32_PITCH, "sm_80")
    return RightKernel(name, text, (2, 2), 256, _words, ("X", "Y", "n"), 1, _transposed, says="Y = X.T")


def _words() -> Sequence[Argument]:
    values = np.random.default_rng(6).permutation(64 * 64).reshape(64, 64)
    return values.astype(np.float32), np.zeros((64, 64), np.float32), 64


def _half_words() -> Sequence[Argument]:
    values = np.random.default_rng(7).permutation(SIZE * SIZE).reshape(SIZE, SIZE)
    return values.astype(np.float16), np.zeros((SIZE, SIZE), np.float16), SIZE


def _transposed(x: Array, *_: object) -> Array:
    return x.T


def _copied(x: Array, *_: object) -> Array:
    return x


def _halves(name: str, bring: _Part, move: _Part, *, transposes: bool = True) -> RightKernel:
    w = Writer()
    w.start("X", "Y", sizes=("n",))
    w("mov.u32 %tiles, tiles")
    _tile(w, TILE)
    if transposes:
        w("mov.u32 %to_row, %tile_column", "out-tile-row")
        w("mov.u32 %to_column, %tile_row", "out-tile-column")
    else:
        w("mov.u32 %to_row, %tile_row", "out-tile-row")
        w("mov.u32 %to_column, %tile_column", "out-tile-column")
    bring(w)
    move(w)
    text = w.kernel(("X", "Y"), ("n",), 2 * TILE * PITCH, "sm_90")
    make, names = _half_words, ("X", "Y", "n")
    reference, says = (_transposed, "Y = X.T") if transposes else (_copied, "Y = X")
    return RightKernel(name, text, (2, 2), 32, make, names, 1, reference, says=says)


def _tile(w: Writer, size: int) -> None:
    w("mov.u32 %tile_row, %ctaid.y")
    w(f"mul.lo.u32 %tile_row, %tile_row, {size}", "tile-row")
    w("mov.u32 %tile_column, %ctaid.x")
    w(f"mul.lo.u32 %tile_column, %tile_column, {size}", "tile-column")


def _address(w: Writer, array: str, row: str, column: str, mark: str) -> None:
    """Leave in `%rd_at` where an element is in global memory."""
    w(f"mad.lo.u32 %at, {row}, %n, {column}", f"{mark}-leading-dimension")
    w("mul.wide.u32 %rd_at, %at, 2")
    w(f"add.u64 %rd_at, %rd_{array}, %rd_at")


def _shared(w: Writer, mark: str) -> None:
    """Leave in `%at` where the chunk `%chunk` of the row `%row` is in shared memory."""
    w(f"mad.lo.u32 %at, %row, {PITCH}, %tiles", f"{mark}-pitch")
    w("mad.lo.u32 %at, %chunk, 16, %at", f"{mark}-chunk")


def _chunks_in(w: Writer) -> None:
    w("shr.u32 %row, %lane, 1", "in-row")
    w("and.b32 %chunk, %lane, 1", "in-chunk")
    w("add.u32 %g_row, %row, %tile_row", "in-tile-row")
    w("mad.lo.u32 %g_column, %chunk, 8, %tile_column", "in-tile-column")
    _address(w, "X", "%g_row", "%g_column", "in")
    w(f"ld.global.v4.b32 {registers('word', 4)}, [%rd_at]", "in-load")
    _shared(w, "write")
    w(f"st.shared.v4.b32 [%at], {registers('word', 4)}", "write")
    w("bar.sync 0", "barrier")


def _matrix(w: Writer, mark: str) -> None:
    """A lane's row of four 8x8 matrices: rows 0 and 8 of the first columns, then of the others."""
    w("and.b32 %row, %lane, 15", f"{mark}-lane")
    w("shr.u32 %chunk, %lane, 4", f"{mark}-lane-chunk")
    _shared(w, mark)


def _load_trans(w: Writer) -> None:
    _matrix(w, "read")
    w(f"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {registers('m', 4)}, [%at]", "read")
    _pairs_out(w)


def _load_and_move(w: Writer) -> None:
    _matrix(w, "read")
    w(f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {registers('m', 4)}, [%at]", "read")
    for matrix in range(4):
        w(f"movmatrix.sync.aligned.m8n8.trans.b16 %m{matrix}, %m{matrix}", f"move-{matrix}")
    _pairs_out(w)


def _pairs_out(w: Writer) -> None:
    """Matrix n of the transpose: rows from n/2, columns from n%2."""
    for matrix in range(4):
        w("shr.u32 %row, %lane, 2")
        w(f"add.u32 %row, %row, {8 * (matrix // 2)}", f"out-row-{matrix}")
        w("add.u32 %row, %row, %to_row", "out-row")
        w("and.b32 %column, %lane, 3")
        w(f"mad.lo.u32 %column, %column, 2, {8 * (matrix % 2)}", f"out-column-{matrix}")
        w("add.u32 %column, %column, %to_column", "out-column")
        _address(w, "Y", "%row", "%column", "out")
        w(f"st.global.b32 [%rd_at], %m{matrix}", f"out-store-{matrix}")


def _pairs_in(w: Writer) -> None:
    for matrix in range(4):
        w("shr.u32 %row, %lane, 2")
        w(f"add.u32 %row, %row, {8 * (matrix % 2)}", f"in-row-{matrix}")
        w("add.u32 %row, %row, %tile_row", "in-row")
        w("and.b32 %column, %lane, 3")
        w(f"mad.lo.u32 %column, %column, 2, {8 * (matrix // 2)}", f"in-column-{matrix}")
        w("add.u32 %column, %column, %tile_column", "in-column")
        _address(w, "X", "%row", "%column", "in")
        w(f"ld.global.b32 %m{matrix}, [%rd_at]", f"in-load-{matrix}")


def _store_trans(w: Writer) -> None:
    """Matrix n of the original lies, transposed, at rows from n/2 and columns from n%2."""
    w("and.b32 %row, %lane, 7", "write-lane")
    w("bfe.u32 %high, %lane, 4, 1", "write-lane-high")
    w("mad.lo.u32 %row, %high, 8, %row", "write-lane-row")
    w("bfe.u32 %chunk, %lane, 3, 1", "write-lane-chunk")
    _shared(w, "write")
    w(f"stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%at], {registers('m', 4)}", "write")
    w("bar.sync 0", "barrier")
    _chunks_out(w, "%tiles")


def _load_and_store(w: Writer) -> None:
    _matrix(w, "read")
    w(f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {registers('m', 4)}, [%at]", "read")
    w(f"add.u32 %second, %tiles, {TILE * PITCH}", "second-tile")
    w("mov.u32 %tiles, %second")
    _matrix(w, "back")
    w(f"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%at], {registers('m', 4)}", "back")
    w("bar.sync 0", "barrier")
    _chunks_out(w, "%tiles")


def _chunks_out(w: Writer, tiles: str) -> None:
    w("shr.u32 %row, %lane, 1", "out-row")
    w("and.b32 %chunk, %lane, 1", "out-chunk")
    _shared(w, "out-read")
    w(f"ld.shared.v4.b32 {registers('word', 4)}, [%at]", "out-read")
    w("add.u32 %row, %row, %to_row", "out-to-row")
    w("mad.lo.u32 %column, %chunk, 8, %to_column", "out-to-column")
    _address(w, "Y", "%row", "%column", "out")
    w(f"st.global.v4.b32 [%rd_at], {registers('word', 4)}", "out-store")


if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    _Part: TypeAlias = Callable[[Writer], None]
