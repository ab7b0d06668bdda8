"""The JSON Schemas of everything that verbs print or read as data, made from the types: `ptxloom schema`."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ptxloom.cli.arguments.launch_keys import LAUNCH, TITLE
from ptxloom.cli.surroundings import DoctorRecord
from ptxloom.diagnostics import UsageError
from ptxloom.isa.spelling import near_misses
from ptxloom.judge.verdict import VerdictRecord
from ptxloom.records.schemas import schema as schema_of
from ptxloom.settings.toml_model import schema as toml_schema
from ptxloom.views.atoms.atom_pages import AdviceRecord, AtomRecord
from ptxloom.views.atoms.swizzle_choices import ChoicesRecord
from ptxloom.views.bank_pictures import BanksRecord
from ptxloom.views.descriptors.descriptor_pages import DescriptorsRecord, OperandRecord
from ptxloom.views.descriptors.instruction_pages import InstructionRecord
from ptxloom.views.descriptors.tensor_map_pages import TensorMapRecord
from ptxloom.views.findings.machine_readable import FindingRecord
from ptxloom.views.flow.graphs import GraphRecord
from ptxloom.views.fragments.maps import FragmentRecord
from ptxloom.views.fragments.places import HolderRecord
from ptxloom.views.modules.difference_records import DifferenceRecord
from ptxloom.views.modules.inspections import FileRecord
from ptxloom.views.modules.matches import MatchRecord
from ptxloom.views.modules.parsed import UNIONS, ParsedRecord, shape_of
from ptxloom.views.runs.diagnosis_records import WhyRecord
from ptxloom.views.runs.profiles import TITLE as PROFILE_TITLE
from ptxloom.views.runs.profiles import ProfileRecord
from ptxloom.views.runs.run_records import RunRecord
from ptxloom.views.runs.shared_records import SharedRecord
from ptxloom.views.runs.sweeps import SweepRecord


class Output(NamedTuple):
    """A printed value: its type and its description."""

    type: Any
    title: str


OUTPUTS: Final = {
    "inspect": Output(tuple[FileRecord, ...], "What PTX files hold: one object per file"),
    "check": Output(tuple[FindingRecord, ...], "The findings of all files"),
    "query": Output(tuple[MatchRecord, ...], "The instructions that match"),
    "graph": Output(tuple[GraphRecord, ...], "The control-flow graph of each function"),
    "diff": Output(DifferenceRecord, "The differences of two files"),
    "map": Output(FragmentRecord, "A fragment: which lane holds each element"),
    "where": Output(tuple[HolderRecord, ...], "Elements and their holders"),
    "banks": Output(BanksRecord, "The bank conflicts of one access"),
    "swizzle": Output(ChoicesRecord, "The layouts of a tile"),
    "atom": Output(
        AtomRecord | tuple[AtomRecord, ...] | tuple[AdviceRecord, ...],
        "An atom, all copy atoms, or the advice for an operand",
    ),
    "descriptor": Output(
        OperandRecord | DescriptorsRecord | InstructionRecord,
        "A matrix descriptor, those of a tile, or an instruction descriptor",
    ),
    "tensormap": Output(TensorMapRecord, "A tensor map, and what a copy does"),
    "run": Output(RunRecord, "What a run of a kernel did"),
    "shared": Output(SharedRecord, "Shared memory at a point of a run"),
    "why": Output(WhyRecord, "Why a result is wrong"),
    "sweep": Output(SweepRecord, "A sweep of a kernel over parameters"),
    "judge": Output(VerdictRecord | tuple[VerdictRecord, ...], "A verdict on a kernel, or a list of several"),
    "doctor": Output(DoctorRecord, "What is installed, what is missing for what, and which compilers were found"),
    "parse": Output(tuple[ParsedRecord, ...], "What ptxloom reads in PTX files"),
}
"""The output of verbs with `--output-format json`."""
NAMES: Final = (*OUTPUTS, "profile", "launch-file")


def schema(name: str) -> dict[str, Any]:
    """The schema of a verb's JSON, of a profile, or of launch files.

    Raises:
        UsageError: Nothing of that name has one.
    """
    match name:
        case "profile":
            return schema_of(ProfileRecord, PROFILE_TITLE)
        case "launch-file":
            return toml_schema(LAUNCH, TITLE)
        case _ if name in OUTPUTS:
            type_, title = OUTPUTS[name]
            title += f" (`ptxloom {name} --output-format json`)"
            return schema_of(type_, title, shape_of=shape_of, unions=UNIONS)
        case _:
            near = near_misses(name, NAMES)
            raise UsageError("name", name, f"one of {', '.join(NAMES)}" if not near else f"such as {near[0]}")
