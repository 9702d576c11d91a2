"""Between hosts on two switches."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts import Hosts, Trunk, Unavailable, Wire

MAQUETTE = os.environ.get("MAQUETTE", str(Path(sys.executable).with_name("maquette")))
BYTES = 128 << 10


@pytest.fixture(scope="module")
def two_switches() -> Iterator[Hosts]:
    """Two hosts on each of two switches, at 100 Mbit/s, and a trunk of a quarter of that."""
    try:
        with Hosts(4, Wire(burst="4kb"), Trunk(2, Wire(rate="25mbit", burst="4kb"))) as hosts:
            yield hosts
    except Unavailable as reason:
        pytest.skip(f"no hosts to test on: {reason}")


def round_trip(hosts: Hosts, folder: Path, to: int) -> float:
    """The shortest time of a message from the first host to another, counted from 0, and back. [s]"""
    file = folder / "hosts"
    file.write_text(hosts.lines())
    launch = [MAQUETTE, "launch", "--hosts", str(file), "--shell", "ip netns exec {host}", "--json", "--repeat", "3"]
    launch += ["--control", f"{hosts.address(1)}:0", "ping-pong", "--from", "0", "--to", str(to), "--bytes", str(BYTES)]
    completed = subprocess.run(hosts.command(1, launch), capture_output=True, text=True, timeout=60, check=False)
    assert completed.returncode == 0, completed.stderr
    return float(min(json.loads(completed.stdout)["times_ps"])) / 1e12


def test_messages_across_the_trunk_are_limited_to_its_rate(two_switches: Hosts, tmp_path: Path) -> None:
    least = 2 * BYTES * 8 / 25e6
    assert round_trip(two_switches, tmp_path, to=3) > 0.98 * least
    # On one switch the wires are four times as fast; on a busy computer the difference is smaller.
    assert round_trip(two_switches, tmp_path, to=1) < 0.8 * least
