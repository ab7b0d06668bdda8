"""Our verdicts on whole modules against those that ptxas gave."""

from __future__ import annotations

from recorded.ptxas.module_cases import digest, module_cases
from recorded.ptxas.module_verdicts import PAGE, REJECTED, judged, page, recording


def test_the_recording_is_of_these_cases() -> None:
    _, asked, verdicts = recording()
    assert asked == digest(module_cases())
    assert len(verdicts) == len(module_cases())


def test_every_verdict_is_the_same() -> None:
    release, _, _ = recording()
    found = judged()
    assert [(one.case.text, one.verdict, one.ours) for one in found if one.differs] == []
    assert sum(one.verdict == REJECTED for one in found) > 2000
    assert PAGE.read_text(encoding="utf-8") == page(release, found)
