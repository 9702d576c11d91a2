"""Hosts for tests and measurements: network namespaces, each with one interface, joined by a switch.

    host 1      host 2      host 3            a namespace each, interface `eth0`, address 10.77.0.1, .2, .3, ...
      |           |           |
    --+-----------+-----------+--             a bridge in a namespace of its own

Or joined by two switches, with a trunk between them: some hosts are on the first, the others on the second.

Each interface is limited to the rate of the wire, in both directions. The queue of a host is deep, so that a program that sends too fast
waits; those of the switch are shallow, so that it drops frames. Losses are independent from receiver to receiver.

It needs root, and the commands `ip`, `tc` and `nft`. Everything that is created is removed again.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType


PREFIX = "maquette"


#: The longest time that a command may take that creates or removes something. [s]
TIMEOUT = 30.0


class Unavailable(Exception):
    """Such hosts can't be created on this computer; the message says why."""


@dataclass(frozen=True)
class Wire:
    """The properties of a wire."""

    rate: str = "100mbit"
    """In the notation of `tc`."""
    burst: str = "1600"
    """How many bytes pass at once: 1600 is one packet, `4kb` keeps exactly to the rate under load."""
    host_queue: str = "1mb"
    switch_queue: str = "128kb"


@dataclass(frozen=True)
class Trunk:
    """A second switch, and the wire to it."""

    first_switch: int
    """How many hosts are on the first switch; the others are on the second."""
    wire: Wire
    """The wire between them: each end is a port of a switch."""


def run(*command: str) -> None:
    """Run a command that must succeed."""
    completed = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    if completed.returncode != 0:
        raise Unavailable(f"`{' '.join(command)}`: {completed.stderr.strip() or completed.stdout.strip()}")


def remove_leftovers() -> None:
    """Remove the namespaces that a killed run has left behind."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, timeout=TIMEOUT).stdout
    for name in (line.split()[0] for line in listed.splitlines() if line):
        leftover = re.fullmatch(rf"{PREFIX}-(\d+)-\w+", name)
        if leftover and not Path(f"/proc/{leftover[1]}").exists():
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, timeout=TIMEOUT)


@dataclass
class Hosts:
    """Hosts that exist until the `with` block is left."""

    count: int
    wire: Wire = field(default_factory=Wire)
    trunk: Trunk | None = None

    def __post_init__(self) -> None:
        self._prefix = f"{PREFIX}-{os.getpid()}"
        self._namespaces: list[str] = []

    def name(self, host: int) -> str:
        """The name of host 1, 2, ... for `ip netns exec`."""
        return f"{self._prefix}-{host}"

    def address(self, host: int) -> str:
        """The address of host 1, 2, ..."""
        return f"10.77.0.{host}"

    def command(self, host: int, command: Sequence[str]) -> list[str]:
        """The command that runs another one on a host."""
        return ["ip", "netns", "exec", self.name(host), *command]

    def lines(self, count: int | None = None) -> str:
        """The contents of a hosts file with the first `count` hosts, or all."""
        hosts = range(1, (count or self.count) + 1)
        return "".join(f"{self.name(host)} {self.address(host)}\n" for host in hosts)

    def __enter__(self) -> Hosts:
        for tool in ("ip", "tc", "nft"):
            if shutil.which(tool) is None:
                raise Unavailable(f"the command `{tool}` is not installed")
        if os.geteuid() != 0:
            raise Unavailable("network namespaces need root")
        remove_leftovers()
        try:
            self._create()
        except Unavailable:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def lose(self, percent: float, source: int = 1) -> None:
        """From now on, lose this share of the UDP packets from `source` to each other host; only with one switch."""
        assert self.trunk is None
        switch = self._switches[0]
        flush = ["ip", "netns", "exec", switch, "nft", "flush", "ruleset"]
        subprocess.run(flush, capture_output=True, timeout=TIMEOUT)
        if percent == 0.0:
            return
        rules = ["table bridge losses {", "chain forward { type filter hook forward priority 0;"]
        share = round(percent * 100)
        for host in (host for host in range(1, self.count + 1) if host != source):
            packets = f'iifname "port{source}" oifname "port{host}" ip protocol udp'
            rules.append(f"{packets} numgen random mod 10000 < {share} drop")
        text = "\n".join([*rules, "}", "}"])
        command = ["ip", "netns", "exec", switch, "nft", "-f", "-"]
        completed = subprocess.run(command, input=text, capture_output=True, text=True, timeout=TIMEOUT)
        if completed.returncode != 0:
            raise Unavailable(f"losses by nft: {completed.stderr.strip()}")

    @property
    def _switches(self) -> list[str]:
        return [f"{self._prefix}-switch"] + ([f"{self._prefix}-second"] if self.trunk else [])

    def _switch_of(self, host: int) -> str:
        return self._switches[1 if self.trunk and host > self.trunk.first_switch else 0]

    def _add_namespace(self, name: str) -> None:
        run("ip", "netns", "add", name)
        self._namespaces.append(name)

    def _create(self) -> None:
        for switch in self._switches:
            self._add_namespace(switch)
            run("ip", "-n", switch, "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0", "stp_state", "0")
            run("ip", "-n", switch, "link", "set", "bridge", "up")
        if self.trunk:
            self._connect_switches(self.trunk.wire)
        for host in range(1, self.count + 1):
            self._connect_host(host)

    def _connect_host(self, host: int) -> None:
        name, switch, port, wire = self.name(host), self._switch_of(host), f"port{host}", self.wire
        self._add_namespace(name)
        run("ip", "-n", switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "-n", switch, "link", "set", port, "master", "bridge", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "address", "add", f"{self.address(host)}/24", "broadcast", "10.77.0.255", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "route", "add", "224.0.0.0/4", "dev", "eth0")
        self._limit_rate(name, "eth0", wire, wire.host_queue)
        self._limit_rate(switch, port, wire, wire.switch_queue)

    def _connect_switches(self, wire: Wire) -> None:
        first, second = self._switches
        run("ip", "-n", first, "link", "add", "trunk", "type", "veth", "peer", "name", "trunk", "netns", second)
        for switch in (first, second):
            run("ip", "-n", switch, "link", "set", "trunk", "master", "bridge", "up")
            self._limit_rate(switch, "trunk", wire, wire.switch_queue)

    def _limit_rate(self, namespace: str, device: str, wire: Wire, limit: str) -> None:
        """Limit what a device sends to the rate of its wire."""
        shape = ("root", "tbf", "rate", wire.rate, "burst", wire.burst, "limit", limit)
        run("tc", "-n", namespace, "qdisc", "add", "dev", device, *shape)

    def _remove(self) -> None:
        for name in reversed(self._namespaces):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, timeout=TIMEOUT)
        self._namespaces.clear()
