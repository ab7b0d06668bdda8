"""Every hazard there is: whose finding, how grave, in which words, and what to do about it.

The names of tools are compute-sanitizer's. A message may use `{instruction}` (the opcode), `{access}` ("read of 4
bytes"), `{place}` (where in memory), `{lanes}` (those at fault), `{other}` (the lanes it is about, `{have}` and
`{are}` agreeing with them), and what else its kind knows.
"""

from __future__ import annotations

from typing import Final

from ptxloom.hazards import initcheck, memcheck, racecheck, synccheck

KINDS: Final = (*memcheck.KINDS, *synccheck.KINDS, *racecheck.KINDS, *initcheck.KINDS)
BY_RULE: Final = {kind.rule: kind for kind in KINDS}
