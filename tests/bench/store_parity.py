"""A server of a million items is lost, with its disk, and rebuilt on a spare, while four clients send requests.

    .venv/bin/python tests/bench/store_parity.py [COMMAND]

Four members host a server each, of a million items with values of 64 bytes; a fifth keeps parity of them, and a sixth stands by. One of the four
is killed, and its directory destroyed. It is back as soon as requests for its keys are answered. Nothing fails where the
figure is missed; the table says so. COMMAND is the `maquette` to measure; by default the installed one.
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
#: The longest time that the server may be gone. [s]
MOST_GONE = 5.0
#: How long to measure before and after. [s]
BEFORE, AFTER = 5.0, 5.0
#: The longest wait for anything. [s]
LIMIT = 180


def key(number: int) -> str:
    """An item's key, of 16 bytes."""
    return f"item:{number:011}"


class Member:
    """A process that is a member of the pool."""

    def __init__(self, command: str, directory: Path, *options: str) -> None:
        self.directory = directory
        # A server splits at four fifths of its capacity.
        arguments = [command, "store", "serve", "--json", "--log-level", "error", "--port", "0", "--capacity", str(ITEMS * 6 // 5)]
        arguments += ["--parity", "1", "--fsync", "never", "--data", str(directory), *options]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        startup = json.loads(self.process.stdout.readline())
        self.port, self.members = int(startup["listening"][0].rpartition(":")[2]), startup["members"]

    def information(self, section: str) -> dict[str, Any]:
        """A section of its `INFO`."""
        information: dict[str, Any] = redis.Redis(port=self.port).info(section)
        return information


def wait_for(description: str, condition: Any) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, description
        time.sleep(0.05)


def fill(port: int, first: int, last: int) -> None:
    """Store items."""
    client = redis.Redis(port=port)
    for begin in range(first, last, 1_000):
        client.mset({key(number): "x" * 64 for number in range(begin, min(begin + 1_000, last))})


def use(port: int, seed: int, is_over: Event, results: "Queue[list[tuple[float, float]]]") -> None:
    """Read and write items until `is_over` is set; records when each request was answered, and how long that took."""
    client, chance, answers = redis.Redis(port=port, socket_timeout=LIMIT), Random(seed), []
    while not is_over.is_set():
        name, begun = key(chance.randrange(MEMBERS * ITEMS)), time.monotonic()
        if chance.random() < 0.5:
            assert client.get(name) is not None, f"{name} is lost"
        else:
            client.set(name, "x" * 64)
        now = time.monotonic()
        answers.append((now, now - begun))
    results.put(answers)


def measure(members: list[Member], lost: Member) -> None:
    """Lose a member while clients send requests, and print how that affects them."""
    others = [member for member in members if member is not lost]
    context = multiprocessing.get_context("spawn")
    is_over, results = context.Event(), context.Queue()
    clients = [context.Process(target=use, args=(others[number % 3].port, number, is_over, results)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    servers = {name: server["records"] for name, server in servers_of(lost).items()}
    time.sleep(BEFORE)
    shutil.rmtree(lost.directory)
    lost.process.kill()
    killed = time.monotonic()
    wait_for("it is rebuilt", lambda: all(any(name in other.information("pool") for other in others) for name in servers))
    rebuilt = time.monotonic()
    # That many keys are spread over all servers, including the lost one.
    assert all(redis.Redis(port=others[0].port, socket_timeout=LIMIT).mget([key(number) for number in range(100)]))
    answered = time.monotonic()
    time.sleep(AFTER)
    is_over.set()
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
    """The beginning and the length of each period: before, during and after the loss."""
    return [(killed - BEFORE, BEFORE), (killed, answered - killed), (answered, AFTER)]


def servers_of(member: Member) -> dict[str, dict[str, Any]]:
    """The servers of a member, by name: `server0`, for example. The members that it knows, `pool_member0` and so on, are not among them."""
    return {name: about for name, about in member.information("pool").items() if name.startswith("server")}


def has_its_share(member: Member) -> bool:
    """Whether a member has a server with nearly all of its items that neither splits nor merges."""
    return any(server["steady"] and server["records"] > 0.9 * ITEMS for server in servers_of(member).values())


def main() -> None:
    """Start the pool, fill it, and measure."""
    command = sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).with_name("maquette"))
    with tempfile.TemporaryDirectory() as directory:
        members: list[Member] = []
        roles = [*([] for _ in range(MEMBERS)), ["--role", "parity"], ["--role", "spare"]]
        try:
            for number, role in enumerate(roles):
                join = ["--join", members[0].members] if members else []
                members.append(Member(command, Path(directory, str(number)), *role, *join))
            wait_for("all know each other", lambda: all(member.information("pool")["pool_members"] == len(roles) for member in members))
            context = multiprocessing.get_context("spawn")
            share = MEMBERS * ITEMS // CLIENTS
            parts = [(members[number].port, number * share, (number + 1) * share) for number in range(CLIENTS)]
            with context.Pool(CLIENTS) as pool:
                pool.starmap(fill, parts)
            data = members[:MEMBERS]
            wait_for("all have a server that is steady", lambda: all(has_its_share(member) for member in data))
            wait_for("all are covered", lambda: all(member.information("parity")["parity_covered"] for member in data))
            measure(members, members[1])
        finally:
            for member in members:
                member.process.kill()
                member.process.wait(LIMIT)


if __name__ == "__main__":
    main()
