"""Errors of a command line in terms of the options that were typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError
from ptxloom.isa import PtxVersion, Target, targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.cli.command_line import Options
    from ptxloom.diagnostics import PtxloomError

_PLACED: Final = frozenset(
    ("accesses", "bits", "element", "file", "files", "instruction", "name", "pattern", "tile", "word")
)
"""Arguments that are written without an option's name."""
_ALSO: Final = {
    "addresses": ("pitch", "stride", "addresses"),
    "blocks": ("trace_blocks",),
    "first": ("trace_first",),
    "limit": ("trace_limit",),
    "operand": ("operand", "trace_operand"),
    "target": ("target", "device"),
    "transposition": ("blas",),
    "type": ("trace_type",),
    "warps": ("trace_warps",),
}
"""Function arguments that come from options with other names; the first given option is named."""

_LISTS: Final = frozenset(("addresses", "checks"))
"""Options that hold several values; the error names the wrong value."""


def in_words_of_options(error: PtxloomError, options: Options) -> str:
    """The sentence of an error; arguments that came from options are named by the option."""
    if not isinstance(error, UsageError) or error.argument in _PLACED:
        return str(error)
    given = vars(options)
    for name in _ALSO.get(error.argument, (error.argument,)):
        typed = given.get(name)
        if typed not in (None, [], ""):
            value = typed if name not in _LISTS and isinstance(typed, (str, int, float)) else error.value
            legal = error.legal.removesuffix(", or None")  # to leave the option out
            return str(UsageError(f"--{name.replace('_', '-')}", value, legal))
    return str(error)


def strangers(options: Options) -> Iterator[str]:
    """Remarks about `--target` and `--ptx-version`, which are open-ended and may be mistyped.

    Raises:
        UsageError: One of them is not a target or not a version.
    """
    if options.target is not None and Target.parse(options.target) not in targets():
        yield f"`--target {options.target}` is not a target that ptxloom knows; its number decides"
    if options.ptx_version is not None and not PtxVersion.parse(options.ptx_version).released:
        yield f"`--ptx-version {options.ptx_version}` is not a version that ptxloom knows"
