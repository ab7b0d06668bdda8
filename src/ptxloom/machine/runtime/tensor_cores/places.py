"""The places of scales in tensor memory, and columns of B that count as zeros (PTX ISA 9.7.16.10.5, 9.7.16.10.7)."""

from __future__ import annotations

from ptxloom.machine.native.language import u32, u64
from ptxloom.machine.runtime.tensor_cores.model import QUARTER_LANES, TENSOR_LANES, TensorPlan

GROUP_ROWS = 128  # rows whose words are next to each other


def split_of(plan: TensorPlan) -> u32:
    """Columns of B from which on their scales lie 64 lanes further; 0 if no columns' do."""
    return 4 * plan.b_tiles if plan.ctas == 2 and plan.a_tiles == 4 else 0


def scale_word(row: u32, split: u32) -> u32:
    """How many words behind the first the word of a row's first scales is; `split` as of `bring_scales`."""
    line: u32 = row
    lane: u32 = 0
    if split != 0 and row >= split:
        line = row - split
        lane = TENSOR_LANES // 2
    return line // QUARTER_LANES * TENSOR_LANES + lane + line % QUARTER_LANES


def scale_pitch(rows: u32, split: u32) -> u32:
    """How many columns further the word of a row's next four scales is."""
    pitch = (rows + GROUP_ROWS - 1) // GROUP_ROWS * (GROUP_ROWS // QUARTER_LANES)
    return pitch if split == 0 else pitch // 2


def is_cleared(plan: TensorPlan, mask: u64, column: u32) -> u32:
    """1 if a column of B is taken as zeros: runs that are used and runs that are skipped take turns, in each bank."""
    count = plan.b_tiles * 8 // plan.folds
    bank = column // count
    skipped = u32(mask >> 40 & 255) + 1
    used = u32(mask >> 48 & 255) + 1
    first = u32(mask >> u64(32 + bank) & 1)  # whether it begins with such a run
    lead = used if first == 0 else 0
    start = u32(mask >> u64(8 * bank) & 255)
    at = (column % count + start + used + skipped - lead) % (used + skipped)
    return u32(at < skipped)
