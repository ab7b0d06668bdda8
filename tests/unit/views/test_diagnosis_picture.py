"""What stands above the picture of a diagnosis."""

from dataclasses import replace

import numpy as np

from ptxloom.diagnosis import Picture
from ptxloom.diagnosis.model import Diagnosis
from ptxloom.syntax.origins import SourceLine
from ptxloom.views.runs.diagnosis_picture import figure


def test_a_header_never_stands_before_the_users_own_line() -> None:
    origin = SourceLine("/usr/include/mma.hpp", 99, SourceLine("kernel.cu", 14))
    diagnosis = Diagnosis("k", "b", "B", "k-tile-mismatch", "late", True, (), 398, "wmma.load;", origin, (), 4, 8)
    assert figure(diagnosis).notes == ("late", "kernel.cu:14 (mma.hpp:99 inlined there) (PTX line 398): wmma.load;")


def test_an_axis_of_one_label_is_no_range() -> None:
    diagnosis = Diagnosis("place", "c", "bias", "rows-shifted", "late", True, (), 9, "ld.global;", None, (), 4, 8)
    elements = np.arange(20).reshape(20, 1, 1)
    picture = Picture("by row", elements, elements + 1, (), ("0-63",), axes=("row", "column"))
    ((held, _),) = figure(replace(diagnosis, picture=picture)).bands
    assert held is not None
    assert held.title == "as it is, row 0 to 15, column 0-63"
