"""A file over TCP: `receive FILE` takes one, `send FILE ADDRESS...` sends it to each address, one after the other."""

import shutil
import socket
import sys
from pathlib import Path

PORT = 7701


def receive(file: Path) -> None:
    """Receive one file, and acknowledge it when it is complete."""
    with socket.create_server(("", PORT)) as server:
        connection, _ = server.accept()
        with connection, connection.makefile("rb") as stream, file.open("wb") as copy:
            shutil.copyfileobj(stream, copy, 1 << 20)
            connection.sendall(b"!")


def send(file: Path, addresses: list[str]) -> None:
    """Send a file to each address, one after the other."""
    for address in addresses:
        with socket.create_connection((address, PORT)) as connection, file.open("rb") as original:
            connection.sendfile(original)
            connection.shutdown(socket.SHUT_WR)
            if connection.recv(1) != b"!":
                sys.exit(f"{address} has not taken it")


if __name__ == "__main__":
    direction, name, *others = sys.argv[1:]
    if direction == "receive":
        receive(Path(name))
    else:
        send(Path(name), others)
