"""Campaigns lose nothing and count nothing twice, whoever is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

import pytest

from campaigns.campaign_programs import squared, squared_or_killed
from ptxloom.campaigns import Killed, Shards, Share, carried_out, in_form, of_mpi, of_processes
from ptxloom.campaigns.shards import OtherCampaign
from ptxloom.extras import MissingPart

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = Path(__file__).with_name("campaign_programs.py")
COUNT = 400


def shares(count: int) -> Iterator[Share[int]]:
    return (Share(str(number), number) for number in range(count))


def lines_of(folder: Path) -> list[str]:
    return [line for shard in sorted(folder.glob("*.jsonl")) for line in shard.read_text().splitlines()]


def whole(folder: Path) -> None:
    """Every square is there, once, and right."""
    found = Shards(folder, {"squares": COUNT}).done(in_form(int))
    assert found == {str(number): number * number for number in range(COUNT)}
    ids = [line.partition('["')[2].partition('"')[0] for line in lines_of(folder)]
    assert len(ids) == len(set(ids))


def started(folder: Path, address: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(PROGRAM), str(folder), address, str(COUNT)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until_some_are_kept(folder: Path, least: int, process: subprocess.Popen[str]) -> None:
    while process.poll() is None and len(lines_of(folder)) < least:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()


def finished(folder: Path, address: str) -> str:
    process = started(folder, address)
    said, errors = process.communicate()
    assert process.returncode == 0, errors
    return said


def test_a_share_that_ends_its_worker_is_told_and_no_other_suffers() -> None:
    found = {share.payload: result for share, result in carried_out(squared_or_killed, shares(40), of_processes(2))}
    assert isinstance(found.pop(13), Killed)
    assert found == {number: number * number for number in range(40) if number != 13}


def test_what_is_there_is_not_done_again(tmp_path: Path) -> None:
    shards = Shards(tmp_path, {"squares": COUNT})
    shards.append("3", 9)
    shards.close()
    assert Shards(tmp_path, {"squares": COUNT}).done(in_form(int)) == {"3": 9}
    with pytest.raises(OtherCampaign, match="another campaign"):
        Shards(tmp_path, {"cubes": COUNT})


def test_damaged_lines_are_no_results(tmp_path: Path) -> None:
    shards = Shards(tmp_path, {})
    for number in range(3):
        shards.append(str(number), number)
    shards.close()
    shard = next(tmp_path.glob("*.jsonl"))
    kept, changed, cut = shard.read_bytes().splitlines(keepends=True)
    shard.write_bytes(kept + changed.replace(b"1]", b"7]") + cut[:-4])
    assert Shards(tmp_path, {}).done(in_form(int)) == {"0": 0}
    again = Shards(tmp_path, {})
    again.append("1", 1)
    again.close()
    assert Shards(tmp_path, {}).done(in_form(int)) == {"0": 0, "1": 1}


def test_a_client_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    process = started(tmp_path, "here")
    until_some_are_kept(tmp_path, 20, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there, made = (int(part.split()[0]) for part in finished(tmp_path, "here").split(", "))
    assert 20 <= there < COUNT
    assert there + made == COUNT
    whole(tmp_path)


@pytest.fixture
def scheduler() -> Iterator[subprocess.Popen[str]]:
    pytest.importorskip("distributed", reason="Dask is not installed")
    process = dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
    yield process
    process.kill()
    process.communicate()


def dask(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]]
    environment = os.environ | {"PYTHONPATH": str(PROGRAM.parents[1])}
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment)


def address_of(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if "Scheduler at:" in line:
            return line.split()[-1]
    raise AssertionError("the scheduler did not start")


def test_a_cluster_of_four_loses_nothing_when_workers_and_the_scheduler_are_killed(
    tmp_path: Path, scheduler: subprocess.Popen[str]
) -> None:
    address = address_of(scheduler)
    workers = [dask("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard") for _ in range(4)]
    try:
        process = started(tmp_path, address)
        until_some_are_kept(tmp_path, 20, process)
        workers[0].kill()
        until_some_are_kept(tmp_path, 60, process)
        scheduler.kill()
        process.communicate()
        assert len(lines_of(tmp_path)) >= 60
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    there, made = (int(part.split()[0]) for part in finished(tmp_path, "here").split(", "))
    assert there + made == COUNT
    whole(tmp_path)


def test_results_come_for_every_share() -> None:
    found = {share.payload: result for share, result in carried_out(squared, shares(30), of_processes(2))}
    assert found == {number: number * number for number in range(30)}


class _Pool(ThreadPoolExecutor):
    """In the place of mpi4py's pool, with its interface: threads."""

    made: ClassVar[list[int]] = []

    def __init__(self, max_workers: int) -> None:
        self.made.append(max_workers)
        super().__init__(max_workers)


class _World:
    @staticmethod
    def Get_size() -> int:  # noqa: N802 - mpi4py's name
        return 4


def test_the_processes_of_an_mpi_job_carry_a_campaign_out(monkeypatch: pytest.MonkeyPatch) -> None:
    job, pools, package = ModuleType("mpi4py.MPI"), ModuleType("mpi4py.futures"), ModuleType("mpi4py")
    vars(job)["COMM_WORLD"] = _World
    vars(pools)["MPIPoolExecutor"] = _Pool
    vars(package).update(MPI=job, futures=pools)
    for module in (package, job, pools):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    workers = of_mpi()
    shares = [Share(str(number), number) for number in range(-50, 50)]
    found = {share.id: result for share, result in carried_out(abs, shares, workers)}
    assert found == {str(number): abs(number) for number in range(-50, 50)}
    assert (workers.count, _Pool.made) == (3, [3])


def test_mpi4py_itself_carries_a_campaign_out(tmp_path: Path) -> None:
    """Three processes of a real MPI, one hands out, two run; skipped without it (`pip install mpi4py mpich`)."""
    pytest.importorskip("mpi4py")
    found = shutil.which("mpiexec", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])))
    if found is None:
        pytest.skip("no mpiexec")
    asked = ["conform", "add.u*", "mul.lo.*", "--judge", "here", "--full", "--cases", "32", "--cluster", "mpi"]
    command = [found, "-n", "3", sys.executable, "-m", "mpi4py.futures", "-m", "ptxloom", *asked]
    run = subprocess.run(
        [*command, "--campaign", str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert "none differ" in run.stdout
    lines = [line for file in tmp_path.glob("*.jsonl") for line in file.read_text(encoding="utf-8").splitlines()]
    kept = {json.loads(line.partition(" ")[2])[0] for line in lines}
    assert {"add.u16", "mul.lo.s64"} <= kept


def test_without_mpi4py_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(MissingPart, match="pip install mpi4py"):
        of_mpi()
