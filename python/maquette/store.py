"""A client of a pool of stores, as served by `maquette store serve`.

It asks each member directly for the keys it holds, and sends the commands of a pipeline to all members at the same time::

    from maquette.store import Client

    with Client("127.0.0.1:6379") as store:
        store.set("greeting", "hello")
        store.get("greeting")
        with store.pipeline() as pipeline:
            for number in range(1000):
                pipeline.get(f"item:{number}")
            values = pipeline.execute()
"""

import dataclasses
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Self, TypeAlias

from maquette._maquette import CommandRefused, NoAnswer, OutcomeUnknown, StoreClient, StoreError

__all__ = ["Answer", "Client", "CommandRefused", "Counts", "NoAnswer", "OutcomeUnknown", "Pipeline", "Reply", "StoreError"]

#: The name or an argument of a command: text is sent as UTF-8, numbers as they are written.
Argument: TypeAlias = str | bytes | int | float
#: Where a file is.
_File: TypeAlias = str | os.PathLike[str]
#: The reply to a command: nothing, bytes, a number, or several of these.
Reply: TypeAlias = "bytes | int | list[Reply] | None"
#: What a pipeline returns where errors are not raised.
Answer: TypeAlias = "Reply | StoreError | ValueError"


@dataclasses.dataclass(frozen=True)
class Counts:
    """What a client has counted.

    Attributes
    ----------
    sent : int
        Requests, including those sent again.
    moved : int
        ``MOVED`` replies.
    adjustments : int
        How many of these changed the client's image.
    delays : int
        Requests that had to wait before they were sent again.
    maps : int
        How often the client asked for all slots: once, and at most once a second while a member is gone.
    connections : int
        Opened connections.
    """

    sent: int
    moved: int
    adjustments: int
    delays: int
    maps: int
    connections: int


