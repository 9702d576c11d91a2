"""A store whose options are in a file, under a service manager."""

import json
import os
import signal
import socket
import subprocess
import tomllib
from pathlib import Path

from pools import COMMAND, LIMIT, Member, port_of


def printed(*words: str) -> str:
    """What a command prints."""
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=True, timeout=LIMIT).stdout


def test_a_store_has_the_options_of_its_file_unless_the_command_line_has_others(tmp_path: Path) -> None:
    path = tmp_path / "store.toml"
    options = ["--capacity", "7000", "--max-clients", "70", "--max-memory", "1GiB", "--evict"]
    options += ["--data", str(tmp_path / "data")]
    path.write_text(printed("store", "config", *options))
    store = Member("--config", str(path), "--max-clients", "80")
    try:
        with store.client() as client:
            found = client.config_get("max*")
            assert (found["maxclients"], found["maxmemory"]) == ("80", str(1 << 30))
            assert found["maxmemory-policy"] == "allkeys-lru"
            assert client.info("persistence")["aof_enabled"] == 1
    finally:
        store.process.terminate()
        assert store.process.wait(LIMIT) == 0
    assert (tmp_path / "data").is_dir()


def test_the_file_that_is_printed_has_every_option_that_the_schema_has() -> None:
    text = printed("store", "config")
    assert tomllib.loads(text) == {}
    fields = json.loads(printed("schema", "store"))["properties"]
    # Each of them is there to be uncommented.
    lines = [line for line in text.splitlines() if line.startswith("#") and line[1:2].isalpha()]
    assert sorted(line.removeprefix("#").split(" = ")[0] for line in lines) == sorted(fields)


def test_a_service_manager_learns_when_a_store_is_ready_and_when_it_ends(tmp_path: Path) -> None:
    name = tmp_path / "manager"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(name))
        manager.settimeout(LIMIT)
        command = [str(COMMAND), "store", "serve", "--json", "--port", "0", "--data", str(tmp_path / "data")]
        environment = {**os.environ, "NOTIFY_SOCKET": str(name)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as store:
            try:
                ready = manager.recv(4096).decode().splitlines()
                assert ready[0] == "READY=1"
                assert store.stdout is not None
                address = json.loads(store.stdout.readline())["listening"][0]
                assert ready[1] == f"STATUS=listens on {address}"
                # It is, by then.
                with socket.create_connection(("127.0.0.1", port_of(address)), timeout=LIMIT) as client:
                    client.sendall(b"PING\r\n")
                    assert client.recv(100) == b"+PONG\r\n"
                store.send_signal(signal.SIGTERM)
                assert manager.recv(4096).decode().splitlines()[0] == "STOPPING=1"
                assert store.wait(LIMIT) == 0
            finally:
                store.kill()


def test_a_service_manager_that_is_not_there_does_not_keep_a_store_from_serving(tmp_path: Path) -> None:
    command = [str(COMMAND), "store", "serve", "--json", "--port", "0"]
    environment = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "nobody")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as store:
        try:
            assert store.stdout is not None and store.stderr is not None
            assert json.loads(store.stdout.readline())["listening"]
            assert "the service manager at NOTIFY_SOCKET can't be reached" in store.stderr.readline()
            store.send_signal(signal.SIGTERM)
            assert store.wait(LIMIT) == 0
        finally:
            store.kill()
