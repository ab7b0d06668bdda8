"""What a run did, as JSON."""

from __future__ import annotations

from typing import Literal

from ptxloom.records import ABSENT, Absent, Natural, Record
from ptxloom.views.runs.comparison_reports import ComparisonRecord
from ptxloom.views.runs.hazard_reports import HazardRecord
from ptxloom.views.runs.profiles import ProfileRecord
from ptxloom.views.runs.trace_records import ExecutionRecord


class RestsRecord(Record):
    """What an instruction that ran rests on."""

    instruction: str
    level: str
    executions: Natural


class RunRecord(Record):
    """What a run of a kernel did."""

    schema: Literal[1]
    kernel: str
    demangled: str
    instructions: Natural
    error: str
    output: str
    output_cut: Natural
    hazards: tuple[HazardRecord, ...]
    comparisons: tuple[ComparisonRecord, ...]
    fidelity: tuple[RestsRecord, ...] | Absent = ABSENT
    profile: ProfileRecord | Absent = ABSENT
    trace: tuple[ExecutionRecord, ...] | Absent = ABSENT
