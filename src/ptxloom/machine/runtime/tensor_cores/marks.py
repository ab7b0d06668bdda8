"""Initcheck's marks of tensor memory: one bit per word, set once it is written."""

from __future__ import annotations

from ptxloom.machine.native.language import u32
from ptxloom.machine.runtime.tensor_cores.model import TensorMemory


def mark_word(memory: TensorMemory, word: u32) -> None:
    """Mark a word as written."""
    memory.written[word >> 5] = memory.written[word >> 5] | 1 << (word & 31)


def missing_word(memory: TensorMemory, word: u32) -> u32:
    """1 if a word is unwritten."""
    return ~(memory.written[word >> 5] >> (word & 31)) & 1


def mark_lanes(memory: TensorMemory, word: u32, count: u32) -> None:
    """Words next to each other are written: up to 32, of one quarter of a column."""
    bits: u32 = 0xFFFFFFFF
    if count < 32:
        bits = (1 << count) - 1
    memory.written[word >> 5] = memory.written[word >> 5] | bits << (word & 31)


def missing_lanes_of(memory: TensorMemory, word: u32, count: u32) -> u32:
    """The number of unwritten words among adjacent ones."""
    bits: u32 = 0xFFFFFFFF
    if count < 32:
        bits = (1 << count) - 1
    return ~(memory.written[word >> 5] >> (word & 31)) & bits
