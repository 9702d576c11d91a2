"""How fast Maquette is from Python: its figures, measured against their targets.

    .venv/bin/python tests/bench/python.py

Each figure is the best of several measurements, since other processes use this computer, too. The installed package is measured: `make bench`
installs a release build. Nothing fails where a figure is missed; the table says so.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import maquette as mq

#: How often each is measured.
TIMES = 5


@dataclass(frozen=True)
class Figure:
    """A measured quantity and its target."""

    name: str
    measured: float
    unit: str
    at_least: float | None = None
    at_most: float | None = None

    def __str__(self) -> str:
        bound = f"at least {self.at_least:,g}" if self.at_least is not None else f"at most {self.at_most:,g}"
        above = self.at_least is None or self.measured >= self.at_least
        below = self.at_most is None or self.measured <= self.at_most
        return f"{self.name:58} {self.measured:12,.3f} {self.unit:14} {bound:20} {'reached' if above and below else 'MISSED'}"


def best(measure: Callable[[], float]) -> float:
    """The shortest of several times. [s]"""
    return min(measure() for _ in range(TIMES))


def seconds(work: Callable[[], object]) -> float:
    """How long some work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


async def ring(endpoint: mq.Endpoint, rounds: int) -> None:
    """Send 64 B to the right and receive from the left: two operations per round."""
    left, right = (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size
    for _ in range(rounds):
        await endpoint.send(right, size=64)
        await endpoint.receive(left)


async def stencil(endpoint: mq.Endpoint, rounds: int, overlapped: bool) -> None:
    """Send 64 B to the right, receive from the left and compute: three operations per round, at once or in turn."""
    left, right = (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size
    for _ in range(rounds):
        if overlapped:
            await mq.join(endpoint.send(right, size=64), endpoint.receive(left), endpoint.compute(1000))
        else:
            await endpoint.send(right, size=64)
            await endpoint.receive(left)
            await endpoint.compute(1000)


async def small(endpoint: mq.Endpoint) -> None:
    """One message from rank 0 to rank 1."""
    if endpoint.rank == 0:
        await endpoint.send(1, size=64)
    else:
        await endpoint.receive(0)


async def at_once(endpoint: mq.Endpoint, messages: int) -> None:
    """Rank 0 sends messages, and rank 1 receives them, in the reverse order of their tags; all begin at once."""
    if endpoint.rank == 0:
        await mq.join(*(endpoint.send(1, size=8, tag=tag) for tag in range(messages)))
    else:
        await mq.join(*(endpoint.receive(0, tag=tag) for tag in reversed(range(messages))))


def growth(name: str) -> float:
    """How many times as long four times as many messages at once take: 4 if each takes as long, 16 if it takes as long as there are others."""
    machine = mq.Machine(name)
    few, many = (best(lambda: seconds(lambda: mq.run(at_once, machine, ranks=2, messages=messages))) for messages in (2_400, 9_600))  # noqa: B023
    return many / few


def operations(name: str, ranks: int, rounds: int) -> float:
    """How many operations of a Python program are simulated per second."""
    machine = mq.Machine(name)
    return 2 * ranks * rounds / best(lambda: seconds(lambda: mq.run(ring, machine, ranks=ranks, rounds=rounds)))


def operations_of_stencil(name: str, overlapped: bool) -> float:
    """How many operations of a stencil in Python on 1,024 ranks are simulated per second."""
    machine = mq.Machine(name)
    ranks, rounds = 1024, 50
    work = lambda: mq.run(stencil, machine, ranks=ranks, rounds=rounds, overlapped=overlapped)  # noqa: E731
    return 3 * ranks * rounds / best(lambda: seconds(work))


def on_simgrid(ranks: int, rounds: int) -> float | None:
    """How many operations of the same program SimGrid's Python simulates per second, by flows; None if it is not installed. Debian has it
    (`apt-get install python3-simgrid`) for its own Python."""
    command = ["/usr/bin/python3", str(Path(__file__).with_name("ring_on_simgrid.py")), str(ranks), str(rounds)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=False, timeout=600) for _ in range(TIMES)]
    return None if any(run.returncode for run in runs) else max(float(run.stdout) for run in runs)


def python(statement: str) -> str:
    """The output of a statement in another Python process."""
    return subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, check=True, timeout=600).stdout


def memory_of_many_ranks() -> float:
    """The peak memory of 16,384 ranks in Python. [MB]"""
    return float(python("import runpy; runpy.run_path(" + repr(__file__) + ")['many_ranks']()"))


def many_ranks() -> None:
    """Run 16,384 ranks, and print the peak memory of this process. [MB]"""
    mq.run(ring, "loggp", ranks=16_384, rounds=4)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)


def import_time() -> float:
    """How long the package takes to import. [ms]"""
    statement = "import time; began = time.perf_counter(); import maquette; print(time.perf_counter() - began)"
    return 1000 * best(lambda: float(python(statement)))


def overhead() -> float:
    """The whole time of a run of two ranks and one message. [ms]"""
    machine = mq.Machine("infiniband-128")
    runs = 200
    return 1000 / runs * best(lambda: seconds(lambda: [mq.run(small, machine, ranks=2) for _ in range(runs)]))


