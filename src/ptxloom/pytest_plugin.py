"""The pytest plugin: kernels run under the tools, hazards fail the test that made them, profiles are held to snapshots.

pytest imports it in every session where ptxloom is installed, so that nothing is imported here but what pytest has.
"""

from __future__ import annotations

import os
from dataclasses import field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from ptxloom.diagnosis.watched import Watcher
    from ptxloom.machine import Hazard, Kernel, LaunchResult, Profile
    from ptxloom.syntax import Module
    from ptxloom.views.runs.summary import CostChange

_MARKER: Final = "ptxloom"
_OURS: Final = Path(__file__).parent
_KEY: Final = pytest.StashKey["Watched"]()
_SESSION: Final = pytest.StashKey["_Session"]()
_FOR_TRITON: Final = {
    "TRITON_DEFAULT_BACKEND": "ptxloom",
    "PTXLOOM_ON_HAZARD": "ignore",  # reported by this plugin instead
    "PTXLOOM_TORCH_CUDA": "1",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `pytest --help`."""
    group = parser.getgroup("ptxloom", "PTX without a GPU (ptxloom)")
    group.addoption("--ptxloom", action="store_true", help="watch the kernels of all tests; a hazard fails the test")
    group.addoption("--ptxloom-checks", metavar="tools", default="all", help="who watches (default all, as of `run`)")
    group.addoption("--ptxloom-device", metavar="target", help="what kernels are compiled for, such as sm_90")
    group.addoption("--ptxloom-why", action="store_true", help="report why the kernels of failing tests are wrong")
    group.addoption("--ptxloom-summary", metavar="file", help="append hazards and differences of costs, as Markdown")
    group.addoption("--ptxloom-annotations", action="store_true", help="print hazards as GitHub's annotations, too")
    group.addoption("--ptxloom-update", action="store_true", help="write the snapshots of profiles anew")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """With `--ptxloom`, let Triton and PyTorch's users find a GPU: before a `conftest.py` imports either, and asks."""
    options = early_config.known_args_namespace
    if not options.ptxloom:
        return
    device = options.ptxloom_device
    for name, value in (_FOR_TRITON | ({"PTXLOOM_DEVICE": str(device)} if device else {})).items():
        os.environ.setdefault(name, value)
    from ptxloom.triton.awaited import follow_torch  # noqa: PLC0415 - see the module's docstring

    follow_torch()


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; with `--ptxloom`, prove that kernels can run.

    Raises:
        UsageError: An option means nothing, or what runs kernels is not installed.
    """
    about = "ptxloom(checks=..., device=...): watch this test's kernels by these tools; device as of --ptxloom-device"
    config.addinivalue_line("markers", about)
    if config.getoption("--ptxloom") or config.getoption("--ptxloom-why"):
        _tools(str(config.getoption("--ptxloom-checks")))


@dataclass(slots=True)
class _Session:
    """The summary of a session: hazards that failed tests, and costs beside those of snapshots."""

    hazards: list[Hazard] = field(default_factory=list["Hazard"])
    held: list[CostChange] = field(default_factory=list["CostChange"])


@dataclass(slots=True)
class Watched:
    """The launches of one test: the value of the fixture `ptxloom`.

    Attributes:
        checks: The tools that watch.
        device: The target of kernels; None for that of their PTX.
        test: The file of the test, and its name.
        update: Whether snapshots are written anew.
        hazards: The hazards of this test's launches that the test has not taken yet.
        watcher: Examines its launches, with `--ptxloom-why`.
    """

    checks: tuple[str, ...]
    device: str | None
    test: tuple[str, str]
    update: bool
    hazards: list[Hazard] = field(default_factory=list["Hazard"])
    watcher: Watcher | None = None
    session: _Session | None = None

    def kernel(self, source: object, name: str | None = None, options: Sequence[str] = ()) -> Kernel:
        """A kernel, ready to run.

        Args:
            source: PTX, a module, or whatever `pl.load` takes.
            name: The kernel's name; it may be left out if there is one.
            options: Of the compiler, if the source is a `.cu`; the project's settings come first.
        """
        import ptxloom as pl  # noqa: PLC0415 - see the module's docstring

        if isinstance(source, pl.Module):
            module = source
        elif isinstance(source, str) and ".version" in source:
            module = pl.parse(source)
        elif isinstance(source, str | Path) and Path(source).suffix == ".cu":
            module = _compiled(str(source), self.device, options)
        else:
            module = pl.syntax.load(source, self.device, options)
        return pl.kernel(module, name, self.device)

    def tell(self, kernel: str, result: LaunchResult) -> None:
        """Note what a launch did wrong."""
        self.hazards += result.hazards
        if self.watcher is not None:
            self.watcher.tell(kernel, result)

    def take_hazards(self) -> tuple[Hazard, ...]:
        """All hazards so far, which no longer fail the test."""
        taken, self.hazards = tuple(self.hazards), []
        return taken

    def assert_no_hazards(self, result: LaunchResult | None = None) -> None:
        """Fail, with the report, if a launch did anything wrong.

        Args:
            result: Of the launch; by default of all so far.
        """
        __tracebackhide__ = True
        found = self.take_hazards() if result is None else tuple(result.hazards)
        self.hazards = [hazard for hazard in self.hazards if hazard not in found]
        if found:
            self.note(found)
            pytest.fail(_report(found), pytrace=False)

    def note(self, hazards: Iterable[Hazard]) -> None:
        """Keep hazards that fail the test for the session's summary."""
        if self.session is not None:
            self.session.hazards += hazards

    def snapshot(self, profile: LaunchResult | Profile, name: str = "") -> None:
        """Fail if a kernel costs more than when its snapshot was written, `--ptxloom-update`.

        Args:
            profile: Of a launch with `profile=True`, or its result.
            name: Distinguishes the snapshots of one test.
        """
        __tracebackhide__ = True
        from ptxloom.snapshots import held_against  # noqa: PLC0415 - see the module's docstring

        note = None if self.session is None else self.session.held.append
        said = held_against(profile, *self.test, name, update=self.update, note=note)
        if said:
            pytest.fail(said, pytrace=False)


def _compiled(name: str, device: str | None, options: Sequence[str]) -> Module:
    """CUDA C++, compiled with its project's settings and the options."""
    from ptxloom.files import one_text  # noqa: PLC0415 - see the module's docstring
    from ptxloom.files.compiler_flags import of_words  # noqa: PLC0415 - likewise
    from ptxloom.settings.found import settings_for  # noqa: PLC0415 - likewise
    from ptxloom.syntax.parser import parse_source  # noqa: PLC0415 - likewise

    return parse_source(one_text(name, device, settings_for(Path(name)).flags + of_words(options)))


@pytest.fixture
def ptxloom(request: pytest.FixtureRequest) -> Watched:
    """Kernels without a GPU: `ptxloom.kernel(path)`, `.assert_no_hazards()`, `.snapshot(result)`, `.take_hazards()`."""
    return _watched(request.node)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Also watch the launches of fixtures; the test may take their hazards, and fails for the others."""
    return (yield from _watch(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Watch the launches of a test, if that is asked for, and fail it for hazards that it has not taken."""
    result = yield from _watch(item)
    _fail_for_hazards(item)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Watch what fixtures launch behind the test."""
    if _KEY in item.stash:
        item.stash[_KEY].take_hazards()  # of a test that has failed: they have been reported
    result = yield from _watch(item)
    _fail_for_hazards(item)
    return result


def _watch(item: pytest.Item) -> Generator[None, object, object]:
    """Watch the launches of a phase of a test, if that is asked for."""
    asked = item.config.getoption("--ptxloom") or item.config.getoption("--ptxloom-why")
    if not (asked or item.get_closest_marker(_MARKER) or _KEY in item.stash):
        return (yield)
    watched = _watched(item)
    from ptxloom.machine.port.launch import watching  # noqa: PLC0415 - see the module's docstring

    with watching(watched.checks, watched.tell, provenance=watched.watcher is not None):
        return (yield)


def _fail_for_hazards(item: pytest.Item) -> None:
    """Fail for hazards that the test has not taken."""
    if _KEY in item.stash:
        item.stash[_KEY].assert_no_hazards()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to a failure what the kernel did: what ended it, and hazards that were reported before."""
    error: BaseException | None = None if call.excinfo is None else call.excinfo.value
    hazards = getattr(error, "hazards", ()) if type(error).__module__.startswith("ptxloom.") else ()
    if error is not None and hazards:  # the kernel is wrong: how ptxloom found that is no part of the story
        call.excinfo = pytest.ExceptionInfo[BaseException].from_exception(
            error.with_traceback(_without_ours(error.__traceback__))
        )
    report = yield
    if not hazards and report.failed and _KEY in item.stash:
        hazards = item.stash[_KEY].take_hazards()
    if hazards:
        report.sections.append(("ptxloom", _report(hazards)))
        if _KEY in item.stash:
            item.stash[_KEY].note(hazards)
    if report.failed and _KEY in item.stash and (watcher := item.stash[_KEY].watcher) is not None:
        from ptxloom.names.demangling import demangled  # noqa: PLC0415 - see the module's docstring

        report.sections += [(f"ptxloom why: {demangled(seen.kernel)}", str(seen)) for seen in watcher.seen]
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Report what failed tests to a service of continuous integration, if that is asked for."""
    file = config.getoption("--ptxloom-summary")
    session = config.stash.get(_SESSION, _Session())
    if file:
        from ptxloom.source import title  # noqa: PLC0415 - see the module's docstring
        from ptxloom.views.runs.summary import of_tests  # noqa: PLC0415 - likewise

        try:
            with Path(str(file)).open("a", encoding="utf-8") as summary:
                summary.write(of_tests(session.hazards, session.held))
        except OSError as error:
            terminalreporter.write_line(f"ptxloom: {title(file)}: it cannot be written ({error.strerror or error})")
    if config.getoption("--ptxloom-annotations") and session.hazards:
        from ptxloom.views.runs.hazard_reports import github  # noqa: PLC0415 - likewise

        terminalreporter.write_line(github(session.hazards).rstrip("\n"))


def _without_ours(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without this package's frames; pytest's are left."""
    kept: list[TracebackType] = []
    while trace is not None:
        if _OURS not in Path(trace.tb_frame.f_code.co_filename).parents:
            kept.append(trace)
        trace = trace.tb_next
    made: TracebackType | None = None
    for one in reversed(kept):
        made = TracebackType(made, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return made


def _watched(item: pytest.Item) -> Watched:
    """The state of one test: its marker's wishes before the session's."""
    if _KEY not in item.stash:
        wishes: dict[str, Any] = {}
        for marker in item.iter_markers(_MARKER):  # the closest comes first
            if marker.args:
                raise pytest.UsageError("the marker ptxloom takes checks and device by name: checks=['racecheck']")
            wishes = {**marker.kwargs, **wishes}
        checks, device = wishes.pop("checks", None), wishes.pop("device", None)
        if wishes:
            raise pytest.UsageError(f"the marker ptxloom has no {', '.join(wishes)}; it has checks and device")
        item.stash[_KEY] = Watched(
            _tools(str(item.config.getoption("--ptxloom-checks")) if checks is None else checks),
            device or item.config.getoption("--ptxloom-device"),
            (str(item.path), item.nodeid.rpartition("::")[2]),
            bool(item.config.getoption("--ptxloom-update")),
            watcher=_watcher() if item.config.getoption("--ptxloom-why") else None,
            session=item.config.stash.setdefault(_SESSION, _Session()),
        )
    return item.stash[_KEY]


def _watcher() -> Watcher:
    from ptxloom.diagnosis.watched import Watcher  # noqa: PLC0415 - see the module's docstring

    return Watcher()


def _tools(named: object) -> tuple[str, ...]:
    """The tools that a text or a list names.

    Raises:
        UsageError: There is no such tool, or nothing to run kernels with.
    """
    from ptxloom.diagnostics import PtxloomError  # noqa: PLC0415 - see the module's docstring
    from ptxloom.extras import needed  # noqa: PLC0415 - likewise

    try:
        with needed():
            from ptxloom.machine.port.prepare import read_checks  # noqa: PLC0415 - likewise
        return read_checks(named if isinstance(named, str) else ",".join(map(str, _listed(named))))
    except PtxloomError as error:
        raise pytest.UsageError(f"ptxloom: {error}") from None


def _listed(named: object) -> list[object]:
    """The tools of a marker.

    Raises:
        UsageError: They are no list.
    """
    if isinstance(named, (list, tuple, set, frozenset)):
        return [*cast("Iterable[object]", named)]
    raise pytest.UsageError(f"ptxloom: checks is {named!r}; it must be a list of tools, or a text with commas")


def _report(hazards: Iterable[Hazard]) -> str:
    """Hazards with their lines and carets."""
    from ptxloom.views.runs import hazard_reports  # noqa: PLC0415 - see the module's docstring

    return hazard_reports.full(tuple(hazards)).rstrip("\n")
