"""Pools of stores for tests: real processes, whose members are started, watched and ended."""

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
#: As long anything may take that is waited for. [s]
LIMIT = 20
#: Records for which a server of these pools has room.
CAPACITY = 400


class Member:
    """A process that is a member of a pool. Clients of Redis are told how to speak with it, if there is more to that than its port."""

    def __init__(self, *options: str, how: dict[str, Any] | None = None) -> None:
        self.how = how or {}
        # It hears Ctrl-C, also where this process was started to ignore it, as in the background of a script.
        line = ["env", "--default-signal=INT", str(COMMAND), "store", "serve", "--json", "--port", "0"]
        line += ["--capacity", str(CAPACITY), *options]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        text = self.process.stdout.readline()
        assert text, self.process.communicate(timeout=LIMIT)[1]
        #: What it says of where it listens.
        self.told: dict[str, Any] = json.loads(text)
        #: Where other members call.
        self.members = str(self.told["members"])
        self.port = port_of(self.told["listening"][0])
        #: For clients that follow slots.
        self.slots = port_of(self.told["slots"])

    def lines(self, count: int) -> list[str]:
        """The next lines of its log, as soon as they are there."""
        assert self.process.stderr is not None
        return [self.process.stderr.readline().rstrip("\n") for _ in range(count)]

    def client(self) -> Any:
        """A client of Redis that knows only this member."""
        return redis.Redis(port=self.port, decode_responses=True, socket_timeout=LIMIT, **self.how)

    def pool(self) -> dict[str, Any]:
        """What it says of the pool."""
        with self.client() as client:
            told: dict[str, Any] = client.info("pool")
        return told


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


@contextmanager
def pool_of(count: int, *options: str, how: dict[str, Any] | None = None) -> Iterator[list[Member]]:
    """A pool, until the block is left: members that are added to the list end then, too."""
    members: list[Member] = []
    try:
        members.append(Member(*options, how=how))
        while len(members) < count:
            members.append(Member("--join", members[0].members, *options, how=how))
        wait_until(lambda: all(one.pool()["pool_members"] == count for one in members), "all know each other")
        yield members
    finally:
        for member in members:
            member.process.terminate()
        for member in members:
            member.process.communicate(timeout=LIMIT)


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Wait for what comes by itself."""
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, f"it does not come to pass that {what}"


def servers(members: list[Member]) -> int:
    """How many servers the pool has."""
    return sum(int(member.pool()["pool_servers_here"]) for member in members)


def while_it_grows(members: list[Member], use: Callable[[int, list[Member]], None]) -> None:
    """Clients of the names 0 to 3 use a pool at once, and a member joins it meanwhile; what goes wrong in any of them is raised."""
    failures: list[str] = []

    def watched(name: int) -> None:
        try:
            use(name, members)
        except Exception as error:
            failures.append(f"client {name}: {error!r}")

    threads = [threading.Thread(target=watched, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    members.append(Member("--join", members[1].members))
    for thread in threads:
        thread.join(3 * LIMIT)
    assert not failures and not any(thread.is_alive() for thread in threads), failures
