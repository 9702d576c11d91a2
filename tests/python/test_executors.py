"""Sweeps on real executors: dask, MPI, processes; and the state of a sweep when their workers die."""

import concurrent.futures
import contextlib
import dataclasses
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import maquette as mq

pl = pytest.importorskip("polars")
psutil = pytest.importorskip("psutil")

BIN = Path(sys.executable).parent
#: The longest wait for a process. [s]
TIMEOUT = 60

#: An experiment of a few hundred microseconds per point.
SHORT: dict[str, Any] = {
    "machine": {"name": "moc-2-1"},
    "job": [{"ranks": 8, "program": {"broadcast": {"algorithm": "binomial", "bytes": 64}}}],
}
OVER: dict[str, list[Any]] = {"machine": ["moc-2-1", "infiniband-128"], "algorithm": ["binomial", "linear"], "ranks": [4, 64], "seed": list(range(40))}
#: An experiment of tens of milliseconds per point.
LONG: dict[str, Any] = {"machine": {"name": "moc-2-1"}, "job": [{"program": {"equal-dist": {"messages": 4_000}}}]}
SEEDS = {"seed": list(range(30))}


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@contextlib.contextmanager
def process(*arguments: str | Path) -> Iterator["subprocess.Popen[bytes]"]:
    running = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield running
    finally:
        running.kill()
        running.wait(TIMEOUT)


@dataclasses.dataclass(frozen=True)
class Scheduler:
    address: str
    process: "subprocess.Popen[bytes]"


def worker(scheduler: Scheduler) -> "contextlib.AbstractContextManager[subprocess.Popen[bytes]]":
    return process(BIN / "dask", "worker", scheduler.address, "--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")


@pytest.fixture
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scheduler]:
    """A real scheduler, on loopback."""
    address_file = tmp_path_factory.mktemp("dask") / "scheduler.json"
    with process(BIN / "dask", "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", address_file) as running:
        wait_until(lambda: address_file.exists() and address_file.read_text().endswith("}"))
        yield Scheduler(json.loads(address_file.read_text())["address"], running)


