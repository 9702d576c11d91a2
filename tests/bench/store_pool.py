"""Pools of stores: eight members compared with eight masters of Redis Cluster, and a pool that grows to eight servers and shrinks again.

    .venv/bin/python tests/bench/store_pool.py [COMMAND]

Values of 64 bytes. Nothing fails where a figure is missed; the table says so. COMMAND is the `maquette` to measure; by default the
installed one. The clients of the growing pool are those of redis-py, each a process of its own: plain ones that ask any member, and those for a
cluster, which follow the slots. For each kind it grows and shrinks twice: by itself, as members join it and as it is emptied, where starting the
members and emptying it take the same processors; and with members that stand by, and all items, as an operator asks for it.
"""

import json
import multiprocessing
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import redis
from redis.cluster import RedisCluster

from stores import benchmark, percentile, verdict, wait_for_listener

#: Members of a pool, and masters.
MEMBERS = 8
#: How often each is measured.
TIMES = 2
#: Requests of a measurement, by the number of requests that a client sends before it reads a reply: it takes over ten seconds, since redis-benchmark
#: with several threads, which it has for a cluster, notices only every quarter of a second that it is at the end.
REQUESTS = {1: 2_000_000, 64: 20_000_000}
#: The target of the pool's rate over that of Redis Cluster.
TARGET = 1.3
#: Items while the pool grows, and clients that use them.
ITEMS, CLIENTS = 1_000_000, 4
#: Items that are left after it was emptied, and servers after it has shrunk.
LEFT, FEW = 20_000, 2
#: Keys that a split moves, and the longest time that may take. [s]
MOVED, MOST_MOVING = 61_000, 1.0
#: How long to measure before it grows; and the length of a window: the least throughput in one is reported. [s]
BEFORE, WINDOW = 10.0, 1.0
#: The least throughput in a window, and the greatest latency, both relative to those before. [1]
LEAST_THROUGHPUT, MOST_LATENCY = 0.7, 3.0
#: The longest wait for anything. [s]
LIMIT = 120


def stop(processes: list[subprocess.Popen[str]]) -> None:
    """Stop processes, and wait until they have exited."""
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait(LIMIT)


class Pool:
    """Processes that are members of a pool."""

    def __init__(self, command: str, capacity: int) -> None:
        self.arguments = [command, "store", "serve", "--json", "--log-level", "error", "--port", "0", "--capacity", str(capacity)]
        self.processes: list[subprocess.Popen[str]] = []
        #: A client of each member. Opening eight connections ten times a second would disturb the measurement.
        self.clients: list[redis.Redis] = []
        #: The addresses of each member: the port for clients, that for clients that follow slots, and the address for members.
        self.ports: list[tuple[int, int, str]] = []
        self.add()

    def add(self) -> None:
        """Add a member."""
        joins = ["--join", self.ports[0][2]] if self.ports else []
        process = subprocess.Popen([*self.arguments, *joins], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        assert process.stdout is not None
        startup = json.loads(process.stdout.readline())
        port, slots = (int(address.rpartition(":")[2]) for address in (startup["listening"][0], startup["slots"]))
        self.ports.append((port, slots, startup["members"]))
        self.clients.append(redis.Redis(port=port))

    def server_count(self) -> int:
        """The number of servers."""
        return sum(int(client.info("pool")["pool_servers_here"]) for client in self.clients)

    def wait_for_servers(self, count: int, at_most: bool = False) -> None:
        """Wait until there are at least, or at most, this many servers."""
        end = time.monotonic() + LIMIT
        while (self.server_count() > count) if at_most else (self.server_count() < count):
            assert time.monotonic() < end, f"there are {self.server_count()} servers, not {count}"
            # Polling all the time would disturb the measurement.
            time.sleep(0.1)


@contextmanager
def pool_of_all(command: str) -> Iterator[int]:
    """Run eight members that each have a server; yields the port of one for clients that follow slots."""
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
        stop(pool.processes)


def free_ports(count: int) -> list[int]:
    """Free ports of the loopback for Redis Cluster nodes, whose bus ports, 10,000 above, are free, too."""
    ports: list[int] = []
    while len(ports) < count:
        port = random.choice([port for port in range(20_000, 30_000) if port not in ports])
        with socket.socket() as listener, socket.socket() as bus:
            try:
                listener.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + 10_000))
                ports.append(port)
            except OSError:
                pass
    return ports


