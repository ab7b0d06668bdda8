"""Links from line information to the program that was compiled, where it is found and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ptxloom.lsp.document import Document
from ptxloom.lsp.links import MOST_FILES, links

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """.version 9.0
.target sm_90
.entry k() {
.loc 1 12 3
{ .loc 2 40 0, function_name $name+4, inlined_at 1 20 5
nop; }
.loc 3 1 1
.loc 1 0 0
.loc_intermediate 2 7 1
ret;
}
.file 1 "/home/somebody/a project/src/k.cu", 1700000000, 4096
.file 2 "t.h"
.file 3 "not there.cu"
.section .debug_str { $name: .b8 65, 0 }
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with two files that line information may mean, and one outside."""
    (tmp_path / "secret.cu").write_text("")
    root = tmp_path / "a project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "k.cu").write_text("")
    (root / "t.h").write_text("")
    return root


def shown(text: str, *folders: Path) -> list[tuple[str, str]]:
    """Each piece of a text that is a link, and the end of what it leads to."""
    return [(text[one.start : one.end], one.target.rpartition("/")[2]) for one in links(Document(text), folders)]


def test_files_and_places_lead_to_the_source(project: Path) -> None:
    assert shown(TEXT, project) == [
        ('"/home/somebody/a project/src/k.cu"', "k.cu"),
        ('"t.h"', "t.h"),
        (".loc 1 12 3", "k.cu#L12,3"),
        (".loc 2 40 0", "t.h#L40"),
        ("inlined_at 1 20 5", "k.cu#L20,5"),
        (".loc 1 0 0", "k.cu"),
        (".loc_intermediate 2 7 1", "t.h#L7,1"),
    ]
    first = next(links(Document(TEXT), [project]))
    assert first.target == (project / "src" / "k.cu").as_uri()
    assert "a%20project" in first.target


def test_the_first_folder_that_has_the_file_counts(project: Path) -> None:
    (project / "src" / "t.h").write_text("")
    found = {one.file for one in links(Document('.file 2 "t.h"\n'), [project / "src", project])}
    assert found == {project / "src" / "t.h"}


@pytest.mark.parametrize("name", ["../secret.cu", "{root}/../secret.cu", "{outside}", "link.cu", "src", "", "x\0"])
def test_nothing_leads_out_of_the_folders(project: Path, name: str) -> None:
    outside = project.parent / "secret.cu"
    (project / "link.cu").symlink_to(outside)
    text = f'.file 1 "{name.format(root=project, outside=outside)}"\n.entry k() {{ .loc 1 1 1 ret; }}\n'
    assert shown(text, project) == []
    assert shown(TEXT) == []


def test_only_so_many_files_are_looked_for(project: Path) -> None:
    text = "".join(f'.file {number} "t.h"\n' for number in range(MOST_FILES + 5))
    assert len(shown(text, project)) == MOST_FILES


def test_broken_directives_are_no_links(project: Path) -> None:
    assert shown('.file 2 "t.h"\n.file\n.entry k() {\n.loc 2\n.loc 2 3 4, inlined_at\n.loc 2 5 6\n', project) == [
        ('"t.h"', "t.h"),
        (".loc 2 5 6", "t.h#L5,6"),
    ]
