"""Hosts for tests and measurements: network namespaces, each with one interface, joined by a switch.

    host 1      host 2      host 3            a namespace each, interface `eth0`, address 10.77.0.1, .2, .3, ...
      |           |           |
    --+-----------+-----------+--             a bridge in a namespace of its own

Or by two switches: some hosts are on the first, the others on the second, and a trunk is between them.

Each interface is held to the rate of the wire, both ways: the host's own queue is deep, so that a program that sends too fast
waits; the switch's queues are shallow, so that it drops. Losses are independent from receiver to receiver.

It needs root, and the commands `ip`, `tc` and `nft`. Whatever is made is removed again.
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


#: How long a command that makes or removes something may take. [s]
PATIENCE = 30.0


class Unavailable(Exception):
    """Such hosts can't be made here; the message says why."""


@dataclass(frozen=True)
class Wire:
    """What a wire does."""

    rate: str = "100mbit"
    """As `tc` reads it."""
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
    """What the wire between them does, of which each end is a port of a switch."""


def run(*command: str) -> None:
    """Runs a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise Unavailable(f"`{' '.join(command)}`: {done.stderr.strip() or done.stdout.strip()}")


def sweep() -> None:
    """Removes what a run has left behind that was killed."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, timeout=PATIENCE).stdout
    for name in (line.split()[0] for line in listed.splitlines() if line):
        made = re.fullmatch(rf"{PREFIX}-(\d+)-\w+", name)
        if made and not Path(f"/proc/{made[1]}").exists():
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, timeout=PATIENCE)


@dataclass
class Hosts:
    """So many hosts, from `with` to its end."""

    count: int
    wire: Wire = field(default_factory=Wire)
    trunk: Trunk | None = None

    def __post_init__(self) -> None:
        self._prefix = f"{PREFIX}-{os.getpid()}"
        self._made: list[str] = []

    def name(self, host: int) -> str:
        """What host 1, 2, ... is called, for `ip netns exec`."""
        return f"{self._prefix}-{host}"

    def address(self, host: int) -> str:
        """The address of host 1, 2, ..."""
        return f"10.77.0.{host}"

    def command(self, host: int, command: Sequence[str]) -> list[str]:
        """That command, to be run on a host."""
        return ["ip", "netns", "exec", self.name(host), *command]

    def lines(self, count: int | None = None) -> str:
        """The first of them as a file of hosts."""
        hosts = range(1, (count or self.count) + 1)
        return "".join(f"{self.name(host)} {self.address(host)}\n" for host in hosts)

    def __enter__(self) -> Hosts:
        for tool in ("ip", "tc", "nft"):
            if shutil.which(tool) is None:
                raise Unavailable(f"the command `{tool}` is not installed")
        if os.geteuid() != 0:
            raise Unavailable("network namespaces need root")
        sweep()
        try:
            self._make()
        except Unavailable:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def lose(self, percent: float, source: int = 1) -> None:
        """From now on so many of the UDP packets that `source` sends are lost on the way to each other host, where there is one switch."""
        assert self.trunk is None
        switch = self._switches[0]
        flush = ["ip", "netns", "exec", switch, "nft", "flush", "ruleset"]
        subprocess.run(flush, capture_output=True, timeout=PATIENCE)
        if percent == 0.0:
            return
        rules = ["table bridge losses {", "chain forward { type filter hook forward priority 0;"]
        share = round(percent * 100)
        for host in (host for host in range(1, self.count + 1) if host != source):
            which = f'iifname "port{source}" oifname "port{host}" ip protocol udp'
            rules.append(f"{which} numgen random mod 10000 < {share} drop")
        text = "\n".join([*rules, "}", "}"])
        command = ["ip", "netns", "exec", switch, "nft", "-f", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode != 0:
            raise Unavailable(f"losses by nft: {done.stderr.strip()}")

    @property
    def _switches(self) -> list[str]:
        return [f"{self._prefix}-switch"] + ([f"{self._prefix}-second"] if self.trunk else [])

    def _switch_of(self, host: int) -> str:
        return self._switches[1 if self.trunk and host > self.trunk.first_switch else 0]

    def _namespace(self, name: str) -> None:
        run("ip", "netns", "add", name)
        self._made.append(name)

    def _make(self) -> None:
        for switch in self._switches:
            self._namespace(switch)
            run("ip", "-n", switch, "link", "add", "bridge", "type", "bridge", "mcast_snooping", "0", "stp_state", "0")
            run("ip", "-n", switch, "link", "set", "bridge", "up")
        if self.trunk:
            self._join(self.trunk.wire)
        for host in range(1, self.count + 1):
            self._plug_in(host)

    def _plug_in(self, host: int) -> None:
        name, switch, port, wire = self.name(host), self._switch_of(host), f"port{host}", self.wire
        self._namespace(name)
        run("ip", "-n", switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "-n", switch, "link", "set", port, "master", "bridge", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        run("ip", "-n", name, "address", "add", f"{self.address(host)}/24", "broadcast", "10.77.0.255", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "route", "add", "224.0.0.0/4", "dev", "eth0")
        self._hold(name, "eth0", wire, wire.host_queue)
        self._hold(switch, port, wire, wire.switch_queue)

    def _join(self, wire: Wire) -> None:
        first, second = self._switches
        run("ip", "-n", first, "link", "add", "trunk", "type", "veth", "peer", "name", "trunk", "netns", second)
        for switch in (first, second):
            run("ip", "-n", switch, "link", "set", "trunk", "master", "bridge", "up")
            self._hold(switch, "trunk", wire, wire.switch_queue)

    def _hold(self, where: str, device: str, wire: Wire, limit: str) -> None:
        """Holds what leaves by a device to the rate of its wire."""
        shape = ("root", "tbf", "rate", wire.rate, "burst", wire.burst, "limit", limit)
        run("tc", "-n", where, "qdisc", "add", "dev", device, *shape)

    def _remove(self) -> None:
        for name in reversed(self._made):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, timeout=PATIENCE)
        self._made.clear()
