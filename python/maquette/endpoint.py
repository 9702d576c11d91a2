"""One rank's view of the machine it runs on."""

from operator import index
from typing import TYPE_CHECKING

from maquette._maquette import Deadline, Members, Place, Received, Verb
from maquette.pending import Request, fill, room_of
from maquette.requests import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer

    from maquette.groups import Group

_SEND, _RECEIVE = Verb.Send, Verb.Receive
_COMPUTE, _SLEEP_UNTIL = Verb.Compute, Verb.SleepUntil
_MULTICAST, _RECEIVE_MULTICAST = Verb.Multicast, Verb.ReceiveMulticast
_SENDRECV, _PROBE = Verb.Sendrecv, Verb.Probe


class Endpoint(Place):
    """One rank's view of the machine it runs on: the argument of a program.

    Each verb is a coroutine: an operation begins when it is awaited, and the rank continues when it is over. `maquette.join`
    lets several overlap. Only verbs take simulated time; Python's own work takes none.

    Attributes
    ----------
    rank : int
        The number of this rank, from 0.
    size : int
        The number of ranks of the program.
    now_ps : int
        The time at this rank, since the program began. [ps]
    """

    #: The ranks of a group; None, as all ranks of the program take part.
    members: Members | None = None

    def group(self, ranks: "Sequence[int]") -> "Group":
        """Make a group of some ranks, in an order: it stands in place of the endpoint in every collective.

        Nothing is sent. Each of the ranks has to make it, with the same list.

        Parameters
        ----------
        ranks
            The ranks of the group, this one among them, in the group's order.

        Returns
        -------
        Group
            The group as this rank sees it.

        Raises
        ------
        TypeError
            If it is not a list of ranks.
        ValueError
            If a rank is listed twice or does not exist, or this rank is not listed.
        """
        from maquette.groups import Group

        try:
            numbers = [index(rank) for rank in ranks]
        except TypeError:
            raise TypeError(f"ranks: found {ranks!r}; allowed is a list of ranks, such as [5, 1, 3]") from None
        return Group(self, numbers)

    async def split(self, colour: int | None, key: int = 0) -> "Group | None":
        """Split the ranks into groups, as ``MPI_Comm_split`` does. Every rank has to await it.

        Parameters
        ----------
        colour
            Ranks of one colour become a group; a rank without one is in none.
        key
            The order within a group: by key, and ranks of one key by their number.

        Returns
        -------
        Group or None
            The group of this rank's colour; None without a colour.

        Raises
        ------
        TypeError, ValueError
            If the colour or the key is no whole number of 64 bits.
        """
        from maquette.groups import split

        return await split(self, colour, key)

    async def send(
        self, to: int, data: "Buffer | str | None" = None, *, size: int | str | None = None, tag: int = 0
    ) -> None:
        """Send a message.

        The machine decides when the send is over: once the message is set up, has left, or was received.

        Parameters
        ----------
        to
            The receiving rank.
        data
            The contents: a bytes-like object, which is copied unless it is `bytes`; or a size such as ``"4 KiB"``, for
            a message without contents.
        size
            The size of the message, if it is not that of its data: a text, or a number. [B]
        tag
            The tag that a receive can select, besides the sender.

        Raises
        ------
        NoSuchRank
            If the program has no such rank, or it is this one.
        Unfit
            If the machine cannot carry it.
        TypeError, ValueError
            If an argument is not what is allowed.
        """
        await ask((_SEND, to, tag, data, size))

    async def receive(
        self,
        source: int | None = None,
        tag: int | None = None,
        until: int | str | None = None,
        *,
        size: int | str | None = None,
        into: "Buffer | None" = None,
    ) -> Received:
        """Wait for the next message.

        Messages of one sender with one tag arrive in the order in which they were sent.

        Parameters
        ----------
        source
            The sending rank; by default any.
        tag
            Its tag; by default any.
        until
            When to stop waiting: a text such as ``"12 us"``, or a number, like `now_ps`; by default never. [ps] A
            message that has already arrived is returned in any case.
        size
            The most that there is room for, as in MPI: a text such as ``"4 KiB"``, or a number; by default any. A shorter message is
            received. [B]
        into
            Where its data are written, such as a numpy array, in place of `size`: there is room for as much as it has.

        Returns
        -------
        Received
            The message: its `source`, `tag`, `size` [B], and `data`, which is None if only a size was sent.

        Raises
        ------
        Deadline
            If none has arrived by then.
        Mismatch
            If the message is longer than there is room for.
        NoSuchRank
            If the program has no such rank, or it is this one.
        TypeError, ValueError
            If an argument is not what is allowed.
        """
        if into is not None:
            size = room_of(into)
        received: Received = await ask((_RECEIVE, source, tag, until, size))
        if into is not None:
            fill(into, received)
        return received

    async def probe(
        self, source: int | None = None, tag: int | None = None, until: int | str | None = None
    ) -> Received:
        """Wait until there is a message to receive, as ``MPI_Probe`` does, and leave it where it is.

        What a receive under way takes is not found. This takes no processor.

        Parameters
        ----------
        source, tag, until
            As in `receive`.

        Returns
        -------
        Received
            What there is to receive: its `source`, `tag` and `size` [B]; its `data` are None until it is received.

        Raises
        ------
        Deadline, NoSuchRank, TypeError, ValueError
            As in `receive`.
        """
        found: Received = await ask((_PROBE, source, tag, until))
        return found

    async def iprobe(self, source: int | None = None, tag: int | None = None) -> Received | None:
        """Whether there is a message to receive now, as ``MPI_Iprobe`` tells.

        No time passes on a model: between two questions a program has to compute, sleep or wait for something else.

        Parameters
        ----------
        source, tag
            As in `receive`.

        Returns
        -------
        Received or None
            As `probe` returns it; None, if there is nothing to receive.

        Raises
        ------
        NoSuchRank, TypeError, ValueError
            As in `receive`.
        """
        try:
            return await self.probe(source, tag, self.now_ps)
        except Deadline:
            return None

    async def sendrecv(
        self,
        to: int,
        data: "Buffer | str | None" = None,
        source: int | None = None,
        *,
        size: int | str | None = None,
        tag: int = 0,
        source_tag: int | None = None,
        into: "Buffer | None" = None,
    ) -> Received:
        """Send a message and receive another at the same time, as ``MPI_Sendrecv`` does.

        Ranks that exchange messages need not agree on who sends first, whatever the machine's sends wait for.

        Parameters
        ----------
        to, data, size, tag
            As in `send`.
        source
            The rank whose message is received; by default `to`.
        source_tag
            Its tag; by default any.
        into
            As in `receive`.

        Returns
        -------
        Received
            The message that was received.

        Raises
        ------
        NoSuchRank, Unfit, Mismatch, TypeError, ValueError
            As in `send` and `receive`.
        """
        room = None if into is None else room_of(into)
        partner = to if source is None else source
        received: Received = await ask((_SENDRECV, to, tag, data, size, partner, source_tag, room))
        if into is not None:
            fill(into, received)
        return received

    def isend(
        self, to: int, data: "Buffer | str | None" = None, *, size: int | str | None = None, tag: int = 0
    ) -> Request[None]:
        """Begin to send a message and go on, as ``MPI_Isend`` does.

        The data are copied, so that they may be changed at once.

        Parameters
        ----------
        to, data, size, tag
            As in `send`.

        Returns
        -------
        Request
            What can be waited for: ``await request.wait()``, or several by `wait_all` and `wait_any`.

        Raises
        ------
        TypeError, ValueError
            If an argument is not what is allowed. What else can be wrong is raised by `Request.wait`.
        """
        return Request(self, (_SEND, to, tag, data, size))

    def irecv(
        self,
        source: int | None = None,
        tag: int | None = None,
        *,
        size: int | str | None = None,
        into: "Buffer | None" = None,
    ) -> Request[Received]:
        """Begin to receive a message and go on, as ``MPI_Irecv`` does.

        Parameters
        ----------
        source, tag, size, into
            As in `receive`. A buffer is written when the request has been waited for.

        Returns
        -------
        Request
            What can be waited for; it ends with the message.

        Raises
        ------
        TypeError, ValueError
            If an argument is not what is allowed. What else can be wrong is raised by `Request.wait`.
        """
        room = size if into is None else room_of(into)
        return Request(self, (_RECEIVE, source, tag, None, room), into)

    async def compute(self, work: int | str) -> None:
        """Keep the rank's processor busy.

        Parameters
        ----------
        work
            For how long: a text such as ``"3 us"``, or a number. [ps]
        """
        await ask((_COMPUTE, work))

    async def sleep_until(self, time: int | str) -> None:
        """Wait without occupying the processor; return at once if that time has passed.

        Parameters
        ----------
        time
            Until when, since the program began: a text such as ``"12 us"``, or a number, like `now_ps`. [ps]
        """
        await ask((_SLEEP_UNTIL, time))

    async def multicast(self, data: "Buffer | str | None" = None, *, size: int | str | None = None) -> None:
        """Send a message to all other ranks at once, in hardware.

        Parameters
        ----------
        data, size
            As in `send`.

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
            The sending rank.

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
