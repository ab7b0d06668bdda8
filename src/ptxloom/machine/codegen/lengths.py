"""The length from which code is outlined, and the number of warps after which it is not."""

from __future__ import annotations

from typing import Final

#: Number of unrepeated instructions from which they are outlined: LLVM takes half a second for them.
LONG: Final = 4096
#: Number of warps from which they are not: the calls have then cost as much as better code costs LLVM.
MANY: Final = 50_000
