"""Tags of words of memory: one for all bytes that follow from the first, as in shared and in global memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import length, part, u32, u64
from ptxloom.machine.runtime.provenance.paths import moved_tag
from ptxloom.machine.runtime.structs.trail import KIND, WRITTEN, Trail

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice

SPLIT = 1  # no tag is so
WORD = 4


def word_byte(head: u64, byte: u32) -> u64:
    """The tag of a byte of a word by the word's head."""
    if head == 0 or head & KIND == WRITTEN:
        return head
    return head + u64(byte)


def found_tag(trail: Trail, site: u32, tag: u64) -> u64:
    """The tag of a byte in memory, as an instruction that reads it finds it."""
    if tag & KIND == WRITTEN:
        return 0
    return moved_tag(trail, site, tag)


def given_tag(trail: Trail, site: u32, tag: u64) -> u64:
    """The tag that a byte in memory takes."""
    return moved_tag(trail, site, WRITTEN if tag == 0 else tag)


def tag_of_byte(words: Slice[u64], tags: Slice[u64], at: u64) -> u64:
    """The tag of a byte of memory, whose words have heads and whose bytes have tags."""
    if at // WORD < length(words):
        head = words[at // WORD]
        if head != SPLIT:
            return word_byte(head, u32(at % WORD))
    return tags[at]


def split_at(words: Slice[u64], tags: Slice[u64], at: u64) -> None:
    """Give each byte of the word at a place a tag of its own."""
    word = at // WORD
    if word < length(words):
        head = words[word]
        if head != SPLIT:
            four = part(tags, word * WORD, WORD)
            for byte in range(WORD):
                four[byte] = word_byte(head, byte)
            words[word] = SPLIT
