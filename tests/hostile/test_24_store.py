"""Doors of the store, and answers on which clients rely."""

import json
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from command import COMMAND

from pools import wait_until
from stores import LIMIT, free_port, wait_for_listener

#: What a browser sends for a page that wants a store on the same computer to carry out the body of its request.
POST = (
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://elsewhere.example\r\n"
    b"Content-Type: text/plain\r\nContent-Length: 10\r\n\r\nFLUSHALL\r\n"
)


def serve(port: int, *options: str) -> "subprocess.Popen[str]":
    """A store that serves."""
    command = [str(COMMAND), "store", "serve", "--json", "--port", str(port), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for_listener(port, process)
    return process


@pytest.fixture
def stores() -> Iterator[list["subprocess.Popen[str]"]]:
    """Processes that are ended after the case."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate(timeout=LIMIT)


def ask(port: int, request: bytes) -> bytes:
    """What a port replies to a request, up to its end or a pause."""
    with socket.create_connection(("127.0.0.1", port), timeout=LIMIT) as connection:
        connection.sendall(request)
        return connection.recv(1 << 20)


@pytest.mark.parametrize("begins", [b"", b"SET other 1\r\n", b"\r\n"])
@pytest.mark.parametrize("method", [b"POST", b"post", b"PUT"])
def test_no_web_page_can_make_a_store_carry_out_the_body_of_a_request(
    stores: list["subprocess.Popen[str]"], begins: bytes, method: bytes
) -> None:
    """The connection is closed at the request's first line or at `Host:`, and is counted and logged."""
    port = free_port()
    stores.append(serve(port))
    slots = int(json.loads(stores[0].stdout.readline())["slots"].rpartition(":")[2])  # type: ignore[union-attr]
    assert ask(port, b"SET precious 1\r\n") == b"+OK\r\n"
    for target in (port, slots):
        with socket.create_connection(("127.0.0.1", target), timeout=LIMIT) as browser:
            browser.sendall(begins + POST.replace(b"POST", method))
            try:
                while browser.recv(1 << 16):
                    pass
            except ConnectionResetError:
                pass
    assert ask(port, b"GET precious\r\n") == b"$1\r\n1\r\n"
    assert b"refused_http_requests:2\r\n" in ask(port, b"INFO stats\r\n")
    stores[0].terminate()
    assert stores[0].communicate(timeout=LIMIT)[1].count("which sent an HTTP request") == 2
    assert stores[0].returncode == 0


def pages(reply: bytes) -> tuple[int, list[str]]:
    """The cursor and the keys of a reply to SCAN."""
    lines = reply.decode().split("\r\n")
    return int(lines[2]), lines[5::2]


def test_a_client_with_signed_cursors_finds_all_keys(stores: list["subprocess.Popen[str]"]) -> None:
    """Cursors are below 2^53, so that neither signed nor floating-point numbers change them."""
    port = free_port()
    stores.append(serve(port))
    ask(port, b"MSET " + b" ".join(f"key:{number} x".encode() for number in range(2_000)) + b"\r\n")
    cursor, found = 0, set()
    while True:
        cursor, keys = pages(ask(port, f"SCAN {cursor}\r\n".encode()))
        found.update(keys)
        assert cursor < 1 << 53
        if cursor == 0:
            break
    assert found == {f"key:{number}" for number in range(2_000)}


def number(reply: bytes) -> int:
    """The number that a port replies with."""
    return int(reply.removeprefix(b":"))


def test_no_key_of_a_pool_is_counted_twice_by_tools_for_clusters(stores: list["subprocess.Popen[str]"]) -> None:
    """The counts of all members on their ports for slots add up to the number of keys; on any other port that is the answer."""
    ports: list[Any] = []
    for _ in range(3):
        port, members = free_port(), free_port()
        join = ["--join", f"127.0.0.1:{ports[0][1]}"] if ports else []
        stores.append(serve(port, "--members-port", str(members), "--capacity", "400", *join))
        slots = int(json.loads(stores[-1].stdout.readline())["slots"].rpartition(":")[2])  # type: ignore[union-attr]
        ports.append((port, members, slots))
    wait_until(lambda: b"pool_members_connected:3\r\n" in ask(ports[0][0], b"INFO pool\r\n"), "all are connected")
    assert ask(ports[0][0], b"MSET " + b" ".join(f"key:{number} x".encode() for number in range(1_200)) + b"\r\n") == b"+OK\r\n"
    wait_until(lambda: number(ask(ports[2][2], b"DBSIZE\r\n")) > 0, "the table has spread")
    wait_until(lambda: all(b"steady=0" not in ask(port, b"INFO pool\r\n") for port, _, _ in ports), "it rests")
    assert sum(number(ask(slots, b"DBSIZE\r\n")) for _, _, slots in ports) == 1_200
    assert [number(ask(port, b"DBSIZE\r\n")) for port, _, _ in ports] == [1_200] * 3
