"""The store beside redis-server: requests a second with redis-benchmark, the one in turn with the other, and what an item takes in memory.

    .venv/bin/python tests/bench/store.py [COMMAND]

Values of 64 bytes, 8 clients. Each ratio is of the best of several measurements, as others use this computer, too. Nothing fails where a
figure is missed; the table says so. COMMAND is the `maquette` that is measured, if not the one that is installed.
"""

import csv
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: How often each is measured.
TIMES = 3
#: Requests of a measurement, by the number of requests that a client sends before it reads a reply.
REQUESTS = {1: 200_000, 16: 1_000_000, 64: 2_000_000}
#: As often as Redis the store is to answer.
AIMS = {1: 1.0, 16: 1.3, 64: 1.8}
#: Items whose memory is measured, of 16 and 64 bytes, and what one may take. [B]
ITEMS = 1_000_000
MOST_BYTES = 130
#: As long a server may take to answer. [s]
LIMIT = 20


def free_port() -> int:
    """A port of the loopback on which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def running(line: list[str]) -> Iterator[tuple[int, int]]:
    """A server, by its port and its process, until the block is left."""
    port = free_port()
    with subprocess.Popen([*line, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + LIMIT
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    if process.poll() is not None or time.monotonic() > end:
                        raise
            yield port, process.pid
        finally:
            process.terminate()
            process.wait(LIMIT)


def rates(port: int, pipeline: int) -> dict[str, float]:
    """Requests a second of GET and SET."""
    line = ["redis-benchmark", "-p", str(port), "-t", "set,get", "-d", "64", "-c", "8", "--csv"]
    line += ["-P", str(pipeline), "-n", str(REQUESTS[pipeline]), "-r", "100000"]
    table = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    return {row["test"]: float(row["rps"]) for row in csv.DictReader(table.splitlines())}


def resident(pid: int) -> int:
    """What a process has in memory. [B]"""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS:"))


def bytes_per_item(line: list[str]) -> float:
    """What an item takes more than none."""
    with running(line) as (port, pid):
        before = resident(pid)
        with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as connection, connection.makefile("rb") as replies:
            batch = 10_000
            for first in range(0, ITEMS, batch):
                value = b"x" * 64
                keys = (b"%016d" % number for number in range(first, first + batch))
                connection.sendall(b"".join(b"*3\r\n$3\r\nSET\r\n$16\r\n%s\r\n$64\r\n%s\r\n" % (key, value) for key in keys))
                assert replies.read(5 * batch) == b"+OK\r\n" * batch
            return (resident(pid) - before) / ITEMS


def verdict(reached: bool) -> str:
    return "reached" if reached else "MISSED"


def main() -> None:
    """Measure, and print a table."""
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        print("redis-server or redis-benchmark is not installed: nothing measured (scripts/need redis)")
        return
    command = sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).with_name("maquette"))
    ours, theirs = [command, "store", "serve"], ["redis-server", "--save", "", "--appendonly", "no"]
    with running(ours) as (our_port, _), running(theirs) as (their_port, _):
        for pipeline, aim in AIMS.items():
            best: dict[str, list[float]] = {}
            for _ in range(TIMES):
                mine, other = rates(our_port, pipeline), rates(their_port, pipeline)
                for test in mine:
                    before = best.get(test, [0.0, 0.0])
                    best[test] = [max(before[0], mine[test]), max(before[1], other[test])]
            for test, (own, their) in best.items():
                print(
                    f"{test} at pipeline {pipeline:2}: {own:12,.0f} /s, redis-server {their:12,.0f} /s, "
                    f"ratio {own / their:5.2f}, at least {aim:g}: {verdict(own / their >= aim)}"
                )
    own, their = bytes_per_item(ours), bytes_per_item(theirs)
    print(f"bytes an item: {own:.1f}, redis-server {their:.1f}, at most {MOST_BYTES}: {verdict(own <= MOST_BYTES)}")


if __name__ == "__main__":
    main()
