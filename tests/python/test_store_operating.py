"""Pages, metrics and logs of a pool of stores, for its operators; with real processes."""

import base64
import http.client
import json
import re
import signal
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pools import CAPACITY, LIMIT, Member, pool_of, port_of, server_count, wait_until

parser = pytest.importorskip("prometheus_client.parser", reason="prometheus-client is not installed: make test installs it")

HTTP = ("--http", "0")


def http_port(member: Member) -> int:
    """The port on which it serves pages."""
    return port_of(member.startup["http"][0])


def get(member: Member, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    """The status and the body of a response."""
    connection = http.client.HTTPConnection("127.0.0.1", http_port(member), timeout=LIMIT)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def metrics(member: Member) -> dict[str, Any]:
    """The metric families of a member, by name."""
    status, text = get(member, "/metrics")
    assert status == 200
    return {family.name: family for family in parser.text_string_to_metric_families(text.decode())}


def value(member: Member, name: str, **labels: str) -> float:
    """The sum of the samples of a metric."""
    family = metrics(member)[name.removesuffix("_total")]
    samples = [sample for sample in family.samples if sample.name == name and labels.items() <= sample.labels.items()]
    return float(sum(sample.value for sample in samples))


@pytest.fixture(scope="module")
def pool() -> Iterator[list[Member]]:
    """A pool of three members that serve pages, with 1,200 records on three servers."""
    with pool_of(3, *HTTP) as members:
        with members[0].client() as client:
            client.mset({f"key:{number}": number for number in range(3 * CAPACITY)})
        wait_until(lambda: server_count(members) == 3, "there are three servers")
        yield members


def test_metrics_follow_the_conventions_of_prometheus(pool: list[Member]) -> None:
    for member in pool:
        families = metrics(member)
        assert len(families) > 35
        for name, family in families.items():
            assert re.fullmatch(r"(maquette_store|process)_[a-z_]+", name) and family.documentation
            assert family.type in ("counter", "gauge", "histogram") and family.samples
            assert all(sample.name.endswith("_total") for sample in family.samples if family.type == "counter")
        turns = {sample.labels.get("le"): sample.value for sample in families["maquette_store_turn_seconds"].samples}
        counts = [count for bound, count in turns.items() if bound is not None]
        assert counts == sorted(counts) and counts[-1] > 0
        assert families["maquette_store_info"].samples[0].labels["address"] == member.members


def test_metrics_count_what_clients_do(pool: list[Member]) -> None:
    assert sum(value(member, "maquette_store_records") for member in pool) == 3 * CAPACITY
    assert sum(value(member, "maquette_store_server_slots") for member in pool) == 16_384
    assert max(value(member, "maquette_store_server_token") for member in pool) == 3
    assert sum(value(member, "maquette_store_splits_total") for member in pool) == 2
    assert all(value(member, "maquette_store_members") == 3 for member in pool)
    names = ("maquette_store_requests_total", "maquette_store_errors_total", "maquette_store_expired_total")
    with pool[0].client() as client:
        client.ping()  # the library sends more requests when it connects
        before = [value(pool[0], name) for name in names]
        with client.pipeline(transaction=False) as pipeline:
            for _ in range(100):
                pipeline.ping()
            pipeline.execute()
        assert value(pool[0], names[0]) == before[0] + 100
        with pytest.raises(Exception, match="unknown command"):
            client.execute_command("LPUSH", "a", "b")
        assert value(pool[0], "maquette_store_clients") == 1
    assert value(pool[0], names[1]) == before[1] + 1 and value(pool[0], names[2]) == before[2]


def test_a_member_knows_the_state_of_the_others(pool: list[Member]) -> None:
    def view(member: Member) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(get(member, "/state.json")[1])
        return state

    for member in pool:
        wait_until(lambda: all(other["state"] for other in view(member)["members"]), "all have sent their state")  # noqa: B023
        state = view(member)
        servers = [server for other in state["members"] for server in other["state"]["servers"]]
        slots = sorted((server["first_slot"], server["last_slot"]) for server in servers)
        assert slots == [(0, 4095), (4096, 8191), (8192, 16383)]
        assert sum(server["records"] for server in servers) == 3 * CAPACITY
        assert state["members"][0]["address"] == member.members and state["is_welcome"] is True


def test_pages_are_read_only_and_requests_are_bounded(pool: list[Member]) -> None:
    member = pool[0]
    assert get(member, "/healthz") == (200, b"ok\n")
    assert get(member, "/metrics", method="HEAD") == (200, b"")
    assert get(member, "/nothing")[0] == 404 and get(member, "/", method="POST")[0] == 405
    assert get(member, "/" + "a" * 9_000)[0] == 431
    # A name that resolves to this computer may belong to somebody else.
    assert get(member, "/metrics", Host="rebound.example")[0] == 403
    with socket.create_connection(("127.0.0.1", http_port(member)), timeout=LIMIT) as stranger:
        stranger.sendall(b"SET key value\r\n")
        assert stranger.recv(1 << 12).startswith(b"HTTP/1.1 400 ")
    crowd = [socket.create_connection(("127.0.0.1", http_port(member)), timeout=LIMIT) for _ in range(70)]
    rejections = [connection.recv(1 << 12) for connection in crowd[64:]]
    assert all(text.startswith(b"HTTP/1.1 503 ") for text in rejections)
    for connection in crowd:
        connection.close()
    wait_until(lambda: get(member, "/healthz")[0] == 200, "there is room again")


def test_the_password_protects_the_pages(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("open sesame\n")
    with protected(tmp_path / "password") as member:
        for path in ("/", "/metrics", "/state.json", "/page.js"):
            assert get(member, path)[0] == 401
            assert get(member, path, Authorization="Bearer wrong")[0] == 401
            assert get(member, path, Authorization="Bearer open sesame")[0] == 200
            pair = base64.b64encode(b"prometheus:open sesame").decode()
            assert get(member, path, Authorization=f"Basic {pair}")[0] == 200
        assert get(member, "/healthz")[0] == 200


class protected:  # noqa: N801
    """Runs a member with a password until the block is left."""

    def __init__(self, password: Path) -> None:
        self.member = Member(*HTTP, "--password-file", str(password))

    def __enter__(self) -> Member:
        return self.member

    def __exit__(self, *_: object) -> None:
        self.member.process.terminate()
        self.member.process.communicate(timeout=LIMIT)


def logged_until(member: Member, events: set[str]) -> list[dict[str, Any]]:
    """The lines of its log until they include all of these events."""
    lines: list[dict[str, Any]] = []
    while not events <= {line["event"] for line in lines}:
        lines.append(json.loads(member.lines(1)[0]))
    return lines


def test_the_log_has_all_events() -> None:
    with pool_of(2, "--log-format", "json", "--max-memory", "100KiB") as pool, pool[0].client() as client:
        with pytest.raises(Exception, match="maxmemory"):
            for number in range(10 * CAPACITY):
                client.set(f"key:{number}", "x" * 200)
        wait_until(lambda: server_count(pool) == 2, "there are two servers")
        first = logged_until(pool[0], {"server_split", "out_of_memory"})
        second = logged_until(pool[1], {"admitted", "server_opened"})
        for member, lines in ((pool[1], second), (pool[0], first)):
            member.process.send_signal(signal.SIGINT)
            lines += [json.loads(line) for line in member.process.communicate(timeout=LIMIT)[1].splitlines()]
    for line in first + second:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"]) and line["message"]
    assert [line["event"] for line in second][:2] == ["listening", "member_connected"]
    assert {"admitted", "server_opened", "ending"} <= {line["event"] for line in second}
    events = {line["event"]: line for line in first}
    assert {"listening", "member_connected", "server_split", "out_of_memory", "member_lost", "ending"} <= set(events)
    assert events["out_of_memory"]["level"] == "warning" and events["out_of_memory"]["requests"] >= 1
    assert events["server_split"] | {"server": 0, "level": 1} == events["server_split"]


def test_a_stopped_member_takes_no_memory_of_others() -> None:
    with pool_of(2, *HTTP) as pool:
        with pool[0].client() as client:
            client.mset({f"key:{number}": number for number in range(2 * CAPACITY)})
        wait_until(lambda: server_count(pool) == 2, "there are two servers")
        clients = [socket.create_connection(("127.0.0.1", pool[0].port), timeout=LIMIT) for _ in range(80)]
        pool[1].process.send_signal(signal.SIGSTOP)
        try:
            # The other member has the slots from 8,192 on; that of `foo` is 12,182.
            request = b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$1048576\r\n" + bytes(1 << 20) + b"\r\n"
            for number, waiting in enumerate(clients):
                key = b"{foo}:%d" % number
                waiting.sendall(request.replace(b"%d", b"%d" % len(key), 1).replace(b"%s", key, 1))
            wait_until(lambda: value(pool[0], "maquette_store_messages_dropped_total") > 0, "some are dropped")
            # About the bound of 64 MiB: some messages are already encrypted, and some are in the buffers of the system.
            assert 60 << 20 < value(pool[0], "maquette_store_messages_waiting_bytes") < 67 << 20
        finally:
            pool[1].process.send_signal(signal.SIGCONT)
        # Dropped requests are sent again.
        assert all(waiting.recv(16) == b"+OK\r\n" for waiting in clients)
        for waiting in clients:
            waiting.close()


def test_the_page_contacts_no_other_server(pool: list[Member]) -> None:
    with urllib.request.urlopen(f"http://127.0.0.1:{http_port(pool[0])}/", timeout=LIMIT) as answer:
        policy, text = answer.headers["Content-Security-Policy"], answer.read().decode()
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy
    assert not re.search(r"https?://", text)
