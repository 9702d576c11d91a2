"""The Maquette client of a pool of stores beside that of redis-py: requests per second, and what one costs the client.

    .venv/bin/python tests/bench/store_client.py [COMMAND]

Four members with a server each, and values of 64 bytes. A request's cost is the client's processor time alone: it depends less than the rate on
what else the computer does. COMMAND is the `maquette` that serves; by default the installed one. Nothing fails where a figure is missed; the
table says so. redis-py decodes replies by hiredis where that is installed.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import redis
from maquette.store import Client
from redis.cluster import RedisCluster
from store_pool import Pool, stop

from stores import verdict

#: Members of the pool, and how often each way is measured.
MEMBERS, TIMES = 4, 3
#: The keys of a pipeline, or of as many requests one after another.
KEYS = [f"item:{number}" for number in range(64)]
#: How often all keys are asked for, in pipelines and one by one.
REPEATS = {"pipelines of 64": 200, "one by one": 40}
#: The target of the cost of a request to redis-py over that to the Maquette client, both to the member that has the key.
TARGET = 2.0


class Cost(NamedTuple):
    """What requests cost."""

    #: Processor time of the client per request. [us]
    microseconds: float
    #: Requests per second. [1/s]
    rate: float


def measured(ask: Callable[[], object], repeats: int) -> Cost:
    """The cost of a request where `ask` makes one for each key."""
    ask()
    began, processor = time.perf_counter(), time.process_time()
    for _ in range(repeats):
        ask()
    requests = repeats * len(KEYS)
    return Cost((time.process_time() - processor) / requests * 1e6, requests / (time.perf_counter() - began))


def pipelined(client: "Client | redis.Redis | RedisCluster") -> Callable[[], object]:
    """Asks for all keys at once."""

    def ask() -> object:
        with client.pipeline() as pipeline:
            for key in KEYS:
                pipeline.get(key)
            return pipeline.execute()

    return ask


def one_by_one(client: "Client | redis.Redis | RedisCluster") -> Callable[[], object]:
    """Asks for one key after another."""
    return lambda: [client.get(key) for key in KEYS]


def main() -> None:
    """Measure, and print a table."""
    pool = Pool(sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).with_name("maquette")), capacity=1_000)
    try:
        while len(pool.ports) < MEMBERS:
            pool.add()
        port, slots, _ = pool.ports[0]
        for first in range(0, 20_000, 1_000):
            pool.clients[0].mset({f"item:{number}": "x" * 64 for number in range(first, first + 1_000)})
        pool.wait_for_servers(MEMBERS)
        ours, theirs = Client(f"127.0.0.1:{port}"), RedisCluster("127.0.0.1", slots)
        for way, made in (("pipelines of 64", pipelined), ("one by one", one_by_one)):
            both = [[measured(made(client), REPEATS[way]) for client in (ours, theirs)] for _ in range(TIMES)]
            our, their = (min(costs) for costs in zip(*both, strict=True))
            ratio = their.microseconds / our.microseconds
            print(
                f"{way:>15}: {our.microseconds:6.1f} us a request and {our.rate:7,.0f} /s, redis-py {redis.__version__} for clusters "
                f"{their.microseconds:6.1f} us and {their.rate:7,.0f} /s; cost {ratio:.1f} times as high, at least {TARGET:g}: {verdict(ratio >= TARGET)}"
            )
    finally:
        stop(pool.processes)


if __name__ == "__main__":
    main()
