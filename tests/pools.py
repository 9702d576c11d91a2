"""Pools of stores for tests: their members are real processes."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

redis = pytest.importorskip("redis", reason="redis-py is not installed: make test installs it")

COMMAND = Path(sys.executable).with_name("maquette")
#: The longest wait for anything. [s]
LIMIT = 20
#: The capacity of a server in these pools, in records.
CAPACITY = 400


class Member:
    """A process that is a member of a pool. `client_options` are further options of the Redis clients that connect to it."""

    def __init__(self, *options: str, client_options: dict[str, Any] | None = None) -> None:
        self.client_options = client_options or {}
        # It reacts to Ctrl-C and SIGHUP even where this process inherited them as ignored, as in the background of a script or under nohup.
        command = ["env", "--default-signal=INT,HUP", str(COMMAND), "store", "serve", "--json", "--port", "0"]
        command += [*options, *([] if "--capacity" in options else ["--capacity", str(CAPACITY)])]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        text = self.process.stdout.readline()
        assert text, self.process.communicate(timeout=LIMIT)[1]
        #: The JSON that it prints when it starts, with its addresses.
        self.startup: dict[str, Any] = json.loads(text)
        #: The address for other members.
        self.members = str(self.startup["members"])
        self.port = port_of(self.startup["listening"][0])
        #: The port for clients that follow slots.
        self.slots = port_of(self.startup["slots"])

    def lines(self, count: int) -> list[str]:
        """The next lines of its log; waits for them."""
        assert self.process.stderr is not None
        return [self.process.stderr.readline().rstrip("\n") for _ in range(count)]

    def client(self) -> Any:
        """A Redis client that knows only this member."""
        return redis.Redis(port=self.port, decode_responses=True, socket_timeout=LIMIT, **self.client_options)

    def pool(self) -> dict[str, Any]:
        """What it knows about the pool: `INFO pool`."""
        with self.client() as client:
            information: dict[str, Any] = client.info("pool")
        return information


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


@contextmanager
def pool_of(count: int, *options: str, client_options: dict[str, Any] | None = None) -> Iterator[list[Member]]:
    """Run a pool until the block is left. Members that are added to the list are then stopped, too."""
    members: list[Member] = []
    try:
        members.append(Member(*options, client_options=client_options))
        while len(members) < count:
            members.append(Member("--join", members[0].members, *options, client_options=client_options))
        wait_until(lambda: all(member.pool()["pool_members"] >= count for member in members), "all know each other")
        yield members
    finally:
        for member in members:
            member.process.terminate()
        for member in members:
            member.process.communicate(timeout=LIMIT)


def fill(pool: list[Member]) -> None:
    """Store `3 * CAPACITY` keys in a pool of three members, `key:0` with the value 0 and so on, so that each has a server; nothing else is left in it."""
    with pool[0].client() as client:
        client.flushall()
        client.mset({f"key:{number}": number for number in range(3 * CAPACITY)})
    wait_until(lambda: server_count(pool) == 3, "there are three servers")


def wait_until(condition: Callable[[], bool], description: str) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < end, f"timed out waiting until {description}"


def server_count(members: list[Member]) -> int:
    """The number of servers in the pool."""
    return sum(int(member.pool()["pool_servers_here"]) for member in members)


def while_it_grows(members: list[Member], use: Callable[[int, list[Member]], None]) -> None:
    """Let the clients 0 to 3 use a pool at the same time while a member joins it, and raise the errors of any of them."""
    failures: list[str] = []

    def run_client(name: int) -> None:
        try:
            use(name, members)
        except Exception as error:
            failures.append(f"client {name}: {error!r}")

    threads = [threading.Thread(target=run_client, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    members.append(Member("--join", members[1].members))
    for thread in threads:
        thread.join(3 * LIMIT)
    assert not failures and not any(thread.is_alive() for thread in threads), failures
