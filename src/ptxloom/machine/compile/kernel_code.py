"""A kernel's machine code: its variants, each compiled when warps first need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.codegen import lengths
from ptxloom.machine.compile import kept_code, tiers
from ptxloom.machine.native import jit
from ptxloom.machine.native.llvm import LOCK

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ptxloom.machine.compile.beside import HotRequest
    from ptxloom.machine.compile.variant import Variant
    from ptxloom.machine.native.llvm import Code
    from ptxloom.machine.program.planned import Planned


class KernelCode:
    """The compiled code of a kernel.

    Attributes:
        name: Its name (`Needs.code`).
        sites: Its instructions.
        variants: The code for whole warps or for parts of warps, by the tools that watch.
        accepted: The translation that showed that the kernel can run, until something is compiled.
    """

    def __init__(
        self,
        planned: Planned,
        *,
        judge: Callable[[], None] | None,
        explained: Callable[[], AbstractContextManager[None]],
        request: Callable[[frozenset[str]], HotRequest | None],
    ) -> None:
        """Initialise without compiling.

        Args:
            planned: The kernel.
            judge: Raises if the program is not legal.
            explained: Explains a failure of ptxloom or of the program.
            request: Makes the request to a process that makes hot code, by the tools that watch; None if hot code is
                impossible.
        """
        self.name = ""
        self.sites = 0
        self.accepted: Variant | None = None
        self.variants: dict[tuple[bool, frozenset[str]], Code] = {}
        self._planned = planned
        self._judge = judge
        self._explained = explained
        self._warps = 0
        self._careful = False
        self._outlined: set[tuple[bool, frozenset[str]]] = set()
        self._heat = tiers.Heat(request, lambda checks: kept_code.kept_hot(self.name, checks, judge))
        self._left: list[Code] = []  # which launches may still run
        self._replaced = jit.replaced()  # functions of the run-time, when the variants were linked

    def expects(self, warps: int) -> bool:
        """Record that `warps` warps will run: long code that many warps run is worth careful compilation.

        Only the numbers of warps matter, and results are the same.

        Args:
            warps: The warps of one launch.

        Returns:
            Whether different code must now be made.
        """
        if self._careful or self.sites < lengths.LONG:
            return False
        self._warps += warps
        if self._warps < lengths.MANY:
            return False
        with LOCK:
            self._careful = True
            left = [self.variants.pop(one) for one in self._outlined]
            self._left += left
            self._outlined.clear()
        return bool(left)

    def heated(self, instructions: int, *, checks: frozenset[str]) -> bool:
        """Record that warps have run `instructions` instructions.

        A long-running kernel gets better code, made in parallel; so does the run-time that it calls.

        Args:
            instructions: The instructions since the last call; 0 before a launch.
            checks: The tools that watch.

        Returns:
            Whether there is different code now.
        """
        if instructions:
            jit.ran(instructions)
        is_stale = self._replaced != jit.replaced()
        if is_stale:
            self._unlink()
        content = self._heat.made(checks, instructions)
        return is_stale if content is None else self._turned_hot(content, checks) or is_stale

    def _unlink(self) -> None:
        """Drop code that calls functions of the run-time for which there are better versions."""
        with LOCK:
            self._left += self.variants.values()
            self.variants.clear()
            self._outlined.clear()
            self._replaced = jit.replaced()

    def _turned_hot(self, content: bytes, checks: frozenset[str]) -> bool:
        kept_code.keep_hot(content, self.name, checks, self._judge)
        if not content:
            return False
        with LOCK, self._explained():
            found = kept_code.loaded_hot(self._planned, content, checks)
            before = self.variants.get((True, checks))
            self._left += [] if before is None else [before]
            self._outlined.discard((True, checks))
            self.variants[True, checks] = found.code
        return True

    def accept(self, name: str, *, whole: bool, checks: frozenset[str]) -> None:
        """Refuse a kernel that cannot be run, without calling LLVM.

        Args:
            name: The name of the code.
            whole: Whether whole warps are likely to come first.
            checks: The tools that are likely to watch.

        Raises:
            UnsupportedInstruction: The machine does not know an instruction.
        """
        with LOCK:  # the maker of the kernel explains what fails here
            self.accepted = kept_code.accepted(
                self._planned.program, name, whole=whole, checks=checks, judge=self._judge
            )

    def address(self, *, whole: bool, checks: frozenset[str]) -> int:
        """The address of a variant's code, which is compiled on first use.

        Args:
            whole: For warps whose lanes all run.
            checks: The tools that watch.

        Returns:
            An address to call.
        """
        with LOCK:
            if (whole, checks) not in self.variants:
                with self._explained():
                    self.variants[whole, checks], outlined, may_turn_hot = kept_code.compile_variant(
                        self._planned, self.name, whole=whole, checks=checks, judge=self._judge, made=self.accepted,
                        careful=self._careful if self.sites >= lengths.LONG else None,
                    )  # fmt: skip
                    self.accepted = None
                    if outlined:
                        self._outlined.add((whole, checks))
                    if may_turn_hot:
                        self._heat.watch(checks, self.sites)
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
