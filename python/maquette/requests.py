"""The requests that a coroutine yields to the machine that resumes it."""

import types
from collections.abc import Awaitable, Coroutine, Generator
from typing import Any, TypeVar

Result = TypeVar("Result")

#: A verb and its arguments.
Request = tuple[object, ...]
#: A coroutine as the machine drives it: it yields requests, and is sent the result of each.
Steps = Generator[Request, Any, Any]


@types.coroutine
def ask(request: Request) -> Generator[Request, Any, Any]:
    """Hand `request` to the machine, and return its result."""
    return (yield request)


async def _awaited(awaitable: Awaitable[Result]) -> Result:
    return await awaitable


@types.coroutine
def _driven(coroutine: Coroutine[Any, Any, Result]) -> Generator[Any, Any, Result]:
    returned: Result = yield from coroutine
    return returned


def steps_of(awaitable: Awaitable[Any]) -> Steps:
    """The steps in which the machine drives an awaitable."""
    if isinstance(awaitable, types.CoroutineType):
        return _driven(awaitable)
    if not hasattr(awaitable, "__await__"):
        raise TypeError(f"found {awaitable!r}; allowed is what can be awaited, such as endpoint.receive(0)")
    return _driven(_awaited(awaitable))
