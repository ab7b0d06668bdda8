"""Writes the grammars of editors, TextMate's and Vim's, from the ISA data: opcodes, directives, types, registers.

Usage: python tools/editors/grammar.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ptxloom.isa.load import instruction_classes
from ptxloom.isa.pages.words import directives, special_names
from ptxloom.isa.special import special_register

if TYPE_CHECKING:
    from collections.abc import Iterable

EDITORS = Path(__file__).parents[2] / "editors"
TEXTMATE = EDITORS / "vscode" / "syntaxes" / "ptx.tmLanguage.json"
VIM = EDITORS / "vim" / "syntax" / "ptx.vim"
TYPES = r"(?:pred|tf32|bf16(?:x2)?|[busf]\d+(?:x\d+)?|u?e\dm\d(?:x\d+)?|b\d+x\d+(?:_p\d+)?)"
NUMBERED = (r"pm[0-7](?:_64)?", r"envreg\d+", r"reserved_smem_offset_[01]")


def longest_first(words: Iterable[str]) -> list[str]:
    """Words in an order in which none hides a longer one."""
    return sorted(words, key=lambda word: (-len(word), word))


def special() -> list[str]:
    """The special registers, without the percent sign; of numbered ones a pattern."""
    if not all(special_register(name) for name in special_names()):
        raise AssertionError(special_names())
    return [*longest_first(name[1:] for name in special_names()), *NUMBERED]


def textmate() -> dict[str, Any]:
    """TextMate's grammar: what can be told without knowing what names mean."""
    opcodes = "|".join(longest_first(instruction_classes()))
    words = "|".join(longest_first(directives()))
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "PTX",
        "scopeName": "source.ptx",
        "patterns": [
            {"name": "comment.line.double-slash.ptx", "match": r"//.*$"},
            {"name": "comment.block.ptx", "begin": r"/\*", "end": r"\*/"},
            {
                "name": "string.quoted.double.ptx",
                "begin": '"',
                "end": '"|$',
                "patterns": [{"name": "constant.character.escape.ptx", "match": r"\\."}],
            },
            {"match": r"^\s*([A-Za-z_$%][\w$]*)\s*:(?!:)", "captures": {"1": {"name": "entity.name.label.ptx"}}},
            {
                "match": r"\.(entry|func)\b(?:\s*\([^)]*\))?\s*([A-Za-z_$%][\w$]*)?",
                "captures": {"1": {"name": "storage.type.function.ptx"}, "2": {"name": "entity.name.function.ptx"}},
            },
            {"name": "keyword.operator.guard.ptx", "match": r"@!?"},
            {
                "match": rf"(?<![\w$%.])({opcodes})((?:\.[\w:]+)*)(?![\w$])",
                "captures": {
                    "1": {"name": "keyword.control.instruction.ptx"},
                    "2": {
                        "patterns": [
                            {"name": "storage.type.ptx", "match": rf"\.{TYPES}(?![\w:])"},
                            {"name": "storage.modifier.qualifier.ptx", "match": r"\.[\w:]+"},
                        ]
                    },
                },
            },
            {"name": "storage.type.ptx", "match": rf"\.{TYPES}(?![\w:])"},
            {"name": "keyword.other.directive.ptx", "match": rf"\.(?:{words})(?!\w)"},
            {"name": "support.variable.special.ptx", "match": rf"%(?:{'|'.join(special())})(?![\w$])"},
            {"name": "constant.language.ptx", "match": r"\bWARP_SZ\b"},
            {"name": "variable.other.register.ptx", "match": r"%[\w$]+"},
            {"name": "constant.numeric.float.ptx", "match": r"\b0[fF][0-9A-Fa-f]{8}\b|\b0[dD][0-9A-Fa-f]{16}\b"},
            {"name": "constant.numeric.float.ptx", "match": r"\b\d+\.\d*(?:[eE][+-]?\d+)?|\b\d+[eE][+-]?\d+\b"},
            {"name": "constant.numeric.integer.ptx", "match": r"\b(?:0[xX][0-9A-Fa-f]+|0[bB][01]+|\d+)U?\b"},
        ],
    }


VIM_TEXT = r"""
" Vim syntax file: NVIDIA PTX
" Made from ptxloom's instruction set data by tools/editors/grammar.py.

if exists("b:current_syntax")
  finish
endif
syntax case match
syntax iskeyword @,48-57,_,$,%

" Of what begins at one place the last that is listed counts, and a keyword before all.
syntax match ptxLabel /\v^\s*[A-Za-z_$%][A-Za-z0-9_$]*\s*:%(:)@!/
syntax match ptxRegister /\v\%[A-Za-z0-9_$]+/
syntax match ptxSpecial /\v\%%(SPECIAL)>/
syntax match ptxFunction /\v%(\.%(entry|func)\s+)@30<=[A-Za-z_$%][A-Za-z0-9_$]*/
syntax match ptxGuard /\v\@!?/
syntax match ptxQualifier /\v\.[A-Za-z0-9_]+%(::[A-Za-z0-9_]+)*/
syntax match ptxDirective /\v[A-Za-z0-9_$:]@1<!\.%(DIRECTIVES)>/
syntax match ptxType /\v\.TYPES>:@!/
syntax match ptxNumber /\v<%(0[xX]\x+|0[bB][01]+|\d+)U?>/
syntax match ptxFloat /\v<0[fF]\x{8}>|<0[dD]\x{16}>/
syntax match ptxFloat /\v<\d+\.\d*%([eE][+-]?\d+)?|<\d+[eE][+-]?\d+>/
syntax keyword ptxConstant WARP_SZ
syntax region ptxString start=/"/ skip=/\\./ end=/"/ oneline
syntax match ptxComment /\/\/.*$/
syntax region ptxComment start=/\/\*/ end=/\*\//
OPCODES

highlight default link ptxLabel Label
highlight default link ptxRegister Identifier
highlight default link ptxSpecial Special
highlight default link ptxFunction Function
highlight default link ptxGuard Operator
highlight default link ptxQualifier StorageClass
highlight default link ptxDirective PreProc
highlight default link ptxType Type
highlight default link ptxNumber Number
highlight default link ptxFloat Float
highlight default link ptxConstant Constant
highlight default link ptxString String
highlight default link ptxComment Comment
highlight default link ptxOpcode Statement

let b:current_syntax = "ptx"
"""


def vim() -> str:
    """Vim's syntax file."""
    opcodes = wrap(" ".join(sorted(instruction_classes())), 100)
    words = {
        "SPECIAL": "|".join(special()),
        "DIRECTIVES": "|".join(longest_first(directives())),
        "TYPES": TYPES,
    }
    text = VIM_TEXT.lstrip().replace("OPCODES", "\n".join(f"syntax keyword ptxOpcode {line}" for line in opcodes))
    for word, pattern in words.items():
        text = text.replace(word, pattern.replace("(?:", "%("))
    return text


def files() -> dict[Path, str]:
    """What every file holds."""
    return {TEXTMATE: json.dumps(textmate(), indent=2) + "\n", VIM: vim()}


def main() -> int:
    """Write the files, or say whether they are up to date."""
    if "--check" in sys.argv[1:]:
        return int(any(path.read_text(encoding="utf-8") != text for path, text in files().items()))
    for path, text in files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
