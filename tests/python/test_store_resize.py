"""`maquette store grow`, `shrink` and `drain`: more or fewer servers than the records need, and fewer members."""

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from maquette.store import Client
from pools import CAPACITY, COMMAND, LIMIT, Member, pool_of, redis, server_count, wait_until
from preloaded import slow_disk


def resize(command: str, member: Member, by: int, *options: str) -> tuple[int, str]:
    arguments = [str(COMMAND), "store", command, f"127.0.0.1:{member.port}", str(by), *options]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=LIMIT, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_pool_has_the_requested_number_of_servers() -> None:
    with pool_of(4) as members, Client(f"127.0.0.1:{members[2].port}") as store:
        store.execute("MSET", *(argument for number in range(300) for argument in (f"key:{number}", number)))
        assert resize("grow", members[1], 2) == (0, "servers 3\n")
        assert server_count(members) == 3
        # A client that knew only one server reads all records.
        assert [store.get(f"key:{number}") for number in range(300)] == [str(number).encode() for number in range(300)]
        assert store.counts.maps == 1
        status, output = resize("grow", members[0], 2)
        assert status == 1 and "no room for 5 servers: 4 members host at most 4 together" in output
        status, output = resize("shrink", members[3], 1, "--json")
        assert status == 0 and json.loads(output) == {"servers": 2, "asked": 2}
        # Even more records than two servers have room for do not make the table grow, until that is requested.
        for number in range(2 * CAPACITY):
            store.set(f"more:{number}", number)
        assert server_count(members) == 2
        status, output = resize("shrink", members[3], 1)
        assert status == 1 and f"no room for {2 * CAPACITY + 300} records on 1 servers" in output
        assert resize("grow", members[2], 0)[0] == 0
        store.set("one more", 1)
        wait_until(lambda: server_count(members) > 2, "records determine the number of servers again")
        assert store.execute("DBSIZE") == 2 * CAPACITY + 301


def drain(member: Member, *options: str) -> tuple[int, str]:
    arguments = [str(COMMAND), "store", "drain", f"127.0.0.1:{member.port}", *options]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=3 * LIMIT, check=False)
    return done.returncode, done.stdout + done.stderr


class Writers:
    """Clients that write and read, each its own keys, until `end` is called."""

    def __init__(self, members: list[Member]) -> None:
        self.failures: list[str] = []
        #: The last value that each has stored under its keys.
        self.stored: dict[str, str] = {}
        self.is_over = threading.Event()
        clients = [(redis.Redis, member.port) for member in members] + [(redis.RedisCluster, members[0].slots)]
        self.threads = [
            threading.Thread(target=self.write, args=(name, kind, port)) for name, (kind, port) in enumerate(clients)
        ]
        for thread in self.threads:
            thread.start()

    def write(self, name: int, kind: Any, port: int) -> None:
        try:
            with kind(host="127.0.0.1", port=port, socket_timeout=LIMIT) as store:
                count = 0
                while not self.is_over.is_set():
                    key, before = f"writer:{name}:{count % 500}", str(count - 500).encode() if count >= 500 else None
                    assert store.set(key, count, get=True) == before, key
                    self.stored[key] = str(count)
                    count += 1
        except Exception as error:
            self.failures.append(f"writer {name}: {error!r}")

    def end(self) -> dict[str, str]:
        self.is_over.set()
        for thread in self.threads:
            thread.join(LIMIT)
        assert not self.failures and not any(thread.is_alive() for thread in self.threads), self.failures
        return self.stored