@contextmanager
def redis_cluster() -> Iterator[int]:
    """Run eight masters of Redis Cluster; yields the port of one."""
    with tempfile.TemporaryDirectory() as directory:
        processes, ports = [], free_ports(MEMBERS)
        try:
            for port in ports:
                node = Path(directory, str(port))
                node.mkdir()
                arguments = ["redis-server", "--port", str(port), "--cluster-enabled", "yes", "--save", "", "--appendonly", "no"]
                processes.append(subprocess.Popen(arguments, cwd=node, stdout=subprocess.DEVNULL, text=True))
            end = time.monotonic() + LIMIT
            for port, master in zip(ports, processes, strict=True):
                wait_for_listener(port, master)
            addresses = [f"127.0.0.1:{port}" for port in ports]
            arguments = ["redis-cli", "--cluster", "create", *addresses, "--cluster-yes"]
            subprocess.run(arguments, stdout=subprocess.DEVNULL, check=True, timeout=LIMIT)
            while redis.Redis(port=ports[0]).cluster("info")["cluster_state"] != "ok":
                assert time.monotonic() < end, "the cluster is not ready"
            yield ports[0]
        finally:
            stop(processes)


def compare_with_redis_cluster(command: str) -> None:
    """Compare eight members with eight masters."""
    with pool_of_all(command) as our_port, redis_cluster() as their_port:
        for pipeline in REQUESTS:
            options = ["--cluster", "-c", "16", "-P", str(pipeline), "-n", str(REQUESTS[pipeline])]
            best: dict[str, list[float]] = {}
            for _ in range(TIMES):
                ours, theirs = (benchmark(port, *options, limit=LIMIT) for port in (our_port, their_port))
                for test in ours:
                    so_far = best.get(test, [0.0, 0.0])
                    best[test] = [max(so_far[0], ours[test].rate), max(so_far[1], theirs[test].rate)]
            for test, (our, their) in best.items():
                print(
                    f"{MEMBERS} members, {test} at pipeline {pipeline:2}: {our:12,.0f} /s, Redis Cluster {their:12,.0f} /s, "
                    f"ratio {our / their:5.2f}, at least {TARGET:g}: {verdict(our / their >= TARGET)}",
                    flush=True,
                )


#: The results of a client: when each request was answered, how long that took, and errors.
Results = tuple[list[tuple[float, float]], list[str]]


def item(number: int) -> str:
    """The key of an item."""
    return f"item:{number:011}"


def value(number: int) -> str:
    """The value of an item."""
    return f"{number}.".ljust(64, "x")


def use(name: int, slots: int, ports: Any, members: Any, items: Any, is_over: Event, results: "Queue[Results]") -> None:
    """A client that reads two items and writes one, again and again: each at any member; or, if given a port for clients that follow slots, at the
    member that has the item's slot."""
    chance, clients = random.Random(name), dict[int, Any]()
    times, failures = list[tuple[float, float]](), list[str]()
    of_cluster: Any = RedisCluster(host="127.0.0.1", port=slots, socket_timeout=LIMIT) if slots else None
    while not is_over.is_set():
        port = ports[chance.randrange(members.value)]
        client = of_cluster or clients.get(port) or clients.setdefault(port, redis.Redis(port=port, socket_timeout=LIMIT))
        number = chance.randrange(items.value)
        begun = time.monotonic()
        try:
            if chance.random() < 2 / 3:
                if not client.get(item(number)).startswith(b"%d." % number):
                    failures.append(f"item {number} is another")
            else:
                client.set(item(number), value(number))
        except Exception as error:
            failures.append(f"{error!r} at item {number}")
        end = time.monotonic()
        times.append((end, end - begun))
    results.put((times, failures))


