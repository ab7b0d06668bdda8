"""The options that say how CUDA C++ is compiled; every verb that takes a `.cu` has them."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser


def declare(parser: ArgumentParser) -> None:
    """Add them."""
    how = parser.add_argument_group("how CUDA C++ (.cu) is compiled", "adds to `cuda` in settings and launch files")
    how.add_argument(
        "-D", dest="cuda_defines", action="append", default=[], metavar="NAME[=VALUE]", help="define a macro"
    )
    how.add_argument(
        "-I",
        dest="cuda_includes",
        action="append",
        default=[],
        metavar="DIR",
        help="also search this folder for headers",
    )
    how.add_argument("-std", "--std", dest="cuda_standard", default="", metavar="C++NN", help="such as c++17")
    how.add_argument(
        "--use_fast_math", dest="cuda_fast_math", action="store_true", help="approximate division, roots and functions"
    )
    how.add_argument(
        "-arch",
        dest="cuda_arch",
        type=_arch,
        metavar="SM",
        help="compile for this instead of the target",
    )
    how.add_argument("--keep-ptx", metavar="DIR", help="keep the PTX in this folder, as DIR/NAME.ptx")
    for compiler, name in (("nvcc", "nvcc"), ("nvrtc", "NVRTC")):
        how.add_argument(
            f"--{compiler}-flags",
            action="append",
            default=[],
            metavar="'WORDS'",
            help=f"more of {name}'s options, as --{compiler}-flags='--maxrregcount=64 -lineinfo'",
        )


def _arch(text: str) -> str:
    """An architecture that there is, by the name of a real or a virtual one.

    Raises:
        ArgumentTypeError: No architecture has this name.
    """
    from ptxloom.diagnostics import UsageError  # noqa: PLC0415 - only a `.cu` needs it
    from ptxloom.isa.target import known_target  # noqa: PLC0415 - likewise

    try:
        known_target(text.replace("compute_", "sm_", 1))
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None
    return text
