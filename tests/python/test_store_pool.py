"""Pools of stores, of real processes, with Redis clients that know nothing of pools."""

import json
import random
import select
import shutil
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

redis = pytest.importorskip("redis", reason="redis-py is not installed: make test installs it")

from pools import CAPACITY, COMMAND, LIMIT, Member, fill, pool_of, port_of, server_count, wait_until, while_it_grows
from stores import free_port

@pytest.fixture(scope="module")
def pool() -> Iterator[list[Member]]:
    """A pool of three members, each with a server."""
    with pool_of(3) as members:
        yield members


@pytest.fixture
def filled(pool: list[Member]) -> list[Member]:
    """The pool with 1,200 keys, `key:0` with the value 0 and so on."""
    fill(pool)
    return pool


def test_a_pool_grows_while_clients_use_it() -> None:
    each = 500

    def use(name: int, members: list[Member]) -> None:
        chance = random.Random(name)
        clients = [member.client() for member in members]
        for number in range(each):
            if len(clients) < len(members):
                clients.append(members[-1].client())
            chance.choice(clients).set(f"{name}:{number}", f"value {number}")
            chance.choice(clients).incr("shared")
            known = chance.randrange(number + 1)
            assert chance.choice(clients).get(f"{name}:{known}") == f"value {known}"
        for client in clients:
            client.close()

    with pool_of(3) as members:
        while_it_grows(members, use)
        wait_until(lambda: server_count(members) == 4, "each of the four members has a server")
        for member in members:
            expect_everything(member, {f"{name}:{number}": f"value {number}" for name in range(4) for number in range(each)})


def expect_everything(member: Member, values: dict[str, str]) -> None:
    """A member returns every key once, with its value, and the shared count of four clients."""
    with member.client() as client:
        keys = Counter(client.scan_iter(count=100))
        assert client.get("shared") == str(len(values)) and client.dbsize() == len(values) + 1
        assert keys == Counter([*values, "shared"])
        assert client.mget(list(values)) == list(values.values())


