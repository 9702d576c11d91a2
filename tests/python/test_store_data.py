"""Stores with `--data`: real processes that are killed at random moments under load, and started again.

By hand, with as many rounds as you like: python tests/python/test_store_data.py --rounds 200
"""

import argparse
import json
import os
import random
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

redis = pytest.importorskip("redis", reason="redis-py is not installed: make test installs it")

# Run as a program of its own, it does not find the shared modules.
sys.path.insert(0, str(Path(__file__).parents[1]))

from pools import COMMAND, LIMIT, wait_until
from preloaded import slow_disk
from stores import free_port, running

#: The capacity of a server in these pools, in records.
CAPACITY = 150


class Store:
    """A process that can be killed and started again: it keeps its directory and its ports."""

    def __init__(self, data: Path, *options: str) -> None:
        self.data, self.options = data, options
        self.port, self.members, slots = free_port(), free_port(), free_port()
        self.command = [str(COMMAND), "store", "serve", "--json", "--port", str(self.port), "--data", str(data)]
        self.command += ["--members-port", str(self.members), "--slots-port", str(slots), *options]
        self.start()

    def start(self, **options: Any) -> None:
        """Start it, and wait until it listens."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        assert self.process.stdout is not None
        assert self.process.stdout.readline(), self.process.communicate(timeout=LIMIT)[1]

    def kill(self) -> None:
        """Kill it, as in a crash."""
        self.process.kill()
        self.process.communicate(timeout=LIMIT)

    def client(self) -> Any:
        """A client that never retries."""
        return redis.Redis(port=self.port, decode_responses=True, socket_timeout=LIMIT, retry=None)


@contextmanager
def stores(directory: Path, count: int, *options: str) -> Iterator[list[Store]]:
    """Run a store, or a pool of several, until the block is left."""
    members: list[Store] = []
    try:
        for number in range(count):
            join = ["--join", f"127.0.0.1:{members[0].members}"] if members else []
            members.append(Store(directory / f"member.{number}", *options, *join))
        wait_until(lambda: all(member.client().info("pool")["pool_members"] == count for member in members), "all know each other")
        yield members
    finally:
        for member in members:
            member.kill()


class Writer(threading.Thread):
    """A client that stores and deletes keys, and knows their possible values."""

    def __init__(self, name: int, members: list[Store], keys: int) -> None:
        super().__init__(name=str(name))
        self.members, self.keys, self.chance = members, keys, random.Random(name)
        #: The possible values of each key: the acknowledged one, and those of requests that were not answered.
        self.known: dict[str, set[str | None]] = {}
        self.grows, self.is_over, self.acknowledged = True, False, 0
        self.failures: list[str] = []

    def run(self) -> None:
        generation = 0
        while not self.is_over:
            try:
                with self.chance.choice(self.members).client() as client:
                    while not self.is_over:
                        self.request(client, f"{self.name}:{generation}:{self.chance.randrange(self.keys)}")
            except (redis.ConnectionError, redis.TimeoutError):
                # The value of the last key is unknown: from now on other keys are used.
                generation += 1
                time.sleep(0.01)
            except redis.ResponseError as error:
                self.failures.append(repr(error))
                return

    def request(self, client: Any, key: str) -> None:
        value = None if self.chance.random() < (0.2 if self.grows else 0.8) else str(self.chance.random())
        before = self.known.get(key, {None})
        self.known[key] = before | {value}
        found = client.getdel(key) if value is None else client.set(key, value, get=True)
        self.known[key] = {value}
        self.acknowledged += 1
        if found not in before:
            self.failures.append(f"{key} was {found} and not one of {before}")


def rounds(directory: Path, count: int, members: int, seed: int, *options: str) -> tuple[int, int]:
    """Kill members `count` times, and check everything that was acknowledged; returns the number of acknowledged requests and of splits."""
    chance, splits = random.Random(seed), 0
    with stores(directory, members, "--capacity", str(CAPACITY), *options) as all_members:
        writers = [Writer(name, all_members, CAPACITY // 4 * members) for name in range(4)]
        for writer in writers:
            writer.start()
        try:
            for number in range(count):
                time.sleep(chance.uniform(0.02, 0.5))
                splits += sum(int(member.client().info("pool")["pool_splits"]) for member in all_members)
                victims = all_members if chance.random() < 0.1 else [chance.choice(all_members)]
                if chance.random() < 0.3:
                    with suppress(redis.ResponseError):  # one is already being made
                        victims[0].client().bgrewriteaof()
                for victim in victims:
                    victim.kill()
                for victim in victims:
                    victim.start()
                for writer in writers:
                    writer.grows = number // 4 % 2 == 0
        finally:
            for writer in writers:
                writer.is_over = True
            for writer in writers:
                writer.join(LIMIT)
        assert not any(writer.is_alive() for writer in writers), "a client waits for ever"
        check(all_members, writers)
        return sum(writer.acknowledged for writer in writers), splits


def check(members: list[Store], writers: list[Writer]) -> None:
    """Every key has a possible value, and exists once, whichever member is asked."""
    known = {key: values for writer in writers for key, values in writer.known.items()}
    assert not [failure for writer in writers for failure in writer.failures]
    for member in members:
        with member.client() as client:
            keys = sorted(known)
            found = dict(zip(keys, client.mget(keys), strict=True))
            wrong = {key: (found[key], known[key]) for key in keys if found[key] not in known[key]}
            assert not wrong
            existing = sorted(key for key in keys if found[key] is not None)
            assert sorted(client.keys()) == existing
            assert client.dbsize() == len(existing)


def test_a_killed_store_keeps_everything_acknowledged(tmp_path: Path) -> None:
    acknowledged, _ = rounds(tmp_path, 5, 1, 1, "--fsync", "always", "--servers", "4")
    assert acknowledged > 100


def test_a_pool_whose_members_are_killed_keeps_everything_acknowledged(tmp_path: Path) -> None:
    acknowledged, splits = rounds(tmp_path, 8, 3, 2, "--fsync", "every-second")
    assert acknowledged > 100
    assert splits > 0


def test_clients_do_not_wait_while_the_disk_makes_splits_durable_and_other_members_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = slow_disk(monkeypatch, tmp_path, 2 * LIMIT)
    with stores(tmp_path, 2, "--capacity", "100", "--fsync", "every-second") as members:
        founder, other = (member.client() for member in members)

        def commands() -> int:
            return int(founder.info("stats")["total_commands_processed"])

        slow.touch()
        before = commands()
        with socket.create_connection(("127.0.0.1", members[0].port)) as writer:
            # Replies about records that are on their way wait for the other member.
            writer.sendall(b"".join(b"SET key%d value\r\n" % key for key in range(150)))
            wait_until(lambda: commands() >= before + 150, "the founder has so many records that it splits")
            assert founder.ping() and other.ping()
            assert other.info("pool")["pool_servers_here"] == 0, "it has heard of a split that can be lost"
            slow.unlink()
            wait_until(lambda: other.info("pool")["pool_servers_here"] > 0, "the split goes on")


def test_a_snapshot_replaces_logs(tmp_path: Path) -> None:
    with stores(tmp_path, 1) as [store]:
        with store.client() as client:
            client.mset({f"key:{number}": "x" * number for number in range(2_000)})
            client.set("late", 1, px=60_000)
            assert client.info("persistence")["aof_enabled"] == 1
            assert client.config_get("append*") == {"appendonly": "yes", "appendfsync": "everysec"}
            before = client.lastsave()
            client.bgsave()
            wait_until(lambda: "log.1" not in os.listdir(store.data), "a snapshot replaces the first log")
            wait_until(lambda: client.info("persistence")["rdb_bgsave_in_progress"] == 0, "the snapshot is made")
            assert client.lastsave() >= before
            client.append("key:1999", "y")
            client.delete("key:0")
        assert sorted(os.listdir(store.data)) == ["lock", "log.2", "snapshot.2"]
        store.kill()
        store.start()
        with store.client() as client:
            assert client.dbsize() == 2_000
            assert client.get("key:1999") == "x" * 1_999 + "y"
            assert 0 < client.pttl("late") <= 60_000


def test_save_returns_when_the_snapshot_is_made(tmp_path: Path) -> None:
    with stores(tmp_path, 1) as [store], store.client() as client:
        client.mset({f"key:{number}": "x" * number for number in range(2_000)})
        before = client.lastsave()
        assert client.save() is True
        assert sorted(os.listdir(store.data)) == ["lock", "log.2", "snapshot.2"]
        assert client.lastsave() >= before and client.info("persistence")["rdb_bgsave_in_progress"] == 0
        with pytest.raises(redis.ResponseError, match="not allowed inside a transaction"):
            client.pipeline().execute_command("SAVE").execute()
        store.kill()
        store.start()
        assert client.strlen("key:1999") == 1_999


def test_a_store_without_data_makes_no_snapshot() -> None:
    with running([str(COMMAND), "store", "serve"]) as (port, _), redis.Redis(port=port) as client:
        for request in (client.save, client.bgsave, client.bgrewriteaof):
            with pytest.raises(redis.ResponseError, match="the store has no --data"):
                request()
        assert abs(client.lastsave().timestamp() - time.time()) < LIMIT


def refusal(command: list[str]) -> str:
    """The error of a store that can't be started."""
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert ended.returncode == 2, ended
    assert ended.stderr.startswith("error: ") and ended.stderr.count("\n") == 1
    return ended.stderr


