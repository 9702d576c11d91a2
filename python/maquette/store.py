"""A client of a pool of stores, as `maquette store serve` makes up.

It asks each member for what that has, one hop away, and sends what belongs together to all members at the same time::

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

#: A word of a command: text is sent as UTF-8, numbers as they are written.
Word: TypeAlias = str | bytes | int | float
#: Where a file is.
_File: TypeAlias = str | os.PathLike[str]
#: What a command gives: nothing, bytes, a number, or several of these.
Reply: TypeAlias = "bytes | int | list[Reply] | None"
#: What a pipeline gives where errors are not raised.
Answer: TypeAlias = "Reply | StoreError | ValueError"


@dataclasses.dataclass(frozen=True)
class Counts:
    """What a client has counted.

    Attributes
    ----------
    sent : int
        Requests, those that were sent again included.
    moved : int
        Replies that were ``MOVED``.
    adjustments : int
        How many of these were news.
    delays : int
        Requests that had to wait before they were sent again.
    maps : int
        How often all slots were asked for: once, and once a second at most while a member is gone.
    connections : int
        Connections that were opened.
    """

    sent: int
    moved: int
    adjustments: int
    delays: int
    maps: int
    connections: int


class Client:
    """A client of a pool of stores, or of a single one.

    It asks one member where all keys are, and from then on is told by those that have given some away. Threads may share it: one asks
    after the other, and others run while it waits. Values are bytes.

    Parameters
    ----------
    *members
        One or several members, each as ``"HOST:PORT"`` at its port for clients; any will do.
    password
        What clients have to say, if anything.
    timeout
        As long as may pass without any answer. [s]
    tls_ca
        A file in PEM with the CAs that are trusted: members are spoken with by TLS, and their certificates have to name the address which
        is called.
    tls_name
        The name that certificates have, instead of that address.
    tls_certificate
        A file in PEM with the certificate to show to members that ask for one.
    tls_key
        A file in PEM with the private key of that certificate.

    Raises
    ------
    NoAnswer
        If none of the members can be reached, or is trusted.
    CommandRefused
        If the password is wrong, or one is needed.
    ValueError
        If an address is none, or a file has no certificate or key.
    OSError
        If a file can't be read.
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
        asked = list(members) or ["127.0.0.1:6379"]
        own = (tls_certificate, tls_key) if tls_certificate is not None and tls_key is not None else None
        if own is None and (tls_certificate, tls_key) != (None, None):
            raise ValueError("tls_certificate, tls_key: found one of them; allowed are both, or none")
        if tls_ca is None and (own, tls_name) != (None, None):
            raise ValueError("tls_ca: found None, and other files or names for TLS; allowed is the file of a CA")
        tls = None if tls_ca is None else (tls_ca, own, tls_name)
        self._client = StoreClient(asked, None if password is None else _bytes(password), timeout, tls)

    def get(self, key: str | bytes) -> bytes | None:
        """Give the value of a key.

        Parameters
        ----------
        key
            Which.

        Returns
        -------
        bytes or None
            Nothing, if nothing is stored under it.
        """
        found = self.execute("GET", key)
        return found if isinstance(found, bytes) else None

    def set(self, key: str | bytes, value: Word) -> None:
        """Store a value under a key.

        Parameters
        ----------
        key
            Which.
        value
            Text is stored as UTF-8, a number as it is written.
        """
        self.execute("SET", key, value)

    def delete(self, *keys: str | bytes) -> int:
        """Take out keys, wherever they are.

        Parameters
        ----------
        *keys
            Which.

        Returns
        -------
        int
            How many of them were there.
        """
        found = self.execute("DEL", *keys) if keys else 0
        return found if isinstance(found, int) else 0

    def execute(self, *words: Word) -> Reply:
        """Carry out a command.

        Parameters
        ----------
        *words
            Its name and its arguments. ``MGET``, ``MSET``, ``DEL``, ``UNLINK``, ``EXISTS`` and ``TOUCH`` may have keys of several members;
            what keeps a state on a connection, such as ``MULTI``, is refused.

        Returns
        -------
        bytes, int, list or None
            What it gives.

        Raises
        ------
        CommandRefused
            If the store refuses it.
        OutcomeUnknown
            If the connection broke before the reply to a command that changes something.
        NoAnswer
            If nobody has answered in time. Nothing was changed then.
        """
        (reply,) = self._execute([words])
        if isinstance(reply, StoreError | ValueError):
            raise reply
        return reply

    def pipeline(self) -> "Pipeline":
        """Begin a pipeline: commands that are sent together, to all members at the same time.

        Returns
        -------
        Pipeline
            One without commands.
        """
        return Pipeline(self)

    @property
    def counts(self) -> Counts:
        """What it has counted so far."""
        return Counts(*self._client.counts())

    def close(self) -> None:
        """Close all connections. Nothing can be asked after that."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _execute(self, commands: Sequence[Sequence[Word]]) -> list[Answer]:
        return self._client.execute([[_bytes(word) for word in words] for words in commands])


class Pipeline:
    """Commands that are sent together, and whose replies come back in their order.

    Those on one key are carried out in this order, unless a connection breaks, or the key goes away from a member and comes back to it
    meanwhile; together they are no transaction. `Client.pipeline` makes one.

    Parameters
    ----------
    client
        Who sends them.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._commands: list[Sequence[Word]] = []

    def command(self, *words: Word) -> Self:
        """Add a command.

        Parameters
        ----------
        *words
            Its name and its arguments.

        Returns
        -------
        Pipeline
            Itself.
        """
        self._commands.append(words)
        return self

    def get(self, key: str | bytes) -> Self:
        """Add a ``GET``.

        Parameters
        ----------
        key
            Which.

        Returns
        -------
        Pipeline
            Itself.
        """
        return self.command("GET", key)

    def set(self, key: str | bytes, value: Word) -> Self:
        """Add a ``SET``.

        Parameters
        ----------
        key
            Which.
        value
            What is to be stored.

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
            Which.

        Returns
        -------
        Pipeline
            Itself.
        """
        return self.command("DEL", *keys)

    def execute(self, *, raise_errors: bool = True) -> list[Answer]:
        """Send all commands, and wait for their replies. The pipeline is empty then.

        Parameters
        ----------
        raise_errors
            Whether the first error is raised, as soon as all have been carried out. Otherwise exceptions stand where replies would.

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


def _bytes(word: Word) -> bytes:
    match word:
        case bytes():
            return word
        case str():
            return word.encode()
        case bool():
            pass
        case int() | float():
            return repr(word).encode()
    raise TypeError(f"found {word!r}; allowed is text, bytes, or a number")
