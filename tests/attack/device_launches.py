"""Pieces of hostile programs that launch kernels: forged kernels, extents, buffers, parameters and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import random

    from attack.forging import Forger

#: `child` writes a given value to a given place, and launches itself again, in its last parameter's streams.
HEAD: Final = """
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
    (.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b64 r) cudaGetParameterBuffer(.param .b64 a, .param .b64 s);
.extern .func (.param .b32 r) cudaLaunchDevice
    (.param .b64 f, .param .b64 p, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2PeekAtLastError();
.visible .entry child(.param .b64 to, .param .b64 left, .param .b64 stream) {
  .reg .b64 %d<8>; .reg .b32 %r<2>; .reg .pred %p<2>; .shared .align 8 .b8 own[256];
  ld.param.b64 %d0, [to]; ld.param.b64 %d1, [left]; ld.param.b64 %d2, [stream];
  mov.u32 %r0, %tid.x; st.shared.b8 [own], %r0; st.b32 [%d0], %r0;
  setp.eq.s64 %p0, %d1, 0; @%p0 ret; sub.s64 %d1, %d1, 1; mov.u64 %d3, child;
  { .param .b64 f; .param .align 4 .b8 g[12]; .param .b32 s; .param .b64 r; st.param.b64 [f], %d3;
    st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1; st.param.b32 [s], 0;
    call (r), __cudaCDP2GetParameterBufferV2, (f, g, g, s); ld.param.b64 %d4, [r]; }
  setp.eq.s64 %p0, %d4, 0; @%p0 ret;
  st.b64 [%d4], %d0; st.b64 [%d4+8], %d1; st.b64 [%d4+16], %d2;
  { .param .b64 p; .param .b64 s; .param .b32 r; st.param.b64 [p], %d4; st.param.b64 [s], %d2;
    call (r), __cudaCDP2LaunchDeviceV2, (p, s); }
  ret;
}
"""
STREAMS: Final = (0, 0, 0, 1, 2, 3, 3, 4, 5, -1)


def launch_piece(forger: Forger, chance: random.Random, number: int, functions: tuple[str, ...]) -> str:
    """A launch by some lanes, most often one that is right except for a few of its parts."""
    lanes = chance.choice((1, 1, 2, 16, 32))
    kernel = chance.choice(("child",) * 6 + ("callee", *functions))
    address = f"mov.u64 %w0, {kernel};" if chance.random() < 0.9 else forger.wide("%w0")
    again = chance.choice((0, 0, 1, 3, 30, -1))  # -1: without end, until the time is up
    stream = f"mov.b64 %w1, {chance.choice(STREAMS)};" if chance.random() < 0.8 else forger.wide("%w1")
    made = _made(forger, chance) if chance.random() < 0.8 else _made_as_before(forger, chance)
    past = f"skip{number}"
    return (
        f"setp.lt.u32 %q2, %lane, {lanes}; @!%q2 bra {past};\n{address} {stream}\n{made}\n"
        f"setp.eq.s64 %q3, %w3, 0; @%q3 bra {past};\n{_stored(forger, chance, again)}\n"
        f"{_launched(forger, chance)}\n{chance.choice(('', _LAST, _PEEK))}\n{past}:"
    )


_LAST: Final = "{ .param .b32 r; call (r), __cudaCDP2GetLastError, (); ld.param.b32 %t1, [r]; }"
_PEEK: Final = _LAST.replace("GetLast", "PeekAtLast")


def _extents(forger: Forger, chance: random.Random, name: str, sizes: tuple[int, ...]) -> str:
    """Three extents of a launch."""
    lines: list[str] = []
    for axis in range(3):
        word = f"mov.b32 %t0, {chance.choice(sizes) if axis == 0 else 1};"
        word = forger.word("%t0") if chance.random() < 0.05 else word
        lines.append(f"{word} st.param.b32 [{name}+{4 * axis}], %t0;")
    return f".param .align 4 .b8 {name}[12]; {' '.join(lines)}"


def _shape(forger: Forger, chance: random.Random) -> str:
    grid, block = _extents(forger, chance, "g", (1, 1, 2, 5)), _extents(forger, chance, "b", (1, 1, 32, 33, 64, 1025))
    shared = f"mov.b32 %t0, {chance.choice((0, 0, 0, 1, 4096, 1 << 17))};"
    return f"{grid}\n{block}\n.param .b32 s; {shared} st.param.b32 [s], %t0;"


def _made(forger: Forger, chance: random.Random) -> str:
    return (
        f"{{ .param .b64 f; .param .b64 r; st.param.b64 [f], %w0; {_shape(forger, chance)}\n"
        "call (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %w3, [r]; }"
    )


def _made_as_before(forger: Forger, chance: random.Random) -> str:
    """A buffer by its size; sometimes none at all is asked for."""
    if chance.random() < 0.3:
        return forger.wide("%w3")
    size = chance.choice((0, 16, 24, 4096, 4352, 1 << 40, -1))
    return (
        f"{{ .param .b64 a; .param .b64 n; .param .b64 r; st.param.b64 [a], 64; st.param.b64 [n], {size};\n"
        "call (r), cudaGetParameterBuffer, (a, n); ld.param.b64 %w3, [r]; }"
    )


def _stored(forger: Forger, chance: random.Random, again: int) -> str:
    """Parameters, most often where they belong: the kernel's array, how often again, and the streams."""
    to = "mov.u64 %w2, glo;" if chance.random() < 0.8 else forger.wide("%w2")
    lines = [f"{to} st.b64 [%w3], %w2; mov.b64 %w2, {again}; st.b64 [%w3+8], %w2; st.b64 [%w3+16], %w1;"]
    if chance.random() < 0.2:
        at = chance.choice((-1, 1)) * chance.choice((8, 24, 120, 128, 1 << 12, 1 << 18, 1 << 30))
        lines.append(f"st.b64 [%w3+{at}], %w2;")
    return "\n".join(lines)


def _launched(forger: Forger, chance: random.Random) -> str:
    """What is in the buffer, once or twice, or from another place, is launched."""
    moved = chance.choice(("", "", "", "", "add.s64 %w3, %w3, 8;", "add.s64 %w3, %w3, 128;", "sub.s64 %w3, %w3, 128;"))
    if chance.random() < 0.7:
        one = (
            "{ .param .b64 p; .param .b64 t; .param .b32 r; st.param.b64 [p], %w3; st.param.b64 [t], %w1;\n"
            "call (r), __cudaCDP2LaunchDeviceV2, (p, t); ld.param.b32 %t1, [r]; }"
        )
    else:
        one = (
            f"{{ .param .b64 f; .param .b64 p; .param .b64 t; .param .b32 r; {_shape(forger, chance)}\n"
            "st.param.b64 [f], %w0; st.param.b64 [p], %w3; st.param.b64 [t], %w1;\n"
            "call (r), cudaLaunchDevice, (f, p, g, b, s, t); ld.param.b32 %t1, [r]; }"
        )
    return f"{moved}\n{one}" + (f"\n{one}" if chance.random() < 0.3 else "")