def test_a_directory_that_can_not_be_used_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "member.0"
    with stores(tmp_path, 1, "--fsync", "always") as [store]:
        command = [*store.command[:4], "--port", "0", "--data", str(data)]
        assert f"`{data}` is in use by another store" in refusal(command)
        with store.client() as client:
            for number in range(20):
                client.set(f"key:{number}", number)
    log = data / "log.1"
    assert f"`{log}` is not a directory" in refusal([*command[:-1], str(log)])
    whole = log.read_bytes()
    log.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
    assert f"`{log}` is damaged at byte" in refusal(command)
    log.write_bytes(whole[:20] + b"\x07" + whole[21:])
    assert "it has version 7 of the format; this store reads version 3" in refusal(command)
    log.write_bytes(b"something else\n" * 20)
    assert "it is not a file of a store" in refusal(command)
    log.write_bytes(whole)
    (data / "log.3").write_bytes(whole)
    assert f"`{data / 'log.2'}` is missing, though there is a later file" in refusal(command)
    (tmp_path / "file").write_text("")
    assert f"can't make `{tmp_path / 'file' / 'data'}`: Not a directory" in refusal([*command[:-1], str(tmp_path / "file" / "data")])


@pytest.mark.parametrize("fsync", ["always", "every-second", "never"])
def test_damage_in_what_the_disk_had_confirmed_is_an_error_and_any_other_is_cut_off(tmp_path: Path, fsync: str) -> None:
    with stores(tmp_path, 1, "--fsync", fsync) as [store]:
        log = store.data / "log.1"
        with store.client() as client:
            client.set("early", 1)
            end_of_early = log.stat().st_size

            def is_confirmed() -> bool:
                # A batch begins with its length, and with how much of the log the disk had confirmed.
                begin = log.stat().st_size
                client.incr("between")
                _, confirmed = struct.unpack_from("<QQ", log.read_bytes(), begin)
                return bool(confirmed >= end_of_early)

            if fsync == "never":
                assert not is_confirmed()
            else:
                wait_until(is_confirmed, "the disk has confirmed the first write")
            client.set("late", 1)
        store.kill()
        whole = log.read_bytes()

        def damage(place: int) -> None:
            (store.data / "log.2").unlink(missing_ok=True)
            log.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])

        def keys_after_start() -> list[str]:
            store.start()
            with store.client() as client:
                keys: list[str] = sorted(client.keys())
            store.process.terminate()
            assert f"warning: `{log}` is incomplete" in store.process.communicate(timeout=LIMIT)[1]
            return keys

        damage(len(whole) - 1)
        assert keys_after_start() == ["between", "early"]
        damage(end_of_early - 1)
        if fsync == "never":
            assert keys_after_start() == []
        else:
            assert f"`{log}` is damaged at byte" in refusal(store.command)


