"""Several operations of a rank at once."""

import types
from collections.abc import Awaitable
from typing import Any, TypeVar, overload

from maquette._maquette import Verb
from maquette.endpoint import Endpoint
from maquette.requests import ask, steps_of

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

_JOIN, _FIRST, _JOIN_OPERATIONS, _FIRST_OPERATIONS = Verb.Join, Verb.First, Verb.JoinOperations, Verb.FirstOperations

#: The verbs that ask for one operation and end with it: the machine serves several of these without a task for each.
_OPERATIONS = frozenset(
    verb.__code__
    for verb in (
        Endpoint.send,
        Endpoint.receive,
        Endpoint.probe,
        Endpoint.compute,
        Endpoint.sleep_until,
        Endpoint.multicast,
        Endpoint.receive_multicast,
    )
)


@overload
async def join(one: Awaitable[A], /) -> tuple[A]: ...
@overload
async def join(one: Awaitable[A], two: Awaitable[B], /) -> tuple[A, B]: ...
@overload
async def join(one: Awaitable[A], two: Awaitable[B], three: Awaitable[C], /) -> tuple[A, B, C]: ...
@overload
async def join(
    one: Awaitable[A], two: Awaitable[B], three: Awaitable[C], four: Awaitable[D], /
) -> tuple[A, B, C, D]: ...
@overload
async def join(*awaitables: Awaitable[A]) -> tuple[A, ...]: ...
async def join(*awaitables: Awaitable[Any]) -> tuple[Any, ...]:
    """Let several operations of this rank overlap, and wait until all have ended.

    They begin in the order given, at the same simulated time. The processor of the rank serves them in that
    order.

    Parameters
    ----------
    *awaitables
        Verbs of the rank's endpoint, and coroutines that await them.

    Returns
    -------
    tuple
        What each returned, in the order given.

    Raises
    ------
    Exception
        What the first failing one raised. The others are then closed: operations that they have begun proceed, but their
        results are lost.
    RecursionError
        If more calls of `join` and `first` are within one another than `sys.getrecursionlimit` allows.
    """
    try:
        verb = _JOIN_OPERATIONS if _are_operations(awaitables) else _JOIN
        joined: tuple[Any, ...] = await ask((verb, *map(steps_of, awaitables)))
    except BaseException:
        _close(awaitables)
        raise
    return joined


async def first(*awaitables: Awaitable[A]) -> tuple[int, A]:
    """Let several operations of this rank overlap, and wait until one has ended.

    The others are then closed: operations that they have begun proceed, but their results are lost, including received messages.

    Parameters
    ----------
    *awaitables
        Verbs of the rank's endpoint, and coroutines that await them; at least one.

    Returns
    -------
    int
        Which one has ended, from 0; of several at once, the first in the order given.
    object
        What it returned.

    Raises
    ------
    Exception
        What it raised.
    ValueError
        If there is nothing to wait for.
    RecursionError
        As for `join`.
    """
    if not awaitables:
        raise ValueError("first: found nothing; allowed is one or more to wait for")
    try:
        verb = _FIRST_OPERATIONS if _are_operations(awaitables) else _FIRST
        ended: tuple[int, A] = await ask((verb, *map(steps_of, awaitables)))
    finally:
        _close(awaitables)
    return ended


def _are_operations(awaitables: tuple[Awaitable[Any], ...]) -> bool:
    """Whether all are operations of an endpoint, and nothing else."""
    return all(type(each) is types.CoroutineType and each.cr_code in _OPERATIONS for each in awaitables)


def _close(awaitables: tuple[Awaitable[Any], ...]) -> None:
    """Close coroutines that have not begun, of which Python otherwise warns: they were never awaited. The others are closed already."""
    for each in awaitables:
        if isinstance(each, types.CoroutineType):
            each.close()
