"""Groups: some ranks of a program, in an order."""

import struct
from typing import TYPE_CHECKING

from maquette._maquette import Members, Received
from maquette.collectives import all_gather
from maquette.pending import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer

    from maquette.endpoint import Endpoint


class Group:
    """Some ranks of a program, in an order, as one of them sees them: what MPI calls a communicator.

    It stands in place of an endpoint: every collective takes one, and the verbs of an endpoint are its own, with places in the group in
    place of ranks. `Endpoint.group` and `Endpoint.split` make one. Collectives of different groups never take each other's messages;
    those that a program sends itself have only its tags.

    Attributes
    ----------
    rank : int
        The place of this rank in the group, from 0.
    size : int
        The number of ranks in the group.
    ranks : list of int
        The ranks of the program that are in the group, in its order.
    """

    __slots__ = ("_endpoint", "_ranks", "members", "rank", "size")

    def __init__(self, endpoint: "Endpoint", ranks: list[int]) -> None:
        members = Members(ranks, endpoint.rank, endpoint.size)
        place = members.place_of(endpoint.rank)
        assert place is not None, "members have the rank that makes them"
        self._endpoint = endpoint
        self._ranks = ranks
        self.members: Members | None = members
        self.rank = place
        self.size = len(ranks)

    @property
    def ranks(self) -> list[int]:
        return list(self._ranks)

    @property
    def now_ps(self) -> int:
        """The time at this rank, since the program began. [ps]"""
        return self._endpoint.now_ps

    def _rank_at(self, name: str, place: int) -> int:
        if not 0 <= place < self.size:
            raise ValueError(f"{name}: found {place}; allowed is a place in the group, from 0 to {self.size - 1}")
        return self._ranks[place]

    async def send(
        self, to: int, data: "Buffer | str | None" = None, *, size: int | str | None = None, tag: int = 0
    ) -> None:
        """Send a message to a place in the group, as `Endpoint.send` does to a rank."""
        await self._endpoint.send(self._rank_at("to", to), data, size=size, tag=tag)

    async def receive(
        self,
        source: int | None = None,
        tag: int | None = None,
        until: int | str | None = None,
        *,
        size: int | str | None = None,
        into: "Buffer | None" = None,
    ) -> Received:
        """Wait for the next message from a place in the group, as `Endpoint.receive` does from a rank.

        Its `source` is a rank of the program; without a source it may be from any of these.
        """
        rank = None if source is None else self._rank_at("source", source)
        return await self._endpoint.receive(rank, tag, until, size=size, into=into)

    async def probe(
        self, source: int | None = None, tag: int | None = None, until: int | str | None = None
    ) -> Received:
        """Wait until there is a message to receive from a place in the group, as `Endpoint.probe` does.

        Its `source` is a rank of the program; without a source it may be from any of these.
        """
        rank = None if source is None else self._rank_at("source", source)
        return await self._endpoint.probe(rank, tag, until)

    async def iprobe(self, source: int | None = None, tag: int | None = None) -> Received | None:
        """Whether there is a message to receive from a place in the group, as `Endpoint.iprobe` tells."""
        rank = None if source is None else self._rank_at("source", source)
        return await self._endpoint.iprobe(rank, tag)

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
        """Send a message to a place in the group and receive one from another, as `Endpoint.sendrecv` does."""
        rank = None if source is None else self._rank_at("source", source)
        to = self._rank_at("to", to)
        return await self._endpoint.sendrecv(to, data, rank, size=size, tag=tag, source_tag=source_tag, into=into)

    def isend(
        self, to: int, data: "Buffer | str | None" = None, *, size: int | str | None = None, tag: int = 0
    ) -> Request[None]:
        """Begin to send a message to a place in the group, as `Endpoint.isend` does."""
        return self._endpoint.isend(self._rank_at("to", to), data, size=size, tag=tag)

    def irecv(
        self,
        source: int | None = None,
        tag: int | None = None,
        *,
        size: int | str | None = None,
        into: "Buffer | None" = None,
    ) -> Request[Received]:
        """Begin to receive a message from a place in the group, as `Endpoint.irecv` does."""
        rank = None if source is None else self._rank_at("source", source)
        return self._endpoint.irecv(rank, tag, size=size, into=into)

    async def compute(self, work: int | str) -> None:
        """Keep the rank's processor busy, as `Endpoint.compute` does."""
        await self._endpoint.compute(work)

    async def sleep_until(self, time: int | str) -> None:
        """Wait without occupying the processor, as `Endpoint.sleep_until` does."""
        await self._endpoint.sleep_until(time)

    def group(self, places: "Sequence[int]") -> "Group":
        """Make a group of some places in this one, in an order, as `Endpoint.group` does of ranks."""
        return Group(self._endpoint, [self._rank_at("places", place) for place in places])

    async def split(self, colour: int | None, key: int = 0) -> "Group | None":
        """Split the group, as `Endpoint.split` splits all ranks. Every rank of the group has to await it."""
        return await split(self, colour, key)

    def __repr__(self) -> str:
        return f"<maquette.Group, place {self.rank} of {self.size}>"


#: Whether a rank has a colour, the colour and the key.
_CHOICE = struct.Struct("<Bqq")


async def split(among: "Endpoint | Group", colour: int | None, key: int) -> Group | None:
    """The group of the ranks with this rank's colour, in order of their keys; None, without a colour."""
    try:
        own = _CHOICE.pack(colour is not None, 0 if colour is None else colour, key)
    except struct.error:
        raise ValueError(f"colour, key: found {colour!r}, {key!r}; allowed are whole numbers of 64 bits") from None
    choices = await all_gather(among, own)
    assert choices is not None, "ranks send their choices, not only sizes"
    placed = [(key, place) for place, (has, of, key) in enumerate(_CHOICE.iter_unpack(choices)) if has and of == colour]
    return among.group([place for _, place in sorted(placed)]) if colour is not None else None
