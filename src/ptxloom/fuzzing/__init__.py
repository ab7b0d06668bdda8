"""Random programs on which all judges must agree: generated, judged, and if a judge differs, shrunk and explained."""

from ptxloom.fuzzing.campaign import Summary, fuzzed, said, summary, tasks
from ptxloom.fuzzing.findings import Finding
from ptxloom.fuzzing.generate import Shape
from ptxloom.fuzzing.idioms import IDIOMS
from ptxloom.fuzzing.opinions import OWN, Jury
from ptxloom.fuzzing.work import Result, Task, done

__all__ = [
    "IDIOMS",
    "OWN",
    "Finding",
    "Jury",
    "Result",
    "Shape",
    "Summary",
    "Task",
    "done",
    "fuzzed",
    "said",
    "summary",
    "tasks",
]
