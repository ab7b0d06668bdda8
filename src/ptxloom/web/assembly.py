"""From the parts of the explorer to one file: facts packed, scripts joined, and a policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from pathlib import Path
from typing import Final

from ptxloom import __version__
from ptxloom.views.core.palette import DARK, HUES, LIGHT, ON_FILL, TINTS, Role, Theme
from ptxloom.web.code import code_facts
from ptxloom.web.facts import facts

_FOLDER: Final = Path(__file__).parent
_SCRIPTS: Final = _FOLDER / "script"
_FIRST: Final = "main"
_IMPORT: Final = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)


def page() -> str:
    """The explorer as HTML; the same bytes each time.

    What runs is named by its hash, and nothing is fetched, embedded or sent: `default-src 'none'`. Text becomes markup
    nowhere: the page asks the browser to refuse it (`require-trusted-types-for`).
    """
    script, style = joined_script(), _colours() + (_FOLDER / "style.css").read_text(encoding="utf-8")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )
    parts = {
        "policy": policy,
        "version": __version__,
        "style": style,
        "facts": packed(facts()),
        "code": packed(code_facts()),
        "script": script,
    }
    template = (_FOLDER / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _colours() -> str:
    """The palette as custom properties, for a light and a dark ground."""
    hues = "".join(
        f"--hue-{place}:{hue};--tint-{place}:{tint};" for place, (hue, tint) in enumerate(zip(HUES, TINTS, strict=True))
    )
    dark = _properties(DARK)
    return (
        f":root{{{hues}--on-fill:{ON_FILL};{_properties(LIGHT)}}}\n"
        f'@media (prefers-color-scheme:dark){{:root:not([data-theme="light"]){{{dark}}}}}\n'
        f':root[data-theme="dark"]{{{dark}}}\n'
    )


def _properties(theme: Theme) -> str:
    return "".join(f"--{role}:{theme.colour(role)};" for role in Role)


def packed(value: object) -> str:
    """A value as JSON, deflated, in base64: what the page's `unpacked` reads."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflate.compress(text.encode()) + deflate.flush()).decode()


def joined_script() -> str:
    """All modules as one, each a function of its own, after those that it imports."""
    order: list[str] = []
    _collect(_FIRST, order)
    return "\n" + "\n".join(map(_scoped, order))


def _collect(name: str, order: list[str]) -> None:
    for _, needed in _IMPORT.findall(_module(name)):
        if needed not in order:
            _collect(needed, order)
    order.append(name)


def _scoped(name: str) -> str:
    """A module as a value that holds what it exports."""
    text = _module(name)
    exports = ", ".join(_EXPORT.findall(text))
    body = _EXPORT.sub("", _IMPORT.sub(r"const \1 = module_\2;\n", text)).strip()
    return f"const module_{name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();\n"


def _module(name: str) -> str:
    return (_SCRIPTS / f"{name}.js").read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
