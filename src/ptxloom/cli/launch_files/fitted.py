"""A launch file beside the kernel that it runs: which one that is, and which parameter each argument is for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.names.kernels import kernel_of
from ptxloom.names.parameters import parameter_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.cli.launch_files.launch_file import Argument, LaunchFile
    from ptxloom.syntax.module import Module


def fitted(launch: LaunchFile, module: Module) -> LaunchFile:
    """A launch with its kernel by the name in PTX, and its arguments in the order of the parameters.

    If every name of an argument is a parameter's, in the source or in PTX, named arguments take these parameters and
    the others the remaining ones, in order. Otherwise the names are the user's own, and only the order counts. An
    argument without a name gets its parameter's name in the source.

    Raises:
        UsageError: There is no such kernel, or several may be meant.
    """
    kernel = kernel_of(module, launch.kernel, "kernel")
    written = parameter_names(module, kernel)
    plain = tuple(one.name for declaration in module.functions[kernel].params for one in declaration.declarators)
    compared = {one.array for one in launch.comparisons}
    arguments = _placed(launch.arguments, (written, plain))
    names = {one.name for one in arguments}
    if len(arguments) == len(written):
        arguments = tuple(
            replace(one, name=called)
            if one.name.isdecimal() and called != ptx and called not in names and one.name not in compared
            else one
            for one, called, ptx in zip(arguments, written, plain, strict=True)
        )
    return replace(launch, kernel=kernel, arguments=arguments)


def _placed(arguments: tuple[Argument, ...], spellings: Sequence[Sequence[str]]) -> tuple[Argument, ...]:
    """The arguments in the order of their names, if all names are those of parameters."""
    places = {name: place for names in spellings for place, name in enumerate(names)}
    named = {places[one.name]: one for one in arguments if one.name in places}
    others = [one for one in arguments if one.name.isdecimal()]
    if len(named) + len(others) != len(arguments) or len(arguments) != len(spellings[0]):
        return arguments
    rest = iter(others)
    return tuple(named[place] if place in named else next(rest) for place in range(len(arguments)))