class Load:
    """Clients that use a pool until the block is left, each a process of its own."""

    def __init__(self, pool: Pool, follow_slots: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.pool, self.ports = pool, context.Array("l", MEMBERS, lock=False)
        #: How many members they ask, and how many items.
        self.members, self.items = context.Value("l", 0), context.Value("l", ITEMS)
        self.ask_all()
        self.is_over, self.results = context.Event(), context.Queue()
        slots = pool.ports[0][1] if follow_slots else 0
        shared = (slots, self.ports, self.members, self.items, self.is_over, self.results)
        self.clients = [context.Process(target=use, args=(name, *shared)) for name in range(CLIENTS)]
        #: When each request was answered, and how long that took; known once all have ended.
        self.times: list[tuple[float, float]] = []
        self.failures: list[str] = []

    def ask_all(self) -> None:
        """From now on, ask all members that there are."""
        for number, (port, _, _) in enumerate(self.pool.ports):
            self.ports[number] = port
        self.members.value = len(self.pool.ports)

    def __enter__(self) -> "Load":
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.is_over.set()
        for _ in self.clients:
            times, failures = self.results.get(timeout=LIMIT)
            self.times += times
            self.failures += failures
        for client in self.clients:
            client.join(LIMIT)


def fill(port: int, items: int) -> None:
    """Store all items, many in each pipeline."""
    with redis.Redis(port=port) as client:
        for first in range(0, items, 10_000):
            with client.pipeline(transaction=False) as pipeline:
                for number in range(first, min(first + 10_000, items)):
                    pipeline.set(item(number), value(number))
                pipeline.execute()


def delete_items(port: int, first: int, last: int) -> None:
    """Delete items, some at a time."""
    with redis.Redis(port=port) as client:
        for begun in range(first, last, 100):
            client.delete(*(item(number) for number in range(begun, min(begun + 100, last))))


def report_keys(pool: Pool, items: int) -> None:
    """Report whether each item exists exactly once, and nothing else, according to the member that joined last."""
    with redis.Redis(port=pool.ports[-1][0]) as client:
        found = Counter(client.scan_iter(count=10_000))
        size = client.dbsize()
    expected = {item(number).encode() for number in range(items)}
    lost, doubled = len(expected - set(found)), sum(count > 1 for count in found.values())
    unexpected = len(set(found) - expected)
    whole = (lost, doubled, unexpected, size) == (0, 0, 0, items)
    print(f"  keys: {lost} lost, {doubled} doubled, {unexpected} that nobody stored, DBSIZE {size:,} of {items:,}: {verdict(whole)}", flush=True)


def report_change(name: str, times: list[tuple[float, float]], begun: float, ended_at: float) -> None:
    """Report throughput and latency while the pool changed, and before and after."""
    before = [answer for answer in times if begun - BEFORE / 2 <= answer[0] < begun]
    during = [answer for answer in times if begun <= answer[0] < ended_at]
    after = [answer for answer in times if ended_at <= answer[0] < ended_at + BEFORE / 2]
    rate_before = len(before) / (BEFORE / 2)
    windows = [0] * max(1, int((ended_at - begun) / WINDOW))
    for at, _ in during:
        if (window := int((at - begun) / WINDOW)) < len(windows):
            windows[window] += 1
    least = min(windows) / WINDOW / rate_before
    p99 = [percentile([latency for _, latency in part], 0.99) * 1e3 for part in (before, during, after)]
    longest = [percentile([latency for _, latency in part], 1.0) * 1e3 for part in (before, during, after)]
    print(
        f"{name}: throughput {rate_before:,.0f} /s before, {len(during) / (ended_at - begun):,.0f} /s during, {len(after) / (BEFORE / 2):,.0f} /s after; "
        f"least of {WINDOW:g} s {least:.0%}, at least {LEAST_THROUGHPUT:.0%}: {verdict(least >= LEAST_THROUGHPUT)}"
    )
    print(
        f"  p99 {p99[0]:.2f} ms before, {p99[1]:.2f} ms during, {p99[2]:.2f} ms after, at most {MOST_LATENCY:g} times: "
        f"{verdict(p99[1] <= MOST_LATENCY * p99[0])}; longest {longest[0]:.1f}, {longest[1]:.1f}, {longest[2]:.1f} ms",
        flush=True,
    )


def report_failures(load: Load) -> None:
    """Report how many requests failed, and the first of those."""
    print(f"  {len(load.failures)} errors of {len(load.times):,} requests: {verdict(not load.failures)}")
    print("\n".join(load.failures[:10]))


def grow_and_shrink(command: str, follow_slots: bool) -> None:
    """Let a pool grow from one server to eight and shrink to a few, while clients use it."""
    pool = Pool(command, capacity=ITEMS // 10)
    try:
        fill(pool.ports[0][0], ITEMS)
        with Load(pool, follow_slots) as load:
            time.sleep(BEFORE)
            begun = time.monotonic()
            while len(pool.ports) < MEMBERS:
                pool.add()
            ready = time.monotonic()
            pool.wait_for_servers(MEMBERS)
            grown = time.monotonic()
            time.sleep(BEFORE / 2)
            print(f"1 to {MEMBERS} servers with {ITEMS:,} items: {grown - begun:.1f} s, of which {ready - begun:.1f} s to start the members")
            report_keys(pool, ITEMS)
            # From now on they ask every member, since the figures before shrinking are those of a table on eight.
            load.ask_all()
            load.items.value = LEFT
            time.sleep(BEFORE)
            emptied = time.monotonic()
            delete_items(pool.ports[0][0], LEFT, ITEMS)
            deleted = time.monotonic()
            pool.wait_for_servers(FEW, at_most=True)
            shrunk = time.monotonic()
            time.sleep(BEFORE / 2)
            print(f"back to {pool.server_count()} servers: {shrunk - emptied:.1f} s, of which {deleted - emptied:.1f} s to take out all but {LEFT:,} items")
            report_keys(pool, LEFT)
        report_change(f"1 to {MEMBERS}", load.times, begun, grown)
        report_change(f"{MEMBERS} to {FEW}", load.times, emptied, shrunk)
        report_failures(load)
    finally:
        stop(pool.processes)


def grow_and_shrink_as_asked(command: str, follow_slots: bool) -> None:
    """Let a pool whose members stand by grow to eight servers and shrink to one, while clients use it, as an operator asks for it."""
    pool = Pool(command, capacity=2 * ITEMS)
    try:
        fill(pool.ports[0][0], ITEMS)
        while len(pool.ports) < MEMBERS:
            pool.add()

        def ask(change: str) -> None:
            arguments = [command, "store", change, f"127.0.0.1:{pool.ports[0][0]}", str(MEMBERS - 1), "--wait", str(LIMIT)]
            subprocess.run(arguments, stdout=subprocess.DEVNULL, check=True, timeout=LIMIT)

        times = []
        with Load(pool, follow_slots) as load:
            for change in ("grow", "shrink"):
                time.sleep(BEFORE)
                begun = time.monotonic()
                ask(change)
                times.append((change, begun, time.monotonic()))
            time.sleep(BEFORE / 2)
            print(f"{MEMBERS} members that stand by, {ITEMS:,} items, as asked: " + ", ".join(f"{name} {end - begun:.1f} s" for name, begun, end in times))
            report_keys(pool, ITEMS)
        for change, begun, end in times:
            report_change(change, load.times, begun, end)
        report_failures(load)
    finally:
        stop(pool.processes)


def move(command: str) -> None:
    """Measure how long one split takes that moves this many keys."""
    pool = Pool(command, capacity=2 * MOVED)
    try:
        fill(pool.ports[0][0], 2 * MOVED)
        pool.add()
        before, after = (redis.Redis(port=port) for port, _, _ in pool.ports)
        begun, end = None, time.monotonic() + LIMIT
        while True:
            # A server checks whether it is too full when it stores something.
            before.set(item(0), value(0))
            parent, child = (client.info("pool") for client in (before, after))
            is_over = "server1" in child and child["server1"]["steady"] == parent["server0"]["steady"] == 1
            if begun is None and (parent["server0"]["steady"] == 0 or "server1" in child):
                begun = time.monotonic()
            if is_over:
                break
            assert time.monotonic() < end, "it does not split"
        assert begun is not None
        took = time.monotonic() - begun
        print(f"{child['server1']['records']:,} keys moved by a split: {took:.2f} s, under {MOST_MOVING:g} s: {verdict(took < MOST_MOVING)}", flush=True)
    finally:
        stop(pool.processes)


def main() -> None:
    """Measure, and print a table."""
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        print("redis-server or redis-benchmark is not installed: nothing measured (scripts/need redis)")
        return
    command = sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).with_name("maquette"))
    move(command)
    for follow_slots in (False, True):
        print(f"{CLIENTS} clients of redis-py that " + ("follow the slots" if follow_slots else "ask any member"))
        grow_and_shrink(command, follow_slots)
        grow_and_shrink_as_asked(command, follow_slots)
    compare_with_redis_cluster(command)


if __name__ == "__main__":
    main()
