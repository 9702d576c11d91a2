"""The Maquette client, in a pool of real processes that grows and shrinks while it is used; and `maquette store bench`, which uses it."""

import json
import subprocess
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("redis", reason="redis-py is not installed: make test installs it")

from maquette import MaquetteError
from maquette.store import Client, CommandRefused, NoAnswer, OutcomeUnknown, Pipeline
from pools import CAPACITY, COMMAND, LIMIT, Member, pool_of, server_count, wait_until, while_it_grows


def client_of(*members: Member, timeout: float = LIMIT, password: str | None = None) -> Client:
    return Client(*(f"127.0.0.1:{member.port}" for member in members), timeout=timeout, password=password)


def changes(members: list[Member]) -> int:
    """How often servers of the pool have split or merged."""
    pools = [member.pool() for member in members]
    return sum(int(each["pool_splits"]) + int(each["pool_merges"]) for each in pools)


def test_a_split_costs_a_client_one_adjustment() -> None:
    with pool_of(4) as members, client_of(members[1]) as store:
        # One request at a time: it gets MOVED once for each split.
        for number in range(3 * CAPACITY):
            store.set(f"key:{number}", number)
        for number in range(3 * CAPACITY):
            assert store.get(f"key:{number}") == str(number).encode()
        counts = store.counts
        assert server_count(members) == 4 and changes(members) == 3
        assert counts.maps == 1 and counts.delays == 0
        assert 3 <= counts.adjustments == counts.moved <= 4
        # A client that connects later gets the current slots, and needs no adjustment.
        with client_of(members[3]) as late:
            assert late.execute("MGET", *(f"key:{number}" for number in range(3 * CAPACITY))) == [
                str(number).encode() for number in range(3 * CAPACITY)
            ]
            assert (late.counts.moved, late.counts.maps, late.counts.sent) == (0, 1, 3 * CAPACITY)


def test_pipelines_while_a_pool_grows_and_shrinks() -> None:
    def use(name: int, members: list[Member]) -> None:
        with client_of(members[0]) as store:
            for first in range(0, 600, 50):
                with store.pipeline() as pipeline:
                    for number in range(first, first + 50):
                        pipeline.set(f"{name}:{number}", number).command("INCR", f"{name}:{number}").get(f"{name}:{number}")
                    expected = [reply for number in range(first, first + 50) for reply in (b"OK", number + 1, str(number + 1).encode())]
                    assert pipeline.execute() == expected
            assert store.delete(*(f"{name}:{number}" for number in range(600))) == 600
            assert store.counts.maps == 1, store.counts

    with pool_of(3) as members:
        while_it_grows(members, use)
        assert changes(members) > 0
        with client_of(members[0]) as store:
            assert store.execute("DBSIZE") == 0


def test_replies_and_errors() -> None:
    with pool_of(1) as members, client_of(*members) as store:
        store.set("number", 7)
        store.set(b"bytes", b"\r\n\0")
        store.set("text", "naïve")
        assert [store.get("number"), store.get("bytes"), store.get("text")] == [b"7", b"\r\n\0", "naïve".encode()]
        assert store.get("nothing") is None and store.delete("number", "nothing") == 1 and store.delete() == 0
        assert store.execute("SET", "a", 1, "PX", 60_000) == b"OK" and store.execute("PTTL", "a") in range(50_000, 60_001)
        with pytest.raises(CommandRefused, match="not an integer") as refused:
            store.execute("INCR", "text")
        assert isinstance(refused.value, MaquetteError)
        with pytest.raises(ValueError, match="multi applies to one connection"):
            store.execute("MULTI")
        with pytest.raises(ValueError, match="found no command"):
            store.execute()
        with pytest.raises(TypeError, match="found True"):
            store.set("a", True)
        pipeline = store.pipeline().get("a").command("INCR", "text").command("WATCH", "a").delete("a")
        assert len(pipeline) == 4
        first, second, third, fourth = pipeline.execute(raise_errors=False)
        assert (first, fourth) == (b"1", 1) and isinstance(second, CommandRefused) and isinstance(third, ValueError)
        with pytest.raises(CommandRefused):
            Pipeline(store).command("INCR", "text").execute()
        store.close()
        with pytest.raises(ValueError, match="closed"):
            store.get("a")


