"""Work taken over from clusters that have not started: `clusterlaunchcontrol` (PTX ISA 9.7.13.17)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import WRITE, Access
from ptxloom.machine.codegen.addresses import addresses_at, space_of
from ptxloom.machine.codegen.builder import W
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.native.ir import vector
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.asynchronous import cluster_launch
from ptxloom.meaning.moves import packed
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.native.ir import Value
    from ptxloom.machine.program.model import Op

family: Final = Family()

_WORD_BITS: Final = 32
_AXES: Final = {"get_first_ctaid::x": 0, "get_first_ctaid::y": 1, "get_first_ctaid::z": 2}


@family("clusterlaunchcontrol", when=lambda op: op.has("try_cancel"))
def try_cancel(b: Builder, op: Op) -> None:
    """Request a cluster that has not started; the response goes to shared memory, and is reported to an mbarrier."""
    if "synccheck" in b.checks:
        b.runtime(cluster_launch.check_request, W, b.active_mask, op.site)
    space = space_of(op)
    response = addresses_at(b, op.operands[0], space, cluster_launch.RESPONSE_BYTES)
    barrier = addresses_at(b, op.operands[1], space, state.MBARRIER_BYTES, scratch.SOURCES)
    sizes = partial(b.constant, vector("i32"), cluster_launch.RESPONSE_BYTES)
    b.touch(Access(WRITE, space, response, 8, is_issued=True, operand=0, stretches=sizes))
    facts = (int(op.has("multicast::cluster::all")), space, op.site)
    b.check(b.runtime(cluster_launch.try_cancel, W, b.active_mask, response, barrier, *facts))


@family("clusterlaunchcontrol", when=lambda op: op.has("is_canceled"))
def is_canceled(b: Builder, op: Op) -> None:
    """Whether a request was granted."""
    words = _words(b, op.operands[1])
    if "synccheck" in b.checks:
        b.runtime(cluster_launch.see_refusal, W, _refused(b, words))
    b.write_mask(op.operands[0], b.mask_of(b.compare("ne", words[3], b.constant(words[3].type, 0))))


@family("clusterlaunchcontrol", when=lambda op: op.has("get_first_ctaid", *_AXES))
def get_first_ctaid(b: Builder, op: Op) -> None:
    """The index of the canceled cluster's first CTA, or a coordinate of it."""
    words = _words(b, op.operands[1])
    if "synccheck" in b.checks:
        b.runtime(cluster_launch.check_canceled, W, _refused(b, words), op.site)
    if op.has("get_first_ctaid"):
        b.write_all(op.operands[0], words)
    else:
        b.write(op.operands[0], words[_AXES[op.one_of(_AXES)]])


def _words(b: Builder, operand: tree.Operand) -> tuple[Value, ...]:
    """The four words of a response."""
    bits = packed(b, operand, 128) if isinstance(operand, tree.Vector) else b.read(operand, "b128")
    shifted = (b.apply("lshr", bits, b.constant(bits.type, _WORD_BITS * n)) if n else bits for n in range(4))
    return tuple(b.resize(word, _WORD_BITS) for word in shifted)


def _refused(b: Builder, words: tuple[Value, ...]) -> Value:
    """The active lanes whose response is a refusal."""
    refused = b.mask_of(b.compare("eq", words[3], b.constant(words[3].type, 0)))
    return b.apply("and", refused, b.active_mask)
