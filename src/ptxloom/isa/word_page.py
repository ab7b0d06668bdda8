"""Words of PTX that are no opcode, explained: directives, special registers, targets (PTX ISA 10, 11)."""

from __future__ import annotations

from ptxloom.diagnostics import PtxloomError
from ptxloom.isa.special import special_register
from ptxloom.isa.target import Target, targets
from ptxloom.isa.words import directives


def word_page(word: str) -> str:
    """What a directive (`.reqntid`), a special register (`%laneid`) or a target (`sm_90a`) is, as Markdown.

    Returns:
        The page; empty if the word is none of them.

    Example:
        >>> print(word_page("%laneid"))
        ```ptx
        .sreg .u32 %laneid
        ```
        the thread's lane in its warp, 0 to 31
        <BLANKLINE>
        Needs PTX 1.3 or later.
        <BLANKLINE>
        PTX ISA 10.3
    """
    if word.startswith("."):
        return _directive(word[1:])
    if word.startswith("%"):
        return _special(word.partition(".")[0])
    return _target(word)


def _directive(name: str) -> str:
    words = directives().get(name)
    return f"`.{name}`: {words.about}\n\nNeeds {words.needs}.\n\nPTX ISA {words.section}" if words else ""


def _special(name: str) -> str:
    register = special_register(name)
    if register is None:
        return ""
    vector = f".v{register.vector} " if register.vector else ""
    declared = f"```ptx\n.sreg {vector}.{register.type} {name}\n```"
    return f"{declared}\n{register.about}\n\nNeeds {register.needs}.\n\nPTX ISA {register.section}"


def _target(name: str) -> str:
    """The page of a target's name."""
    try:
        target = Target.parse(name)
    except PtxloomError:
        return ""
    if target not in targets():
        return f"`{name}` is none of the targets that ptxloom knows"
    only = {"a": "has what only this architecture has", "f": "has what its family has", "": "runs on later ones too"}
    return f"`{name}`: {only[target.suffix]}; needs PTX {target.since} or later\n\nPTX ISA 11.1.2"
