"""Senders and receivers of `maquette cast` on this machine, each pair in a multicast group of its own."""

import os
import random
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command import COMMAND

#: The longest time that any of them may take. [s]
TIMEOUT = 60.0
LOOPBACK = "127.0.0.1"


class Site:
    """A multicast group that no other case uses, and a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.group = (f"239.255.{random.randrange(80, 250)}.{random.randrange(1, 250)}", random.randrange(20_000, 60_000))

    @property
    def address(self) -> str:
        return f"{self.group[0]}:{self.group[1]}"

    def send(self, *arguments: str | Path) -> subprocess.Popen[str]:
        return self._cast("send", "--to", self.address, *arguments)

    def receive(self, *arguments: str | Path, umask: int = 0o022) -> subprocess.Popen[str]:
        return self._cast("receive", "--from", self.address, *arguments, umask=umask)

    def key(self, name: str) -> Path:
        """Write a key file with this name."""
        path = self.folder / name
        path.write_text(os.urandom(32).hex())
        path.chmod(0o600)
        return path

    def _cast(self, *arguments: str | Path, umask: int = 0o022) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = [COMMAND, "cast", *arguments]
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=self.folder, umask=umask)

    @contextmanager
    def listening(self) -> Iterator[socket.socket]:
        """A socket that receives everything that is sent to the group, as any host on the network can."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listener.bind(self.group)
            membership = struct.pack("=4s4s", socket.inet_aton(self.group[0]), socket.inet_aton(LOOPBACK))
            listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
            listener.settimeout(TIMEOUT)
            yield listener


def wait_for(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Wait until a process exits; returns its exit status and its output. It is killed if that takes too long."""
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
    return process.returncode, out, err
