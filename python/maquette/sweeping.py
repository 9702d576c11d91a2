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

#: How long a task of an executor should take at least. [s]
_TASK_S = 0.1
#: The most points that are timed to choose the size of a task.
_SAMPLE = 64
#: The columns of the table that are not swept fields.
_RESULTS = ("makespan_ps", "messages", "packets", "mean_blocking_ps", "error")
#: The most bars of a chart in a notebook, and the most rows of a table.
_BARS, _ROWS = 12, 200


class Sweep:
    """An experiment that runs with all combinations of some values, and the points finished so far.

    It supports the Arrow PyCapsule interface, as its `table` does.

    Parameters
    ----------
    experiment
        The path of its file, TOML or JSON, or its fields; ``docs/EXPERIMENT.md`` has all of them.
    over
        The values of each swept field: ``"machine"``, ``"seed"``, ``"ranks"``, ``"placement"``, ``"engine"``, a parameter of the
        program such as ``"bytes"``, or a field of the machine's description with a ``.`` in it, such as ``"channels.buffers"``.
        ``"job.NAME.bytes"`` is that of one job of several, which has its number where it has no name.
    out
        The file to which the table is written at the end: it ends in ``.arrow``, ``.csv`` or ``.parquet``. Finished points are kept
        next to it meanwhile; the same sweep to the same file resumes from there, if the files that it reads have not changed.

    Attributes
    ----------
    points : int
        The number of points.
    done : int
        The number of finished points.
    table : Table
        A row for each finished point, in order: a column for each swept field; then makespan_ps, messages, packets,
        mean_blocking_ps and error, each of which may be missing. [ps]

    Raises
    ------
    ValueError, TypeError, OSError
        If the experiment has no such field, or a value is not allowed; if a file cannot be read or written, belongs to another sweep,
        or has changed since the finished points were run.
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
        axes = [as_json({"name": name, "values": list(_values_of(name, values))}) for name, values in over.items()]
        self._sweep = _maquette.Sweep(path, fields, f"[{','.join(axes)}]", out)

    @property
    def points(self) -> int:
        """The number of points."""
        return self._sweep.points

    @property
    def done(self) -> int:
        """The number of finished points."""
        return self._sweep.done

    @property
    def table(self) -> Table:
        """A row for each finished point."""
        return Table("sweep", self._sweep.stream())

    def run(self, executor: Executor | Client | None = None) -> "Sweep":
        """Run the remaining points.

        After Ctrl-C, or if an executor fails, finished points are kept: run it again to resume.

        Parameters
        ----------
        executor
            What runs them: any with the `submit` of `concurrent.futures`, such as a `ProcessPoolExecutor` or the `MPIPoolExecutor` of
            ``mpi4py.futures``; or a `Client` of ``dask.distributed``; by default all cores of this computer, in this process. Its workers
            need the same version of this package, and the files that the experiment names. They get points in tasks of some 100 ms or more.

        Returns
        -------
        Sweep
            Itself.

        Raises
        ------
        MaquetteError
            If the executor fails: it is broken, or a task has failed repeatedly with its worker, or a scheduler has had no worker for a
            minute.
        """
        self.run_points(executor)
        if self._out is not None:
            self.write(self._out)
            self._sweep.conclude()
        return self

    def run_points(self, executor: Executor | Client | None = None) -> None:
        """Run the remaining points like `run`, but write no table: finished points stay in the file next to it.

        Parameters
        ----------
        executor
            As in `run`.

        Raises
        ------
        MaquetteError
            If the executor fails.
        OSError
            If another sweep writes the same file.
        """
        # Another sweep may have used the file since this one was made; that is noticed before anything is run.
        self._sweep.hold()
        with _progress(self):
            try:
                if executor is None:
                    self._sweep.run(self._sweep.left())
                else:
                    self._run_on(executor)
            finally:
                self._sweep.release()

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
            problem = f"sweep: the executor has failed with {self.done} of {self.points} points done: {type(error).__name__}: {error}"
            raise MaquetteError(f"{problem}; finished points are kept: run it again to resume") from error

    def _measure_batch(self) -> int:
        """The number of points that make a task of the intended length, measured by running a sample of the remaining ones, which are then done."""
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
            The file: it ends in ``.arrow``, ``.csv`` or ``.parquet``, which needs polars or pyarrow.
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
        """The finished points, for a notebook."""
        table = self.table.to_dict()
        fields = [name for name in table if name not in _RESULTS]
        points = list(zip(*table.values(), strict=True))
        makespans = table["makespan_ps"]
        names = [", ".join(str(table[field][row]) for field in fields) for row in range(len(points))]
        bars = [(name, done / 1e6) for name, done in zip(names, makespans, strict=True) if done is not None][:_BARS]
        shown = [["" if value is None else str(value) for value in point] for point in points[:_ROWS]]
        lead = f"{self.done} of {self.points} points are done; the table has the first {len(shown)}."
        return figure("Sweep", lead, ("makespan [us]", ", ".join(fields)), bars, list(table), shown)

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

    A point that fails becomes a row with its error. The table is the same whatever the executor.

    Parameters
    ----------
    experiment, over, out
        As in `Sweep`.
    executor
        As in `Sweep.run`.

    Returns
    -------
    Sweep
        The results, as a table.

    Raises
    ------
    ValueError, TypeError, OSError, MaquetteError
        As `Sweep` and `Sweep.run` do.
    """
    return Sweep(experiment, over, out=out).run(executor)


def write_parquet(table: Any, path: Path) -> None:
    """Write a table that supports the Arrow PyCapsule interface, or the Arrow file at a path, as Parquet."""
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
    """The rows of some points of a sweep: the function that an executor runs."""
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


def _values_of(name: str, values: Iterable[Any]) -> Iterable[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"over: found {values!r} for {name}; allowed are several values, such as a list")
    return values


def check_ending(path: Path) -> None:
    if path.suffix not in (".arrow", ".csv", ".parquet"):
        raise ValueError(f"out: found {path}; allowed is a name that ends in .arrow, .csv or .parquet")
    if path.suffix == ".parquet" and not any(map(importlib.util.find_spec, ("polars", "pyarrow"))):
        raise ValueError(f"out: found {path} without polars or pyarrow; allowed is .parquet with one of them installed, .arrow or .csv")


@contextmanager
def _progress(sweep: Sweep) -> Iterator[None]:
    """Show the progress of a sweep on a terminal, after a second."""
    ended = threading.Event()

    def show() -> None:
        is_shown = False
        while not ended.wait(0.2 if is_shown else 1.0):
            share = sweep.done / max(sweep.points, 1)
            print(f"\r{'#' * round(40 * share):40} {sweep.done} of {sweep.points} points", end="", file=sys.stderr, flush=True)
            is_shown = True
        if is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    thread = threading.Thread(target=show, daemon=True)
    if sys.stderr is not None and sys.stderr.isatty():
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if thread.ident is not None:
            thread.join()
