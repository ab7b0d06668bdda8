"""Run tests of unittest's kind and write what each came to, as JSON: `python unittests.py OUT PACKAGE...`."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import unittest
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

if TYPE_CHECKING:
    from unittest.case import TestCase

_SKIPPED: Final = (unittest.SkipTest, pytest.skip.Exception)


class Recorder(unittest.TextTestResult):
    """Keeps what each test came to, and the last line of what it raised."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.told: dict[str, list[str]] = {}

    def startTest(self, test: TestCase) -> None:  # noqa: N802 - unittest's name, as those below
        """It passes, until it is said otherwise."""
        self.told[test.id()] = ["passed", ""]
        super().startTest(test)

    def addSkip(self, test: TestCase, reason: str) -> None:  # noqa: N802
        """With the reason."""
        self.told[test.id()] = ["skipped", reason]
        super().addSkip(test, reason)

    def addError(self, test: TestCase, err: Any) -> None:  # noqa: N802
        """It raised what it should not."""
        if issubclass(err[0], _SKIPPED):  # pytest's is none of unittest's
            self.addSkip(test, str(err[1]))
            return
        self.told[test.id()] = ["failed", self._last_line(err)]
        super().addError(test, err)

    def addFailure(self, test: TestCase, err: Any) -> None:  # noqa: N802
        """It claims what is not so."""
        self.addError(test, err)

    def addSubTest(self, test: TestCase, subtest: TestCase, err: Any) -> None:  # noqa: N802
        """One part that fails fails the whole."""
        if err is not None:
            self.told[test.id()] = ["failed", self._last_line(err)]
        super().addSubTest(test, subtest, err)

    def addExpectedFailure(self, test: TestCase, err: Any) -> None:  # noqa: N802
        """No fault of the driver's."""
        self.told[test.id()] = ["skipped", "its authors expect it to fail"]
        super().addExpectedFailure(test, err)

    @staticmethod
    def _last_line(err: Any) -> str:
        lines = str(err[1]).strip().splitlines() or [""]
        return f"{err[0].__name__}: {lines[0]} {' '.join(lines[1:])[-600:]}"


def main(out: Path, packages: list[str]) -> None:
    """Run all tests of some packages."""
    warnings.simplefilter("ignore")
    suite, told = unittest.TestSuite(), dict[str, list[str]]()
    for package in packages:
        found = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
        for module in sorted(one.name for one in found if one.name.rpartition(".")[2].startswith("test_")):
            try:
                suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(module)))
            except _SKIPPED as reason:
                told[module] = ["skipped", str(reason)]
            except Exception as problem:  # noqa: BLE001 - a module of somebody's may raise anything when it is imported
                told[module] = ["failed", f"{type(problem).__name__}: {problem}"]
    runner = unittest.TextTestRunner(verbosity=2, resultclass=Recorder)
    result = cast("Recorder", runner.run(suite))
    out.write_text(json.dumps(told | result.told, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