def test_dask_survives_the_loss_of_one_worker_but_not_of_all(
    scheduler: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    with worker(scheduler) as one, worker(scheduler) as other, distributed.Client(scheduler.address, set_as_default=False, timeout=10) as client:
        client.wait_for_workers(2, timeout=TIMEOUT)
        assert pl.DataFrame(mq.sweep(SHORT, OVER, executor=client)).equals(pl.DataFrame(mq.sweep(SHORT, OVER)))

        sweep = mq.Sweep(LONG, SEEDS, out=tmp_path / "out.csv")
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            running = threads.submit(sweep.run, client)
            wait_until(lambda: sweep.done >= 5)
            one.kill()
            assert running.result(TIMEOUT).done == len(SEEDS["seed"])
        assert pl.DataFrame(sweep).equals(pl.DataFrame(mq.sweep(LONG, SEEDS)))

        monkeypatch.setattr("maquette.executors._TIMEOUT_S", 0.5)
        monkeypatch.setattr("maquette.executors._CHECK_INTERVAL_S", 0.1)
        sweep = mq.Sweep(LONG, SEEDS, out=tmp_path / "again.csv")
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            running = threads.submit(sweep.run, client)
            wait_until(lambda: sweep.done >= 5)
            other.kill()
            with pytest.raises(mq.MaquetteError, match=r"ConnectionError: the scheduler has had no worker for .* finished points are kept"):
                running.result(TIMEOUT)
        assert 5 <= sweep.done < len(SEEDS["seed"])
        # Another sweep to the same file resumes it.
        again = mq.Sweep(LONG, SEEDS, out=tmp_path / "again.csv")
        assert again.done == sweep.done
        assert (tmp_path / "again.csv.done.jsonl").read_text().count("\n") == 1 + sweep.done

        monkeypatch.undo()
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            running = threads.submit(again.run, client)
            wait_until(lambda: again.done > sweep.done)
            scheduler.process.kill()
            with pytest.raises(mq.MaquetteError, match=r"ConnectionError: .*the scheduler is gone"):
                running.result(TIMEOUT)


FILE = """
[machine]
name = "moc-2-1"
[[job]]
program.equal-dist = { messages = 20000 }
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "experiment.toml"
    path.write_text(FILE)
    return path


def sweep_command(experiment: Path, executor: str, out: str = "out.parquet", seeds: int = 12) -> list[str | Path]:
    options: list[str | Path] = ["sweep", experiment, "--over", "messages=500,4000", "--seeds", str(seeds), "--executor", executor]
    return [BIN / "maquette", *options, "--out", experiment.with_name(out)]


def equals_a_local_sweep(experiment: Path, out: str = "out.parquet") -> bool:
    over = {"messages": [500, 4000], "seed": list(range(1, 13))}
    read: bool = pl.read_parquet(experiment.with_name(out)).equals(pl.DataFrame(mq.sweep(experiment, over)))
    return read and sorted(path.name for path in experiment.parent.iterdir()) == ["experiment.toml", out]


def test_the_command_uses_the_workers_of_dask_until_it_is_interrupted(scheduler: Scheduler, experiment: Path) -> None:
    pytest.importorskip("distributed")
    with worker(scheduler), worker(scheduler):
        executor = f"dask:{scheduler.address}"
        done = subprocess.run(sweep_command(experiment, executor), capture_output=True, text=True, timeout=TIMEOUT, check=False)
        assert done.returncode == 0, done.stderr
        assert "24 points are in " in done.stdout and equals_a_local_sweep(experiment)

        # It reacts to Ctrl-C even where this process inherited the signal as ignored.
        endless = ["env", "--default-signal=INT", *sweep_command(experiment, executor, "long.csv", seeds=10_000)]
        running = subprocess.Popen(endless, stderr=subprocess.PIPE, text=True)
        kept = experiment.with_name("long.csv.done.jsonl")
        wait_until(lambda: kept.exists() and kept.read_text().count("\n") > 4)
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=TIMEOUT)
    assert running.returncode == 130 and "of 20000 points are done, and kept: the same command resumes" in error
    assert kept.read_text().count("\n") > 4 and not experiment.with_name("long.csv").exists()


def mpiexec(*command: str | Path) -> list[str | Path]:
    return [BIN / "mpiexec", "-n", "3", *command]


def test_the_command_uses_the_ranks_of_mpi(experiment: Path) -> None:
    pytest.importorskip("mpi4py")
    done = subprocess.run(mpiexec(*sweep_command(experiment, "mpi")), capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    assert "24 points are in " in done.stdout and equals_a_local_sweep(experiment)


def test_a_script_uses_the_ranks_of_mpi(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, json, maquette as mq\n"
        "from mpi4py.futures import MPIPoolExecutor\n"
        "if __name__ == '__main__':\n"
        "    with MPIPoolExecutor() as executor:\n"
        f"        sweep = mq.sweep({SHORT!r}, {OVER!r}, executor=executor)\n"
        "        print(executor.num_workers, json.dumps(sweep.table.to_dict()))\n"
    )
    done = subprocess.run(mpiexec(sys.executable, "-m", "mpi4py.futures", script), capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.removeprefix("2 ")) == mq.sweep(SHORT, OVER).table.to_dict()


def test_finished_points_are_kept_when_a_rank_of_mpi_is_killed(experiment: Path) -> None:
    pytest.importorskip("mpi4py")
    command = mpiexec(*sweep_command(experiment, "mpi", "out.csv"))
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept = experiment.with_name("out.csv.done.jsonl")
    wait_until(lambda: kept.exists() and kept.read_text().count("\n") > 4)
    ranks = [each for each in psutil.Process(running.pid).children(recursive=True) if "sweep" in each.cmdline() and "mpiexec" not in each.cmdline()[0]]
    max((each for each in ranks if each.environ().get("PMI_RANK") not in (None, "0")), key=lambda each: each.pid).kill()
    assert running.wait(TIMEOUT) != 0
    done = kept.read_text().count("\n") - 1
    assert 4 <= done < 24 and not experiment.with_name("out.csv").exists()
    again = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert again.returncode == 0, again.stderr
    assert len(pl.read_csv(experiment.with_name("out.csv"))) == 24 and not kept.exists()


def test_finished_points_are_kept_when_a_process_is_killed(tmp_path: Path) -> None:
    sweep = mq.Sweep(LONG, SEEDS, out=tmp_path / "out.csv")

    def kill() -> None:
        wait_until(lambda: sweep.done >= 5)
        children = psutil.Process().children()
        os.kill(next(each.pid for each in children if "spawn_main" in " ".join(each.cmdline())), signal.SIGKILL)

    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ThreadPoolExecutor(1) as threads, concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as processes:
        killed = threads.submit(kill)
        with pytest.raises(mq.MaquetteError, match=r"of 30 points done: BrokenProcessPool: .*; finished points are kept: run it again"):
            sweep.run(processes)
        killed.result(TIMEOUT)
    assert 5 <= sweep.done < 30
    # Another sweep to the same file resumes from there.
    assert mq.Sweep(LONG, SEEDS, out=tmp_path / "out.csv").done == sweep.done


def test_a_worker_of_another_version_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = iter(["0.2.0"])
    monkeypatch.setattr("maquette.sweeping._version", lambda: next(versions, "0.1.0"))
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        with pytest.raises(mq.MaquetteError, match=r"found maquette 0\.1\.0 at a worker; allowed is 0\.2\.0, as where the sweep is"):
            mq.sweep(SHORT, OVER, executor=threads)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--executor", "ray"], "--executor: found ray; allowed is dask:tcp://HOST:PORT, or mpi under mpiexec"),
        (["--executor", "dask:nonsense"], "--executor: found dask:nonsense; allowed is dask:tcp://HOST:PORT, or mpi under mpiexec"),
        (["--executor=mpi", "--over", "byte=1"], "did you mean `bytes`?"),
    ],
)
def test_the_command_reports_wrong_options(experiment: Path, options: list[str], expected: str) -> None:
    command: list[str | Path] = [BIN / "maquette", "sweep", experiment, "--seeds", "2", "--out", experiment.with_name("out.csv"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
    assert list(experiment.parent.iterdir()) == [experiment]


def test_an_object_that_is_not_an_executor_is_refused() -> None:
    with pytest.raises(TypeError, match=r"executor: found 'dask'; allowed is one with the submit of concurrent\.futures, or a client of dask"):
        mq.sweep(SHORT, {"seed": [1]}, executor="dask")  # type: ignore[arg-type]
