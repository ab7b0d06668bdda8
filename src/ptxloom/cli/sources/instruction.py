"""The instruction named on a command line: spelled in full, in short, or pasted with its operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.diagnostics import PtxloomError, UnsupportedForm
from ptxloom.fragments import fragment, fragment_operands
from ptxloom.isa.matrix import MOVES, MatrixMove, matrix_move
from ptxloom.isa.spelled import spelling_of

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.fragments import Fragment


def fragment_of(options: Options) -> Fragment:
    """The fragment that `INSTRUCTION` and `--operand` name.

    Raises:
        PtxloomError: They name none.
    """
    instruction = named(options.instruction)
    if options.operand is None and not isinstance(instruction, MatrixMove):
        names = [name for name in fragment_operands(instruction, options.idesc) if name is not None]
        if names:
            raise PtxloomError(f"several of its operands hold matrices; select one with `--operand {'|'.join(names)}`")
    return fragment(instruction, options.operand, descriptor=options.idesc)


def named(text: str) -> MatrixMove | str:
    """The matrix move that a text names, or its first word where it names another instruction.

    `ldmatrix.x4` is short for `ldmatrix.sync.aligned.m8n8.x4.b16`, and operands may follow.

    Raises:
        UnsupportedForm: The text is empty, or no form of its opcode.

    Example:
        >>> str(named("ldmatrix.m8n8.x1.b16 {%r1}, [%r2];"))
        'ldmatrix.sync.aligned.m8n8.x1.b16'
    """
    words = text.replace(";", " ").split()
    if not words:
        raise UnsupportedForm("the instruction is empty; name one such as `ldmatrix.m8n8.x4.b16`")
    spelled = spelling_of(words[0])
    opcode, _, rest = spelled.partition(".")
    return matrix_move(rest, opcode) if opcode in MOVES else spelled
