"""Every example in a docstring or a document runs and shows what it says."""

import doctest
import pkgutil
from importlib import import_module
from importlib.util import find_spec

import pytest

import ptxloom

LACKING = ("ptxloom.triton.",) if find_spec("triton") is None else ()
"""What cannot be imported here: the parts of an extra that is not installed."""
if not LACKING:
    import_module("triton")  # which imports them: what they are made of is half made while they come first
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(ptxloom.__path__, "ptxloom.")
    if m.name != "ptxloom.__main__" and not m.name.startswith(LACKING)
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0