@pytest.mark.parametrize("fsync", ["always", "never"])
def test_a_log_that_lost_its_end_takes_later_ones_with_it_unless_the_disk_had_confirmed_it(tmp_path: Path, fsync: str) -> None:
    with stores(tmp_path, 1, "--fsync", fsync) as [store]:
        first = store.data / "log.1"
        with store.client() as client:
            client.set("early", 1)
            client.set("torn", 1)
            whole = first.read_bytes()
            client.save()
            client.set("late", 1)
            client.set("last", 1)
        store.kill()
        # What a machine that lost power may have kept: a later log, but neither the snapshot nor all of the log before.
        (store.data / "snapshot.2").unlink()
        first.write_bytes(whole[:-1])
        if fsync == "always":
            assert f"`{first}` is damaged at byte" in refusal(store.command)
            return
        store.start()
        with store.client() as client:
            assert client.keys() == ["early"]
            client.set("new", 1)
        store.kill()
        store.start()
        with store.client() as client:
            assert sorted(client.keys()) == ["early", "new"]


def test_a_log_that_has_grown_large_is_replaced_while_clients_write(tmp_path: Path) -> None:
    value = "x" * (1 << 20)
    with stores(tmp_path, 1) as [store], store.client() as client:
        for number in range(70):
            client.set(f"key:{number}", value)
        wait_until(lambda: "snapshot.2" in os.listdir(store.data), "a snapshot is made")
        client.set("late", 1)
        wait_until(lambda: sorted(os.listdir(store.data)) == ["lock", "log.2", "snapshot.2"], "it replaces the first log")
        store.kill()
        store.start()
        assert client.dbsize() == 71
        assert client.strlen("key:69") == len(value) and client.get("late") == "1"


