"""Shared by tests and benchmarks of stores: servers that are started and stopped, and the results of redis-benchmark."""

import contextlib
import csv
import random
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

#: The longest time that a server may take to answer, or to exit. [s]
LIMIT = 20

#: Ports that Linux gives to no outgoing connection, which would take one before its server starts; nor does it those 10,000 and 15,000 above,
#: at which a store listens for others.
_PORTS = iter(random.sample(range(10_000, 12_700), 2_700))


def free_port() -> int:
    """A port of the loopback on which nobody listens; none is given twice."""
    for port in _PORTS:
        with socket.socket() as listener:
            with contextlib.suppress(OSError):
                listener.bind(("127.0.0.1", port))
                return port
    raise AssertionError("all ports for tests have been given")


def wait_for_listener(port: int, process: "subprocess.Popen[str]", limit: float = LIMIT) -> None:
    """Wait until a process listens on a port of the loopback."""
    end = time.monotonic() + limit
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert process.poll() is None and time.monotonic() < end, f"{process.args!r} does not answer"
            time.sleep(0.01)


@contextmanager
def running(command: list[str]) -> Iterator[tuple[int, int]]:
    """Run a server until the block is left; yields its port and its process."""
    port = free_port()
    with subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            wait_for_listener(port, process)
            yield port, process.pid
        finally:
            process.terminate()
            process.wait(LIMIT)


class Figures(NamedTuple):
    """The results of redis-benchmark for a command."""

    #: Requests per second. [1/s]
    rate: float
    #: The 99th percentile of the latency. [ms]
    p99: float


def benchmark(port: int, *options: str, limit: float | None = None) -> dict[str, Figures]:
    """Measure GET and SET with redis-benchmark, with values of 64 bytes and 100,000 different keys."""
    command = ["redis-benchmark", "-p", str(port), "-t", "set,get", "-d", "64", "--csv", "-r", "100000", *options]
    table = subprocess.run(command, capture_output=True, text=True, check=True, timeout=limit).stdout
    # With --cluster it first prints the nodes.
    rows = [line for line in table.splitlines() if line.startswith('"')]
    return {row["test"]: Figures(float(row["rps"]), float(row["p99_latency_ms"])) for row in csv.DictReader(rows)}


def percentile(times: list[float], share: float) -> float:
    """The smallest of the times that at least this share of them does not exceed."""
    return sorted(times)[int(share * (len(times) - 1))] if times else float("nan")


def verdict(reached: bool) -> str:
    """How a figure is judged."""
    return "reached" if reached else "MISSED"
