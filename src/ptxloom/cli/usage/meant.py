"""Verbs and options by their names in other tools, to suggest ptxloom's."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from ptxloom.isa.spelling import near_misses

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_COMMANDS: Final = {
    "inspect": "disasm disassemble sass dump objdump cuobjdump nvdisasm show list info",
    "check": "lint linter legal validate verify ptxas assemble compile nvcc",
    "fmt": "format pretty prettify beautify",
    "query": "grep search find",
    "graph": "cfg flow dot",
    "explain": "doc docs man manual describe isa",
    "map": "layout layouts lanes fragment draw plot picture",
    "where": "who lane holder",
    "banks": "conflict shared-memory smem",
    "swizzle": "pad padding",
    "tensormap": "tma",
    "emit": "generate codegen snippet",
    "run": "execute simulate emulate launch test",
    "run --init": "init new template",
    "run --checks all": "race races racecheck memcheck initcheck synccheck sanitize sanitizer compute-sanitizer",
    "run --profile": "profile prof ncu nsys bench cost",
    "run --trace": "trace print watch gdb",
    "why": "diagnose wrong fix",
    "exec": "python pytest driver",
    "debug": "ir llvm asm",
    "web": "explorer gui ui html serve browse",
    "lsp": "server language-server ide",
}
"""Verbs of ptxloom, and their names in other tools."""

_OPTIONS: Final = {
    "--target": "--arch -arch --gpu-architecture --gpu-name --gpu --sm",
    "--output-format": "--format -f --json --sarif --csv --markdown",
    "--output": "--out --output-file --file",
    "--checks": "--tool --check --sanitize --racecheck --memcheck --race",
    "--shared-bytes": "--smem --shared --dynamic-shared",
    "--arg": "--args --input --inputs --param",
    "--element": "--dtype",
    "--trace-type": "--dtype",
    "--operand": "--matrix-operand --fragment",
    "--lane": "--thread --tid",
    "--exclude": "--skip --ignore-path --extend-exclude",
    "--fix": "--apply --write",
    "--quiet": "--silent",
}


def meant_command(word: str, verbs: Mapping[str, str]) -> str:
    """The command that an unknown verb probably means; empty if none is similar.

    Args:
        word: The unknown verb.
        verbs: The verbs, with their purposes.

    Example:
        >>> meant_command("disasm", {"inspect": "what files hold"}), meant_command("chek", {"check": "is it legal"})
        ('inspect', 'check')
    """
    word = word.lower()
    for command, others in _COMMANDS.items():
        if word in others.split() and command.partition(" ")[0] in verbs:
            return command
    if near := near_misses(word, verbs, 1) or get_close_matches(word, verbs, n=1):
        return near[0]
    stem = word.removesuffix("s")
    said = [verb for verb, about in verbs.items() if stem in {one.removesuffix("s") for one in _words(about)}]
    return said[0] if len(said) == 1 else ""


def meant_option(word: str, options: Iterable[str]) -> str:
    """The option that an unknown option probably means; empty if none is similar.

    Example:
        >>> meant_option("--arch", ["--target", "--exclude"]), meant_option("--pich", ["--pitch"])
        ('--target', '--pitch')
    """
    known = list(options)
    for option, others in _OPTIONS.items():
        if option in known and word in others.split():
            return option
    return next(iter(get_close_matches(word, known, n=1)), "")


def _words(text: str) -> set[str]:
    """The significant words of a phrase."""
    return {word for word in re.findall(r"[a-z][a-z-]+", text.lower()) if len(word) > 3}
