"""Senders and receivers of `maquette cast` on this machine, each pair at a place of its own; none of them stays."""

import os
import random
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from command import COMMAND

#: How long any of them may take. [s]
PATIENCE = 60.0
HERE = "127.0.0.1"


class Place:
    """A multicast group that no other case has, and a folder."""

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
        """A key file of that name."""
        path = self.folder / name
        path.write_text(os.urandom(32).hex())
        path.chmod(0o600)
        return path

    def _cast(self, *arguments: str | Path, umask: int = 0o022) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        command = [COMMAND, "cast", *arguments]
        return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=self.folder, umask=umask)

    @contextmanager
    def heard(self) -> Iterator[socket.socket]:
        """A socket that hears what is sent to the group, as anybody on the network can."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listener.bind(self.group)
            membership = struct.pack("=4s4s", socket.inet_aton(self.group[0]), socket.inet_aton(HERE))
            listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
            listener.settimeout(PATIENCE)
            yield listener


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Its exit status and what it printed; it is killed when that takes too long."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return process.returncode, out, err
