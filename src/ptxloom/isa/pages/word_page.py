"""Words of PTX that are not opcodes, explained: directives, special registers, types, targets (PTX ISA 5, 10, 11)."""

from __future__ import annotations

from typing import Final

from ptxloom.diagnostics import PtxloomError
from ptxloom.isa.pages.words import directives
from ptxloom.isa.special import special_register
from ptxloom.isa.target import Target, targets
from ptxloom.isa.types import is_type, type_words

_PLACES: Final = {
    "module": "at module level",
    "header": "in the header of a function",
    "body": "in the body of a function",
    "declaration": "in a declaration",
}
_OWNERS: Final = {"kernels": " that is a kernel", "functions": " that is not a kernel"}
_RESULTS: Final = {"u32": "%r1", "u64": "%rd1", "pred": "%p1"}


def word_page(word: str) -> str:
    """What a directive (`.reqntid`), special register (`%laneid`), type (`.f32`), target (`sm_90a`) or `WARP_SZ` is.

    Returns:
        The page, as Markdown; empty if the word is not one of them.

    Example:
        >>> print(word_page("%laneid"))
        ```ptx
        .sreg .u32 %laneid
        ```
        <BLANKLINE>
        the thread's lane in its warp, 0 to 31
        <BLANKLINE>
        For example `mov.u32 %r1, %laneid;`
        <BLANKLINE>
        Needs PTX 1.3 or later.
        <BLANKLINE>
        PTX ISA 10.3
    """
    if word.startswith("."):
        return _directive(word[1:]) or (f"`{word}`: {type_words(word[1:])}\n\nPTX ISA 5.2" if is_type(word[1:]) else "")
    if word.startswith("%"):
        return _special(word.partition(".")[0])
    if word.upper() == "WARP_SZ":
        return "`WARP_SZ`: the number of lanes of a warp, a constant: 32\n\nPTX ISA 4.4"
    return _target(word)


def _directive(name: str) -> str:
    words = directives().get(name)
    if words is None:
        return ""
    gone = f", up to before PTX {words.gone}" if words.gone else ""
    where = f"Stands {_PLACES[words.place]}{_OWNERS.get(words.of, '')}; needs {words.needs}{gone}."
    parts = [f"`.{name}`: {words.about}", f"```\n{words.syntax}\n```", where]
    if words.example:
        parts.append(f"For example\n\n```ptx\n{words.example.strip()}\n```")
    return "\n\n".join((*parts, f"PTX ISA {words.section}"))


def _special(name: str) -> str:
    register = special_register(name)
    if register is None:
        return ""
    vector = f".v{register.vector} " if register.vector else ""
    declared = f"```ptx\n.sreg {vector}.{register.type} {name}\n```"
    read = f"For example `mov.{register.type} {_RESULTS[register.type]}, {name}{'.x' if vector else ''};`"
    return "\n\n".join((declared, f"{register.about}", read, f"Needs {register.needs}.", f"PTX ISA {register.section}"))


def _target(name: str) -> str:
    """The page of a target's name."""
    try:
        target = Target.parse(name)
    except PtxloomError:
        return ""
    if target not in targets():
        return f"`{name}` is not a target that ptxloom knows"
    only = {"a": "has what only this architecture has", "f": "has what its family has", "": "runs on later ones too"}
    return f"`{name}`: {only[target.suffix]}; needs PTX {target.since} or later\n\nPTX ISA 11.1.2"
