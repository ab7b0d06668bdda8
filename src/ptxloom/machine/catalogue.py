"""Every hazard there is: whose finding, how grave, in which words, and what to do about it.

The names of tools are compute-sanitizer's. A message may use `{instruction}` (the opcode), `{access}` ("read of 4
bytes"), `{place}` (where in memory), `{lanes}` (those at fault), `{other}` (the lanes it is about, `{have}` and
`{are}` agreeing with them), and what else its kind knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ptxloom.diagnostics import Severity
from ptxloom.machine.runtime import state

TOOLS: Final = ("memcheck", "racecheck", "initcheck", "synccheck")


@dataclass(frozen=True, slots=True)
class HazardKind:
    """One kind of hazard.

    Attributes:
        tool: memcheck, racecheck, initcheck or synccheck.
        name: Kebab-case, unique within the tool.
        message: A sentence, lower case, no full stop.
        help: What to do.
        section: The manual's section; empty for that of the instruction at fault.
        severity: A warning if the results can be right all the same.
    """

    tool: str
    name: str
    message: str
    help: str
    section: str = ""
    severity: Severity = Severity.ERROR

    @property
    def rule(self) -> str:
        """Its name in reports, such as `memcheck.misaligned`."""
        return f"{self.tool}.{self.name}"


_RACES: Final = "8.7.1"
_ORDER: Final = (
    "put a barrier between the two: `bar.sync` for a CTA, `bar.warp.sync` for lanes of one warp, an mbarrier for a part"
)
_WARP_ORDER: Final = "put `bar.warp.sync` (`__syncwarp()`) between the two: nothing else orders the lanes of a warp"
_GUARD: Final = "compare the index with the length, and predicate the access"
_WHOLE: Final = (
    "move it out of the branch: every lane of the warp must execute the same `.aligned` instruction together"
)

KINDS: Final = (
    HazardKind("memcheck", "out-of-bounds", "{access} at {symbol} is out of bounds{end}", _GUARD),
    HazardKind(
        "memcheck",
        "null",
        "{access} through a null pointer, at address {place}",
        "pass memory for this argument; an address of shared memory needs `.shared`, or a `cvta.shared` before it",
    ),
    HazardKind(
        "memcheck",
        "misaligned",
        "{access} at {place} is not aligned to {alignment} bytes",
        "start at a multiple of the access's size, and pad rows so that each one does",
    ),
    HazardKind("memcheck", "read-only", "{access} at {place}, which is read-only", "write to memory of your own"),
    HazardKind(
        "memcheck",
        "wrong-space",
        "{access} at {place}, which is not in the state space that the instruction means",
        "use the space where the data lies, or a generic address made with `cvta`",
    ),
    HazardKind(
        "memcheck",
        "use-after-free",
        "{access} at {place}, which has been freed",
        "free it after the last use, by the last thread that uses it",
    ),
    HazardKind(
        "memcheck",
        "double-free",
        "{place} is freed for the second time",
        "free it once: by one thread, after a barrier",
    ),
    HazardKind(
        "memcheck", "invalid-free", "{place} is freed, but `malloc` has never given it", "free what `malloc` returned"
    ),
    HazardKind("memcheck", "trap", "the kernel executes `trap`", "look at the condition that led here"),
    HazardKind("memcheck", "assertion", "{text}", "look at the condition that failed"),
    HazardKind(
        "memcheck",
        "stack-overflow",
        "the stack of lane {lane} is full",
        "launch with a larger `stack_bytes`, or end the recursion sooner",
    ),
    HazardKind(
        "memcheck", "bad-call", "a call to {place}, which is no function", "call through an address of a function"
    ),
    HazardKind(
        "memcheck",
        "invalid",
        "`{instruction}` is given an operand that it cannot take",
        "barriers are numbered 0 to 15, and count threads in multiples of 32",
    ),
    HazardKind(
        "memcheck",
        "no-mbarrier",
        "there is no initialised mbarrier at {place}",
        "execute `mbarrier.init` first, then a barrier so that every thread sees it",
        "9.7.13.16",
    ),
    HazardKind(
        "memcheck",
        "mbarrier-overrun",
        "the mbarrier at {place} expects fewer arrivals than come",
        "make the count of `mbarrier.init` equal to the arrivals of one phase",
        "9.7.13.16",
    ),
    HazardKind("synccheck", "divergent", "`{instruction}` is executed by part of a warp: without {other}", _WHOLE),
    HazardKind(
        "synccheck",
        "predicated",
        "`{instruction}` is executed by part of a warp: {other} {are} predicated off",
        _WHOLE,
    ),
    HazardKind(
        "synccheck",
        "exited",
        "`{instruction}` is executed by part of a warp: {other} {have} exited",
        "let every lane of the warp live until here: predicate the stores instead of returning early",
    ),
    HazardKind(
        "synccheck",
        "partial-warp",
        "`{instruction}` is executed by a warp that lacks {other}: the CTA has fewer threads",
        "launch a multiple of 32 threads",
    ),
    HazardKind(
        "synccheck",
        "absent",
        "`{instruction}` is executed by {other}, who {are} not in the member mask that {they} name",
        "name every lane that executes it: `activemask` before the branch, or a ballot of its condition",
    ),
    HazardKind(
        "synccheck",
        "mask-mismatch",
        "`{instruction}` is given different member masks: {other} {do} not agree with the rest",
        "compute the mask once, before the lanes part",
    ),
    HazardKind(
        "synccheck",
        "elsewhere",
        "`{instruction}` names {other} in its member mask, but {they} never come{s} here",
        "name only the lanes that execute it, or move it out of the branch",
    ),
    HazardKind(
        "synccheck",
        "exited-members",
        "`{instruction}` names {other} in its member mask, but {they} {have} exited, and what they hold is undefined",
        "leave exited lanes out of the member mask, or let them live until here",
        severity=Severity.WARNING,
    ),
    HazardKind(
        "synccheck",
        "barrier-count",
        "threads come to barrier {number} with different counts: {other} here, {size} at the other",
        "give every `bar.sync`, `bar.arrive` and `bar.red` of one barrier the same count of threads",
    ),
    HazardKind(
        "synccheck",
        "deadlock",
        "{count} {verb} for others that never come: {why}",
        "see to it that every thread that is waited for reaches the same barrier",
    ),
    HazardKind(
        "synccheck",
        "no-progress",
        "at the time limit {count} {verb}",
        "see what they wait for; `timeout` ends a kernel that may only be slow",
    ),
    HazardKind("racecheck", "write-after-write", "two threads write {place}, in no order", _ORDER, _RACES),
    HazardKind("racecheck", "write-after-read", "{place} is read and then written, in no order", _ORDER, _RACES),
    HazardKind("racecheck", "read-after-write", "{place} is written and then read, in no order", _ORDER, _RACES),
    HazardKind(
        "racecheck",
        "warp-order",
        "two lanes of one warp access {place} in no order: they need not run in step",
        _WARP_ORDER,
        _RACES,
        Severity.WARNING,
    ),
    HazardKind(
        "initcheck",
        "uninitialised",
        "read of {size} bytes at {place} that nobody has written",
        "write it first; a store by another thread counts once a barrier lies between",
    ),
    HazardKind(
        "initcheck",
        "uninitialised-register",
        "{register} is read, but was never written",
        "give it a value on every path that leads here",
    ),
)
BY_RULE: Final = {kind.rule: kind for kind in KINDS}

FAULTS: Final = {  # what ends a kernel; all are memcheck's
    state.OUT_OF_BOUNDS: "out-of-bounds",
    state.MISALIGNED: "misaligned",
    state.READ_ONLY: "read-only",
    state.WRONG_SPACE: "wrong-space",
    state.TRAP: "trap",
    state.STACK_OVERFLOW: "stack-overflow",
    state.BAD_CALL: "bad-call",
    state.ASSERTION: "assertion",
    state.INVALID: "invalid",
    state.UNINITIALISED: "no-mbarrier",
    state.OVERRUN: "mbarrier-overrun",
}
EVENTS: Final = {  # after these it goes on
    state.DIVERGENT: "synccheck.divergent",
    state.EXITED: "synccheck.exited",
    state.PREDICATED: "synccheck.predicated",
    state.MISSING: "synccheck.partial-warp",
    state.ABSENT: "synccheck.absent",
    state.MISMATCH: "synccheck.mask-mismatch",
    state.STUCK: "synccheck.elsewhere",
    state.GONE: "synccheck.exited-members",
    state.MISCOUNT: "synccheck.barrier-count",
    state.WRITE_WRITE: "racecheck.write-after-write",
    state.READ_WRITE: "racecheck.write-after-read",
    state.WRITE_READ: "racecheck.read-after-write",
    state.WARP_WRITE_WRITE: "racecheck.warp-order",
    state.WARP_READ_WRITE: "racecheck.warp-order",
    state.WARP_WRITE_READ: "racecheck.warp-order",
    state.UNWRITTEN: "initcheck.uninitialised",
    state.UNWRITTEN_REGISTER: "initcheck.uninitialised-register",
}
# What the two sides of a race do: this warp's access, and the one before it.
SIDES: Final = {
    state.WRITE_WRITE: ("write", "write"),
    state.READ_WRITE: ("write", "read"),
    state.WRITE_READ: ("read", "write"),
    state.WARP_WRITE_WRITE: ("write", "write"),
    state.WARP_READ_WRITE: ("write", "read"),
    state.WARP_WRITE_READ: ("read", "write"),
}
SPACES: Final = {
    state.GENERIC: "generic",
    state.GLOBAL: "global",
    state.SHARED: "shared",
    state.LOCAL: "local",
    state.CONST: "const",
    state.PARAM: "param",
}
