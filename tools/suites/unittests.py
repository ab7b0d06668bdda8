"""Run the tests of modules of unittest's kind and write what each came to, a line of JSON each, as it is known.

    python unittests.py --list PACKAGE...     the modules of tests below packages; a module is its own
    python unittests.py OUT MODULE...         `["test", "began" | "passed" | "failed" | "skipped", "what it said"]`

A test that began and never ended is the one during which the process was ended.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import pkgutil
import sys
import unittest
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from unittest.case import TestCase

_SKIPPED: Final = (unittest.SkipTest, pytest.skip.Exception)


class Recorder(unittest.TextTestResult):
    """Tells what each test came to, and the last line of what it raised."""

    def __init__(self, *arguments: Any, tell: Callable[[str, str, str], None], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._tell = tell
        self._outcome: tuple[str, str] = ("passed", "")

    def startTest(self, test: TestCase) -> None:  # noqa: N802 - unittest's name, as those below
        """It passes, until it is said otherwise."""
        self._outcome = ("passed", "")
        self._tell(test.id(), "began", "")
        super().startTest(test)

    def stopTest(self, test: TestCase) -> None:  # noqa: N802
        """Its last report, parts included, is its result."""
        self._tell(test.id(), *self._outcome)
        super().stopTest(test)

    def addSkip(self, test: TestCase, reason: str) -> None:  # noqa: N802
        """With the reason; a class that is skipped never began."""
        self._outcome = ("skipped", reason)
        self._tell(test.id(), *self._outcome)
        super().addSkip(test, reason)

    def addError(self, test: TestCase, err: Any) -> None:  # noqa: N802
        """It raised what it should not; the setting up of a class or module, too, which never began."""
        if issubclass(err[0], _SKIPPED):  # pytest's is none of unittest's
            self.addSkip(test, str(err[1]))
            return
        self._outcome = ("failed", _last_line(err))
        self._tell(test.id(), *self._outcome)
        super().addError(test, err)

    def addFailure(self, test: TestCase, err: Any) -> None:  # noqa: N802
        """It claims what is not so."""
        self.addError(test, err)

    def addSubTest(self, test: TestCase, subtest: TestCase, err: Any) -> None:  # noqa: N802
        """One part that fails fails the whole."""
        if err is not None:
            self._outcome = ("failed", _last_line(err))
        super().addSubTest(test, subtest, err)

    def addExpectedFailure(self, test: TestCase, err: Any) -> None:  # noqa: N802
        """No fault of the driver's."""
        self._outcome = ("skipped", "its authors expect it to fail")
        super().addExpectedFailure(test, err)


def _last_line(err: Any) -> str:
    lines = str(err[1]).strip().splitlines() or [""]
    return f"{err[0].__name__}: {lines[0]} {' '.join(lines[1:])[-600:]}"


def modules(package: str) -> list[str]:
    """The modules of tests below a package, or a module itself, found without importing any of them."""
    spec = importlib.util.find_spec(package)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    found = [package] if spec and not folders else list[str]()
    for one in pkgutil.iter_modules(folders, f"{package}."):
        if one.ispkg:
            found += modules(one.name)
        elif one.name.rpartition(".")[2].startswith("test_"):
            found.append(one.name)
    return sorted(found)


def main(out: Path, names: list[str]) -> None:
    """Run all tests of some modules."""
    warnings.simplefilter("ignore")
    with out.open("a", buffering=1) as stream:

        def tell(test: str, outcome: str, said: str) -> None:
            stream.write(json.dumps([test, outcome, said]) + "\n")

        suite = unittest.TestSuite()
        for name in names:
            try:
                suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name)))
            except _SKIPPED as reason:
                tell(name, "skipped", str(reason))
            except Exception as problem:  # noqa: BLE001 - a module of somebody's may raise anything when it is imported
                tell(name, "failed", f"{type(problem).__name__}: {problem}")
        unittest.TextTestRunner(verbosity=2, resultclass=partial(Recorder, tell=tell)).run(suite)


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print("\n".join(name for package in sys.argv[2:] for name in modules(package)))
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
