"""The store compared with redis-server: requests per second with redis-benchmark, run alternately, the 99th percentile of latencies, and memory.

    .venv/bin/python tests/bench/store.py [COMMAND]

Values of 64 bytes, 8 clients. Each figure is the best of several measurements, since other processes use this computer, too. Nothing fails where a
figure is missed; the table says so. COMMAND is the `maquette` to measure; by default the installed one.
"""

import shutil
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from stores import LIMIT, Figures, benchmark, running, verdict

#: How often each is measured.
TIMES = 3
#: Requests of a measurement, by the number of requests that a client sends before it reads a reply.
REQUESTS = {1: 200_000, 16: 1_000_000, 64: 2_000_000}
#: The target of the store's rate over that of Redis, by pipeline.
TARGETS = {1: 1.0, 16: 1.3, 64: 1.8}
#: Items whose memory is measured, with keys of 16 and values of 64 bytes, and the most that one may take. [B]
ITEMS = 1_000_000
MOST_BYTES = 130


def resident(pid: int) -> int:
    """The resident memory of a process. [B]"""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS:"))


def bytes_per_item(command: list[str]) -> float:
    """The memory per item. [B]"""
    with running(command) as (port, pid):
        before = resident(pid)
        with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as connection, connection.makefile("rb") as replies:
            batch = 10_000
            for first in range(0, ITEMS, batch):
                value = b"x" * 64
                keys = (b"%016d" % number for number in range(first, first + batch))
                connection.sendall(b"".join(b"*3\r\n$3\r\nSET\r\n$16\r\n%s\r\n$64\r\n%s\r\n" % (key, value) for key in keys))
                assert replies.read(5 * batch) == b"+OK\r\n" * batch
            return (resident(pid) - before) / ITEMS


def best(one: Figures, other: Figures) -> Figures:
    """The highest rate and the least time of two measurements."""
    return Figures(max(one.rate, other.rate), min(one.p99, other.p99))


def compare(our_port: int, their_port: int, pipeline: int, target: float) -> None:
    """Compare GET and SET of both, with this many requests that a client sends before it reads a reply."""
    options = ["-c", "8", "-P", str(pipeline), "-n", str(REQUESTS[pipeline])]
    ours, theirs = dict[str, Figures](), dict[str, Figures]()
    for _ in range(TIMES):
        for port, figures in ((our_port, ours), (their_port, theirs)):
            for test, result in benchmark(port, *options).items():
                figures[test] = best(result, figures.get(test, result))
    for test, our in ours.items():
        their = theirs[test]
        print(
            f"{test} at pipeline {pipeline:2}: {our.rate:12,.0f} /s, redis-server {their.rate:12,.0f} /s, "
            f"ratio {our.rate / their.rate:5.2f}, at least {target:g}: {verdict(our.rate / their.rate >= target)}"
        )
        if pipeline == 1:
            print(f"{test} at pipeline {pipeline:2}: p99 {our.p99:.3f} ms, redis-server {their.p99:.3f} ms: {verdict(our.p99 <= their.p99)}")


def main() -> None:
    """Measure, and print a table."""
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        print("redis-server or redis-benchmark is not installed: nothing measured (scripts/need redis)")
        return
    command = sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).with_name("maquette"))
    ours, theirs = [command, "store", "serve"], ["redis-server", "--save", "", "--appendonly", "no"]
    with running(ours) as (our_port, _), running(theirs) as (their_port, _):
        for pipeline, target in TARGETS.items():
            compare(our_port, their_port, pipeline, target)
    our, their = bytes_per_item(ours), bytes_per_item(theirs)
    print(f"bytes an item: {our:.1f}, redis-server {their:.1f}, at most {MOST_BYTES}: {verdict(our <= MOST_BYTES)}")


if __name__ == "__main__":
    main()
