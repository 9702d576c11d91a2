"""Between hosts, over lossy wires."""

from __future__ import annotations

import filecmp
import json
import os
import subprocess
import sys
from pathlib import Path

from hosts import Hosts

MAQUETTE = os.environ.get("MAQUETTE", str(Path(sys.executable).with_name("maquette")))
GROUP = "239.255.77.2"
TIMEOUT = 60


def cast(hosts: Hosts, folder: Path, *files: Path) -> list[Path]:
    """Cast files from the first host to all others, and return the folders into which these receive them."""
    folders = [folder / str(host) for host in range(2, hosts.count + 1)]
    receiving = []
    for host, into in enumerate(folders, start=2):
        into.mkdir()
        command = [MAQUETTE, "cast", "receive", "--from", GROUP, "--interface", "eth0", "--into", str(into), "--wait", "60"]
        receiving.append(subprocess.Popen(hosts.command(host, command), stderr=subprocess.PIPE, text=True))
    count = str(len(folders))
    send = [MAQUETTE, "cast", "send", "--to", GROUP, "--interface", "eth0", "--receivers", count, *map(str, files)]
    try:
        sent = subprocess.run(hosts.command(1, send), capture_output=True, text=True, timeout=TIMEOUT)
        assert sent.returncode == 0, sent.stderr
        for process in receiving:
            _, problem = process.communicate(timeout=TIMEOUT)
            assert process.returncode == 0, problem
    finally:
        for process in receiving:
            process.kill()
    return folders


def test_every_host_receives_every_byte_when_each_loses_a_tenth(hosts: Hosts, tmp_path: Path) -> None:
    files = [tmp_path / "large.bin", tmp_path / "empty"]
    files[0].write_bytes(os.urandom(3_000_000))
    files[1].write_bytes(b"")
    hosts.lose(10)
    try:
        folders = cast(hosts, tmp_path, *files)
    finally:
        hosts.lose(0)
    for folder in folders:
        for file in files:
            assert filecmp.cmp(file, folder / file.name, shallow=False)
        assert sorted(path.name for path in folder.iterdir()) == ["empty", "large.bin"]


def test_broadcasts_of_a_program_arrive_when_each_loses_a_twentieth(hosts: Hosts, tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text(hosts.lines())
    launch = [MAQUETTE, "launch", "--hosts", str(file), "--shell", "ip netns exec {host}"]
    launch += ["--control", f"{hosts.address(1)}:0", "--json", "--repeat", "200"]
    hosts.lose(5)
    try:
        completed = subprocess.run(
            hosts.command(1, [*launch, "broadcast", "--algorithm", "hardware", "--bytes", "4KiB"]),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
    finally:
        hosts.lose(0)
    assert completed.returncode == 0, completed.stderr
    report = json.loads(completed.stdout)
    assert report["messages"] == 200
    assert len(report["times_ps"]) == 200
    assert report["repeated"] > 0


#: Every rank sends its number to its neighbour on a ring while it computes; an all-reduce adds up the received numbers.
PROGRAM = """
import array

import maquette as mq


async def ring(endpoint, size):
    left, right = (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size
    numbers = array.array("q", [endpoint.rank] * size)
    _, received, _ = await mq.join(endpoint.send(right, numbers), endpoint.receive(left), endpoint.compute("1 ms"))
    total = await mq.all_reduce(endpoint, array.array("q", [sum(memoryview(received.data).cast("q"))]))
    shared = await mq.broadcast(endpoint, b"ring" if endpoint.rank == 0 else None, algorithm="hardware", size=4)
    return [left, memoryview(total).cast("q")[0], bytes(shared).decode()]
"""


def test_a_python_program_has_the_same_result_on_hosts_as_on_a_model(hosts: Hosts, tmp_path: Path) -> None:
    program, file = tmp_path / "program.py", tmp_path / "hosts"
    program.write_text(PROGRAM)
    file.write_text(hosts.lines())
    model = [MAQUETTE, "run", f"{program}:ring", "--machine", "dp-smp-8", "--ranks", str(hosts.count), "--size=5000", "--json"]
    on_a_model = subprocess.run(model, capture_output=True, text=True, timeout=TIMEOUT)
    assert on_a_model.returncode == 0, on_a_model.stderr
    launch = [MAQUETTE, "launch", "--hosts", str(file), "--shell", "ip netns exec {host}"]
    launch += ["--control", f"{hosts.address(1)}:0", "--json", f"{program}:ring", "--size=5000"]
    hosts.lose(3)
    try:
        completed = subprocess.run(hosts.command(1, launch), capture_output=True, text=True, timeout=TIMEOUT)
    finally:
        hosts.lose(0)
    assert completed.returncode == 0, completed.stderr
    report = json.loads(completed.stdout)
    assert report["returned"] == json.loads(on_a_model.stdout)["returned"]
    assert report["returned"][1] == [0, 5000 * sum(range(hosts.count)), "ring"]
