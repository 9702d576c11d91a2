"""Operations that go on while the program does, as those of MPI that return at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from maquette._maquette import PendingOperation, Place, Received, Verb
from maquette.requests import ask

if TYPE_CHECKING:
    from typing_extensions import Buffer

T_co = TypeVar("T_co", covariant=True)

_WAIT_ALL, _WAIT_ANY, _TEST = Verb.WaitAll, Verb.WaitAny, Verb.Test


class Request(Generic[T_co]):
    """An operation that `Endpoint.isend` or `Endpoint.irecv` has begun: MPI's request.

    Its rank goes on meanwhile. What is never waited for goes on, too, and its message is lost.
    """

    __slots__ = ("_into", "_operation")

    def __init__(self, place: Place, operation: tuple[object, ...], into: "Buffer | None" = None) -> None:
        self._operation = PendingOperation.of(place, operation)
        self._into = into

    async def wait(self) -> T_co:
        """Wait until it is over.

        Returns
        -------
        Received or None
            The message of a receive; None for a send.

        Raises
        ------
        MaquetteError
            As `Endpoint.send` and `Endpoint.receive`.
        """
        (value,) = await ask((_WAIT_ALL, self._operation))
        return self._filled(value)

    async def test(self) -> bool:
        """Whether it is over. No time passes: between two tests a program has to compute, sleep or wait for something else."""
        return await ask((_TEST, self._operation)) is not None

    def _filled(self, value: Any) -> T_co:
        """What the operation has ended with, put where it belongs."""
        if self._into is not None:
            fill(self._into, value)
        filled: T_co = value
        return filled


async def wait_all(requests: "Sequence[Request[Any]]") -> tuple[Any, ...]:
    """Wait until all of these operations are over, as ``MPI_Waitall`` does.

    Parameters
    ----------
    requests
        What `Endpoint.isend` and `Endpoint.irecv` have returned.

    Returns
    -------
    tuple
        What each has ended with, as `Request.wait` returns it, in the order given.

    Raises
    ------
    MaquetteError
        As `Endpoint.send` and `Endpoint.receive`.
    """
    values = await ask((_WAIT_ALL, *map(_operation_of, requests)))
    return tuple(request._filled(value) for request, value in zip(requests, values, strict=True))


async def wait_any(requests: "Sequence[Request[Any]]") -> tuple[int, Any]:
    """Wait until one of these operations is over, as ``MPI_Waitany`` does.

    Parameters
    ----------
    requests
        What `Endpoint.isend` and `Endpoint.irecv` have returned; at least one.

    Returns
    -------
    int
        Which one is over, from 0; of several, the first in the order given.
    object
        What it has ended with, as `Request.wait` returns it.

    Raises
    ------
    ValueError
        If there is nothing to wait for.
    MaquetteError
        As `Endpoint.send` and `Endpoint.receive`.
    """
    if not requests:
        raise ValueError("wait_any: found nothing; allowed is one or more to wait for")
    index, value = await ask((_WAIT_ANY, *map(_operation_of, requests)))
    return index, requests[index]._filled(value)


def _operation_of(request: object) -> PendingOperation:
    if not isinstance(request, Request):
        raise TypeError(f"requests: found {request!r}; allowed is what isend and irecv of an endpoint return, and mq.join for others")
    return request._operation


def room_of(into: "Buffer") -> int:
    """How much a buffer has room for. [B]

    Raises
    ------
    TypeError
        If nothing can be written into it.
    """
    view = memoryview(into)
    if view.readonly or not view.c_contiguous:
        raise TypeError(f"into: found {type(into).__name__}; allowed is a buffer that can be written, such as a contiguous numpy array")
    return view.nbytes


def fill(into: "Buffer", received: Received) -> None:
    """Write a message at the beginning of a buffer that has room for it; a message that is only a size leaves it as it is."""
    if received.data:
        memoryview(into).cast("B")[: len(received.data)] = received.data