def test_a_member_that_listens_everywhere_announces_the_address_from_which_it_reaches_the_other(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of us all")
    options = ["--secret-file", str(secret), "--unprotected"]
    with pool_of(1, *options) as members:
        members.append(Member("--bind", "0.0.0.0", "--join", members[0].members, *options))
        assert members[1].members.startswith("127.0.0.1:")
        wait_until(lambda: all(member.pool()["pool_members"] == 2 for member in members), "both know each other")
        with members[0].client() as client:
            client.mset({f"key:{number}": number for number in range(2 * CAPACITY)})
        wait_until(lambda: server_count(members) == 2, "there are two servers")
        for member in members:
            with member.client() as client:
                ranges = client.execute_command("CLUSTER SLOTS")
            assert {str(member.startup["slots"]) for member in members} == {f"{host}:{port}" for _, _, (host, port, *_) in ranges}


def test_an_emptied_pool_shrinks(filled: list[Member]) -> None:
    with filled[1].client() as client:
        client.flushall()
        wait_until(lambda: server_count(filled) == 1, "one server is left")
        client.set("after", "all")
        assert [client.get("after"), client.dbsize()] == ["all", 1]


def test_requests_for_several_servers(filled: list[Member]) -> None:
    names = [f"key:{number}" for number in range(50)]
    for number, member in enumerate(filled):
        with member.client() as client:
            assert client.mget([*names, "nothing"]) == [*(str(value) for value in range(50)), None]
            assert client.exists(*names, "nothing") == 50
            new = {f"new:{number}:{value}": value for value in range(50)}
            assert client.mset(new) and client.touch(*new) == 50
            assert client.delete(*new, "nothing") == 50 and client.unlink(*new) == 0
            with pytest.raises(redis.ResponseError, match="same slot"):
                client.msetnx(new)
            assert client.randomkey().startswith("key:")
            assert sorted(client.keys("key:1?")) == [f"key:1{digit}" for digit in range(10)]
            with client.pipeline(transaction=False) as pipeline:
                for name in names:
                    pipeline.get(name)
                assert pipeline.execute() == [str(value) for value in range(50)]


def test_a_request_may_be_for_tens_of_thousands_of_keys_of_several_servers(filled: list[Member]) -> None:
    names = [f"many:{number}" for number in range(30_000)]
    for member in filled[:2]:
        with member.client() as client:
            assert client.mget(names) == [None] * len(names)
            assert client.mset(dict.fromkeys(names[:20_000], "x"))
            assert client.exists(*names) == client.delete(*names) == 20_000


def test_a_pipeline_keeps_the_order_of_requests_for_each_key_and_around_those_for_several() -> None:
    def use(name: int, members: list[Member]) -> None:
        chance, numbers = random.Random(name), dict[str, int]()
        for _ in range(30):
            with chance.choice(members).client() as client, client.pipeline(transaction=False) as pipeline:
                expected: list[object] = []
                for _ in range(200):
                    key, other = (f"{name}:{chance.randrange(100)}" for _ in range(2))
                    match chance.randrange(8):
                        case 0 | 1:
                            numbers[key] = chance.randrange(1000)
                            pipeline.set(key, numbers[key])
                            expected.append(True)
                        case 2 | 3:
                            numbers[key] = numbers.get(key, 0) + 1
                            pipeline.incr(key)
                            expected.append(numbers[key])
                        case 4 | 5:
                            pipeline.get(key)
                            expected.append(str(numbers[key]) if key in numbers else None)
                        case 6:
                            pipeline.mget(key, other)
                            expected.append([str(numbers[each]) if each in numbers else None for each in (key, other)])
                        case _:
                            pipeline.delete(key, other)
                            expected.append(sum(numbers.pop(each, None) is not None for each in (key, other)))
                assert pipeline.execute() == expected

    with pool_of(3) as members:
        with members[0].client() as client:
            client.mset({f"key:{number}": number for number in range(2 * CAPACITY)})
        while_it_grows(members, use)


def test_transactions_wherever_their_keys_are(filled: list[Member]) -> None:
    for member in filled:
        with member.client() as client:
            for tag in range(20):
                with client.pipeline(transaction=True) as pipeline:
                    pipeline.set(f"{{{tag}}}:count", 1).incr(f"{{{tag}}}:count").get(f"{{{tag}}}:nothing").incr(f"{{{tag}}}:count")
                    assert pipeline.execute() == [True, 2, None, 3]
            with pytest.raises(redis.ResponseError, match="same slot"), client.pipeline(transaction=True) as pipeline:
                for number in range(20):
                    pipeline.get(f"key:{number}")
                pipeline.execute()


def test_a_key_on_any_member_can_be_watched_from_any(filled: list[Member]) -> None:
    with filled[0].client() as other:
        for member in filled:
            with member.client() as client, client.pipeline() as pipeline:
                for number in range(20):
                    key = f"{{{number}}}:watched"
                    pipeline.watch(key, f"{{{number}}}:nothing")
                    before = int(pipeline.get(key) or 0)
                    pipeline.multi()
                    pipeline.incr(key).get(f"{{{number}}}:nothing")
                    assert pipeline.execute() == [before + 1, None]
                    pipeline.watch(key)
                    other.set(key, before + 1)
                    pipeline.multi()
                    pipeline.incr(key)
                    with pytest.raises(redis.WatchError):
                        pipeline.execute()
                with pytest.raises(redis.ResponseError, match="same slot"):
                    pipeline.watch(*(f"key:{number}" for number in range(20)))


def test_a_key_that_is_no_longer_watched_may_change(filled: list[Member]) -> None:
    with filled[0].client() as other:
        for member in filled:
            with redis.Redis(port=member.port, single_connection_client=True, socket_timeout=LIMIT) as client:
                for number in range(10):
                    for last in ("WATCH", "UNWATCH", "DISCARD", "EXEC"):
                        client.execute_command("WATCH", f"watched:{number}")
                        if last in ("DISCARD", "EXEC"):
                            client.execute_command("MULTI")
                        client.execute_command(last, *([f"watched:{number}"] if last == "WATCH" else []))
                        other.set(f"watched:{number}", 1)
                        client.execute_command("MULTI")
                        client.execute_command("INCR", f"watched:{number}")
                        assert client.execute_command("EXEC") == (None if last == "WATCH" else [2])


def test_clients_count_by_watch_while_the_pool_grows() -> None:
    each = 50

    def use(name: int, members: list[Member]) -> None:
        chance = random.Random(name)

        def count(pipeline: Any) -> None:
            number = int(pipeline.get("shared") or 0)
            pipeline.multi()
            pipeline.set("shared", number + 1)

        for _ in range(each):
            with chance.choice(members).client() as client:
                client.mset({f"{name}:{chance.randrange(10_000)}": "" for _ in range(20)})
                client.transaction(count, "shared")

    with pool_of(3) as members:
        while_it_grows(members, use)
        for member in members:
            with member.client() as client:
                assert client.get("shared") == str(4 * each)


def test_a_client_that_follows_slots(filled: list[Member]) -> None:
    slots = {member.slots for member in filled}
    for member in filled:
        with redis.RedisCluster(host="127.0.0.1", port=member.slots, decode_responses=True) as cluster:
            assert {node.port for node in cluster.get_primaries()} == slots
            assert all(cluster.get(f"key:{number}") == str(number) for number in range(100))
            assert cluster.set("followed", "1") and cluster.incr("followed") == 2
    with redis.Redis(port=filled[0].slots) as client:
        key_slots = [client.execute_command("CLUSTER", "KEYSLOT", f"key:{number}") for number in range(20)]
        covered = sorted((first, last) for first, last, *_ in client.execute_command("CLUSTER SLOTS"))
        assert covered[0][0] == 0 and covered[-1][1] == 16_383
        assert all(before[1] + 1 == after[0] for before, after in zip(covered, covered[1:], strict=False))
        moved = 0
        for number, slot in enumerate(key_slots):
            try:
                assert client.get(f"key:{number}") == str(number).encode()
            except redis.exceptions.MovedError as error:
                assert error.slot_id == slot and error.port in slots
                moved += 1
        assert moved > 0


def test_redis_cli_follows_slots(filled: list[Member]) -> None:
    cli = shutil.which("redis-cli")
    if cli is None:
        pytest.skip("redis-cli is not installed: scripts/need redis")
    requests = "".join(f"GET key:{number}\n" for number in range(50))
    command = [cli, "-c", "-p", str(filled[2].slots)]
    done = subprocess.run(command, input=requests, capture_output=True, text=True, timeout=LIMIT, check=True)
    replies = [line for line in done.stdout.splitlines() if not line.startswith("-> Redirected")]
    assert replies == [str(number) for number in range(50)] and "-> Redirected" in done.stdout


def test_a_member_without_the_secret_is_not_admitted(tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name).write_text(f"{name}\n")
    ours, theirs = ["--secret-file", str(tmp_path / "ours")], ["--secret-file", str(tmp_path / "theirs")]
    with pool_of(1, *ours) as pool:
        address = pool[0].members
        pool += [Member("--join", address, *theirs), Member("--join", address, *ours)]
        wait_until(lambda: pool[2].pool()["pool_members"] == 2, "the member with the secret is admitted")
        assert [member.pool()["pool_members"] for member in pool] == [2, 1, 2]
        with socket.create_connection(("127.0.0.1", port_of(address)), timeout=LIMIT) as stranger:
            stranger.sendall(b"GET key\r\n" * 100)
            with pytest.raises(ConnectionResetError):
                while stranger.recv(1 << 12):
                    pass
                raise ConnectionResetError


def test_the_reason_why_a_member_is_not_admitted_is_logged_once(tmp_path: Path) -> None:
    for name in ("ours", "theirs"):
        (tmp_path / name).write_text(f"{name}\n")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        refused = f"127.0.0.1:{nobody.getsockname()[1]}"
        with pool_of(1, "--secret-file", str(tmp_path / "ours")) as pool:
            clients = f"127.0.0.1:{pool[0].port}"
            reasons = {refused: "connection refused", pool[0].members: "it has another secret", clients: "no maquette store of this version"}
            pool += [Member("--join", address, "--secret-file", str(tmp_path / "theirs")) for address in reasons]
            strangers = list(zip(pool[1:], reasons.items(), strict=True))
            for member, (address, reason) in strangers:
                line = member.lines(2)[1]
                assert f"not admitted yet by {address}: {reason}" in line and line.endswith("; calling again")
            # They call every half second, but do not log it again.
            pipes = [member.process.stderr for member, _ in strangers if member.process.stderr is not None]
            assert select.select(pipes, [], [], 1.5)[0] == []
            for member, _ in strangers:
                member.process.send_signal(signal.SIGINT)
                assert "not admitted" not in member.process.communicate(timeout=LIMIT)[1]


@pytest.mark.parametrize(
    ("of_pool", "of_member", "refusal"),
    [
        (["--capacity", "500"], ["--capacity", "400"], "--capacity: found 400, the pool has 500"),
        (["--servers", "2"], [], "--servers: found 1, the pool has 2"),
        (["--data", "pool"], [], "--data: found none, the pool has a directory"),
        ([], ["--data", "member"], "--data: found a directory, the pool has none"),
        (["--parity", "1", "--data", "pool"], ["--data", "member"], "--parity: found 0, the pool has 1"),
        (["--parity", "1", "--data", "pool"], ["--parity", "2", "--data", "member"], "--parity: found 2, the pool has 1"),
        (
            ["--parity", "1", "--data", "pool"],
            ["--parity", "1", "--data", "member", "--parity-patience", "5"],
            "--parity-patience: found 5 s, the pool has 1 s",
        ),
        (["--capacity", "500"], ["--data", "member"], "--capacity: found 400, the pool has 500; --data: found a directory, the pool has none"),
    ],
)
def test_a_member_with_other_options_is_not_admitted(tmp_path: Path, of_pool: list[str], of_member: list[str], refusal: str) -> None:
    def in_directory(options: list[str]) -> list[str]:
        return [str(tmp_path / option) if before == "--data" else option for before, option in zip(["", *options], options, strict=False)]

    with pool_of(1, *in_directory(of_pool)) as pool:
        member = Member("--join", pool[0].members, *in_directory(of_member))
        errors = member.process.communicate(timeout=LIMIT)[1]
        assert member.process.returncode == 2, errors
        reason = "since all members of a pool need the same options"
        assert f"error: not admitted by {pool[0].members}, {reason}: {refusal}\n" in errors
        assert pool[0].pool()["pool_members"] == 1


def test_a_member_that_is_restarted_with_another_capacity_is_admitted_and_logs_it(tmp_path: Path) -> None:
    with pool_of(1, "--data", str(tmp_path / "0")) as pool:
        options = ["--join", pool[0].members, "--data", str(tmp_path / "1")]
        pool.append(Member(*options))
        wait_until(lambda: pool[1].pool()["pool_members"] == 2, "it is admitted")
        pool[1].process.terminate()
        pool[1].process.communicate(timeout=LIMIT)
        pool[1] = Member(*options, "--capacity", "500")
        difference = "--capacity: found 500, the pool has 400"
        assert any(line.endswith(f"other options than {pool[0].members}: {difference}") for line in pool[1].lines(3))
        assert pool[1].pool()["pool_members"] == 2


def test_a_member_that_was_not_admitted_at_first_logs_when_it_is() -> None:
    port = free_port()
    early = Member("--join", f"127.0.0.1:{port}")
    assert "not admitted yet" in early.lines(2)[1]
    with pool_of(1, "--members-port", str(port)) as pool:
        pool.append(early)
        assert "connected with member" in early.lines(1)[0]
        assert early.lines(1)[0].endswith("admitted: the pool has 2 members")


def test_ctrl_c_ends_each_member() -> None:
    with pool_of(3) as pool:
        for member in pool:
            member.process.send_signal(signal.SIGINT)
            assert member.process.wait(LIMIT) == 128 + signal.SIGINT
            lines = member.process.communicate(timeout=LIMIT)[1].splitlines()
            assert "listening on" in lines[0] and " ends after " in lines[-1]


def test_the_status_of_a_pool(filled: list[Member]) -> None:
    def status(*options: str) -> str:
        command = [str(COMMAND), "store", "status", f"localhost:{filled[1].port}", *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True).stdout

    printed = json.loads(status("--json"))
    assert sorted(port_of(member["address"]) for member in printed["members"]) == sorted(member.slots for member in filled)
    servers = [server for member in printed["members"] for server in member["servers"]]
    assert sorted(server["server"] for server in servers) == [0, 1, 2] and printed["standing_by"] == 0
    assert sum(server["records"] for server in servers) == 3 * CAPACITY
    slots = sorted(tuple(bounds) for member in printed["members"] for bounds in member["slots"])
    assert slots == [(0, 4095), (4096, 8191), (8192, 16383)]
    assert sum(member["splits"] - member["merges"] for member in printed["members"]) == 2
    first, head, *rows = status().splitlines()
    assert first.startswith(f"servers 3, records {3 * CAPACITY}, ") and head.split()[0] == "member" and len(rows) == 3


def status_of(asked: Member) -> dict[str, Any]:
    command = [str(COMMAND), "store", "status", f"127.0.0.1:{asked.port}", "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    printed: dict[str, Any] = json.loads(ended.stdout)
    return printed


def test_the_status_counts_only_connected_members_as_standing_by_and_names_the_silent_ones() -> None:
    with pool_of(3) as pool:
        wait_until(lambda: status_of(pool[1])["standing_by"] == 2, "all are connected")
        assert status_of(pool[1])["silent"] == []
        pool[2].process.kill()
        pool[2].process.wait(LIMIT)
        for asked in pool[:2]:
            wait_until(lambda asked=asked: status_of(asked)["silent"] == [f"127.0.0.1:{pool[2].slots}"], "it is silent")  # type: ignore[misc]
            assert status_of(asked)["standing_by"] == 1
        command = [str(COMMAND), "store", "status", f"127.0.0.1:{pool[0].port}"]
        lines = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True).stdout.splitlines()
        assert lines[0].endswith("members with servers 1, standing by 1") and lines[1] == f"silent: 127.0.0.1:{pool[2].slots}"


def test_the_status_while_a_member_with_servers_is_gone_shows_the_servers_of_the_one_that_was_asked() -> None:
    with pool_of(3) as pool:
        with pool[0].client() as client:
            client.mset({f"key:{number}": number for number in range(3 * CAPACITY)})
        wait_until(lambda: server_count(pool) == 3, "there are three servers")
        pool[2].process.kill()
        pool[2].process.wait(LIMIT)
        command = [str(COMMAND), "store", "status", f"127.0.0.1:{pool[0].port}", "--json"]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        assert ended.returncode == 1, ended
        assert f"127.0.0.1:{pool[0].port} has not answered CLUSTER SHARDS within 5 s" in ended.stderr
        printed = json.loads(ended.stdout)
        assert [port_of(member["address"]) for member in printed["members"]] == [pool[0].port]
        assert [server["server"] for server in printed["members"][0]["servers"]] == [0] and printed["standing_by"] is None
