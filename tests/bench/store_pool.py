"""Pools of stores: eight members beside eight masters of Redis Cluster, and a pool that grows from one server to eight while clients use it.

    .venv/bin/python tests/bench/store_pool.py [COMMAND]

Values of 64 bytes. Nothing fails where a figure is missed; the table says so. COMMAND is the `maquette` that is measured, if not the one
that is installed. The clients that use what grows are redis-py's, each a process of its own, and ask any member that there is.
"""

import csv
import json
import multiprocessing
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import redis

#: Members of a pool, and masters.
MEMBERS = 8
#: How often each is measured.
TIMES = 3
#: Requests of a measurement, by the number of requests that a client sends before it reads a reply.
REQUESTS = {1: 200_000, 64: 2_000_000}
#: As often as Redis Cluster the pool is to answer.
AIM = 1.3
#: Items while the pool grows, and clients that use them.
ITEMS, CLIENTS = 1_000_000, 4
#: As long it is measured before it grows, and as long a window is of which the least throughput is told. [s]
BEFORE, WINDOW = 10.0, 1.0
#: As much of the throughput of before is to be left in each window, and as often as long as before a request may take. [1]
LEAST_THROUGHPUT, MOST_LATENCY = 0.7, 3.0
#: As long anything may take. [s]
LIMIT = 120


