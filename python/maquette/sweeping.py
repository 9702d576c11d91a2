"""Sweeps: an experiment again and again, each time with other values."""

import functools
import importlib.metadata
import importlib.util
import json
import math
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from maquette import _maquette
from maquette._maquette import MaquetteError
from maquette.executors import Client, Executor, results
from maquette.inputs import as_json
from maquette.showing import figure
from maquette.tables import Table

#: How long a task of an executor shall take at least. [s]
_TASK_S = 0.1
#: Of how many points at most it is measured how long they take.
_SAMPLE = 64
#: The columns of the table that are no field that is swept.
_RESULTS = ("makespan_ps", "messages", "packets", "mean_blocking_ps", "error")
#: As many bars a chart has at most in a notebook, and as many rows a table.
_BARS, _ROWS = 12, 200


class Sweep:
    """An experiment that runs with all combinations of some values, and what is done of it.

    It speaks the Arrow PyCapsule interface, as its `table` does.

    Parameters
    ----------
    experiment
        The path of its file, TOML or JSON, or its fields; ``docs/EXPERIMENT.md`` has all of them.
    over
        The values of each field that is swept: ``"machine"``, ``"seed"``, ``"ranks"``, ``"placement"``, ``"engine"``, a parameter of the
        program such as ``"bytes"``, or a field of the machine's description with a ``.`` in it, such as ``"channels.buffers"``.
    out
        The file that the table is written to once all is done: it ends in ``.arrow``, ``.csv`` or ``.parquet``. What is done is kept
        beside it meanwhile; the same sweep to the same file goes on from there.

    Attributes
    ----------
    points : int
        How many points it has.
    done : int
        How many are done.
    table : Table
        A row for each point that is done, in order: a column for each field that is swept; then makespan_ps, messages, packets,
        mean_blocking_ps and error, each of which may be missing. [ps]

    Raises
    ------
    ValueError, TypeError, OSError
        If the experiment has no such field, or a value is not allowed; if a file can't be read or written, or is kept of another sweep.
    """

    def __init__(
        self,
        experiment: str | os.PathLike[str] | Mapping[str, Any],
        over: Mapping[str, Iterable[Any]],
        *,
        out: str | os.PathLike[str] | None = None,
    ) -> None:
        self._out = None if out is None else Path(out)
        if self._out is not None:
            check_ending(self._out)
        path, fields = (None, as_json(experiment)) if isinstance(experiment, Mapping) else (os.fspath(experiment), None)
        axes = [as_json({"name": name, "values": list(_several(name, values))}) for name, values in over.items()]
        self._sweep = _maquette.Sweep(path, fields, f"[{','.join(axes)}]", out)

    @property
    def points(self) -> int:
        """How many points it has."""
        return self._sweep.points

    @property
    def done(self) -> int:
        """How many are done."""
        return self._sweep.done

    @property
    def table(self) -> Table:
        """A row for each point that is done."""
        return Table("sweep", self._sweep.stream())

    def run(self, executor: Executor | Client | None = None) -> "Sweep":
        """Run the points that are not done.

        After Ctrl-C, or where an executor fails, what is done stays: run it again, and it goes on.

        Parameters
        ----------
        executor
            What runs them: any with the `submit` of `concurrent.futures`, such as a `ProcessPoolExecutor` or the `MPIPoolExecutor` of
            ``mpi4py.futures``; or a `Client` of ``dask.distributed``. All cores of this computer in this process, if left out. Its workers
            need this package in the same version, and the files that the experiment names. Points go to them in tasks of some 100 ms or more.

        Returns
        -------
        Sweep
            This one.

        Raises
        ------
        MaquetteError
            If the executor fails: it is broken, or a task has failed again and again with its worker, or a scheduler has had no worker for a
            minute.
        """
        self.run_points(executor)
        if self._out is not None:
            self.write(self._out)
            self._sweep.conclude()
        return self

    def run_points(self, executor: Executor | Client | None = None) -> None:
        """Run the points that are not done, as `run` does, but write no table: what is done stays in the file beside it.

        Parameters
        ----------
        executor
            As that of `run`.

        Raises
        ------
        MaquetteError
            If the executor fails.
        """
        with _progress(self):
            if executor is None:
                self._sweep.run(self._sweep.left())
            else:
                self._run_on(executor)

    def _run_on(self, executor: Executor | Client) -> None:
        if not (hasattr(executor, "submit") or hasattr(executor, "get_executor")):
            allowed = "one with the submit of concurrent.futures, or a client of dask"
            raise TypeError(f"executor: found {executor!r}; allowed is {allowed}")
        batch = self._measure_batch()
        left, swept, version = self._sweep.left(), self._sweep.json(), _version()
        calls = ((swept, left[place : place + batch], version) for place in range(0, len(left), batch))
        try:
            for rows in results(executor, _rows_of, calls):
                self._sweep.keep(rows)
        except Exception as error:
            told = f"sweep: the executor has failed with {self.done} of {self.points} points done: {type(error).__name__}: {error}"
            raise MaquetteError(f"{told}; what is done is kept: run it again to go on") from error

    def _measure_batch(self) -> int:
        """How many points make a task of the wanted length, as some that are spread over those left take here; they are done then."""
        left = self._sweep.left()
        began, count = time.perf_counter(), 0
        for point in left[:: max(len(left) // _SAMPLE, 1)]:
            if time.perf_counter() - began >= _TASK_S:
                break
            self._sweep.keep(self._sweep.rows_of([point]))
            count += 1
        taken = max(time.perf_counter() - began, _TASK_S / 1000)
        return math.ceil(max(count, 1) * _TASK_S / taken)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file.

        Parameters
        ----------
        path
            Where to: it ends in ``.arrow``, ``.csv`` or ``.parquet``, for which polars or pyarrow is needed.
        """
        path = Path(path)
        check_ending(path)
        if path.suffix == ".parquet":
            write_parquet(self.table, path)
        else:
            self._sweep.write(path)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an Arrow stream of the table."""
        return self.table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return self.points

    def _repr_html_(self) -> str:
        """The points that are done, for a notebook."""
        table = self.table.to_dict()
        fields = [name for name in table if name not in _RESULTS]
        points = list(zip(*table.values(), strict=True))
        makespans = table["makespan_ps"]
        names = [", ".join(str(table[field][row]) for field in fields) for row in range(len(points))]
        bars = [(name, done / 1e6) for name, done in zip(names, makespans, strict=True) if done is not None][:_BARS]
        shown = [["" if value is None else str(value) for value in point] for point in points[:_ROWS]]
        lead = f"{self.done} of {self.points} points are done; the table has the first {len(shown)}."
        return figure("Sweep", lead, ("makespan [\u00b5s]", ", ".join(fields)), bars, list(table), shown)

    def __repr__(self) -> str:
        return f"<maquette.Sweep: {self.done} of {self.points} points done>"


def sweep(
    experiment: str | os.PathLike[str] | Mapping[str, Any],
    over: Mapping[str, Iterable[Any]],
    *,
    executor: Executor | Client | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Sweep:
    """Run an experiment with all combinations of some values.

    A point that fails is a row with its error. The same table comes out whatever the executor.

    Parameters
    ----------
    experiment, over, out
        As those of `Sweep`.
    executor
        As that of `Sweep.run`.

    Returns
    -------
    Sweep
        What came out, as a table.

    Raises
    ------
    ValueError, TypeError, OSError, MaquetteError
        As `Sweep` and `Sweep.run` do.
    """
    return Sweep(experiment, over, out=out).run(executor)


def write_parquet(table: Any, path: Path) -> None:
    """Write a table that speaks Arrow, or the Arrow file of that path."""
    if importlib.util.find_spec("polars") is not None:
        import polars

        if isinstance(table, Path):
            table = polars.read_ipc(table)
        polars.DataFrame(table).write_parquet(path)
        return
    import pyarrow  # type: ignore[import-untyped]
    import pyarrow.parquet  # type: ignore[import-untyped]

    read = pyarrow.ipc.open_file(table).read_all() if isinstance(table, Path) else pyarrow.table(table)
    pyarrow.parquet.write_table(read, path)


def _rows_of(sweep: str, points: Sequence[int], version: str) -> list[str]:
    """What comes of some points of a sweep: what an executor runs."""
    if _version() != version:
        raise RuntimeError(f"found maquette {_version()} at a worker; allowed is {version}, as where the sweep is")
    return _known(sweep).rows_of(list(points))


@functools.cache
def _version() -> str:
    return importlib.metadata.version("maquette-cluster")


@functools.lru_cache(maxsize=4)
def _known(sweep: str) -> _maquette.Sweep:
    fields = json.loads(sweep)
    return _maquette.Sweep(None, json.dumps(fields["experiment"]), json.dumps(fields["over"]), None)


def _several(name: str, values: Iterable[Any]) -> Iterable[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"over: found {values!r} for {name}; allowed are several values, such as a list")
    return values


def check_ending(path: Path) -> None:
    if path.suffix not in (".arrow", ".csv", ".parquet"):
        raise ValueError(f"out: found {path}; allowed is a name that ends in .arrow, .csv or .parquet")
    if path.suffix == ".parquet" and not any(map(importlib.util.find_spec, ("polars", "pyarrow"))):
        raise ValueError(f"out: found {path} without polars or pyarrow; allowed is one of them beside it, or .arrow or .csv")


@contextmanager
def _progress(sweep: Sweep) -> Iterator[None]:
    """Tell a terminal how far a sweep is, after a second."""
    ended = threading.Event()

    def tell() -> None:
        told = False
        while not ended.wait(0.2 if told else 1.0):
            share = sweep.done / max(sweep.points, 1)
            print(f"\r{'#' * round(40 * share):40} {sweep.done} of {sweep.points} points", end="", file=sys.stderr, flush=True)
            told = True
        if told:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    if sys.stderr is not None and sys.stderr.isatty():
        teller.start()
    try:
        yield
    finally:
        ended.set()
        if teller.ident is not None:
            teller.join()
