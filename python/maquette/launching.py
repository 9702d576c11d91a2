"""Programs for real, over UDP or over MPI."""

import atexit
import json
import subprocess
import sysconfig
import time
from collections.abc import Callable, Coroutine, Generator, Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, overload

from maquette import _maquette
from maquette._maquette import MaquetteError
from maquette.endpoint import Endpoint
from maquette.inputs import as_json
from maquette.requests import steps_of
from maquette.running import check_arguments, coroutine_of
from maquette.showing import counted

Returned = TypeVar("Returned")


class Launch(Generic[Returned]):
    """The result of a launch.

    Attributes
    ----------
    program : str
        The name of the program.
    ranks : int
        The number of ranks.
    returned : list
        What each rank returned, in order of rank; empty for programs of the catalogue.
    finish_ps : list of int
        When each rank finished, since its time began; empty for programs of the catalogue in this process. [ps]
    found : dict
        The results of a program of the catalogue; on hosts, everything that ``maquette launch --json`` prints; over MPI, the ``ranks``.
    elapsed_s : float
        How long all of it took, including the creation of sockets. [s]
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
        return f"<maquette.Launch {self.program} on {counted(self.ranks, 'rank')}: {self.elapsed_s:.3g} s>"


@overload
def launch(program: str, *, local: int, seed: int | None = None, **parameters: Any) -> Launch[None]: ...
@overload
def launch(
    program: str,
    *,
    hosts: str | PathLike[str],
    shell: str | None = None,
    control: str | None = None,
    no_multicast: bool = False,
    timeout: str | None = None,
    seed: int | None = None,
    **parameters: Any,
) -> Launch[None]: ...
@overload
def launch(
    program: Callable[..., Coroutine[Any, Any, Returned]], *, local: int, seed: int | None = None, **parameters: Any
) -> Launch[Returned]: ...
@overload
def launch(
    program: str | Callable[..., Coroutine[Any, Any, Any]],
    *,
    mpi: Literal[True],
    mpi_library: str | PathLike[str] | None = None,
    seed: int | None = None,
    **parameters: Any,
) -> Launch[Any]: ...
@overload
def launch(
    program: Callable[..., Coroutine[Any, Any, Any]],
    *,
    hosts: str | PathLike[str],
    shell: str | None = None,
    control: str | None = None,
    no_multicast: bool = False,
    timeout: str | None = None,
    seed: int | None = None,
    **parameters: Any,
) -> Launch[Any]: ...
def launch(
    program: str | Callable[..., Coroutine[Any, Any, Any]],
    *,
    local: int | None = None,
    hosts: str | PathLike[str] | None = None,
    shell: str | None = None,
    control: str | None = None,
    no_multicast: bool = False,
    timeout: str | None = None,
    mpi: bool = False,
    mpi_library: str | PathLike[str] | None = None,
    seed: int | None = None,
    **parameters: Any,
) -> Launch[Any]:
    """Run a program for real, over UDP and IP multicast, on this computer or on others; or over MPI.

    With `local`, each rank has sockets of its own, and all of them are in this process, on one thread, which runs whichever rank has
    something to do. With `hosts`, each rank is a process, as with the command ``maquette launch``. With `mpi`, this process is one of the
    ranks that mpiexec or a batch system has started: all of them make the same calls, and all get the same answer. A program for
    `run` needs no change. Times vary from run to run.

    Parameters
    ----------
    program
        The name of a program of the catalogue, or an async function, which is called once for each rank with its `Endpoint`. On
        hosts it has to be a top-level function of a file, and file and package have the same paths on each of them as on this computer.
    local
        The number of ranks: 1 to 256.
    hosts
        A file with a line for each host, ``name address [ranks]``, in place of `local`.
    shell
        What runs a command on a host; by default ``"ssh {host}"``, or nothing if all hosts are this computer.
    control
        The address and port of this computer where ranks report, such as ``"10.0.0.1:0"``; needed for other hosts.
    no_multicast
        Send broadcasts to one rank after another.
    timeout
        How long a launch on hosts may take, such as ``"30 s"``; by default ten minutes.
    mpi
        Be an MPI rank, in place of `local` and `hosts`. MPI is initialized with the first such launch, and finalized with the process.
    mpi_library
        The MPI library, with the standard ABI of MPI 5; by default that of the mpiexec, or one that the loader finds.
    seed
        The seed of random choices; by default 1.
    **parameters
        As in `run`.

    Returns
    -------
    Launch
        The result. Values returned by ranks on hosts or of MPI come back through JSON, or else as their Python representation.

    Raises
    ------
    Deadlock
        If all remaining ranks wait for each other; it says which waits for which.
    Exception
        What the first failing rank raised; on hosts, a `MaquetteError` that reports it.
    MaquetteError
        If the network fails.
    ValueError, TypeError
        If an argument is not what is allowed, or the program has no such parameter.
    """
    _check(program, {"local": local is not None, "hosts": hosts is not None, "mpi": mpi})
    if hosts is not None:
        options = {"hosts": fspath(hosts), "shell": shell, "control": control, "timeout": timeout, "seed": seed}
        return _on_hosts(program, options | {"no-multicast": "" if no_multicast else None}, parameters)
    if local is not None:
        return _in_this_process(program, local, seed, parameters)
    return _over_mpi(program, seed, mpi_library, parameters)


def _check(program: object, where: dict[str, bool]) -> None:
    """Check that a program is given, and exactly one way to launch it."""
    given = [name for name, is_given in where.items() if is_given]
    if len(given) != 1:
        raise TypeError("launch takes one of local, hosts and mpi: found " + (" and ".join(given) or "none of them"))
    if not isinstance(program, str) and not callable(program):
        raise TypeError(f"program: found {program!r}; allowed is the name of a program, or an async function")


def _in_this_process(
    program: str | Callable[..., Coroutine[Any, Any, Any]], local: int, seed: int | None, parameters: dict[str, Any]
) -> Launch[Any]:
    began = time.perf_counter()
    if isinstance(program, str):
        found = json.loads(_maquette.launch_named(program, as_json(parameters), local, seed))
        return Launch(program, local, [], [], found, time.perf_counter() - began)
    name, function = getattr(program, "__name__", type(program).__name__), program
    check_arguments(program, parameters)
    finish_ps: dict[int, int] = {}

    async def timed(endpoint: Endpoint) -> Any:
        returned = await coroutine_of(function, function(endpoint, **parameters))
        finish_ps[endpoint.rank] = endpoint.now_ps
        return returned

    def begin(rank: int, size: int) -> tuple[Endpoint, Generator[Any, Any, Any]]:
        endpoint = Endpoint(rank, size)
        return endpoint, steps_of(timed(endpoint))

    returned = _maquette.launch_own(begin, local, seed)
    return Launch(name, local, returned, [finish_ps[rank] for rank in range(local)], {}, time.perf_counter() - began)


def _over_mpi(
    program: str | Callable[..., Any], seed: int | None, library: str | PathLike[str] | None, parameters: dict[str, Any]
) -> Launch[Any]:
    """Run it as one of the processes that an mpiexec has started."""
    began = time.perf_counter()
    # Once, however often it is called: MPI is finalized with the process.
    atexit.unregister(_maquette.end_mpi)
    atexit.register(_maquette.end_mpi)
    if isinstance(program, str):
        name = program
        report = _maquette.launch_named_on_mpi(program, as_json(parameters), seed, library)
    else:
        name, function = getattr(program, "__name__", type(program).__name__), program

        def begin(rank: int, size: int) -> tuple[Endpoint, Generator[Any, Any, Any]]:
            endpoint = Endpoint(rank, size)
            return endpoint, steps_of(coroutine_of(function, function(endpoint, **parameters)))

        report = _maquette.launch_own_on_mpi(begin, seed, library)
    ranks = json.loads(report)
    finish_ps = [rank["times"][-1][1] - rank["times"][-1][0] for rank in ranks]
    returned = [] if isinstance(program, str) else [rank["returned"] for rank in ranks]
    found = {"ranks": [{key: rank[key] for key in ("times", "messages", "bytes")} for rank in ranks]}
    return Launch(name, len(ranks), returned, finish_ps, found, time.perf_counter() - began)


def _on_hosts(program: str | Callable[..., Any], options: dict[str, Any], parameters: dict[str, Any]) -> Launch[Any]:
    """Have the command launch it, a process for each rank."""
    began = time.perf_counter()
    arguments = [f"--{name}" if value == "" else f"--{name}={value}" for name, value in options.items() if value is not None]
    if isinstance(program, str):
        name = program
        arguments += [program, *_options_of(parameters)]
    else:
        check_arguments(program, parameters)
        name, location = _location_of(program)
        arguments += [location, *(f"--{parameter}={value!r}" for parameter, value in parameters.items())]
    command = Path(sysconfig.get_path("scripts")) / "maquette"
    completed = subprocess.run([command, "launch", "--json", *arguments], capture_output=True, text=True, check=False)
    if completed.returncode != 0:
        problem = completed.stderr.strip().removeprefix("error: ")
        raise ValueError(problem) if completed.returncode == 2 else MaquetteError(problem)
    report = json.loads(completed.stdout)
    finish_ps = [rank["times_ps"][-1][1] - rank["times_ps"][-1][0] for rank in report["ranks"]]
    return Launch(name, report["nodes"], report.pop("returned", []), finish_ps, report, time.perf_counter() - began)


def _options_of(parameters: dict[str, Any]) -> Iterator[str]:
    """Parameters of a program of the catalogue, as options of the command."""
    for parameter, value in parameters.items():
        option = "--" + parameter.replace("_", "-")
        if value is True:
            yield option
        elif value is not False and value is not None:
            yield f"{option}={value}"


def _location_of(program: Callable[..., Any]) -> tuple[str, str]:
    """The name of a function, and its location: `FILE.py:FUNCTION`."""
    code = getattr(program, "__code__", None)
    name = getattr(program, "__qualname__", repr(program))
    if code is None or not name.isidentifier() or not code.co_filename.endswith(".py"):
        raise ValueError(f"program: found {name}; on hosts, allowed is a function at the top level of a file that each host can read")
    return name, f"{Path(code.co_filename).resolve()}:{name}"
