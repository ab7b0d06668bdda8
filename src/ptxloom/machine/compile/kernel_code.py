"""A kernel's machine code: its variants, each compiled when warps first need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.compile import variant
from ptxloom.machine.native.llvm import LOCK

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ptxloom.machine.compile.variant import Variant
    from ptxloom.machine.native.llvm import Code
    from ptxloom.machine.program.planned import Planned


class KernelCode:
    """What has been compiled of a kernel.

    Attributes:
        name: What it is called (`Needs.code`).
        variants: The code for whole warps or for parts of warps, by the tools that watch.
        accepted: What was translated to see that the kernel can run, until something is compiled.
    """

    def __init__(
        self,
        planned: Planned,
        *,
        judge: Callable[[], None] | None,
        explained: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Nothing is compiled as yet.

        Args:
            planned: The kernel.
            judge: Raises if the program is not legal.
            explained: What a failure of ours or of the program's is told by.
        """
        self.name = ""
        self.accepted: Variant | None = None
        self.variants: dict[tuple[bool, frozenset[str]], Code] = {}
        self._planned = planned
        self._judge = judge
        self._explained = explained

    def accept(self, name: str, *, whole: bool, checks: frozenset[str]) -> None:
        """Refuse what cannot be run; LLVM is not asked.

        Args:
            name: What the code is called.
            whole: Whether whole warps are likely to come first.
            checks: The tools that are likely to watch.

        Raises:
            UnsupportedInstruction: The machine does not know an instruction.
        """
        with LOCK:  # whoever makes a kernel explains what fails here
            self.accepted = variant.accepted(self._planned.program, name, whole=whole, checks=checks, judge=self._judge)

    def address(self, *, whole: bool, checks: frozenset[str]) -> int:
        """The address of a variant's code, which is compiled if nobody has asked for it before.

        Args:
            whole: For warps whose lanes all run.
            checks: The tools that watch.

        Returns:
            An address to call.
        """
        with LOCK:
            if (whole, checks) not in self.variants:
                with self._explained():
                    self.variants[whole, checks] = variant.compile_variant(
                        self._planned, self.name, whole=whole, checks=checks, judge=self._judge, made=self.accepted
                    )
                    self.accepted = None
            return self.variants[whole, checks].address

    def known_address(self, *, whole: bool, checks: frozenset[str]) -> int:
        """The address of a variant's code if it has been compiled, else 0.

        Args:
            whole: For warps whose lanes all run.
            checks: The tools that watch.

        Returns:
            An address to call, or 0.
        """
        code = self.variants.get((whole, checks))
        return 0 if code is None else code.address
