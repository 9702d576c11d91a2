"""A server of a million items is lost, with its disk, and rebuilt on a spare while four clients go on.

    .venv/bin/python tests/bench/store_parity.py [COMMAND]

Four members host a server each, of a million items with values of 64 bytes; a fifth keeps parity of them, and a sixth stands by. One of the four
is killed and its directory destroyed. It is there again when its keys are answered. Nothing fails where the figure is missed; the table says
so. COMMAND is the `maquette` that is measured, if not the one that is installed.
"""

import json
import multiprocessing
import shutil
import subprocess
import sys
import tempfile
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import redis

from stores import percentile, verdict

#: Members that host servers, items of each, and clients.
MEMBERS, ITEMS, CLIENTS = 4, 1_000_000, 4
#: As long the server may be gone. [s]
MOST_GONE = 5.0
#: As long it is measured before, and after. [s]
BEFORE, AFTER = 5.0, 5.0
#: As long anything may take. [s]
LIMIT = 180


def key(number: int) -> str:
    """An item's key, of 16 bytes."""
    return f"item:{number:011}"


class Member:
    """A process."""

    def __init__(self, command: str, directory: Path, *options: str) -> None:
        self.directory = directory
        # A server splits when it has four fifths of what it has room for.
        line = [command, "store", "serve", "--json", "--log-level", "error", "--port", "0", "--capacity", str(ITEMS * 6 // 5)]
        line += ["--parity", "1", "--fsync", "never", "--data", str(directory), *options]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        told = json.loads(self.process.stdout.readline())
        self.port, self.members = int(told["listening"][0].rpartition(":")[2]), told["members"]

    def information(self, section: str) -> dict[str, Any]:
        """What it says of itself."""
        told: dict[str, Any] = redis.Redis(port=self.port).info(section)
        return told


def wait_for(what: str, holds: Any) -> None:
    """Wait for what comes by itself."""
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def fill(port: int, first: int, last: int) -> None:
    """Store items."""
    client = redis.Redis(port=port)
    for begin in range(first, last, 1_000):
        client.mset({key(number): "x" * 64 for number in range(begin, min(begin + 1_000, last))})


def use(port: int, seed: int, ends: Event, results: "Queue[list[tuple[float, float]]]") -> None:
    """Read and write items until told to end: when each request was answered, and how long that took."""
    client, chance, answers = redis.Redis(port=port, socket_timeout=LIMIT), Random(seed), []
    while not ends.is_set():
        name, asked = key(chance.randrange(MEMBERS * ITEMS)), time.monotonic()
        if chance.random() < 0.5:
            assert client.get(name) is not None, f"{name} is lost"
        else:
            client.set(name, "x" * 64)
        now = time.monotonic()
        answers.append((now, now - asked))
    results.put(answers)


def measure(members: list[Member], lost: Member) -> None:
    """Loses a member while clients go on, and tells what they see of it."""
    others = [member for member in members if member is not lost]
    context = multiprocessing.get_context("spawn")
    ends, results = context.Event(), context.Queue()
    clients = [context.Process(target=use, args=(others[number % 3].port, number, ends, results)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    servers = {name: told["records"] for name, told in lost.information("pool").items() if isinstance(told, dict)}
    time.sleep(BEFORE)
    shutil.rmtree(lost.directory)
    lost.process.kill()
    killed = time.monotonic()
    wait_for("it is rebuilt", lambda: all(any(name in other.information("pool") for other in others) for name in servers))
    rebuilt = time.monotonic()
    # So many keys are on all servers, on the one that was lost, too.
    assert all(redis.Redis(port=others[0].port, socket_timeout=LIMIT).mget([key(number) for number in range(100)]))
    answered = time.monotonic()
    time.sleep(AFTER)
    ends.set()
    answers = sorted(answer for _ in clients for answer in results.get(timeout=LIMIT))
    for client in clients:
        client.join(LIMIT)
    rates = [sum(begin < at <= begin + length for at, _ in answers) / length for begin, length in windows(killed, answered)]
    print(f"lost with its disk: a server of {sum(servers.values()):,} items; {len(answers):,} requests of {CLIENTS} clients, none refused or wrong")
    print(f"  a spare has it after {rebuilt - killed:.2f} s, and answers after {answered - killed:.2f} s: {verdict(answered - killed < MOST_GONE)}")
    print(f"  requests a second before, meanwhile and after: {rates[0]:,.0f}, {rates[1]:,.0f}, {rates[2]:,.0f}")
    waits = [took for at, took in answers if killed < at]
    print(f"  p99 from then on {percentile(waits, 0.99) * 1e3:.1f} ms, longest {max(waits):.2f} s")


def windows(killed: float, answered: float) -> list[tuple[float, float]]:
    """When it is measured, and for how long: before, meanwhile, after."""
    return [(killed - BEFORE, BEFORE), (killed, answered - killed), (answered, AFTER)]


def has_its_share(member: Member) -> bool:
    """Whether a member has a server with nearly all of its items, that neither splits nor merges."""
    servers = [told for told in member.information("pool").values() if isinstance(told, dict)]
    return any(told["steady"] and told["records"] > 0.9 * ITEMS for told in servers)


def main() -> None:
    """Measure what there is."""
    command = sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).with_name("maquette"))
    with tempfile.TemporaryDirectory() as directory:
        members: list[Member] = []
        roles = [*([] for _ in range(MEMBERS)), ["--role", "parity"], ["--role", "spare"]]
        try:
            for number, role in enumerate(roles):
                join = ["--join", members[0].members] if members else []
                members.append(Member(command, Path(directory, str(number)), *role, *join))
            wait_for("all know each other", lambda: all(one.information("pool")["pool_members"] == len(roles) for one in members))
            context = multiprocessing.get_context("spawn")
            share = MEMBERS * ITEMS // CLIENTS
            parts = [(members[number].port, number * share, (number + 1) * share) for number in range(CLIENTS)]
            with context.Pool(CLIENTS) as pool:
                pool.starmap(fill, parts)
            data = members[:MEMBERS]
            wait_for("all have a server that is steady", lambda: all(has_its_share(one) for one in data))
            wait_for("all are covered", lambda: all(one.information("parity")["parity_covered"] for one in data))
            measure(members, members[1])
        finally:
            for member in members:
                member.process.kill()
                member.process.wait(LIMIT)


if __name__ == "__main__":
    main()