def test_an_incomplete_entry_at_the_end_of_the_log_is_cut_off(tmp_path: Path) -> None:
    with stores(tmp_path, 1) as [store]:
        with store.client() as client:
            client.set("kept", 1)
            client.set("torn", 1)
        store.kill()
        log = store.data / "log.1"
        log.write_bytes(log.read_bytes()[:-1])
        store.start()
        with store.client() as client:
            assert client.get("kept") == "1"
            assert client.get("torn") is None
        store.process.send_signal(signal.SIGTERM)
        assert "is incomplete" in store.process.communicate(timeout=LIMIT)[1]


def test_a_store_whose_disk_is_full_exits_and_acknowledges_nothing_more(tmp_path: Path) -> None:
    most = 100_000

    def limit_file_size() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    acknowledged = -1
    with stores(tmp_path, 1) as [store]:
        store.kill()
        store.start(preexec_fn=limit_file_size, restore_signals=False)
        with store.client() as client, pytest.raises(redis.ConnectionError):
            for number in range(most):
                client.set(f"key:{number}", "x" * 100)
                acknowledged = number
        error = store.process.communicate(timeout=LIMIT)[1]
        assert store.process.returncode == 1
        assert "it can't keep what clients store: can't write to" in error
        store.start()
        with store.client() as client:
            assert acknowledged > 0
            assert client.dbsize() == acknowledged + 1


def main() -> None:
    """Run the requested number of rounds."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--members", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fsync", default="always")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        store_options = ["--fsync", options.fsync, *(["--servers", "4"] if options.members == 1 else [])]
        acknowledged, splits = rounds(Path(directory), options.rounds, options.members, options.seed, *store_options)
    print(json.dumps({"rounds": options.rounds, "acknowledged": acknowledged, "splits": splits}))


if __name__ == "__main__":
    main()
