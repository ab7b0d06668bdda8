"""PTX text to tree and back: lexer, parser with recovery, tree, printer, visitor (PTX ISA 4, 5, 7 and 11)."""

from typing import TYPE_CHECKING

from ptxloom.files import CompileError, UnreadableFile
from ptxloom.lazy import later
from ptxloom.syntax import tree
from ptxloom.syntax.module import Module
from ptxloom.syntax.node import Node, StatementNode, children
from ptxloom.syntax.origins import SourceLine
from ptxloom.syntax.parser import parse
from ptxloom.syntax.printer import print_node, print_operand, print_statements
from ptxloom.syntax.selection import Selection, select
from ptxloom.syntax.visitor import instructions, walk

if TYPE_CHECKING:
    from ptxloom.syntax.edits import EditConflict, Editor, edit
    from ptxloom.syntax.formatter import format
    from ptxloom.syntax.loader import cuda, load, load_all

__all__ = [
    "CompileError",
    "EditConflict",
    "Editor",
    "Module",
    "Node",
    "Selection",
    "SourceLine",
    "StatementNode",
    "UnreadableFile",
    "children",
    "cuda",
    "edit",
    "format",
    "instructions",
    "load",
    "load_all",
    "parse",
    "print_node",
    "print_operand",
    "print_statements",
    "select",
    "tree",
    "walk",
]

__getattr__ = later(  # launches neither edit nor format, and may get their text without files
    __name__,
    {
        "ptxloom.syntax.edits": "EditConflict Editor edit",
        "ptxloom.syntax.formatter": "format",
        "ptxloom.syntax.loader": "cuda load load_all",
    },
)
