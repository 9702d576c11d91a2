"""Datagrams in the name of launched ranks, by somebody who hears everything on the network but has no key."""

from __future__ import annotations

import itertools
import json
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, answer

FORGED = 3_000
# So many are sent for each message of a rank that is heard: a rank that waits for a processor has no room for more.
AT_ONCE = 30
# The type of service of those that are forged: so they are told from those of ranks.
FORGED_SERVICE = 4
VERSION = 0xA0
REPORT, DROPPED, SEALED = 3, 4, 15
BROADCAST, ENDED, KNOWS = 1, 32, 64
COMMON = 12


@dataclass(frozen=True)
class Heard:
    """A datagram of a rank, as it was on the wire."""

    source: tuple[str, int]
    destination: tuple[str, int]
    payload: bytes

    @property
    def session(self) -> bytes:
        """The number of its session."""
        return self.payload[4:8]

    @property
    def rank(self) -> bytes:
        """Which rank it is of."""
        return self.payload[2:4]


def crc32c(data: bytes) -> int:
    """The checksum of packets."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def written(kind: int, flags: int, heard: Heard, fields: bytes) -> bytes:
    """A packet without seal in the name of the rank that was heard, with a checksum that is right."""
    before = bytes([VERSION | kind, flags]) + heard.rank + heard.session
    return before + struct.pack(">I", crc32c(before + bytes(4) + fields)) + fields


def forged(heard: Heard) -> Iterator[bytes]:
    """Packets that would end a run if they were taken: reports that the rank has ended, and that it broadcasts without others;
    sealed ones with another key; and what was heard, again."""
    ended = [written(REPORT, ENDED | KNOWS | flags, heard, bytes(18)) for flags in (0, BROADCAST)]
    dropped = [written(DROPPED, flags, heard, b"") for flags in (0, BROADCAST)]
    for number in itertools.count():
        yield from ended
        yield from dropped
        counter = struct.pack(">Q", 1_000_000 + number)
        yield bytes([VERSION | SEALED, 0]) + heard.rank + heard.session + counter + os.urandom(60)
        yield heard.payload


def send_in_the_name_of(raw: socket.socket, heard: Heard, payload: bytes) -> None:
    """Sends a datagram that says to come from the address of the rank that was heard."""
    addresses = [socket.inet_aton(address) for address, _ in (heard.source, heard.destination)]
    length = 8 + len(payload)
    header = struct.pack(">BBHHHBBH4s4s", 0x45, FORGED_SERVICE, 20 + length, 0, 0, 1, socket.IPPROTO_UDP, 0, *addresses)
    udp = struct.pack(">HHHH", heard.source[1], heard.destination[1], length, 0)
    raw.sendto(header + udp + payload, (heard.destination[0], 0))


def listen(wire: socket.socket, is_to_group: bool) -> Heard:
    """The next datagram of a rank to another, or to all."""
    for _ in range(100_000):
        frame = wire.recv(4_096)
        if len(frame) < 14 + 20 + 8 + COMMON or frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_UDP:
            continue
        if frame[15] == FORGED_SERVICE:
            continue
        payload = frame[42:]
        source, destination = (socket.inet_ntoa(frame[place : place + 4]) for place in (26, 30))
        ports = struct.unpack(">HH", frame[34:38])
        if payload[0] & 0xF0 == VERSION and destination.startswith("239.") == is_to_group:
            return Heard((source, ports[0]), (destination, ports[1]), payload)
    raise AssertionError("no rank sends anything")


def launched_among_forged(is_to_group: bool, *options: str) -> dict[str, Any]:
    """What a launch says on whose network thousands of forged datagrams are."""
    try:
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    except PermissionError:
        pytest.skip("only root can hear and forge datagrams")
    algorithm = "hardware" if is_to_group else "binomial"
    program = ["broadcast", "--algorithm", algorithm, "--bytes", "2KiB", "--repeat", "150"]
    with wire, raw:
        wire.bind(("lo", 0))
        wire.settimeout(20)
        raw.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        start: list[str | Path] = [COMMAND, "launch", "--local", "3", "--json", "--patience", "5s", *options, *program]
        launch = subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            heard = listen(wire, is_to_group)
            payloads = forged(heard)
            for _ in range(FORGED // AT_ONCE):
                for payload in itertools.islice(payloads, AT_ONCE):
                    send_in_the_name_of(raw, heard, payload)
                listen(wire, is_to_group)
            told, problem = launch.communicate(timeout=60)
        finally:
            launch.kill()
            launch.wait(timeout=60)
    assert launch.returncode == 0, problem
    report: dict[str, Any] = json.loads(told)
    return report


def test_forged_datagrams_do_no_harm_and_are_counted() -> None:
    """Whoever knows the session's number and the addresses of ranks, but not the key, changes nothing by thousands of datagrams."""
    told = launched_among_forged(False)
    assert told["messages"] == 300
    assert len(told["times_ps"]) == 150
    assert told["forged"] > FORGED // 2
    assert sum(rank["forged"] for rank in told["ranks"]) == told["forged"]


def test_forged_datagrams_to_the_group_do_no_harm_and_are_counted() -> None:
    """The same by multicast, where each of them comes to all ranks."""
    if answer("launch", "--local", "2", "broadcast", "--algorithm", "hardware")["group"] is None:
        pytest.skip("no multicast on this computer")
    told = launched_among_forged(True)
    assert told["messages"] == 150
    assert told["forged"] > FORGED // 2
