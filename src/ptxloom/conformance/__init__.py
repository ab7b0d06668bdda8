"""Does silicon agree? Every instruction as a test, run on this machine, a GPU or ptxas."""

from ptxloom.conformance.conform import Verified, asked, verified
from ptxloom.conformance.gpu import Driver, Gpu, GpuError
from ptxloom.conformance.paths import Path, left_out, paths
from ptxloom.conformance.question import Question
from ptxloom.conformance.report import Report, Unreadable, read
from ptxloom.conformance.scenes import Scene
from ptxloom.conformance.suite import Subject, suite
from ptxloom.conformance.verdicts import Difference, Verdict

__all__ = [
    "Difference",
    "Driver",
    "Gpu",
    "GpuError",
    "Path",
    "Question",
    "Report",
    "Scene",
    "Subject",
    "Unreadable",
    "Verdict",
    "Verified",
    "asked",
    "left_out",
    "paths",
    "read",
    "suite",
    "verified",
]
