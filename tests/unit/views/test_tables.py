"""Tables and cells: widths that terminals agree with, marks that other formats would trip over."""

import csv
import io

from ptxloom.views.core.cells import cells, elide, lay_out, width
from ptxloom.views.core.tables import Cell, Table, csv_table, markdown_table, row, text_table


def test_widths_of_characters() -> None:
    assert [cells(c) for c in "aé中Ａ\u0301"] == [1, 1, 2, 2, 0]
    assert width("中中") == 4


def test_tabs_stop_every_four_cells() -> None:
    assert lay_out("abcde\tx\ty") == ("abcde   x   y", (0, 1, 2, 3, 4, 5, 8, 9, 12, 13))


def test_elision_marks_the_cut() -> None:
    assert elide("abcdef", 6) == "abcdef"
    assert elide("abcdefg", 6) == "abcde…"


def test_columns_align_by_cells_and_numbers_stand_right() -> None:
    table = Table(("name", "n"), (row("中文", 5), row("a", 10)))
    assert text_table(table) == ["name  n", "中文   5", "a     10"]


def test_bars_and_commas_are_escaped() -> None:
    table = Table(("a", "b"), ((Cell("x|y"), Cell("1,2")),))
    assert markdown_table(table)[-1] == "| x\\|y | 1,2 |"
    assert list(csv.reader(io.StringIO(csv_table(table)))) == [["a", "b"], ["x|y", "1,2"]]