def sweeps() -> list[Figure]:
    """The share of the cores' time that a sweep of 10,000 points of about a millisecond spends on simulation: the time of as many threads that do
    nothing else, measured alternately, over that of the sweep."""
    cores = len(os.sched_getaffinity(0))
    ranks = next((ranks for ranks in range(8, 129, 4) if _time_without_sweep(_swept(ranks, 50), 1) / 50 > 0.001), 128)
    point_ms = _time_without_sweep(_swept(ranks, 500), 1) / 500 * 1000
    local, dask = [], []
    with _cluster() as client:
        # Afterwards the workers have imported the package.
        _swept(ranks, 500).run(client)
        for _ in range(3):
            only_points = _time_without_sweep(_swept(ranks, 10_000), cores)
            local.append(only_points / seconds(_swept(ranks, 10_000).run))
            sweep = _swept(ranks, 10_000)
            dask.append(only_points * cores / 2 / seconds(lambda: sweep.run(client)))  # noqa: B023
    return [
        Figure(f"sweep here, {cores} cores, {point_ms:.2f} ms a point", 100 * max(local), "% simulation", at_least=90),
        Figure("the same on dask, two workers", 100 * max(dask), "% simulation", at_least=70),
    ]


def planned_exchanges() -> list[Figure]:
    """How long MPI_Alltoallv by a plan takes compared with the library's own: eight ranks over shared memory, a message for one in ten of all pairs.
    Medians of alternate runs, since both depend on what else this computer does."""
    folder, bin = Path(__file__).parent, Path(sys.executable).parent
    compiler = shutil.which("gcc")
    if compiler is None or not (bin / "mpiexec").exists():
        return []
    figures = []
    with tempfile.TemporaryDirectory() as temporary:
        program, plan = Path(temporary, "exchange"), Path(temporary, "plan.toml")
        lib = bin.parent / "lib"
        arguments: list[Path | str] = ["-O2", "-DMPI_ABI", f"-I{bin.parent / 'include'}", folder / "exchange.c", "-o", program, f"-L{lib}", "-lmpi_abi"]
        subprocess.run([compiler, *arguments, f"-Wl,-rpath,{lib}"], check=True, timeout=120)
        plan.write_text('maquette_plan = 1\nmachine = "here"\nranks = 8\n\n[all_to_allv]\nalgorithm = "all-at-once"\n\n[end]\n')
        for size, size_text in ((8 << 10, "8 KiB"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB")):
            run: list[Path | str] = [bin / "mpiexec", "-n", "8", program, str(size), "100"]
            turns = [(_printed(run), _printed([bin / "maquette", "collectives", "--plan", plan, "--", *run])) for _ in range(TIMES)]
            unplanned, planned = (statistics.median(times) for times in zip(*turns, strict=True))
            name = f"planned alltoallv, {size_text}: {planned:,.0f} us, {unplanned:,.0f} without"
            figures.append(Figure(name, planned / unplanned, "times", at_most=0.4))
    return figures


def _printed(command: list[Path | str]) -> float:
    """The number in the first line of a command's output."""
    completed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return float(completed.stdout.splitlines()[0])


def _swept(ranks: int, points: int) -> mq.Sweep:
    job = {"ranks": ranks, "program": {"all-to-all": {"bytes": 64}}}
    return mq.Sweep({"machine": {"name": "infiniband-128"}, "job": [job]}, {"seed": range(points)})


def _time_without_sweep(sweep: mq.Sweep, threads: int) -> float:
    """How long threads take to compute all points, each its share of them, and nothing else. [s]"""
    shares = [list(range(first, sweep.points, threads)) for first in range(threads)]
    with ThreadPoolExecutor(threads) as executor:
        return seconds(lambda: list(executor.map(sweep._sweep.rows_of, shares)))


@contextmanager
def _cluster() -> Iterator[Any]:
    """A dask client with two workers, each a process."""
    from distributed import Client, SubprocessCluster

    workers = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with SubprocessCluster(**workers) as cluster, Client(cluster) as client:  # type: ignore[arg-type, no-untyped-call]
        client.wait_for_workers(2)
        yield client


def main() -> None:
    """Measure all figures, and print each as soon as it is known."""
    clock, flits, simgrid = operations("loggp", 64, 5_000), operations("infiniband-128", 64, 2_000), on_simgrid(64, 100)
    print(Figure("operations of Python, contention-free", clock, "operations/s", at_least=1e6), flush=True)
    print(Figure("operations of Python, fat tree to the flit", flits, "operations/s", at_least=5e5), flush=True)
    for name in ("loggp", "slingshot-1024"):
        for overlapped in (False, True):
            how = "at once" if overlapped else "in turn"
            measured = operations_of_stencil(name, overlapped)
            print(Figure(f"stencil of 1,024 ranks, {how}, {name}", measured, "operations/s", at_least=1e6), flush=True)
    if simgrid is None:
        print("SimGrid's Python is not installed: its ratio was not measured", flush=True)
    else:
        print(Figure(f"the latter over SimGrid's, {simgrid:,.0f} operations/s", flits / simgrid, "times", at_least=50), flush=True)
    print(Figure("16,384 ranks in Python", memory_of_many_ranks(), "MB", at_most=1000), flush=True)
    print(Figure("import maquette", import_time(), "ms", at_most=80), flush=True)
    print(Figure("a run of two ranks and a message", overhead(), "ms", at_most=1), flush=True)
    for name in ("mpich-tcp-8", "infiniband-128", "loggp"):
        print(Figure(f"9,600 messages at once over 2,400, {name}", growth(name), "times", at_most=6), flush=True)
    for figure in (*planned_exchanges(), *sweeps()):
        print(figure, flush=True)


if __name__ == "__main__":
    main()
