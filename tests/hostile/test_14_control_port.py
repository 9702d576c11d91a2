"""Strangers at the control port of a launch."""

import json
import resource
import socket
import subprocess
from pathlib import Path

import pytest
from command import COMMAND
from stores import free_port

STRANGERS = 1_000
GARBAGE = [b"\n", b"{}\n", b"x" * 4_000, b"\xff\xfe\n", b'{"token":"","rank":0,"address":"127.0.0.1:7","machine":""}\n']
GATE = """#!/bin/sh
# Starts a rank once the strangers are connected.
shift
while [ ! -e {go} ]; do sleep 0.01; done
exec "$@"
"""


def connect(port: int) -> socket.socket:
    """A connection to the launcher, which may not listen yet."""
    for _ in range(2_000):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=10)
        except ConnectionRefusedError:
            subprocess.run(["sleep", "0.01"], check=True)
    raise AssertionError("nobody listens")


def launch_among(strangers: list[bytes], folder: Path) -> dict[str, object]:
    """The report of a launch to which strangers have connected before its ranks, and sent these greetings."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * STRANGERS:
        if hard != resource.RLIM_INFINITY and hard < 2 * STRANGERS:
            pytest.skip(f"no more than {hard} open files are allowed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * STRANGERS, hard))
    gate, go, hosts = folder / "gate", folder / "go", folder / "hosts"
    gate.write_text(GATE.format(go=go))
    hosts.write_text("here 127.0.0.1 3\n")
    port = free_port()
    start: list[str | Path] = [COMMAND, "launch", "--hosts", hosts, "--shell", f"sh {gate} {{host}}"]
    start += ["--control", f"127.0.0.1:{port}", "--timeout", "30s", "--json", "ping-pong", "--bytes", "64"]
    # The launcher itself has the usual limit of open files.
    fewer = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (min(1_024, hard), hard))  # noqa: E731
    launcher = subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=fewer)
    connections = []
    try:
        for greeting in strangers:
            connection = connect(port)
            connections.append(connection)
            try:
                connection.sendall(greeting)
            except OSError:
                pass  # The launcher has already closed it.
        go.touch()
        printed, problem = launcher.communicate(timeout=60)
        assert launcher.returncode == 0, problem
        answer: dict[str, object] = json.loads(printed)
        return answer
    finally:
        go.touch()
        launcher.kill()
        launcher.wait(timeout=60)
        for connection in connections:
            connection.close()


def test_a_thousand_strangers_that_say_nothing_keep_no_rank_out(tmp_path: Path) -> None:
    """The launch succeeds although a thousand strangers hold their connections open and send nothing."""
    assert launch_among([b""] * STRANGERS, tmp_path)["messages"] == 2


def test_strangers_that_send_garbage_keep_no_rank_out(tmp_path: Path) -> None:
    """The same if strangers send lines that no rank sends, lines without end, or half a line."""
    garbage = [*GARBAGE, b'{"token":'] * 40
    assert launch_among(garbage, tmp_path)["messages"] == 2
