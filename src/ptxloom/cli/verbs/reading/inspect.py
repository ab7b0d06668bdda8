"""`ptxloom inspect`: the contents of PTX files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ptxloom.cli.mistakes import strangers
from ptxloom.cli.results.findings import render, verdict
from ptxloom.cli.results.output import COULD_NOT_RUN, Outcome, style_for, talk
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import each, files
from ptxloom.cli.sources.source_texts import source_texts
from ptxloom.inspection import Inspection, inspect
from ptxloom.syntax.parser import parse_source
from ptxloom.views.modules import inspections
from ptxloom.views.runs.source_lines import no_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.machine import Profile


def run(options: Options) -> Outcome:
    """Inspect every file; an unreadable one does not stop the others."""
    seen: list[Inspection] = []
    unread = 0
    for remark in strangers(options):
        talk(f"ptxloom: {remark}")
    for source in each(files(options.files), options.target, partial(flags_for, options, target=options.target)):
        if source is None:
            unread += 1
            continue
        module = parse_source(source)
        seen.append(inspect(module, target=options.target, ptx_version=options.ptx_version))
    found = [d for i in seen for d in i.findings]
    code, remark = verdict(found, len(seen))
    profiled = _profiled(seen, options)
    return Outcome(_text(seen, options, profiled), COULD_NOT_RUN if unread else code, remark)


def _profiled(seen: Sequence[Inspection], options: Options) -> Mapping[int, Profile]:
    """The requested profile, by the place of its inspection."""
    if options.profile_launch is None:
        return {}
    from ptxloom.cli.watch_options import profile_of  # noqa: PLC0415 - NumPy and llvmlite only where something runs

    module, profile = profile_of(options.profile_launch, [i.module for i in seen], options)
    return {n: profile for n, i in enumerate(seen) if i.module is module}


def _text(seen: Sequence[Inspection], options: Options, profiled: Mapping[int, Profile]) -> str:
    """All of it in one format; those made for findings show the findings."""
    match options.output_format:
        case "full":
            style = style_for(options, heed_columns=True)
            texts = [source_texts(Path(i.module.source.name), options) for i in seen]
            pages = [
                inspections.full(i, style, profiled.get(n), text.line if options.source else no_source)
                for n, (i, text) in enumerate(zip(seen, texts, strict=True))
            ]
            for text in texts:
                text.tell()
            return "\n".join(pages)
        case "concise":
            return "".join(map(inspections.concise, seen))
        case "json":
            return inspections.as_json(seen, profiled)
        case _:
            return render([d for i in seen for d in i.findings], options)
