"""What memcheck finds: memory that an access may not touch, and everything else that ends a kernel."""

from __future__ import annotations

from typing import Final

from ptxloom.diagnostics import Severity
from ptxloom.hazards.kind import HazardKind

MORE_SHARED: Final = (
    "launch with as many bytes of dynamic shared memory as the kernel uses (`shared_bytes`); else compare the index "
    "with the length, and predicate the access"
)
_GUARD: Final = "compare the index with the length, and predicate the access"

KINDS: Final = (
    HazardKind(
        "memcheck",
        "out-of-bounds",
        "Finds an access outside every piece of memory of its state space: arrays, variables, shared and local memory, "
        "constants, parameters.",
        "{access} at {symbol} is out of bounds{end}",
        _GUARD,
    ),
    HazardKind(
        "memcheck",
        "overrun",
        "Finds, where `memcheck:variables` watches, an access that leaves the shared, constant, local or module-wide "
        "variable from whose name its address was made, even if other memory lies there. An address keeps its variable "
        "through additions, copies and selections, not through memory.",
        "{access} at {place} is beyond {symbol}, from which the address was made",
        "compare the index with the length of the array; arrays that are used as one must be declared as one",
    ),
    HazardKind(
        "memcheck",
        "null",
        "Finds an access through a null pointer, or close to one.",
        "{access} through a null pointer, at {place}",
        "pass memory for this argument; an address of shared memory needs `.shared`, or a `cvta.shared` before it",
    ),
    HazardKind(
        "memcheck",
        "misaligned",
        "Finds an address that is not a multiple of what the access needs; a row of `ldmatrix` needs 16 bytes.",
        "{access} at {place} is not aligned to {alignment} bytes",
        "start at a multiple of the access's size, and pad rows so that each one does",
    ),
    HazardKind(
        "memcheck",
        "read-only",
        "Finds a write to memory that may only be read: parameters, constants, arrays that the host marked read-only.",
        "{access} at {place}, which is read-only",
        "write to memory of your own",
    ),
    HazardKind(
        "memcheck",
        "wrong-space",
        "Finds an address outside the state space that the instruction names, such as a generic address outside "
        "shared memory in `ldmatrix`.",
        "{access} at {place}, {wrong}",
        "use the space that holds the data, or a generic address made with `cvta`",
    ),
    HazardKind(
        "memcheck",
        "use-after-free",
        "Finds an access to memory that the kernel has freed.",
        "{access} at {place}, which has been freed",
        "free it after the last use, by the last thread that uses it",
    ),
    HazardKind(
        "memcheck",
        "double-free",
        "Finds memory that is freed twice.",
        "{place} is freed for the second time",
        "free it once: by one thread, after a barrier",
    ),
    HazardKind(
        "memcheck",
        "invalid-free",
        "Finds a `free` of something that `malloc` never returned.",
        "{place} is freed, but `malloc` never returned it",
        "free what `malloc` returned, and nothing else",
    ),
    HazardKind(
        "memcheck",
        "leak",
        "Finds memory from `malloc` that is not freed when a launch ends, for each call of `malloc` (`memcheck:leaks`; "
        "compute-sanitizer's `--leak-check full`). Kernels of one module share its heap: memory that one of them "
        "leaves for another to free is reported after the first and not after the second.",
        "{size} bytes allocated here ({pieces}) were not freed when the kernel ended",
        "free them, by one thread, after their last use; watch only the last kernel if that one frees them",
        severity=Severity.WARNING,
    ),
    HazardKind(
        "memcheck",
        "trap",
        "Says where a kernel ended itself.",
        "the kernel executes `trap`",
        "look at the condition that led here",
    ),
    HazardKind("memcheck", "assertion", "Says which `assert` failed.", "{text}", "look at the condition that failed"),
    HazardKind(
        "memcheck",
        "stack-overflow",
        "Finds a thread whose calls, or `alloca`, need more of the stack than it has.",
        "the stack of lane {lane} is full",
        "launch with a larger `stack_bytes`, or end the recursion sooner",
    ),
    HazardKind(
        "memcheck",
        "bad-call",
        "Finds an indirect call to something that is not a function; a kernel is not one.",
        "a call to {place}, which is not a function",
        "call through an address of a function",
    ),
    HazardKind(
        "memcheck",
        "call-mismatch",
        "Finds an indirect call of a function whose parameters or results have other sizes than the call's prototype "
        "says.",
        "a call to {place}, whose parameters or results have other sizes than this call says",
        "give the call the prototype of the function that it reaches",
        "11.3.3",
    ),
    HazardKind(
        "memcheck",
        "bad-branch",
        "Finds a `brx.idx` whose index is past the end of its list of targets.",
        "`{instruction}` is given index {number}, which is past the end of its list of targets",
        "branch around it if the index can be as large as the list is long",
    ),
    HazardKind(
        "memcheck",
        "bad-token",
        "Finds a `stackrestore` of a token that no `stacksave` of the same call returned, or that is no longer valid.",
        "`{instruction}` is given a token that is not one of this call's",
        "restore what `stacksave` returned in the same function, the last one first",
    ),
    HazardKind(
        "memcheck",
        "invalid",
        "Finds a barrier that is not one of the sixteen, or a count of threads that is not a multiple of a warp.",
        "`{instruction}` is given an operand that it cannot take",
        "barriers are numbered 0 to 15, and count threads in multiples of 32",
    ),
    HazardKind(
        "memcheck",
        "no-mbarrier",
        "Finds an operation on an mbarrier that has not been initialised.",
        "there is no initialised mbarrier at {place}",
        "execute `mbarrier.init` first, then a barrier so that every thread sees it",
        "9.7.13.16",
    ),
    HazardKind(
        "memcheck",
        "no-cluster",
        "Finds a copy or a store from CTA to CTA (`cp.async.bulk` and `cp.reduce.async.bulk` from `.shared::cta` to "
        "`.shared::cluster`, `st.async`, `red.async`) in a launch without clusters. To an H200 it is an illegal "
        "instruction, even if its target is the CTA's own memory; a cluster of one CTA is enough.",
        "`{instruction}` moves data within a cluster, but the launch has no clusters",
        "launch with a cluster (`cluster=1` is enough), or give the kernel `.reqnctapercluster`",
        "2.2.1",
    ),
    HazardKind(
        "memcheck",
        "no-tensor-map",
        "Finds a copy by 128 bytes that are not a tensor map: none was encoded there, or a kernel has put impossible "
        "values into its fields.",
        "the 128 bytes at {place} are not a tensor map: {reason}",
        "pass what `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col` made, `const __grid_constant__`, or by its "
        "address in global memory; here `pl.tensor_map` makes it",
        "5.5.8",
    ),
    HazardKind(
        "memcheck",
        "illegal-tensor-copy",
        "Finds a copy that its tensor map does not allow: to an H200 it is an illegal instruction.",
        "`{instruction}` cannot be made by the tensor map at {place}: {reason}",
        "write the instruction for the tensor map that is passed, with coordinates that it can take",
        "9.7.9.27",
    ),
    HazardKind(
        "memcheck",
        "no-texture",
        "Finds an object that is not a texture or surface, or whose geometry is not the instruction's: an H200 "
        "reads zeros.",
        "`{instruction}` cannot use the object {number}: {reason}",
        "pass what `cudaCreateTextureObject` or `cudaCreateSurfaceObject` made; here `pl.texture` and `pl.surface` "
        "make it",
        "9.7.10",
    ),
    HazardKind(
        "memcheck",
        "illegal-surface-access",
        "Finds an access outside a surface under `.trap`, or one that straddles two elements: an H200 ends the kernel.",
        "`{instruction}` cannot reach into the surface: {reason}",
        "multiply the first coordinate by the size of an element, and stay within the surface, or write `.clamp` or "
        "`.zero`",
        "9.7.11",
    ),
    HazardKind(
        "memcheck",
        "illegal-tensor-memory",
        "Finds an instruction of tensor memory that cannot be executed: columns that cannot be allocated or freed, "
        "lanes beyond those that it may touch, a descriptor of something that does not exist.",
        "`{instruction}` cannot be executed: {reason}",
        "read the bits: `ptxloom.descriptors.InstructionDescriptor.from_bits` decodes them; "
        "`ptxloom descriptor` reads a matrix descriptor",
        "9.7.16",
    ),
    HazardKind(
        "memcheck",
        "tensor-memory-kept",
        "Finds tensor memory that a CTA has allocated and not freed when its last thread exits.",
        "the CTA ends with tensor memory that `{instruction}` has allocated",
        "free it with `tcgen05.dealloc`, in a warp that stays to the end",
        "9.7.16.7",
        severity=Severity.WARNING,
    ),
    HazardKind(
        "memcheck",
        "other-quarter",
        "Finds an address of `tcgen05.ld` or `tcgen05.st` that names lanes of another warp: whatever the address, a "
        "warp reaches the 32 lanes that its number in its warpgroup selects.",
        "`{instruction}` names lanes of tensor memory that this warp does not reach",
        "add 32 times the warp's number in its warpgroup to the lane, or leave these bits 0",
        "9.7.16.8.1",
    ),
    HazardKind(
        "memcheck",
        "empty-collector",
        "Finds a `tcgen05.mma` that uses a collector buffer (`collector::a::use`, `::lastuse`) which no product has "
        "filled, or which a product has discarded since.",
        "`{instruction}` uses a collector buffer that holds nothing",
        "let the product before it fill the buffer (`collector::a::fill`), or keep it (`::use` instead of `::lastuse`)",
        "9.7.16.10.9",
    ),
    HazardKind(
        "memcheck",
        "mbarrier-overrun",
        "Finds more arrivals at an mbarrier than it expects in a phase.",
        "more arrivals come to the mbarrier at {place} than it expects",
        "make the count of `mbarrier.init` equal to the arrivals of one phase",
        "9.7.13.16",
    ),
)
