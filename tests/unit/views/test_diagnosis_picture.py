"""What stands above the picture of a diagnosis."""

from ptxloom.diagnosis.model import Diagnosis
from ptxloom.syntax.origins import SourceLine
from ptxloom.views.runs.diagnosis_picture import figure


def test_a_header_never_stands_before_the_users_own_line() -> None:
    origin = SourceLine("/usr/include/mma.hpp", 99, SourceLine("kernel.cu", 14))
    diagnosis = Diagnosis("k", "b", "B", "k-tile-mismatch", "late", True, (), 398, "wmma.load;", origin, (), 4, 8)
    assert figure(diagnosis).notes == ("late", "kernel.cu:14 (mma.hpp:99 inlined there) (PTX line 398): wmma.load;")