def test_members_that_can_not_be_reached(tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("open sesame\n")
    with pool_of(1) as members:
        pass
    with pytest.raises(NoAnswer, match="can't reach"):
        client_of(*members)
    for wrong in ("127.0.0.1", "127.0.0.1:x"):
        with pytest.raises(ValueError, match="allowed is HOST:PORT"):
            Client(wrong)
    with pytest.raises(ValueError, match="timeout"):
        Client(timeout=-1.0)
    guarded = Member("--password-file", str(password))
    try:
        for given in (None, "open barley"):
            with pytest.raises(CommandRefused):
                client_of(guarded, password=given)
        # An unreachable member does no harm if another can be reached.
        with client_of(*members, guarded, timeout=1.0, password="open sesame") as store:
            store.set("a", 1)
            guarded.process.kill()
            guarded.process.wait(LIMIT)
            begun = time.monotonic()
            with pytest.raises((NoAnswer, OutcomeUnknown)):
                store.set("a", 2)
            with pytest.raises(NoAnswer, match="no answer within 1 s"):
                store.get("a")
            assert time.monotonic() - begun < LIMIT
    finally:
        guarded.process.kill()
        guarded.process.communicate(timeout=LIMIT)


def test_other_threads_run_while_a_client_waits() -> None:
    with pool_of(1) as members, client_of(*members, timeout=LIMIT) as store:
        members[0].process.send_signal(19)  # SIGSTOP
        found: list[object] = []
        waiting = threading.Thread(target=lambda: found.append(store.get("a")))
        waiting.start()
        steps = sum(range(1000))  # this thread continues
        assert steps == 499_500 and waiting.is_alive() and not found
        members[0].process.send_signal(18)  # SIGCONT
        waiting.join(LIMIT)
        assert found == [None]


def bench(*options: str) -> subprocess.CompletedProcess[str]:
    command = [str(COMMAND), "store", "bench", "--clients", "2", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)


def test_a_benchmark_of_a_growing_pool() -> None:
    with pool_of(3) as members:
        address = f"127.0.0.1:{members[0].port}"
        done = bench(address, "--keys", "2000", "--pipeline", "16", "--requests", "4000", "--json")
        assert (done.returncode, done.stderr) == (0, "")
        printed = json.loads(done.stdout)
        assert [test["test"] for test in printed["tests"]] == ["set", "get", "mix"]
        for test in printed["tests"]:
            assert test["requests"] == 4000 and test["wrong"] == 0 and test["maps"] == 2
            times = [test["latency_us"][name] for name in ("p50", "p95", "p99", "p99.9", "max")]
            assert times == sorted(times) and times[0] > 0 and test["requests_per_second"] > 0
        assert changes(members) > 0
        wait_until(lambda: members[0].client().dbsize() == 0, "its keys are gone")
        done = bench(address, "--keys", "100", "--duration", "0.2")
        first, head, *rows = done.stdout.splitlines()
        assert done.returncode == 0 and first.startswith("clients 2, pipeline 1, ") and head.split()[:2] == ["test", "requests"]
        assert [row.split()[0] for row in rows] == ["set", "get", "mix"]


def test_a_benchmark_finds_wrong_replies() -> None:
    with pool_of(1) as members, client_of(*members) as store:
        is_over = threading.Event()

        def overwrite() -> None:
            while not is_over.is_set():
                store.execute("SET", "bench:000000000007", "something else")

        overwriting = threading.Thread(target=overwrite)
        overwriting.start()
        done = bench(f"127.0.0.1:{members[0].port}", "--keys", "10", "--requests", "5000")
        is_over.set()
        overwriting.join(LIMIT)
        assert done.returncode == 1, done.stdout
