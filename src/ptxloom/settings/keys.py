"""Every key of a project's settings: its legal values and its meaning."""

from __future__ import annotations

from typing import Final

from ptxloom.settings.cuda_keys import CUDA
from ptxloom.settings.toml_model import Flag, Key, Named, Text, Texts, TomlTable

SETTINGS: Final = TomlTable(
    (
        Key("target", Text(), "judge for this target instead of the file's own", example='"sm_90a"'),
        Key("ptx-version", Text(), "judge for this PTX version instead of the file's own", example='"9.0"'),
        Key("select", Texts(), "report only these rules: ids or patterns such as `missing-*`"),
        Key("ignore", Texts(), "do not report these rules, even if selected", example='["missing-*"]'),
        Key(
            "per-file-ignores",
            Named(Texts()),
            "rules that are not reported for the files that a pattern fits, such as `generated/*.ptx`",
        ),
        Key(
            "exclude",
            Texts(),
            "what is left out when a folder is searched, as in `.gitignore`",
        ),
        CUDA,
        Key("respect-gitignore", Flag(), "whether what git ignores is left out, too; true if left out"),
    )
)
"""The whole of `ptxloom.toml`, and of `[tool.ptxloom]` in `pyproject.toml`."""
TITLE: Final = "Settings of ptxloom"