class Client:
    """A client of a pool of stores, or of a single one.

    It asks one member once where all keys are; from then on, members that have given keys away redirect it. Threads may share it: they take turns,
    and others run while one waits. Values are bytes.

    Parameters
    ----------
    *members
        One or more members, each as ``"HOST:PORT"`` with its port for clients; any will do.
    password
        The password of clients, if there is one.
    timeout
        The longest time without any answer. [s]
    tls_ca
        A PEM file with the trusted CAs: connections to members use TLS, and their certificates have to name the address that
        is called.
    tls_name
        The name in the certificates, if it is not that address.
    tls_certificate
        A PEM file with the certificate for members that require one.
    tls_key
        A PEM file with the private key of that certificate.

    Raises
    ------
    NoAnswer
        If none of the members can be reached, or is trusted.
    CommandRefused
        If the password is wrong, or one is needed.
    ValueError
        If an address is malformed, or a file has no certificate or key.
    OSError
        If a file cannot be read.
    """

    def __init__(
        self,
        *members: str,
        password: str | bytes | None = None,
        timeout: float = 10.0,
        tls_ca: _File | None = None,
        tls_name: str | None = None,
        tls_certificate: _File | None = None,
        tls_key: _File | None = None,
    ) -> None:
        addresses = list(members) or ["127.0.0.1:6379"]
        certificate = (tls_certificate, tls_key) if tls_certificate is not None and tls_key is not None else None
        if certificate is None and (tls_certificate, tls_key) != (None, None):
            raise ValueError("tls_certificate, tls_key: found one of them; allowed are both, or none")
        if tls_ca is None and (certificate, tls_name) != (None, None):
            raise ValueError("tls_ca: found None, and other files or names for TLS; allowed is the file of a CA")
        tls = None if tls_ca is None else (tls_ca, certificate, tls_name)
        self._client = StoreClient(addresses, None if password is None else _bytes(password), timeout, tls)

    def get(self, key: str | bytes) -> bytes | None:
        """Return the value of a key.

        Parameters
        ----------
        key
            The key.

        Returns
        -------
        bytes or None
            The value; None if nothing is stored under the key.
        """
        found = self.execute("GET", key)
        return found if isinstance(found, bytes) else None

    def set(self, key: str | bytes, value: Argument) -> None:
        """Store a value under a key.

        Parameters
        ----------
        key
            The key.
        value
            The value: text is stored as UTF-8, a number as it is written.
        """
        self.execute("SET", key, value)

    def delete(self, *keys: str | bytes) -> int:
        """Delete keys, on whichever members they are.

        Parameters
        ----------
        *keys
            The keys.

        Returns
        -------
        int
            How many of them existed.
        """
        found = self.execute("DEL", *keys) if keys else 0
        return found if isinstance(found, int) else 0

    def execute(self, *arguments: Argument) -> Reply:
        """Carry out a command.

        Parameters
        ----------
        *arguments
            Its name and its arguments. ``MGET``, ``MSET``, ``DEL``, ``UNLINK``, ``EXISTS`` and ``TOUCH`` may have keys of several members;
            commands that keep state on a connection, such as ``MULTI``, are refused.

        Returns
        -------
        bytes, int, list or None
            The reply.

        Raises
        ------
        CommandRefused
            If the store refuses it.
        OutcomeUnknown
            If the connection broke before the reply to a command that changes something.
        NoAnswer
            If no member answered in time. Nothing was changed then.
        """
        (reply,) = self._execute([arguments])
        if isinstance(reply, StoreError | ValueError):
            raise reply
        return reply

    def pipeline(self) -> "Pipeline":
        """Begin a pipeline: commands that are sent together, to all members at the same time.

        Returns
        -------
        Pipeline
            An empty pipeline.
        """
        return Pipeline(self)

    @property
    def counts(self) -> Counts:
        """What it has counted so far."""
        return Counts(*self._client.counts())

    def close(self) -> None:
        """Close all connections. The client cannot be used after that."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _execute(self, commands: Sequence[Sequence[Argument]]) -> list[Answer]:
        return self._client.execute([[_bytes(argument) for argument in arguments] for arguments in commands])


class Pipeline:
    """Commands that are sent together, and whose replies come back in their order.

    Commands on one key are carried out in this order, unless a connection breaks, or the key leaves a member and comes back to it
    meanwhile; a pipeline is not a transaction. `Client.pipeline` creates one.

    Parameters
    ----------
    client
        The client that sends them.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._commands: list[Sequence[Argument]] = []

    def command(self, *arguments: Argument) -> Self:
        """Add a command.

        Parameters
        ----------
        *arguments
            Its name and its arguments.

        Returns
        -------
        Pipeline
            Itself.
        """
        self._commands.append(arguments)
        return self

    def get(self, key: str | bytes) -> Self:
        """Add a ``GET``.

        Parameters
        ----------
        key
            The key.

        Returns
        -------
        Pipeline
            Itself.
        """
        return self.command("GET", key)

    def set(self, key: str | bytes, value: Argument) -> Self:
        """Add a ``SET``.

        Parameters
        ----------
        key
            The key.
        value
            The value.

        Returns
        -------
        Pipeline
            Itself.
        """
        return self.command("SET", key, value)

    def delete(self, *keys: str | bytes) -> Self:
        """Add a ``DEL``.

        Parameters
        ----------
        *keys
            The keys.

        Returns
        -------
        Pipeline
            Itself.
        """
        return self.command("DEL", *keys)

    def execute(self, *, raise_errors: bool = True) -> list[Answer]:
        """Send all commands, and wait for their replies. The pipeline is empty afterwards.

        Parameters
        ----------
        raise_errors
            Whether the first error is raised, once all have been carried out. Otherwise exceptions take the place of replies.

        Returns
        -------
        list
            The reply to each command.
        """
        commands, self._commands = self._commands, []
        replies = self._client._execute(commands)
        for reply in replies:
            if raise_errors and isinstance(reply, StoreError | ValueError):
                raise reply
        return replies

    def __len__(self) -> int:
        return len(self._commands)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._commands = []


def _bytes(argument: Argument) -> bytes:
    match argument:
        case bytes():
            return argument
        case str():
            return argument.encode()
        case bool():
            pass
        case int() | float():
            return repr(argument).encode()
    raise TypeError(f"found {argument!r}; allowed is text, bytes, or a number")
