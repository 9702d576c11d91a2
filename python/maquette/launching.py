"""Programs for real, over UDP."""

import json
import time
from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar, overload

from maquette import _maquette
from maquette.endpoint import Endpoint
from maquette.inputs import as_json
from maquette.requests import steps_of
from maquette.running import coroutine_of

Returned = TypeVar("Returned")


class Launch(Generic[Returned]):
    """What came of a launch.

    Attributes
    ----------
    program : str
        The name of the program.
    ranks : int
        How many ranks it had.
    returned : list
        What each rank has returned, in order of rank; empty for programs of the catalogue.
    finish_ps : list of int
        When each rank was done, since its time began; empty for programs of the catalogue. [ps]
    found : dict
        What a program of the catalogue has found out, by the names of ``maquette launch --json``.
    elapsed_s : float
        How long all of it took, with the making of sockets. [s]
    """

    def __init__(
        self, program: str, ranks: int, returned: list[Returned], finish_ps: list[int], found: dict[str, Any], elapsed_s: float
    ) -> None:
        self.program = program
        self.ranks = ranks
        self.returned = returned
        self.finish_ps = finish_ps
        self.found = found
        self.elapsed_s = elapsed_s

    def __repr__(self) -> str:
        return f"<maquette.Launch {self.program} on {self.ranks} ranks: {self.elapsed_s:.3g} s>"


@overload
def launch(program: str, *, local: int, seed: int | None = None, **parameters: Any) -> Launch[None]: ...
@overload
def launch(
    program: Callable[..., Coroutine[Any, Any, Returned]], *, local: int, seed: int | None = None, **parameters: Any
) -> Launch[Returned]: ...
def launch(
    program: str | Callable[..., Coroutine[Any, Any, Any]], *, local: int, seed: int | None = None, **parameters: Any
) -> Launch[Any]:
    """Run a program for real: over UDP and IP multicast on this computer.

    Each rank has sockets of its own, and all of them are in this process, on one thread: whichever has something to do is next.
    A program that `run` takes is taken as it is. What takes how long differs from time to time.

    Parameters
    ----------
    program
        The name of a program of the catalogue, or an async function, which is called once for each rank with its `Endpoint`.
    local
        How many ranks it has: 1 to 256.
    seed
        What random choices follow from; 1, if left out.
    **parameters
        As those of `run`.

    Returns
    -------
    Launch
        What came of it.

    Raises
    ------
    Deadlock
        If every rank that is left waits for another; it says who waits for whom.
    Exception
        What the first rank has raised that did.
    MaquetteError
        If the network fails.
    ValueError, TypeError
        If an argument is not what is allowed, or the program has no such parameter.
    """
    began = time.perf_counter()
    if isinstance(program, str):
        found = json.loads(_maquette.launch_named(program, as_json(parameters), local, seed))
        return Launch(program, local, [], [], found, time.perf_counter() - began)
    if not callable(program):
        raise TypeError(f"program: found {program!r}; allowed is the name of a program, or an async function")
    name = getattr(program, "__name__", type(program).__name__)
    finish_ps: dict[int, int] = {}

    async def timed(endpoint: Endpoint) -> Any:
        returned = await coroutine_of(name, program(endpoint, **parameters))
        finish_ps[endpoint.rank] = endpoint.now_ps
        return returned

    def begin(rank: int, size: int) -> tuple[Endpoint, Generator[Any, Any, Any]]:
        endpoint = Endpoint(rank, size)
        return endpoint, steps_of(timed(endpoint))

    returned = _maquette.launch_own(begin, local, seed)
    return Launch(name, local, returned, [finish_ps[rank] for rank in range(local)], {}, time.perf_counter() - began)
