"""Every example in a docstring or a document runs and shows what it says."""

import doctest
import pkgutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import ptxloom

NEEDS = {"ptxloom.triton.": "triton", "ptxloom.triton.torch_": "torch"}
LACKING = tuple(name for name, package in NEEDS.items() if find_spec(package) is None)
"""What cannot be imported here: the parts of an extra that is not installed."""
if "ptxloom.triton." not in LACKING:
    import_module("triton")  # which imports them: what they are made of is half made while they come first
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(ptxloom.__path__, "ptxloom.")
    if m.name != "ptxloom.__main__" and not m.name.startswith(LACKING)
)


SHOWN = [
    name
    for name in MODULES
    if (spec := find_spec(name)) is not None and spec.origin and ">>>" in Path(spec.origin).read_text(encoding="utf-8")
]


def test_every_module_can_be_imported() -> None:
    assert all(import_module(name).__doc__ for name in MODULES)
    assert len(SHOWN) > 100


@pytest.mark.parametrize("name", SHOWN)
def test_the_examples_of_a_module(name: str) -> None:
    found = doctest.testmod(import_module(name))
    assert (found.failed, found.attempted > 0) == (0, True)
