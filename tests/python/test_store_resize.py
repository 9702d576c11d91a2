"""`maquette store grow` and `shrink`: more servers, or fewer, than records ask for, in a pool of real processes."""

import json
import subprocess

from maquette.store import Client
from pools import CAPACITY, COMMAND, LIMIT, Member, pool_of, servers, wait_until


def resize(way: str, member: Member, by: int, *options: str) -> tuple[int, str]:
    line = [str(COMMAND), "store", way, f"127.0.0.1:{member.port}", str(by), *options]
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_pool_has_as_many_servers_as_are_asked_for() -> None:
    with pool_of(4) as members, Client(f"127.0.0.1:{members[2].port}") as store:
        store.execute("MSET", *(word for number in range(300) for word in (f"key:{number}", number)))
        assert resize("grow", members[1], 2) == (0, "servers 3\n")
        assert servers(members) == 3
        # The whole of what is there is read, by a client that knew of one server.
        assert [store.get(f"key:{number}") for number in range(300)] == [str(number).encode() for number in range(300)]
        assert store.counts.maps == 1
        status, told = resize("grow", members[0], 2)
        assert status == 1 and "no room for 5 servers: 4 members host at most 4 together" in told
        status, told = resize("shrink", members[3], 1, "--json")
        assert status == 0 and json.loads(told) == {"servers": 2, "asked": 2}
        # More than two servers have room for makes them no more, before that is asked for.
        for number in range(2 * CAPACITY):
            store.set(f"more:{number}", number)
        assert servers(members) == 2
        status, told = resize("shrink", members[3], 1)
        assert status == 1 and f"no room for {2 * CAPACITY + 300} records on 1 servers" in told
        assert resize("grow", members[2], 0)[0] == 0
        store.set("one more", 1)
        wait_until(lambda: servers(members) > 2, "records ask for servers again")
        assert store.execute("DBSIZE") == 2 * CAPACITY + 301
