"""From which length on code is outlined, and until how many warps have run it."""

from __future__ import annotations

from typing import Final

#: Instructions that no loop repeats, from which on they are outlined: as many take LLVM half a second.
LONG: Final = 4096
#: Warps from which on they are not: their calls have taken these as long as LLVM takes for better code.
MANY: Final = 50_000
