"""Several operations of a rank at once."""

from collections.abc import Awaitable
from typing import Any, TypeVar, overload

from maquette._maquette import Verb
from maquette.requests import ask, steps_of

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")

_GATHER, _FIRST = Verb.Gather, Verb.First


@overload
async def gather(one: Awaitable[A], /) -> tuple[A]: ...
@overload
async def gather(one: Awaitable[A], two: Awaitable[B], /) -> tuple[A, B]: ...
@overload
async def gather(one: Awaitable[A], two: Awaitable[B], three: Awaitable[C], /) -> tuple[A, B, C]: ...
@overload
async def gather(
    one: Awaitable[A], two: Awaitable[B], three: Awaitable[C], four: Awaitable[D], /
) -> tuple[A, B, C, D]: ...
@overload
async def gather(*awaitables: Awaitable[A]) -> tuple[A, ...]: ...
async def gather(*awaitables: Awaitable[Any]) -> tuple[Any, ...]:
    """Let several operations of this rank go on at once, and wait until all have ended.

    They begin in the order in which they are named, at the same simulated time. The processor of the rank serves them in that
    order.

    Parameters
    ----------
    *awaitables
        Verbs of the rank's endpoint, and coroutines that await them.

    Returns
    -------
    tuple
        What each has returned, in the order in which they are named.

    Raises
    ------
    Exception
        What the first of them has raised that did. The others are closed then: what they have begun goes on, and what comes of
        it is lost.
    """
    gathered: tuple[Any, ...] = await ask((_GATHER, *map(steps_of, awaitables)))
    return gathered


async def first(*awaitables: Awaitable[A]) -> tuple[int, A]:
    """Let several operations of this rank go on at once, and wait until one has ended.

    The others are closed then: what they have begun goes on, and what comes of it is lost, a message that is received, too.

    Parameters
    ----------
    *awaitables
        Verbs of the rank's endpoint, and coroutines that await them; at least one.

    Returns
    -------
    int
        Which has ended, from 0; of several at once the one that is named first.
    object
        What it has returned.

    Raises
    ------
    Exception
        What it has raised.
    ValueError
        If there is none to wait for.
    """
    if not awaitables:
        raise ValueError("first: found nothing; allowed is one or more to wait for")
    ended: tuple[int, A] = await ask((_FIRST, *map(steps_of, awaitables)))
    return ended
