"""How the documentation is built: `make docs` runs Sphinx over the repository's Markdown; any warning fails the build.

The root of the sources is that of the repository, so that links between pages, examples and figures are the same in a
checkout and on the site, and all of them are checked.
"""

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tools" / "docs")]

import reference  # noqa: E402 - found in tools/docs
from pictures import Picture  # noqa: E402 - likewise
from ptx_lexer import PtxLexer  # noqa: E402 - likewise

from ptxloom import __version__  # noqa: E402 - found in src

reference.main(ROOT / "docs" / "reference")

project = "ptxloom"
author = "the ptxloom authors"
copyright = f"{author}, Apache License 2.0"  # noqa: A001 - the name is Sphinx's
release = version = __version__

root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "[A-Z]*.md",
    "bench/*.md",
    "editors/**.md",
    "tests/README.md",
    "tests/**/README.md",
    "tests/recorded/**.md",
]
exclude_patterns = ["**/.*", "**/node_modules"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
suppress_warnings = [
    "toc.not_included",  # pages that are only linked to, such as those on recordings
    "ref.python",  # a word in a type that several classes have an attribute of; links in pages are checked all the same
]

myst_heading_anchors = 4

highlight_language = "ptx"  # what pages of instructions show without a language
smartquotes = False  # `--option` is no dash

autodoc_member_order = "groupwise"
napoleon_use_ivar = True
napoleon_attr_annotations = False  # the signature has them; `bool_` would be taken for a link
add_module_names = False
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"ptxloom {release}"
html_static_path = ["_static"]
html_extra_path = ["_root"]
html_css_files = ["ptxloom.css"]
html_show_sphinx = False
html_copy_source = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def from_markdown(_app: Any, what: str, name: str, _of: Any, _options: Any, lines: list[str]) -> None:
    """Docstrings write `name` and `name`s, as Markdown does; reStructuredText wants two ticks and an end."""
    if (what, name) == ("module", "ptxloom"):  # the page has its list of namespaces as a table
        lines.clear()
    lines[:] = [re.sub(r"(?<![`\\:])`([^`]+)`(?!`)", r"``\1``\\ ", line) for line in lines]


def setup(app: Any) -> None:
    """PTX has a lexer of our own, commands draw the pictures, and docstrings are read as they are written."""
    app.add_lexer("ptx", PtxLexer)
    app.add_directive("picture", Picture)
    app.connect("autodoc-process-docstring", from_markdown)
