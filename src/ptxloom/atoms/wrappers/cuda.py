"""CUDA C++ wrappers: inline PTX in a `__device__` function that compiles only for targets with the instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.atoms.copy import CopyAtom
from ptxloom.atoms.wrappers.parts import Registers, Requirements, c_name, mma_operands, needs_of, rows_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.atoms.mma import MmaAtom
    from ptxloom.layout import Swizzle


def cuda(atom: CopyAtom | MmaAtom, swizzle: Swizzle | None = None) -> str:
    """The wrapper, and for moves through shared memory a function that computes each lane's row address.

    Args:
        atom: The atom.
        swizzle: The tile's swizzle, on indices of the atom's elements.
    """
    if not isinstance(atom, CopyAtom):
        return _mma(atom)
    match atom.instruction.opcode:
        case "ldmatrix":
            return f"{_load(atom)}\n{_row_of_lane(atom, swizzle)}"
        case "stmatrix":
            return f"{_store(atom)}\n{_row_of_lane(atom, swizzle)}"
        case _:
            return _movmatrix(atom)


def _load(atom: CopyAtom) -> str:
    count = atom.instruction.registers
    held = "t" if atom.permuted else "d"
    outputs = [f'"=r"({held}[{i}])' for i in range(count)]
    body = ["const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));"]
    body += [f"unsigned t[{count}];"] if atom.permuted else []
    body += _asm(f"{atom.ptx} {_braces(0, count)}, [%{count}];", outputs, ['"r"(address)'], memory=True)
    for i in range(0, count, 2) if atom.permuted else ():
        body.append(f"d[{i}] = __byte_perm(t[{i}], t[{i + 1}], 0x5410);")
        body.append(f"d[{i + 1}] = __byte_perm(t[{i}], t[{i + 1}], 0x7632);")
    return _function(atom, f"unsigned (&d)[{count}], const void* row", body, _row_in_words(atom))


def _store(atom: CopyAtom) -> str:
    count = atom.instruction.registers
    inputs = ['"r"(address)', *(f'"r"(s[{i}])' for i in range(count))]
    body = ["const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));"]
    body += _asm(f"{atom.ptx} [%0], {_braces(1, count)};", [], inputs, memory=True)
    return _function(atom, f"void* row, const unsigned (&s)[{count}]", body, _row_in_words(atom))


def _row_in_words(atom: CopyAtom) -> str:
    size = atom.instruction.row_bytes
    return f"row: {rows_in_words(atom)} names a row of {size} bytes in shared memory, {size}-byte aligned."


def _movmatrix(atom: CopyAtom) -> str:
    body = _asm(f"{atom.ptx} %0, %1;", ['"=r"(d)'], ['"r"(s)'])
    return _function(atom, "unsigned& d, unsigned s", body, "s: this lane's two elements of the 8x8 matrix.")


def _mma(atom: MmaAtom) -> str:
    d, a, b, c = mma_operands(atom)
    scales = ["sfa", "sfb"] if atom.instruction.scale_vector else []
    parameters = [f"{d.c_type} (&d)[{d.count}]"]
    parameters += [f"const {one.c_type} (&{one.name})[{one.count}]" for one in (a, b, c)]
    parameters += [f"unsigned {name}" for name in scales]
    vectors: list[str] = []
    start = 0
    for one in (d, a, b, c):
        vectors.append(_braces(start, one.count))
        start += one.count
    for i, _ in enumerate(scales):
        vectors += [f"%{start + i}", "{0, 0}"]
    outputs = _bound("=", d)
    inputs = [*_bound("", a), *_bound("", b), *_bound("", c), *(f'"r"({name})' for name in scales)]
    told = "Every lane passes its registers of A, B and C."
    if scales:
        told += " sfa, sfb: the scales; the selectors are 0."
    return _function(atom, ", ".join(parameters), _asm(f"{atom.ptx} {', '.join(vectors)};", outputs, inputs), told)


def _braces(start: int, count: int) -> str:
    """A vector of operands by number: `{%0, %1}`."""
    return f"{{{', '.join(f'%{start + i}' for i in range(count))}}}"


def _bound(prefix: str, one: Registers) -> list[str]:
    return [f'"{prefix}{one.constraint}"({one.name}[{i}])' for i in range(one.count)]


def _asm(text: str, outputs: Sequence[str], inputs: Sequence[str], *, memory: bool = False) -> list[str]:
    """An asm statement."""
    last = f"             : {', '.join(inputs)}" + (' : "memory");' if memory else ");")
    return [f'asm volatile("{text}"', f"             : {', '.join(outputs)}".rstrip(), last]


def _function(atom: CopyAtom | MmaAtom, parameters: str, body: Iterable[str], told: str) -> str:
    needs = needs_of(atom)
    lines = [
        f"// {atom.ptx}: {needs}.",
        f"// The whole warp calls it together. {told}",
        "template <int Unused = 0>",
        f"__device__ __forceinline__ void {c_name(atom)}({parameters}) {{",
        *_guard(needs, atom.ptx.partition(".")[0]),
        *(f"    {line}" for line in body),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _guard(needs: Requirements, opcode: str) -> list[str]:
    """A static assertion that fails when the function is used on a target without the instruction."""
    return [
        f"#if defined(__CUDA_ARCH__) && !({needs.condition})",
        f'    static_assert(Unused != 0, "this {opcode} needs {needs.targets_in_words.replace("`", "")}");',
        "#endif",
    ]


def _row_of_lane(atom: CopyAtom, swizzle: Swizzle | None) -> str:
    """The address of each lane's row, with the matrices stacked up to 16 rows, then side by side."""
    move = atom.instruction
    down = min(move.address_lanes, 16)
    right = move.address_lanes // down
    row, across = f"lane % {down}", f" + lane / {down} % {right} * {move.row_bytes}" if right > 1 else ""
    if atom.permuted:  # lane bits 0 to 3 stand for 1, 8, 2 and 4 rows
        row = "(lane & 1) + (lane >> 1 & 1) * 8 + (lane >> 2 & 3) * 2"
    place, told = f"({row}) * pitch{across}", ""
    lines = [f"return tile + {place};"]
    if swizzle is not None:
        base = swizzle.base + (move.held.bits // 8).bit_length() - 1
        moved = f"(offset >> {base + swizzle.shift} & {(1 << swizzle.bits) - 1}) << {base}"
        lines = [f"const int offset = {place};", f"return tile + (offset ^ ({moved}));"]
        span = 1 << (base + swizzle.shift + swizzle.bits)
        name = f"Swizzle<{swizzle.bits},{swizzle.base},{swizzle.shift}>"
        told = f"// The tile is at {name}, aligned to {span} bytes.\n"
    body = "".join(f"    {line}\n" for line in lines)
    extent = f"{down} rows" + (f", then {right} blocks of {move.row_bytes} bytes side by side" if right > 1 else "")
    return (
        f"// Where this lane's row is in a tile of {extent}, rows `pitch` bytes apart.\n{told}"
        "template <typename Byte>\n"
        f"__device__ __forceinline__ Byte* {c_name(atom)}_row(Byte* tile, int pitch) {{\n"
        '    static_assert(sizeof(Byte) == 1, "tile is a pointer to bytes");\n'
        "    const int lane = threadIdx.x % 32;\n"
        f"{body}"
        "}\n"
    )
