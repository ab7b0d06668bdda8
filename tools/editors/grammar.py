"""Writes the TextMate grammar of the editor extension from the ISA data: opcodes, directives, types, special registers.

Usage: python tools/editors/grammar.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ptxloom.isa.load import instruction_classes
from ptxloom.isa.special import special_register
from ptxloom.isa.words import directives, special_names

GRAMMAR = Path(__file__).parents[2] / "editors" / "vscode" / "syntaxes" / "ptx.tmLanguage.json"


def grammar() -> dict[str, Any]:
    """The grammar: what can be told without knowing what names mean."""
    types = r"(?:pred|tf32|bf16(?:x2)?|[busf]\d+(?:x\d+)?|u?e\dm\d(?:x\d+)?|b\d+x\d+(?:_p\d+)?)"
    opcodes = "|".join(sorted(instruction_classes(), key=lambda word: (-len(word), word)))
    words = "|".join(sorted(directives(), key=lambda word: (-len(word), word)))
    special = sorted((name[1:] for name in special_names()), key=lambda word: (-len(word), word))
    numbered = [r"pm[0-7](?:_64)?", r"envreg\d+", r"reserved_smem_offset_[01]"]
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
                            {"name": "storage.type.ptx", "match": rf"\.{types}(?![\w:])"},
                            {"name": "storage.modifier.qualifier.ptx", "match": r"\.[\w:]+"},
                        ]
                    },
                },
            },
            {"name": "storage.type.ptx", "match": rf"\.{types}(?![\w:])"},
            {"name": "keyword.other.directive.ptx", "match": rf"\.(?:{words})(?!\w)"},
            {"name": "support.variable.special.ptx", "match": rf"%(?:{'|'.join([*special, *numbered])})(?![\w$])"},
            {"name": "constant.language.ptx", "match": r"\bWARP_SZ\b"},
            {"name": "variable.other.register.ptx", "match": r"%[\w$]+"},
            {"name": "constant.numeric.float.ptx", "match": r"\b0[fF][0-9A-Fa-f]{8}\b|\b0[dD][0-9A-Fa-f]{16}\b"},
            {"name": "constant.numeric.float.ptx", "match": r"\b\d+\.\d*(?:[eE][+-]?\d+)?|\b\d+[eE][+-]?\d+\b"},
            {"name": "constant.numeric.integer.ptx", "match": r"\b(?:0[xX][0-9A-Fa-f]+|0[bB][01]+|\d+)U?\b"},
        ],
    }


def text() -> str:
    """The grammar's file."""
    if not all(special_register(name) for name in special_names()):
        raise AssertionError(special_names())
    return json.dumps(grammar(), indent=2) + "\n"


def main() -> int:
    """Write the file, or say whether it is up to date."""
    if "--check" in sys.argv[1:]:
        return int(GRAMMAR.read_text(encoding="utf-8") != text())
    GRAMMAR.parent.mkdir(parents=True, exist_ok=True)
    GRAMMAR.write_text(text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
