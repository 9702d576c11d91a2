"""Running programs on machines, and what comes of it."""

import json
import operator
import os
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from types import CoroutineType
from typing import Any, Generic, TypeVar, overload

from maquette import _maquette
from maquette.endpoint import Endpoint
from maquette.machine import Machine
from maquette.requests import steps_of

Returned = TypeVar("Returned")

#: What can stand for a machine.
MachineLike = Machine | str | os.PathLike[str] | Mapping[str, Any]


class Run(Generic[Returned]):
    """What came of a run.

    Attributes
    ----------
    program : str
        The name of the program; ``"jobs"`` where there were several.
    machine : str
        The name of the machine.
    makespan_ps : int
        When the last rank was done. [ps]
    finish_ps : list of int
        When each rank was done, in order of rank. [ps] Of several jobs: in order of node, up to the highest that was used.
    nodes : list of int
        On which node each rank stood, in order of rank, those of several jobs one after the other.
    messages : int
        How many messages were sent.
    returned : list
        What each rank has returned, in order of rank; empty for programs of the catalogue.
    found : dict
        What a program of the catalogue has found out beside its time, by the names of ``maquette run --json``.
    warnings : list of str
        What may not be as it was meant.
    """

    def __init__(self, ended: _maquette.Ended, returned: list[Returned]) -> None:
        self._ended = ended
        self.returned = returned
        self.program = ended.program
        self.machine = ended.machine
        self.makespan_ps = ended.makespan_ps
        self.messages = ended.messages
        self.warnings = ended.warnings

    @property
    def finish_ps(self) -> list[int]:
        """When each rank was done. [ps]"""
        return self._ended.finish_ps

    @property
    def nodes(self) -> list[int]:
        """On which node each rank stood."""
        return self._ended.nodes

    @property
    def found(self) -> dict[str, Any]:
        """What a program of the catalogue has found out."""
        found: dict[str, Any] = json.loads(self._ended.found_json())
        return found

    def to_dict(self) -> dict[str, Any]:
        """All that was counted.

        Returns
        -------
        dict
            What ``maquette run --json`` prints, but for the lower bound of the makespan and what messages over an Ethernet took
            of memory: each rank, channel, router and job, and under ``"experiment"`` what was run. Times are in picoseconds,
            with the unit in the name.
        """
        everything: dict[str, Any] = json.loads(self._ended.json())
        return everything

    def __repr__(self) -> str:
        return f"<maquette.Run {self.program} on {len(self.nodes)} nodes of {self.machine}: {self._ended.makespan}>"


@overload
def run(
    program: str,
    machine: MachineLike,
    *,
    ranks: int | None = None,
    placement: str | Sequence[int] | None = None,
    engine: str | None = None,
    seed: int | None = None,
    **parameters: Any,
) -> Run[None]: ...
@overload
def run(
    program: Callable[..., Coroutine[Any, Any, Returned]],
    machine: MachineLike,
    *,
    ranks: int | None = None,
    placement: str | Sequence[int] | None = None,
    engine: str | None = None,
    seed: int | None = None,
    **parameters: Any,
) -> Run[Returned]: ...
def run(
    program: str | Callable[..., Coroutine[Any, Any, Any]],
    machine: MachineLike,
    *,
    ranks: int | None = None,
    placement: str | Sequence[int] | None = None,
    engine: str | None = None,
    seed: int | None = None,
    **parameters: Any,
) -> Run[Any]:
    """Run a program on a machine.

    Parameters
    ----------
    program
        The name of a program of the catalogue (``maquette run --help`` lists them), or an async function, which is called once
        for each rank with its `Endpoint`.
    machine
        A `Machine`, or what makes one. One that is made once and used often saves the time to work it out.
    ranks
        How many ranks the program has; one on each node, or as many as the program says itself, if left out.
    placement
        On which nodes they stand: ``"in-order"`` (as if left out), ``"random"``, ``"contiguous-switches"``,
        ``"contiguous-groups"``, ``"scattered-switches"``, ``"scattered-groups"``, or the node of each rank.
    engine
        What moves the flits, ``"fast"`` (as if left out) or ``"reference"``: both give the same times.
    seed
        What random choices follow from; 1, if left out.
    **parameters
        What a program of the catalogue is told, by the names of ``maquette run PROGRAM --help`` with ``_`` for ``-``; for an
        async function, its further arguments.

    Returns
    -------
    Run
        What came of it.

    Raises
    ------
    Deadlock
        If every rank that is left waits for another; it says who waits for whom.
    Exception
        What the first rank has raised that did, with a note that says which it is, when, and what the others waited for.
    ValueError, TypeError
        If an argument is not what is allowed, or the program has no such parameter: with what was found, what is allowed, and
        the name that was probably meant.
    """
    on = machine if isinstance(machine, Machine) else Machine(machine)
    if placement is not None and not isinstance(placement, str):
        placement = ",".join(str(operator.index(node)) for node in placement)
    how = (ranks, placement, engine, seed)
    if isinstance(program, str):
        return Run(_maquette.run_named(program, on._machine, _as_json(parameters), how), [])
    if not callable(program):
        raise TypeError(f"program: found {program!r}; allowed is the name of a program, or an async function")
    name = getattr(program, "__name__", type(program).__name__)

    def begin(rank: int, size: int) -> tuple[Endpoint, Generator[Any, Any, Any]]:
        endpoint = Endpoint(rank, size)
        return endpoint, steps_of(_coroutine(name, program(endpoint, **parameters)))

    returned, ended = _maquette.run_own(name, on._machine, begin, json.dumps(parameters, default=repr), how)
    return Run(ended, returned)


def run_experiment(experiment: str | os.PathLike[str] | Mapping[str, Any]) -> Run[None]:
    """Run an experiment: one or several jobs on a machine, beside background traffic if there is some.

    Parameters
    ----------
    experiment
        The path of its file, TOML or JSON, or its fields; ``docs/EXPERIMENT.md`` has all of them.

    Returns
    -------
    Run
        What came of it; ``to_dict()["jobs"]`` has each job.

    Raises
    ------
    ValueError, OSError
        If something in it is wrong, or can't be read.
    """
    if isinstance(experiment, Mapping):
        return Run(_maquette.run_experiment(None, _as_json(experiment)), [])
    return Run(_maquette.run_experiment(os.fspath(experiment), None), [])


def _coroutine(name: str, found: object) -> Coroutine[Any, Any, Any]:
    if isinstance(found, CoroutineType):
        return found
    raise TypeError(
        f"the program `{name}` is no async function: found {found!r}, where a coroutine was expected; "
        f"allowed is `async def {name}(endpoint)`"
    )


def _as_json(fields: Mapping[str, Any]) -> str:
    """Fields in JSON: numbers of whatever library as numbers, paths as text."""

    def plain(value: object) -> object:
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if hasattr(value, "__index__"):
            return operator.index(value)
        if hasattr(value, "__float__"):
            return float(value)
        raise TypeError(f"found {value!r}; allowed are numbers, texts, and lists and mappings of these")

    return json.dumps(fields, default=plain)
