"""How PTX is coloured in the documentation: as in editors, and without complaint about text that is not PTX."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, Text

from ptxloom.isa.load import instruction_classes

if TYPE_CHECKING:
    from collections.abc import Mapping

_OPCODES: Final = "|".join(sorted(instruction_classes(), key=lambda word: (-len(word), word)))


class PtxLexer(RegexLexer):
    """Tokens of PTX, for Pygments."""

    name = "PTX"
    aliases: ClassVar = ["ptx"]
    tokens: ClassVar[Mapping[str, object]] = {
        "root": [
            (r"\s+", Text),
            (r"//.*", Comment.Single),
            (r"(?s)/\*.*?(?:\*/|\Z)", Comment.Multiline),
            (r'"(?:\\.|[^"\\\n])*"?', String),
            (r"([A-Za-z_$%][\w$]*)(\s*)(:)(?!:)", bygroups(Name.Label, Text, Operator)),
            (rf"(?<![\w$%.])({_OPCODES})((?:\.[\w:]+)*)(?![\w$])", bygroups(Keyword, Keyword.Type)),
            (r"\.[A-Za-z_][\w:]*", Keyword.Type),
            (r"%?[A-Za-z_$%][\w$]*(?:\.[xyzw]\b)?", Name.Variable),
            (r"0[fFdDxXbB][0-9A-Fa-f]+U?|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?U?", Number),
            (r"\.\.\.", Generic),
            (r".", Operator),
        ]
    }
