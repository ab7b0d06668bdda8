"""Each decision is reopened when its reason no longer holds: one test per decision states the condition."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ptxloom.isa.version import PtxVersion, versions
from ptxloom.machine.instruments.wanted import lets_be_hot

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "docs/decisions").glob("*.md")}
SETTINGS: Any = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, TOOLS = SETTINGS["project"], SETTINGS["tool"]


def _takes_a_dependency() -> bool:
    """A plain installation brings something beside Python."""
    return bool(PROJECT["dependencies"])


def _oldest_python() -> tuple[int, int]:
    oldest = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["requires-python"])
    assert oldest is not None
    return int(oldest[1]), int(oldest[2])


def _python_reads_zstandard() -> bool:
    """The oldest Python has `compression.zstd`."""
    return _oldest_python() >= (3, 14)


def _python_compiles_methods_at_once() -> bool:
    """The oldest Python compiles all methods of a dataclass together."""
    return _oldest_python() >= (3, 13)


def _machine_needs_dominators() -> bool:
    """An analysis of the machine's blocks asks for what the flow graph has."""
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "src/ptxloom/machine").rglob("*.py"))
    return any(re.search(r"dominat|ptxloom\.flow\.(?:loops|graph)\b", text) for text in texts)


def _cppcheck_is_silenced() -> bool:
    """A line of the driver's C says that cppcheck is wrong."""
    files = (ROOT / "src/ptxloom/cuda_driver").rglob("*.[ch]")
    return any("cppcheck-suppress" in path.read_text(encoding="utf-8") for path in files)


def _rows_share_functions() -> bool:
    """More than ten functions of the run-time are called from several files of `machine/semantics`."""
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for path in (ROOT / "src/ptxloom/machine/semantics").rglob("*.py"):
        for function in re.findall(r"\bb\.runtime\(\s*(?:\w+\.)*(\w+),", path.read_text(encoding="utf-8")):
            callers[function].add(path.stem)
    assert len(callers) > 50
    return sum(len(files) > 1 for files in callers.values()) > 10


def _another_llvm() -> bool:
    """The extra `run` asks for a later llvmlite than 0.48."""
    return _asked("run", "llvmlite") != ">=0.48"


def _another_ptxas() -> bool:
    """The extra `oracle` installs another ptxas than 13.5."""
    return not _asked("oracle", "nvidia-cuda-nvcc").startswith("==13.5.")


def _asked(extra: str, package: str) -> str:
    (found,) = (one for one in PROJECT["optional-dependencies"][extra] if re.match(rf"{package}\b", one))
    return str(found).removeprefix(package)


def _later_manual() -> bool:
    """There is a later PTX than 9.5."""
    return versions()[-1] > PtxVersion.parse("9.5")


def _begins_hot() -> bool:
    """Kernels begin in hot code unless `PTXLOOM_TIER` says otherwise."""
    return "_DEFAULT: Final = BY_ITSELF" not in _text("src/ptxloom/machine/native/tier.py")


def _tools_are_hot() -> bool:
    """Racecheck or initcheck have hot code."""
    return any(lets_be_hot(frozenset((tool,))) for tool in ("racecheck", "initcheck"))


def _fits_one_platform() -> bool:
    """A wheel holds compiled code unless asked otherwise."""
    hook = TOOLS["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]
    return bool(hook["enable-by-default"])


def _more_orders_differ() -> bool:
    """More than four kernels part lanes in another order than an H200."""
    return len(re.findall(r"\(ORDER,", _text("tests/recorded/profile/test_profile_kernels.py"))) > 4


def _another_way_to_meet() -> bool:
    """More than four modules of the run-time let waiting lanes go on."""
    folder = ROOT / "src/ptxloom/machine/runtime"
    found = [path for path in folder.rglob("*.py") if re.search(r"\bblocked & ~", path.read_text(encoding="utf-8"))]
    assert found
    return len(found) > 4


def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


OPENED_BY: dict[str, tuple[Callable[[], bool], ...]] = {
    "argparse": (_takes_a_dependency,),
    "by-hand": (_takes_a_dependency, _python_reads_zstandard),
    "contraction": (_another_ptxas,),
    "cppcheck": (_cppcheck_is_silenced,),
    "equal-bytes": (_later_manual,),
    "fences-left-out": (_later_manual,),
    "hot-tier": (_another_llvm, _tools_are_hot),
    "kernels-at-o0": (_begins_hot, _another_llvm),
    "lazy-dataclasses": (_python_compiles_methods_at_once,),
    "lowest-block-first": (_more_orders_differ,),
    "native-language": (_fits_one_platform,),
    "outlining": (_another_llvm,),
    "rendezvous": (_another_way_to_meet,),
    "run-time-functions": (_rows_share_functions,),
    "shuffles-order-nothing": (_later_manual,),
    "state-in-memory": (_begins_hot,),
    "two-kinds-of-blocks": (_machine_needs_dominators,),
    "undefined-by-the-letter": (_later_manual,),
}
ELSEWHERE = {
    "control-stack": "tests/attack/test_forged_calls.py",
    "memory-effects": "tests/machine/semantics/test_touches.py",
    "poison": "tests/kernels/test_hazard_free.py",
    "signatures": "tests/unit/checker/test_checker_signature.py",
}
"""Pages whose condition another test holds."""


@pytest.mark.parametrize("page", OPENED_BY)
def test_what_a_decision_rests_on_is_still_so(page: str) -> None:
    met = [one.__doc__ for one in OPENED_BY[page] if one()]
    assert not met, f"docs/decisions/{page}.md must be reopened: {met}"


def test_every_page_says_what_would_open_it_again_and_has_its_test() -> None:
    assert PAGES.keys() - {"README"} == {*OPENED_BY, *ELSEWHERE}
    assert [page for page in (*OPENED_BY, *ELSEWHERE) if "\n**Reopened** when " not in PAGES[page]] == []
    for page in OPENED_BY:
        assert "tests/docs/test_decisions.py" in PAGES[page]
    for page, test in ELSEWHERE.items():
        assert test in PAGES[page]
        assert (ROOT / test).exists()


def test_every_page_is_in_the_table_and_in_the_site() -> None:
    listed = PAGES["README"].split("```{toctree}")
    assert {f"({page}.md)" for page in PAGES if page != "README"} == set(re.findall(r"\(\w[\w-]*\.md\)", listed[0]))
    assert PAGES.keys() - {"README"} == set(re.findall(r"^[\w-]+$", listed[1], re.MULTILINE))