def ended(processes: list[subprocess.Popen[str]]) -> None:
    """Ends processes, and waits until they have ended."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait(LIMIT)


class Pool:
    """Processes that are members of a pool."""

    def __init__(self, command: str, capacity: int) -> None:
        self.line = [command, "store", "serve", "--json", "--port", "0", "--capacity", str(capacity)]
        self.processes: list[subprocess.Popen[str]] = []
        #: Where each member listens: for clients, for those that follow slots, and for members.
        self.ports: list[tuple[int, int, str]] = []
        self.add()

    def add(self) -> None:
        """A member more."""
        joins = ["--join", self.ports[0][2]] if self.ports else []
        process = subprocess.Popen([*self.line, *joins], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        port, slots = (int(address.rpartition(":")[2]) for address in (told["listening"][0], told["slots"]))
        self.ports.append((port, slots, told["members"]))

    def servers(self) -> int:
        """How many servers there are."""
        return sum(int(redis.Redis(port=port).info("pool")["pool_servers_here"]) for port, _, _ in self.ports)

    def wait_for_servers(self, count: int) -> None:
        """Wait until there are so many servers."""
        end = time.monotonic() + LIMIT
        while self.servers() < count:
            assert time.monotonic() < end, f"there are {self.servers()} servers, not {count}"
            # Who asks all the time takes from what is measured.
            time.sleep(0.1)


@contextmanager
def pool_of_all(command: str) -> Iterator[int]:
    """Eight members that all have a server, by the port of one for clients that follow slots."""
    pool = Pool(command, capacity=1_000)
    try:
        while len(pool.ports) < MEMBERS:
            pool.add()
        client = redis.Redis(port=pool.ports[0][0])
        for first in range(0, 40_000, 1_000):
            client.mset({f"item:{number}": "x" * 64 for number in range(first, first + 1_000)})
        pool.wait_for_servers(MEMBERS)
        yield pool.ports[0][1]
    finally:
        ended(pool.processes)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback on which nobody listens, with room for that of a cluster's nodes above them."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.randrange(20_000, 30_000)
        with socket.socket() as listener:
            try:
                listener.bind(("127.0.0.1", port))
                ports.append(port)
            except OSError:
                pass
    return ports


@contextmanager
def redis_cluster() -> Iterator[int]:
    """Eight masters of Redis Cluster, by the port of one."""
    with tempfile.TemporaryDirectory() as directory:
        processes, ports = [], free_ports(MEMBERS)
        try:
            for port in ports:
                own = Path(directory, str(port))
                own.mkdir()
                line = ["redis-server", "--port", str(port), "--cluster-enabled", "yes", "--save", "", "--appendonly", "no"]
                processes.append(subprocess.Popen(line, cwd=own, stdout=subprocess.DEVNULL, text=True))
            end = time.monotonic() + LIMIT
            for port in ports:
                while True:
                    try:
                        socket.create_connection(("127.0.0.1", port), timeout=1).close()
                        break
                    except OSError:
                        assert time.monotonic() < end, "a master does not answer"
            addresses = [f"127.0.0.1:{port}" for port in ports]
            line = ["redis-cli", "--cluster", "create", *addresses, "--cluster-yes"]
            subprocess.run(line, stdout=subprocess.DEVNULL, check=True, timeout=LIMIT)
            while redis.Redis(port=ports[0]).cluster("info")["cluster_state"] != "ok":
                assert time.monotonic() < end, "the cluster is not ready"
            yield ports[0]
        finally:
            ended(processes)


def rates(port: int, pipeline: int) -> dict[str, float]:
    """Requests a second of GET and SET by clients that follow slots."""
    line = ["redis-benchmark", "--cluster", "-p", str(port), "-t", "set,get", "-d", "64", "-c", "16", "--csv"]
    line += ["-P", str(pipeline), "-n", str(REQUESTS[pipeline]), "-r", "100000"]
    table = subprocess.run(line, capture_output=True, text=True, check=True, timeout=LIMIT).stdout
    rows = [line for line in table.splitlines() if line.startswith('"')]
    return {row["test"]: float(row["rps"]) for row in csv.DictReader(rows)}


def verdict(reached: bool) -> str:
    return "reached" if reached else "MISSED"


def beside_redis_cluster(command: str) -> None:
    """Eight members beside eight masters."""
    with pool_of_all(command) as own_port, redis_cluster() as their_port:
        for pipeline in REQUESTS:
            best: dict[str, list[float]] = {}
            for _ in range(TIMES):
                mine, other = rates(own_port, pipeline), rates(their_port, pipeline)
                for test in mine:
                    before = best.get(test, [0.0, 0.0])
                    best[test] = [max(before[0], mine[test]), max(before[1], other[test])]
            for test, (own, their) in best.items():
                print(
                    f"{MEMBERS} members, {test} at pipeline {pipeline:2}: {own:12,.0f} /s, Redis Cluster {their:12,.0f} /s, "
                    f"ratio {own / their:5.2f}, at least {AIM:g}: {verdict(own / their >= AIM)}",
                    flush=True,
                )


#: What a client tells: when each request was answered, how long that took, and what went wrong.
Told = tuple[list[tuple[float, float]], list[str]]


def use(name: int, ports: Any, is_over: Event, told: "Queue[Told]") -> None:
    """A client that reads two items and writes one, again and again, each at any member."""
    chance, clients = random.Random(name), dict[int, Any]()
    times, failures = list[tuple[float, float]](), list[str]()
    while not is_over.is_set():
        port = chance.choice(list(ports))
        client = clients.get(port) or clients.setdefault(port, redis.Redis(port=port, socket_timeout=LIMIT))
        number = chance.randrange(ITEMS)
        begun = time.monotonic()
        try:
            if chance.random() < 2 / 3:
                if not client.get(f"item:{number:011}").startswith(b"%d." % number):
                    failures.append(f"item {number} is another")
            else:
                client.set(f"item:{number:011}", f"{number}.".ljust(64, "x"))
        except Exception as error:
            failures.append(f"{error!r} at item {number}")
        end = time.monotonic()
        times.append((end, end - begun))
    told.put((times, failures))


def fill(port: int) -> None:
    """All items, in many requests at a time."""
    with redis.Redis(port=port) as client:
        for first in range(0, ITEMS, 10_000):
            with client.pipeline(transaction=False) as pipeline:
                for number in range(first, first + 10_000):
                    pipeline.set(f"item:{number:011}", f"{number}.".ljust(64, "x"))
                pipeline.execute()


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[int(share * (len(times) - 1))] if times else float("nan")


def growth(command: str) -> None:
    """A pool that grows from one server to eight, while clients use it."""
    pool = Pool(command, capacity=ITEMS // 10)
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        ports, is_over, told = manager.list([pool.ports[0][0]]), context.Event(), context.Queue()
        clients = [context.Process(target=use, args=(name, ports, is_over, told)) for name in range(CLIENTS)]
        try:
            fill(pool.ports[0][0])
            for client in clients:
                client.start()
            time.sleep(BEFORE)
            begun = time.monotonic()
            while len(pool.ports) < MEMBERS:
                pool.add()
            ready = time.monotonic()
            pool.wait_for_servers(MEMBERS)
            ended_at = time.monotonic()
            time.sleep(BEFORE / 2)
            is_over.set()
            replies = [told.get(timeout=LIMIT) for _ in clients]
            size = redis.Redis(port=pool.ports[-1][0]).dbsize()
        finally:
            is_over.set()
            for client in clients:
                client.join(LIMIT)
            ended(pool.processes)
    times = [one for of_client, _ in replies for one in of_client]
    failures = [one for _, of_client in replies for one in of_client]
    before = [one for one in times if begun - BEFORE / 2 <= one[0] < begun]
    during = [one for one in times if begun <= one[0] < ended_at]
    after = [one for one in times if one[0] >= ended_at]
    usual = len(before) / (BEFORE / 2)
    windows = [0] * max(1, int((ended_at - begun) / WINDOW))
    for at, _ in during:
        if (window := int((at - begun) / WINDOW)) < len(windows):
            windows[window] += 1
    least = min(windows) / WINDOW / usual
    p99 = [percentile([long for _, long in part], 0.99) * 1e3 for part in (before, during, after)]
    longest = [percentile([long for _, long in part], 1.0) * 1e3 for part in (before, during, after)]
    print(
        f"1 to {MEMBERS} servers with {ITEMS:,} items: {ended_at - begun:.1f} s, of which {ready - begun:.1f} s to start the members; "
        f"{len(failures)} errors: {verdict(not failures)}; {size:,} items at the end: {verdict(size == ITEMS)}"
    )
    print(
        f"  throughput {usual:,.0f} /s before, {len(during) / (ended_at - begun):,.0f} /s during, {len(after) / (BEFORE / 2):,.0f} /s after; "
        f"least of {WINDOW:g} s {least:.0%}, at least {LEAST_THROUGHPUT:.0%}: {verdict(least >= LEAST_THROUGHPUT)}"
    )
    print(
        f"  p99 {p99[0]:.2f} ms before, {p99[1]:.2f} ms during, {p99[2]:.2f} ms after, at most {MOST_LATENCY:g} times: "
        f"{verdict(p99[1] <= MOST_LATENCY * p99[0])}; longest {longest[0]:.1f}, {longest[1]:.1f}, {longest[2]:.1f} ms"
    )
    print("\n".join(failures[:10]))


def main() -> None:
    """Measure, and print a table."""
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        print("redis-server or redis-benchmark is not installed: nothing measured (scripts/need redis)")
        return
    command = sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).with_name("maquette"))
    growth(command)
    beside_redis_cluster(command)


if __name__ == "__main__":
    main()
