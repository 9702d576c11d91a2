"""Datagrams in the name of launched ranks, from an attacker who sees all traffic but has no key."""

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
# How many are sent for each datagram of a rank: a rank that waits for a processor has no room for more.
PER_DATAGRAM = 30
# The type of service of forged datagrams, which distinguishes them from those of ranks.
FORGED_SERVICE = 4
VERSION = 0xA0
REPORT, DROPPED, SEALED = 3, 4, 15
BROADCAST, ENDED, KNOWS = 1, 32, 64
COMMON = 12


@dataclass(frozen=True)
class Captured:
    """A datagram of a rank, as captured on the wire."""

    source: tuple[str, int]
    destination: tuple[str, int]
    payload: bytes

    @property
    def session(self) -> bytes:
        """The number of its session."""
        return self.payload[4:8]

    @property
    def rank(self) -> bytes:
        """The number of the rank that sent it."""
        return self.payload[2:4]


def crc32c(data: bytes) -> int:
    """The checksum of packets."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def packet(kind: int, flags: int, captured: Captured, fields: bytes) -> bytes:
    """An unauthenticated packet in the name of the rank of a captured one, with a correct checksum."""
    before = bytes([VERSION | kind, flags]) + captured.rank + captured.session
    return before + struct.pack(">I", crc32c(before + bytes(4) + fields)) + fields


def forged(captured: Captured) -> Iterator[bytes]:
    """Packets that would end a run if they were accepted: reports that the rank has ended, and that it broadcasts without others;
    authenticated ones with another key; and captured ones again."""
    ended = [packet(REPORT, ENDED | KNOWS | flags, captured, bytes(18)) for flags in (0, BROADCAST)]
    dropped = [packet(DROPPED, flags, captured, b"") for flags in (0, BROADCAST)]
    for number in itertools.count():
        yield from ended
        yield from dropped
        counter = struct.pack(">Q", 1_000_000 + number)
        yield bytes([VERSION | SEALED, 0]) + captured.rank + captured.session + counter + os.urandom(60)
        yield captured.payload


def send_spoofed(raw: socket.socket, captured: Captured, payload: bytes) -> None:
    """Send a datagram with the source address of a captured one."""
    addresses = [socket.inet_aton(address) for address, _ in (captured.source, captured.destination)]
    length = 8 + len(payload)
    header = struct.pack(">BBHHHBBH4s4s", 0x45, FORGED_SERVICE, 20 + length, 0, 0, 1, socket.IPPROTO_UDP, 0, *addresses)
    udp = struct.pack(">HHHH", captured.source[1], captured.destination[1], length, 0)
    raw.sendto(header + udp + payload, (captured.destination[0], 0))


def capture(wire: socket.socket, is_to_group: bool) -> Captured:
    """The next datagram of a rank to another, or to all."""
    for _ in range(100_000):
        frame = wire.recv(4_096)
        if len(frame) < 14 + 20 + 8 + COMMON or frame[12:14] != b"\x08\x00" or frame[23] != socket.IPPROTO_UDP:
            continue
        if frame[15] == FORGED_SERVICE:
            continue
        payload = frame[42:]
        source, destination = (socket.inet_ntoa(frame[offset : offset + 4]) for offset in (26, 30))
        ports = struct.unpack(">HH", frame[34:38])
        if payload[0] & 0xF0 == VERSION and destination.startswith("239.") == is_to_group:
            return Captured((source, ports[0]), (destination, ports[1]), payload)
    raise AssertionError("no rank sends anything")


def launch_among_forged(is_to_group: bool, *options: str) -> dict[str, Any]:
    """The report of a launch on a network with thousands of forged datagrams."""
    try:
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    except PermissionError:
        pytest.skip("only root can capture and forge datagrams")
    algorithm = "hardware" if is_to_group else "binomial"
    program = ["broadcast", "--algorithm", algorithm, "--bytes", "2KiB", "--repeat", "150"]
    with wire, raw:
        wire.bind(("lo", 0))
        wire.settimeout(20)
        raw.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        start: list[str | Path] = [COMMAND, "launch", "--local", "3", "--json", "--patience", "5s", *options, *program]
        launch = subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            captured = capture(wire, is_to_group)
            payloads = forged(captured)
            for _ in range(FORGED // PER_DATAGRAM):
                for payload in itertools.islice(payloads, PER_DATAGRAM):
                    send_spoofed(raw, captured, payload)
                capture(wire, is_to_group)
            printed, problem = launch.communicate(timeout=60)
        finally:
            launch.kill()
            launch.wait(timeout=60)
    assert launch.returncode == 0, problem
    report: dict[str, Any] = json.loads(printed)
    return report


def test_forged_datagrams_do_no_harm_and_are_counted() -> None:
    """An attacker who knows the number of the session and the addresses of ranks, but not the key, changes nothing by thousands of datagrams."""
    report = launch_among_forged(False)
    assert report["messages"] == 300
    assert len(report["times_ps"]) == 150
    assert report["forged"] > FORGED // 2
    assert sum(rank["forged"] for rank in report["ranks"]) == report["forged"]


def test_forged_datagrams_to_the_group_do_no_harm_and_are_counted() -> None:
    """The same by multicast, where each of them reaches all ranks."""
    if answer("launch", "--local", "2", "broadcast", "--algorithm", "hardware")["group"] is None:
        pytest.skip("no multicast on this computer")
    report = launch_among_forged(True)
    assert report["messages"] == 150
    assert report["forged"] > FORGED // 2
