"""Raw PTX: the instruction in a block with its registers declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.atoms.copy import CopyAtom
from ptxloom.atoms.wrappers.parts import Registers, mma_operands, needs_of, registers, rows_in_words

if TYPE_CHECKING:
    from ptxloom.atoms.mma import MmaAtom


def ptx(atom: CopyAtom | MmaAtom) -> str:
    """A block that declares the registers and issues the instruction, and permutes where the atom does."""
    if not isinstance(atom, CopyAtom):
        return _mma(atom)
    move = atom.instruction
    count = move.registers
    row = f"// %row: {rows_in_words(atom)} names a row of {move.row_bytes} bytes, {move.row_bytes}-byte aligned"
    match move.opcode:
        case "movmatrix":
            d, a = registers("d", 1, ""), registers("a", 1, "")
            lines = ["// %a0: this lane's two elements of the matrix", f"{atom.ptx} %d0, %a0;"]
            return _block(atom, [d, a], lines)
        case "stmatrix":
            stored = registers("s", count, "")
            return _block(atom, [stored, _ROW], [row, f"{atom.ptx} [%row], {_vector(stored)};"])
        case _:
            loaded = registers("t" if atom.permuted else "d", count, "")
            lines = [row, f"{atom.ptx} {_vector(loaded)}, [%row];"]
            kept = [registers("d", count, "")] if atom.permuted else []
            for i in range(0, count, 2) if atom.permuted else ():
                lines.append(f"prmt.b32 %d{i}, %t{i}, %t{i + 1}, 0x5410;")
                lines.append(f"prmt.b32 %d{i + 1}, %t{i}, %t{i + 1}, 0x7632;")
            return _block(atom, [loaded, *kept, _ROW], lines)


_ROW = Registers("row", 0, "unsigned", "b32", "r")


def _mma(atom: MmaAtom) -> str:
    operands = mma_operands(atom)
    text = f"{atom.ptx} {', '.join(map(_vector, operands))}"
    if atom.instruction.scale_vector:
        scales = [Registers(name, 0, "unsigned", "b32", "r") for name in ("sfa", "sfb")]
        return _block(atom, [*operands, *scales], [f"{text}, %sfa, {{0, 0}}, %sfb, {{0, 0}};"])
    return _block(atom, operands, [f"{text};"])


def _vector(one: Registers) -> str:
    return f"{{{', '.join(f'%{one.name}{i}' for i in range(one.count))}}}"


def _block(atom: CopyAtom | MmaAtom, operands: list[Registers] | tuple[Registers, ...], lines: list[str]) -> str:
    declared = [
        f".reg .{one.ptx_type} {', '.join(f'%{one.name}{i}' for i in range(one.count)) or f'%{one.name}'};"
        for one in operands
    ]
    body = "\n".join(f"    {line}" for line in (*declared, *lines))
    return f"// {atom.ptx}: {needs_of(atom)}\n{{\n{body}\n}}\n"
