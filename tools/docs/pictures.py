"""A directive for pictures that a command draws: `{picture} CAPTION` over a line of `ptxloom ... -o FILE.svg`.

In a checkout the block reads as the command; on the site it is the picture, for a light and for a dark page, with the
command under it. Nothing is committed, and no page can show what the command no longer draws.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Final

from docutils import nodes
from docutils.parsers.rst import Directive
from drawing import NothingDrawn, draw

FOLDER: Final = "reference/pictures"
"""Where they are put, in the folder of the documents: with the pages that are made, which git does not keep."""


class Picture(Directive):
    """`{picture}`: its argument is the caption, its content the command."""

    required_arguments: ClassVar = 1
    final_argument_whitespace: ClassVar = True
    has_content: ClassVar = True

    def run(self) -> list[Any]:
        """A figure of two images, of which the page's theme shows one."""
        environment = self.state.document.settings.env
        documents = Path(environment.srcdir) / "docs"
        command, caption = " ".join(self.content).strip(), self.arguments[0]
        try:
            made = draw(command, documents / FOLDER)
        except NothingDrawn as failed:
            raise self.error(str(failed)) from failed
        figure = nodes.figure(classes=["drawn"])
        for theme, path in made.items():
            address = "/" + path.relative_to(environment.srcdir).as_posix()
            figure += nodes.image(uri=address, alt=caption, classes=[theme])
        figure += nodes.caption("", "", nodes.Text(f"{caption}: "), nodes.literal(command, command))
        return [figure]
