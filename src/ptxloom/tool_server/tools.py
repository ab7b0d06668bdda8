"""What can be asked of ptxloom by tools, each as words of a command line; nothing here knows the protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.tool_server.asking import Answer, Limits, asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.tool_server.folder import Folder

_MOST_WORDS: Final = 200
_MOST_TEXT: Final = 1 << 22
_MOST_SEEDS: Final = 100


class BadQuestion(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A tool is asked for what it does not have."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Carries out the requests of tools.

    Attributes:
        folder: The files that requests may name.
        limits: The limits of each request.
    """

    folder: Folder
    limits: Limits

    def verb(self, verb: str, *words: str, **options: object) -> Answer:
        """Run a verb.

        Args:
            verb: Which one.
            words: The positional arguments.
            options: By their names; those that are None or empty are left out.

        Raises:
            BadQuestion: A word is not a legal argument.
        """
        line = [verb, *(_word(one) for one in words)]
        for name, value in options.items():
            if value is None or value in ("", False):
                continue
            option = f"--{name.replace('_', '-')}"
            line.append(option if value is True else f"{option}={_text(value)}")
        return asked(line, self.limits, str(self.folder.root))

    def check(self, file: str | None, text: str | None, target: str | None) -> Answer:
        """`ptxloom check` of a file or of a text."""
        if (file is None) == (text is None):
            raise BadQuestion("give either `file` or `text`")
        if text is None:
            return self.verb("check", self.folder.file(file or ""), target=target, isolated=True)
        if len(text) > _MOST_TEXT:
            raise BadQuestion(f"a text may have {_MOST_TEXT:,} characters")
        line = ["check", "-", "--stdin-filename=text.ptx", "--isolated"]
        line += [] if target is None else [f"--target={_text(target)}"]
        return asked(line, self.limits, str(self.folder.root), text)

    def run(self, launch: str, checks: str | None, seed: int) -> Answer:
        """`ptxloom run` of a launch file."""
        return self.verb(
            "run", self.folder.launch(launch), checks=checks, seed=seed or None, timeout=self._seconds, threads=1
        )

    def why(self, launch: str, *, attempt: bool) -> Answer:
        """`ptxloom why` of a launch file."""
        options: dict[str, object] = {"timeout": self._seconds, "threads": 1, "try": attempt}
        return self.verb("why", self.folder.launch(launch), **options)

    def judge(self, kernel: str, against: str, seeds: int, first_seed: int) -> Answer:
        """`ptxloom judge`; the reference is Python, and runs."""
        if not 1 <= seeds <= _MOST_SEEDS:
            raise BadQuestion(f"seeds is {seeds}; it must be 1 to {_MOST_SEEDS}")
        files = self.folder.file(kernel), self.folder.file(against)
        return self.verb("judge", files[0], against=files[1], seeds=seeds, first_seed=first_seed, timeout=self._seconds)

    def swizzle(self, tile: str, element: str, accesses: Sequence[str], pitch: int | None) -> Answer:
        """`ptxloom swizzle`."""
        return self.verb("swizzle", tile, element, *accesses, pitch=pitch)

    @property
    def _seconds(self) -> float:
        """The limits of a run, a little below those of its process, so that it can report itself what happened."""
        return max(self.limits.seconds * 0.9, 0.1)


def _word(text: str) -> str:
    """A word of a command line that is no option."""
    if text.startswith("-") and text != "-":
        raise BadQuestion(f"{text[:40]!r} begins as an option does")
    return _text(text)


def _text(value: object) -> str:
    text = str(value)
    if len(text) > _MOST_WORDS * 20 or "\0" in text:
        raise BadQuestion("an argument is too long, or holds a zero")
    return text