def test_a_member_leaves_while_clients_write() -> None:
    count = 20_000
    with pool_of(3, "--servers", "64") as members, members[1].client() as store:
        for first in range(0, count, 1_000):
            store.mset({f"key:{number}": number for number in range(first, first + 1_000)})
        before, moving = server_count(members), int(members[0].pool()["pool_servers_here"])
        assert moving > 5
        # The member that founded the pool, by which the others joined, leaves.
        writers = Writers(members[1:])
        wait_until(lambda: bool(writers.failures) or len(writers.stored) > 1_000, "clients write")
        assert not writers.failures, writers.failures
        status, output = drain(members[0], "--json")
        assert status == 0, output
        report = json.loads(output)
        assert report["left"] and report["servers"] == 0 and len(report["moved"]) >= moving
        assert members[0].process.wait(timeout=LIMIT) == 0
        stored = writers.end()
        assert len(stored) > 1_000
        for key in (f"key:{number}" for number in range(0, count, 1_000)):
            assert store.get(key) == key.partition(":")[2]
        assert {key: store.get(key) for key in stored} == stored
        assert sorted(store.scan_iter(count=1_000)) == sorted([*stored, *(f"key:{number}" for number in range(count))])
        assert all(member.pool()["pool_members"] == 2 for member in members[1:])
        assert server_count(members[1:]) >= before
        with redis.Redis(port=members[2].slots, decode_responses=True) as slots:
            nodes = slots.execute_command("CLUSTER NODES")
        assert len(nodes) == 2 and not any(str(members[0].slots) in node for node in nodes)
        # A new member is admitted by one that was admitted by the member that has left, and all get to know it.
        members.append(Member("--join", members[2].members, "--servers", "64"))
        wait_until(lambda: all(member.pool()["pool_members"] == 3 for member in members[1:]), "all know the new one")


def test_a_member_that_is_killed_while_it_leaves_resumes_leaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = slow_disk(monkeypatch, tmp_path, 0.1)

    def start(number: int, *options: str) -> Member:
        return Member("--servers", "32", "--data", str(tmp_path / str(number)), *options)

    members = [start(0)]
    try:
        members += [start(number, "--join", members[0].members) for number in (1, 2)]
        wait_until(lambda: all(member.pool()["pool_members"] == 3 for member in members), "all know each other")
        with members[0].client() as store:
            for first in range(0, 8_000, 1_000):
                store.mset({f"key:{number}": number for number in range(first, first + 1_000)})
            # The command does not wait, and the member is killed as soon as it has begun. It has to wait for the disk for each of its servers.
            slow.touch()
            drain(members[1], "--wait", "0")
            assert members[1].pool()["pool_servers_here"] > 0, "it has left already"
            members[1].process.kill()
            members[1].process.communicate(timeout=LIMIT)
            slow.unlink()
            members[1] = start(1)
            assert members[1].process.wait(timeout=LIMIT) == 0
            wait_until(lambda: all(member.pool()["pool_members"] == 2 for member in (members[0], members[2])), "it has left")
            assert store.dbsize() == 8_000
            keys = sorted(store.scan_iter(count=1_000))
            assert keys == sorted(f"key:{number}" for number in range(8_000))
            assert store.mget(keys) == [key.partition(":")[2] for key in keys]
        command = [str(COMMAND), "store", "serve", "--port", "0", "--data", str(tmp_path / "1")]
        again = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert again.returncode == 2 and "has left its pool" in again.stderr
    finally:
        for member in members:
            member.process.terminate()
        for member in members:
            member.process.communicate(timeout=LIMIT)


def test_a_member_does_not_leave_if_there_is_no_room_for_its_servers() -> None:
    with pool_of(1) as members, members[0].client() as store:
        status, output = drain(members[0])
        assert status == 1 and "there is no other member to which its servers could move" in output
        members.append(Member("--join", members[0].members))
        wait_until(lambda: members[0].pool()["pool_members"] == 2, "it is admitted")
        store.mset({f"key:{number}": number for number in range(400)})
        wait_until(lambda: server_count(members) == 2, "a server has split")
        status, output = drain(members[1])
        assert status == 1 and "no room for 2 servers: 1 other members host at most 1 together" in output
        assert store.dbsize() == 400
