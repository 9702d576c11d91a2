"""One rank's view of the machine it runs on."""

from typing import TYPE_CHECKING

from maquette._maquette import Place, Received, Verb
from maquette.requests import ask

if TYPE_CHECKING:
    from typing_extensions import Buffer

_SEND, _RECEIVE = Verb.Send, Verb.Receive
_COMPUTE, _SLEEP_UNTIL = Verb.Compute, Verb.SleepUntil
_MULTICAST, _RECEIVE_MULTICAST = Verb.Multicast, Verb.ReceiveMulticast


class Endpoint(Place):
    """One rank's view of the machine it runs on: what a program is given.

    Each verb is a coroutine: an operation begins when it is awaited, and the rank goes on when it is over. `maquette.gather`
    lets several go on at once. Only what the verbs do takes simulated time; Python's own work takes none.

    Attributes
    ----------
    rank : int
        Which rank this is, from 0.
    size : int
        How many ranks the program has.
    now_ps : int
        The time at this rank, since the program began. [ps]
    """

    async def send(
        self, to: int, data: "Buffer | str | None" = None, *, size: int | str | None = None, tag: int = 0
    ) -> None:
        """Send a message.

        When it is over is the machine's choice: once the message is set up, once it has left, or once it was received.

        Parameters
        ----------
        to
            The rank that is to have it.
        data
            What it says: something bytes-like, of which a copy is sent unless it is `bytes`; or a size such as ``"4 KiB"``, for
            a message that nobody looks at.
        size
            How large it is, if that is not the size of its data: a text, or a number. [B]
        tag
            What it is known by, beside its sender.

        Raises
        ------
        NoSuchRank
            If the program has no such rank, or it is this one.
        Unfit
            If the machine can't carry it.
        TypeError, ValueError
            If an argument is not what is allowed.
        """
        await ask((_SEND, to, tag, data, size))

    async def receive(
        self, source: int | None = None, tag: int | None = None, until: int | str | None = None
    ) -> Received:
        """Wait for the next message.

        Messages of one sender with one tag come in the order in which they were sent.

        Parameters
        ----------
        source
            Who has sent it; anyone, if left out.
        tag
            Its tag; any, if left out.
        until
            When to stop waiting: a text such as ``"12 us"``, or a number, as `now_ps` is one. [ps] For ever, if left out. A
            message that is there already is given in any case.

        Returns
        -------
        Received
            The message: its `source`, `tag`, `size` [B], and `data`, which is None if only a size was sent.

        Raises
        ------
        Deadline
            If none has come by then.
        NoSuchRank
            If the program has no such rank, or it is this one.
        TypeError, ValueError
            If an argument is not what is allowed.
        """
        received: Received = await ask((_RECEIVE, source, tag, until))
        return received

    async def compute(self, work: int | str) -> None:
        """Keep the rank's processor busy.

        Parameters
        ----------
        work
            For how long: a text such as ``"3 us"``, or a number. [ps]
        """
        await ask((_COMPUTE, work))

    async def sleep_until(self, time: int | str) -> None:
        """Wait without the processor, and not at all if that time has passed.

        Parameters
        ----------
        time
            Until when, since the program began: a text such as ``"12 us"``, or a number, as `now_ps` is one. [ps]
        """
        await ask((_SLEEP_UNTIL, time))

    async def multicast(self, data: "Buffer | str | None" = None, *, size: int | str | None = None) -> None:
        """Send a message to all other ranks at once, in hardware.

        Parameters
        ----------
        data, size
            As those of `send`.

        Raises
        ------
        Unfit
            If the machine has no hardware for it.
        """
        await ask((_MULTICAST, data, size))

    async def receive_multicast(self, source: int) -> Received:
        """Wait for the next message that a rank sends to all.

        Parameters
        ----------
        source
            Who sends it.

        Returns
        -------
        Received
            The message.

        Raises
        ------
        Unfit
            If the machine has no hardware for it.
        NoSuchRank
            If the program has no such rank, or it is this one.
        """
        received: Received = await ask((_RECEIVE_MULTICAST, source))
        return received

    def __repr__(self) -> str:
        return f"<maquette.Endpoint of rank {self.rank} of {self.size}>"
