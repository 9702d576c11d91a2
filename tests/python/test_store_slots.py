"""The port for clients that follow slots: each member answers there for its own slots, and for the whole table on its other port."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle
from typing import Any

import pytest

redis = pytest.importorskip("redis", reason="redis-py is not installed: make test installs it")

from pools import CAPACITY, LIMIT, Member, fill, pool_of

#: The number of keys.
KEYS = 3 * CAPACITY


@pytest.fixture(scope="module")
def pool() -> Iterator[list[Member]]:
    """A pool of three members, each with a server."""
    with pool_of(3) as members:
        yield members


@pytest.fixture
def filled(pool: list[Member]) -> list[Member]:
    """The pool with 1,200 keys, of which every third expires."""
    fill(pool)
    with pool[0].client() as client:
        for number in range(0, KEYS, 3):
            client.expire(f"key:{number}", 1_000)
    return pool


def at_slots(member: Member) -> Any:
    """A client of this member alone, on its port for clients that follow slots."""
    return redis.Redis(port=member.slots, decode_responses=True, socket_timeout=LIMIT)


def test_each_member_answers_for_its_own_slots_and_on_the_other_port_for_the_table(filled: list[Member]) -> None:
    keys, sizes, counted = Counter[str](), [], 0
    for member in filled:
        with at_slots(member) as own, member.client() as anyone:
            slots = {slot for first, last, node in own.execute_command("CLUSTER SLOTS") if node[1] == member.slots for slot in (first, last)}
            found = own.keys("*")
            keys.update(found)
            sizes.append(own.dbsize())
            assert sizes[-1] == len(found) == own.info("keyspace")["db0"]["keys"] and 0 < len(found) < KEYS
            assert Counter(own.scan_iter(count=50)) == Counter(found)
            assert {own.randomkey() for _ in range(20)} <= set(found)
            assert all(min(slots) <= own.execute_command("CLUSTER KEYSLOT", key) <= max(slots) for key in found)
            counted += sum(own.execute_command("CLUSTER COUNTKEYSINSLOT", slot) for slot in range(0, 16_384, 256))
            assert anyone.dbsize() == len(anyone.keys("*")) == len(list(anyone.scan_iter(count=50))) == KEYS
            assert anyone.info("keyspace")["db0"] == {"keys": KEYS, "expires": KEYS // 3, "avg_ttl": 0}
    assert keys == Counter(f"key:{number}" for number in range(KEYS)) and sum(sizes) == KEYS
    with filled[0].client() as client:
        slot = client.execute_command("CLUSTER KEYSLOT", "key:7")
        assert "key:7" in client.execute_command("CLUSTER GETKEYSINSLOT", slot, 100)
        assert counted == sum(client.execute_command("CLUSTER COUNTKEYSINSLOT", slot) for slot in range(0, 16_384, 256)) > 0


def test_a_client_of_a_cluster_counts_every_key_once(filled: list[Member]) -> None:
    with redis.RedisCluster(host="127.0.0.1", port=filled[1].slots, decode_responses=True) as cluster:
        assert Counter(cluster.scan_iter(count=100)) == Counter(f"key:{number}" for number in range(KEYS))
        # Without `target_nodes`, redis-py asks only one of them for these.
        everywhere = redis.RedisCluster.PRIMARIES
        assert cluster.dbsize(target_nodes=everywhere) == len(cluster.keys("*", target_nodes=everywhere)) == KEYS
        cluster.flushall()
        assert cluster.dbsize(target_nodes=everywhere) == 0 and cluster.randomkey() is None


def test_flushall_of_one_member_of_a_cluster_deletes_its_keys_alone(filled: list[Member]) -> None:
    with at_slots(filled[2]) as own, filled[0].client() as anyone:
        others = KEYS - own.dbsize()
        own.flushall()
        assert own.dbsize() == 0 and anyone.dbsize() == others > 0
        anyone.flushall()
        assert anyone.dbsize() == 0


def test_what_a_node_is_depends_on_the_port(filled: list[Member]) -> None:
    for client, mode, enabled in [(filled[0].client(), "standalone", 0), (at_slots(filled[0]), "cluster", 1)]:
        with client:
            information = client.info()
            assert (information["redis_mode"], information["cluster_enabled"]) == (mode, enabled)
            hello = client.execute_command("HELLO")
            greeting = hello if isinstance(hello, dict) else dict(zip(hello[::2], hello[1::2], strict=True))
            assert greeting["mode"] == mode


def test_redis_cli_knows_how_many_keys_a_cluster_has(filled: list[Member]) -> None:
    cli = shutil.which("redis-cli")
    if cli is None:
        pytest.skip("redis-cli is not installed: scripts/need redis")
    command = [cli, "--cluster", "info", f"127.0.0.1:{filled[0].slots}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
    assert f"[OK] {KEYS} keys in 3 masters." in done.stdout


def test_values_on_several_servers_are_not_combined(filled: list[Member]) -> None:
    for member in filled:
        with member.client() as client:
            client.mset({"{tag}a": "ab", "{tag}b": "AB"})
            assert client.bitop("OR", "{tag}c", "{tag}a", "{tag}b") == 2 and client.get("{tag}c") == "ab"
            assert client.execute_command("LCS", "{tag}a", "{tag}c", "LEN") == 2
            assert client.execute_command("BITFIELD", "{tag}a", "INCRBY", "u8", 8, 1) == [ord("c")]
            names = [f"key:{number}" for number in range(20)]
            with pytest.raises(redis.exceptions.ClusterCrossSlotError):
                client.bitop("AND", "to", *names)
            with pytest.raises(redis.exceptions.ClusterCrossSlotError):
                for other in names[1:]:
                    client.execute_command("LCS", names[0], other)
            client.delete("{tag}a", "{tag}b", "{tag}c")


def test_a_client_that_was_killed_is_gone_at_once(filled: list[Member]) -> None:
    with filled[0].client() as one, filled[0].client() as other:
        own = other.client_id()
        before = one.info("clients")["connected_clients"]
        assert one.client_kill_filter(_id=own) == 1
        assert one.info("clients")["connected_clients"] == before - 1
        assert other.client_id() != own, "it has connected again"


def test_cursors_are_exact_in_any_client(filled: list[Member]) -> None:
    highest = 0
    for member in filled:
        for client in (member.client(), at_slots(member)):
            with client:
                cursor, _ = client.scan(0, count=10)
                while cursor != 0:
                    assert 0 < cursor < 2**53
                    highest = max(highest, cursor)
                    cursor, _ = client.scan(cursor, count=10)
                assert client.scan(2**53) == (0, []) and client.scan(2**64 - 1) == (0, [])
    assert highest > 2**32, "places take the high bits"


@pytest.mark.parametrize("of_slots", [False, True], ids=["of the table", "of each member"])
def test_a_scan_misses_no_key_while_the_pool_grows_and_shrinks(of_slots: bool) -> None:
    """A scan of each member begins at rest: members that are asked one after another could miss what moves in between."""
    staying, others = {f"stays:{number}" for number in range(500)}, [f"goes:{number}" for number in range(2_000)]
    with pool_of(4) as members, ExitStack() as closing:
        anyone = closing.enter_context(members[1].client())
        scanned = [closing.enter_context(at_slots(member)) for member in members] if of_slots else [anyone]
        anyone.mset(dict.fromkeys(staying, "x"))
        for _ in range(3):
            found, cursors = set[str](), dict[Any, int]()
            for client in scanned:
                cursors[client], keys = client.scan(0, count=20)
                found.update(keys)
            grows = cycle([anyone.mset, lambda names: anyone.delete(*names)])
            while any(cursors.values()):
                change = next(grows)
                for first in range(0, len(others), 100):
                    change(dict.fromkeys(others[first : first + 100], "x"))
                    for client, cursor in cursors.items():
                        if cursor:
                            cursors[client], keys = client.scan(cursor, count=20)
                            found.update(keys)
            anyone.delete(*others)
            assert not staying - found
        assert max(int(member.pool()["pool_splits"]) for member in members) > 0
