"""Executors: what computes the points of a sweep outside this process."""

import concurrent.futures
import importlib
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

#: The most tasks that an executor is given at once.
_MOST_TASKS = 1024
#: How often to check whether there are workers, while no result arrives. [s]
_CHECK_INTERVAL_S = 1.0
#: How long a cluster may be without any worker. [s]
_TIMEOUT_S = 60.0


class Executor(Protocol):
    """What a sweep needs of an executor: the `submit` of `concurrent.futures.Executor`."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> "concurrent.futures.Future[Any]":
        """A future of what the function returns."""


class Client(Protocol):
    """What a sweep needs of a client of dask."""

    def get_executor(self) -> Executor:
        """An executor that hands its tasks to the client's workers."""

    def nthreads(self) -> Any:
        """The threads of each connected worker."""


def results(executor: Executor | Client, function: Callable[..., Any], calls: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Yield what a function returns for each of some arguments, in the order in which the calls finish.

    Parameters
    ----------
    executor
        The executor that calls it.
    function
        Something that can be pickled.
    calls
        The arguments of each call.

    Yields
    ------
    object
        What a call has returned.

    Raises
    ------
    Exception
        What the first failing call raised, once all finished results have been yielded; or an error if no worker is left. Calls that have not
        begun are then cancelled.
    """
    check, executor = _with_check(executor)
    rest, pending = iter(calls), set[concurrent.futures.Future[Any]]()
    try:
        while True:
            while len(pending) < _MOST_TASKS and (arguments := next(rest, None)) is not None:
                pending.add(executor.submit(function, *arguments))
            if not pending:
                return
            done, pending = concurrent.futures.wait(pending, _CHECK_INTERVAL_S, concurrent.futures.FIRST_COMPLETED)
            yield from (future.result() for future in done if not _has_failed(future))
            for future in filter(_has_failed, done):
                if future.cancelled():
                    raise ConnectionError("a task was cancelled, as all are when the scheduler is gone")
                future.result()
            check(bool(done))
    finally:
        for future in pending:
            future.cancel()


def _has_failed(future: "concurrent.futures.Future[Any]") -> bool:
    return future.cancelled() or future.exception() is not None


def _with_check(executor: Executor | Client) -> tuple[Callable[[bool], None], Executor]:
    """A check to call after each wait, with whether a result has arrived, and an executor. The check raises when there has been no worker for
    too long. Only a client of dask needs it, since its tasks wait until there is a worker."""
    if not hasattr(executor, "get_executor"):
        return lambda _: None, executor
    client: Any = executor
    since = time.monotonic()

    def check(has_result: bool) -> None:
        nonlocal since
        try:
            is_alive = has_result or bool(client.nthreads())
        except Exception as error:
            raise ConnectionError(f"the scheduler is gone: {type(error).__name__}: {error}") from error
        if is_alive:
            since = time.monotonic()
        elif time.monotonic() - since > _TIMEOUT_S:
            raise ConnectionError(f"the scheduler has had no worker for {_TIMEOUT_S:.0f} s")

    return check, client.get_executor()


@contextmanager
def named(name: str) -> Iterator[Executor | Client | None]:
    """The executor named by ``dask:ADDRESS`` or ``mpi``.

    Parameters
    ----------
    name
        Its name.

    Yields
    ------
    Executor, Client or None
        The executor; None on an MPI rank that has been a worker.

    Raises
    ------
    ValueError
        If there is no such executor, or a package that it needs is not installed.
    OSError
        If no scheduler answers.
    """
    if re.fullmatch(r"dask:\w+://.+", name):
        yielded: Any = _import("distributed", name).Client(name.removeprefix("dask:"), set_as_default=False)
    elif name == "mpi":
        yielded = _import("mpi4py.futures", name).MPICommExecutor()
    else:
        raise ValueError(f"executor: found {name}; allowed is dask:tcp://HOST:PORT, or mpi under mpiexec")
    with yielded as executor:
        yield executor


def _import(module: str, name: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ValueError(f"executor: found {name} without {package}; allowed is with it: pip install {package}") from error
