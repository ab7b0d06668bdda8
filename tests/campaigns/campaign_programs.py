"""Work for campaigns, and a program that is one: it keeps squares, and says how many it found and how many it made."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from ptxloom.campaigns import Killed, Shards, Share, Workers, carried_out, in_form, of_cluster, of_processes


def squared(number: int) -> int:
    """Its square."""
    time.sleep(0.01)
    return number * number


def squared_or_killed(number: int) -> int:
    """Its square; 13 ends the worker."""
    if number == 13:
        os.kill(os.getpid(), signal.SIGKILL)
    return squared(number)


def main(folder: str, address: str, count: str) -> None:
    """The squares of numbers below `count`, kept in a folder; prints how many were there and how many were made."""
    shards = Shards(Path(folder), {"squares": int(count)})
    there = shards.done(in_form(int))
    workers: Workers = of_cluster(address) if address != "here" else of_processes(2)
    made = 0
    shares = (Share(str(number), number) for number in range(int(count)) if str(number) not in there)
    for share, result in carried_out(squared, shares, workers):
        assert not isinstance(result, Killed)
        shards.append(share.id, result)
        made += 1
    shards.close()
    sys.stdout.write(f"{len(there)} there, {made} made\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
