"""`ptxloom judge`: whether kernels compute what a reference does, and how the others cheat."""

from __future__ import annotations

from contextlib import closing, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxloom import __version__
from ptxloom.campaigns import Killed, Share, in_form
from ptxloom.cli.results.output import CLEAN, FINDINGS, Outcome, reason, style_for, talk
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.spreading import carried_on, shards_of
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import named
from ptxloom.files.names import is_file
from ptxloom.judge import Limits, Order, carry_out, read_problem, read_verdict, verdict_in
from ptxloom.source import title
from ptxloom.views.runs import verdicts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.cli.command_line import Options

_MOST_BYTES = 1 << 26


def run(options: Options) -> Outcome:
    """Judge each kernel; exit 1 if any is rejected."""
    orders = [_order(name, options) for name in options.files]
    read_problem(options.against)  # so its errors are reported once
    said = list(_verdicts(orders, options))
    if options.verify is not None:
        return _verified(said, options.verify)
    match options.output_format:
        case "json":
            text = verdicts.as_json(said)
        case "concise":
            text = verdicts.concise(said)
        case _:
            text = verdicts.full(said, style_for(options))
    return Outcome(text, CLEAN if all(one["passed"] for one in said) else FINDINGS)


def _order(name: str, options: Options) -> Order:
    if not is_file(name):
        raise PtxloomError(f"{title(name)}: there is no such file")
    if options.target is not None:
        from ptxloom.machine.port.prepare import device_options  # noqa: PLC0415 - only where one is named

        device_options(options.target)
    given = {key: getattr(options, key) for key in ("grid", "block", "shared_bytes")}
    limits = Limits(
        300.0 if options.timeout is None else options.timeout,
        options.memory_limit,
        options.target,
        options.kernel,
        {key: value for key, value in given.items() if value is not None},
    )
    seeds = tuple(range(options.first_seed, options.first_seed + options.seeds))
    flags = flags_for(options, name, target=options.target)
    return Order(name, options.against, seeds, limits, flags, __version__)


def _verdicts(orders: list[Order], options: Options) -> Iterator[dict[str, Any]]:
    """The verdicts, in the order of the kernels."""
    if len(orders) == 1 and options.scheduler is None and options.campaign is None:
        yield _told(carry_out(orders[0]))
        return
    first = asdict(orders[0])
    shared = {key: str(first[key]) for key in ("reference", "seeds", "limits", "flags")}
    files = {one.kernel: carried_name(one) for one in orders}
    shards = shards_of(options, {"judge": shared})
    found: dict[str, dict[str, Any]] = {}
    with closing(shards) if shards is not None else nullcontext():
        shares = [Share(files[one.kernel], one) for one in orders]
        for id_, result in carried_on(carry_out, shares, options, shards, "kernels judged", read=_kept):
            if isinstance(result, Killed):
                talk(f"ptxloom: {title(id_)} ended the process that judged it: {result.why}")
                continue
            found[id_] = result
    lost = [one.kernel for one in orders if files[one.kernel] not in found]
    if lost:
        raise PtxloomError(f"no verdict on {', '.join(map(title, lost))}")
    yield from (_told(found[files[one.kernel]]) for one in orders)


def _kept(kernel: str, said: dict[str, Any]) -> dict[str, Any]:
    """Read a verdict, or why there is none, from a campaign's folder; raises ValueError, among others."""
    if "cannot" in said:
        return in_form({"cannot": str})(kernel, said)
    return verdict_in(said)


def _told(said: dict[str, Any]) -> dict[str, Any]:
    """A verdict.

    Raises:
        PtxloomError: There is no verdict; the sentence says why.
    """
    if "cannot" in said:
        raise PtxloomError(said["cannot"])
    return said


def carried_name(order: Order) -> str:
    """The id of an order in a campaign: the file, and the digest of its contents."""
    from hashlib import sha256  # noqa: PLC0415 - only campaigns need it

    return f"{order.kernel} {sha256(Path(order.kernel).read_bytes()).hexdigest()[:16]}"


def _verified(said: list[dict[str, Any]], file: str) -> Outcome:
    """Check that a verdict in a file is the verdict on these files."""
    if len(said) != 1:
        raise UsageError("--verify", file, "with one kernel: a verdict is on one")
    try:
        known = read_verdict(named(Path(file), _MOST_BYTES).decode())
    except (OSError, ValueError, OutOfReach) as error:
        raise PtxloomError(f"{title(file)}: cannot be read: {reason(error)}") from None
    if known["digest"] == said[0]["digest"]:
        return Outcome(f"{title(file)} is the verdict on these files: {known['digest']}\n")
    differing = [key for key in said[0] if key != "digest" and known.get(key) != said[0][key]]
    return Outcome(f"{title(file)} is not the verdict on these files: {', '.join(differing)} differ\n", FINDINGS)
