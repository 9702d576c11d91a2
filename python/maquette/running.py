"""Running programs on machines, and the results."""

import difflib
import inspect
import json
import operator
import os
from collections.abc import Callable, Collection, Coroutine, Generator, Mapping, Sequence
from types import CoroutineType
from typing import Any, Generic, TypeVar, overload

from maquette import _maquette
from maquette._maquette import MaquetteError
from maquette.endpoint import Endpoint
from maquette.figures import Figure, FigureName
from maquette.inputs import MachineLike, as_json, machine_of
from maquette.machine import Machine
from maquette.requests import steps_of
from maquette.showing import counted
from maquette.tables import Table

Returned = TypeVar("Returned")

#: What is recorded: packets, the timeline.
_Recorded = tuple[bool, bool]
#: How a program runs: ranks, placement, engine, seed.
_How = tuple[int | None, str | None, str | None, int | None]


class Run(Generic[Returned]):
    """The result of a run.

    Attributes
    ----------
    program : str
        The name of the program; ``"jobs"`` where there were several.
    machine : str
        The name of the machine.
    makespan : float
        When the last rank finished. [s]
    makespan_ps : int
        The same, exactly. [ps]
    finish_ps : list of int
        When each rank finished, in order of rank. [ps] For several jobs: in order of node, up to the highest that was used.
    nodes : list of int
        The node of each rank, in order of rank; for several jobs, one job after another.
    message_count : int
        The number of messages sent.
    returned : list
        What each rank returned, in order of rank; empty for programs of the catalogue.
    found : dict
        The results of a program of the catalogue besides its time, by the names of ``maquette run --json``.
    warnings : list of str
        Things that may not be as intended.
    """

    def __init__(
        self, ended: _maquette.Ended, returned: list[Returned], again: Callable[[_Recorded], _maquette.Ended]
    ) -> None:
        self._ended = ended
        self._again = again
        self.returned = returned
        self.program = ended.program
        self.machine = ended.machine
        self.makespan_ps = ended.makespan_ps
        self.message_count = ended.messages
        self.warnings = ended.warnings

    @property
    def makespan(self) -> float:
        """When the last rank finished. [s]"""
        return self.makespan_ps / 1e12

    @property
    def finish_ps(self) -> list[int]:
        """When each rank finished. [ps]"""
        return self._ended.finish_ps

    @property
    def nodes(self) -> list[int]:
        """The node of each rank."""
        return self._ended.nodes

    @property
    def found(self) -> dict[str, Any]:
        """The results of a program of the catalogue."""
        found: dict[str, Any] = json.loads(self._ended.found_json())
        return found

    @property
    def ranks(self) -> Table:
        """A row for each rank: job, name, rank, node, start_ps, finish_ps, packets, send_away_ps, receive_idle_ps."""
        return self._table("ranks")

    @property
    def channels(self) -> Table:
        """A row for each channel: id, from, to, busy_ps, blocked_ps, bytes, packets, mean_occupancy_flits."""
        return self._table("channels")

    @property
    def routers(self) -> Table:
        """A row for each router: id, name, headers, blocking_ps."""
        return self._table("routers")

    @property
    def packets(self) -> Table:
        """A row for each packet: source, destination, bytes, flits, injected_ps, delivered_ps, blocking_ps, and lists with a value
        for each channel on its way: channels, virtual_channels, requested_ps, granted_ps, released_ps."""
        return self._table("packets")

    @property
    def frames(self) -> Table:
        """A row for each frame of an Ethernet and receiver: source, destination, broadcast, bytes, sent_ps, ended_ps, fate."""
        return self._table("frames")

    @property
    def messages(self) -> Table:
        """A row for each message that was received: job, source, destination, bytes, sent_ps, received_ps."""
        return self._table("messages")

    @property
    def timeline(self) -> Table:
        """A row for each interval that a rank spent on one activity: job, rank, activity, start_ps, end_ps."""
        return self._table("timeline")

    @property
    def critical_path(self) -> Table:
        """A row for each step of the chain of operations that determines the makespan, from the beginning to the end: job, rank, cause
        (``"message"``, ``"send"``, ``"receive"``, ``"release"``, ``"compute"`` or ``"wait"``), source, destination, bytes, start_ps,
        end_ps, and how its time is divided: overhead_ps, latency_ps, bandwidth_ps, contention_ps, computing_ps, waiting_ps, which sum to the makespan.
        """
        return self._table("critical_path")

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a page with pictures of the run, for a browser: one self-contained file.

        It shows where the time went (the critical path), what ranks did when, what channels carried and where headers waited, who waited for
        whom, and how long messages took. If the timeline was not recorded the program is run again, as for the table.

        Parameters
        ----------
        path
            The file: it ends in ``.html``.

        Raises
        ------
        ValueError
            If it ends in something else.
        OSError
            If it cannot be written.
        """
        if not self._ended.write_report(os.fspath(path)):
            self._run_again("timeline").write_report(os.fspath(path))

    def figure(self, name: FigureName | None = None) -> Figure:
        """A figure of the run for a slide, which a notebook shows and :meth:`Figure.savefig` writes as SVG or PNG.

        Parameters
        ----------
        name
            ``"map"`` (the network, and what its channels carried), ``"timeline"`` (what ranks did, and when) or ``"path"`` (where the time
            of the critical path went); the one that says most about why the run took so long, if left out. If the timeline was not recorded
            the program is run again for all but the map.

        Raises
        ------
        ValueError
            If there is no such figure, or a map where the machine has no network.
        """
        svg = self._ended.figure(name)
        return Figure(svg if svg is not None else self._run_again("timeline").figure(name) or "")

    def to_dict(self) -> dict[str, Any]:
        """All that was counted.

        Returns
        -------
        dict
            What ``maquette run --json`` prints, except for the lower bound of the makespan and the memory that messages over an
            Ethernet took: each rank, channel, router and job, and under ``"experiment"`` what was run. Times are in picoseconds,
            with the unit in the name.
        """
        everything: dict[str, Any] = json.loads(self._ended.json())
        return everything

    def _table(self, name: str) -> Table:
        stream = self._ended.table(name)
        if stream is None:
            packets = name in ("packets", "frames")
            stream = self._run_again("packets" if packets else "timeline", name).table(name)
            assert stream is not None
        return Table(name, stream)

    def _run_again(self, record: str, name: str = "report") -> _maquette.Ended:
        """The same run again, this time recorded."""
        again = self._again((record == "packets", record == "timeline"))
        if again.finish_ps != self._ended.finish_ps:
            raise MaquetteError(
                f"{name}: the program has done something else when it was run again to record them; allowed is a program "
                f"that does the same each time, or a run with record=[{record!r}]"
            )
        return again

    def _repr_html_(self) -> str:
        """A short form of its page, for a notebook; pictures over time only if its timeline was recorded."""
        from maquette.showing import frame

        return frame(self._ended.html(), 640)

    def __repr__(self) -> str:
        return f"<maquette.Run {self.program} on {counted(len(self.nodes), 'node')} of {self.machine}: {self._ended.makespan}>"


@overload
def run(
    program: str,
    machine: MachineLike,
    *,
    ranks: int | None = None,
    placement: str | Sequence[int] | None = None,
    engine: str | None = None,
    seed: int | None = None,
    record: Collection[str] = (),
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
    record: Collection[str] = (),
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
    record: Collection[str] = (),
    **parameters: Any,
) -> Run[Any]:
    """Run a program on a machine.

    Parameters
    ----------
    program
        The name of a program of the catalogue (``maquette run --help`` lists them), or an async function, which is called once
        for each rank with its `Endpoint`.
    machine
        A `Machine`, or anything that describes one. Build a machine once if you use it often: building takes time.
    ranks
        The number of ranks; by default one on each node, or as many as the program itself says.
    placement
        The nodes on which they run: ``"in-order"`` (the default), ``"random"``, ``"contiguous-switches"``,
        ``"contiguous-groups"``, ``"scattered-switches"``, ``"scattered-groups"``, or the node of each rank.
    engine
        What moves the flits, ``"fast"`` (the default) or ``"reference"``: both compute the same times.
    seed
        The seed of random choices; by default 1.
    record
        What is recorded during the run: ``"packets"`` for the tables of packets and of an Ethernet's frames (some 300 B of memory
        each), ``"timeline"`` for those of messages and of what ranks did when (some 40 B each). Anything else is recorded when it
        is first asked for, by running the program again, since the same run has the same result.
    **parameters
        The parameters of a program of the catalogue, by the names of ``maquette run PROGRAM --help`` with ``_`` for ``-``; for an
        async function, its further arguments.

    Returns
    -------
    Run
        The result.

    Raises
    ------
    Deadlock
        If all remaining ranks wait for each other; it says which waits for which.
    Exception
        What the first failing rank raised, with a note that says which rank it is, when it failed, and what the others waited for.
    ValueError, TypeError
        If an argument is not what is allowed, or the program has no such parameter: with what was found, what is allowed, and
        the name that was probably meant.
    """
    on = machine_of(machine)
    if placement is not None and not isinstance(placement, str):
        placement = ",".join(str(operator.index(node)) for node in placement)
    how = (ranks, placement, engine, seed)
    if isinstance(program, str):
        return _run_named(program, on, as_json(parameters), how, _recorded(record))
    if not callable(program):
        raise TypeError(f"program: found {program!r}; allowed is the name of a program, or an async function")
    return _run_own(program, on, parameters, how, _recorded(record))


def _run_named(name: str, on: Machine, parameters: str, how: _How, recorded: _Recorded) -> Run[None]:
    def run_it(recorded: _Recorded) -> _maquette.Ended:
        return _maquette.run_named(name, on._machine, parameters, (*how, recorded))

    return Run(run_it(recorded), [], run_it)


def _run_own(
    program: Callable[..., Coroutine[Any, Any, Returned]],
    on: Machine,
    parameters: Mapping[str, Any],
    how: _How,
    recorded: _Recorded,
) -> Run[Returned]:
    name = getattr(program, "__name__", type(program).__name__)
    check_arguments(program, parameters)
    parameters_json = json.dumps(parameters, default=repr)

    def begin(rank: int, size: int) -> tuple[Endpoint, Generator[Any, Any, Any]]:
        endpoint = Endpoint(rank, size)
        return endpoint, steps_of(coroutine_of(program, program(endpoint, **parameters)))

    def run_it(recorded: _Recorded) -> tuple[list[Returned], _maquette.Ended]:
        return _maquette.run_own(name, on._machine, begin, parameters_json, (*how, recorded))

    returned, ended = run_it(recorded)
    return Run(ended, returned, lambda recorded: run_it(recorded)[1])


def run_experiment(
    experiment: str | os.PathLike[str] | Mapping[str, Any], *, record: Collection[str] = ()
) -> Run[None]:
    """Run an experiment: one or several jobs on a machine, with background traffic if it has any.

    Parameters
    ----------
    experiment
        The path of its file, TOML or JSON, or its fields; ``docs/EXPERIMENT.md`` has all of them.
    record
        As in `run`.

    Returns
    -------
    Run
        The result; ``to_dict()["jobs"]`` has each job.

    Raises
    ------
    ValueError, OSError
        If something in it is wrong, or cannot be read.
    """
    path, fields = (None, as_json(experiment)) if isinstance(experiment, Mapping) else (os.fspath(experiment), None)

    def run_it(recorded: _Recorded) -> _maquette.Ended:
        return _maquette.run_experiment(path, fields, recorded)

    return Run(run_it(_recorded(record)), [], run_it)


def check_arguments(program: Callable[..., Any], parameters: Collection[str]) -> None:
    """Check that a function takes an endpoint and arguments of these names, before any rank is begun."""
    place, name = place_of(program), getattr(program, "__name__", type(program).__name__)
    every = list(inspect.signature(program).parameters.values())
    if not every or every[0].kind in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD):
        raise TypeError(f"{place}the program `{name}` takes no endpoint; allowed is `async def {name}(endpoint)`")
    accepted = every[1:]
    if any(each.kind is each.VAR_KEYWORD for each in accepted):
        return
    named = {each.name: each for each in accepted if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    for found in parameters:
        if found not in named:
            meant = difflib.get_close_matches(found, named, 1)
            hint = f"; did you mean `{meant[0]}`?" if meant else ""
            raise TypeError(f"{place}the program `{name}` has no parameter `{found}`; it has {', '.join(named) or 'none'}{hint}")
    missing = [each for each in named if named[each].default is inspect.Parameter.empty and each not in parameters]
    if missing:
        raise TypeError(f"{place}the program `{name}` needs `{missing[0]}`, which has no default")


def place_of(program: Callable[..., Any]) -> str:
    """File and line of a function, to begin an error with; empty if it has none."""
    code = getattr(inspect.unwrap(program), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}: " if code is not None else ""


def coroutine_of(program: Callable[..., Any], found: object) -> Coroutine[Any, Any, Any]:
    """What a program has returned, if that is a coroutine."""
    if isinstance(found, CoroutineType):
        return found
    name = getattr(program, "__name__", type(program).__name__)
    raise TypeError(
        f"{place_of(program)}the program `{name}` is not an async function: found {found!r}, where a coroutine was expected; "
        f"allowed is `async def {name}(endpoint)`"
    )


def _recorded(record: Collection[str]) -> tuple[bool, bool]:
    """Whether packets and the timeline are recorded."""
    names = [record] if isinstance(record, str) else list(record)
    for name in names:
        if name not in ("packets", "timeline"):
            raise ValueError(f"record: found {name!r}; allowed are 'packets' and 'timeline'")
    return "packets" in names, "timeline" in names
