"""Sweeps: an experiment again and again, each time with other values."""

import functools
import importlib.util
import itertools
import json
import math
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from maquette import _maquette
from maquette._maquette import MaquetteError
from maquette.inputs import as_json
from maquette.showing import figure
from maquette.tables import Table

#: How long a task of an executor shall take at least. [s]
_TASK_S = 0.1
#: A file that a sweep is to write, as a word of a command line.
_PARQUET = re.compile(r"(--out=)?.+\.parquet")
#: The columns of the table that are no field that is swept.
_RESULTS = ("makespan_ps", "messages", "packets", "mean_blocking_ps", "error")
#: As many bars a chart has at most in a notebook, and as many rows a table.
_BARS, _ROWS = 12, 200


class Executor(Protocol):
    """What a sweep needs of an executor: the `map` of `concurrent.futures.Executor`."""

    def map(self, function: Callable[..., Any], /, *iterables: Iterable[Any]) -> Iterable[Any]:
        """What the function gives for each, in order."""


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
            _check_ending(self._out)
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

    def run(self, executor: Executor | None = None) -> "Sweep":
        """Run the points that are not done.

        After Ctrl-C, or where an executor fails, what is done stays: run it again, and it goes on.

        Parameters
        ----------
        executor
            What runs them: any with the `map` of `concurrent.futures`, such as a `ProcessPoolExecutor`, that of ``mpi4py.futures`` or
            ``dask.distributed.Client(...).get_executor()``. All cores of this computer in this process, if left out. Its workers need this
            package, and the files that the experiment names.

        Returns
        -------
        Sweep
            This one.

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
        if self._out is not None:
            self.write(self._out)
            self._sweep.conclude()
        return self

    def _run_on(self, executor: Executor) -> None:
        executor = getattr(executor, "get_executor", lambda: executor)()
        left = self._sweep.left()
        batch = self._run_some(left)
        batches = [left[place : place + batch] for place in range(0, len(left), batch)]
        try:
            for rows in executor.map(_rows_of, itertools.repeat(self._sweep.json(), len(batches)), batches):
                self._sweep.keep(rows)
        except Exception as error:
            told = f"sweep: the executor has failed with {self.done} of {self.points} points done: {type(error).__name__}: {error}"
            raise MaquetteError(f"{told}; what is done is kept: run it again to go on") from error

    def _run_some(self, left: list[int]) -> int:
        """Run some points here and take them from those left, to know how many make a task of some length."""
        began, count = time.perf_counter(), 0
        while left and time.perf_counter() - began < _TASK_S:
            self._sweep.keep(self._sweep.rows_of([left.pop(0)]))
            count += 1
        return math.ceil(max(count, 1) * _TASK_S / max(time.perf_counter() - began, _TASK_S / 1000))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a file.

        Parameters
        ----------
        path
            Where to: it ends in ``.arrow``, ``.csv`` or ``.parquet``, for which polars or pyarrow is needed.
        """
        path = Path(path)
        _check_ending(path)
        if path.suffix == ".parquet":
            _write_parquet(self.table, path)
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
    executor: Executor | None = None,
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


def _write_parquet(table: Any, path: Path) -> None:
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


def _rows_of(sweep: str, points: Sequence[int]) -> list[str]:
    """What comes of some points of a sweep: what an executor runs."""
    return _known(sweep).rows_of(list(points))


@functools.lru_cache(maxsize=4)
def _known(sweep: str) -> _maquette.Sweep:
    fields = json.loads(sweep)
    return _maquette.Sweep(None, json.dumps(fields["experiment"]), json.dumps(fields["over"]), None)


def _several(name: str, values: Iterable[Any]) -> Iterable[Any]:
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"over: found {values!r} for {name}; allowed are several values, such as a list")
    return values


def _check_ending(path: Path) -> None:
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


def command_to_parquet(arguments: Sequence[str], run: Callable[[list[str]], int]) -> int:
    """Do what ``maquette sweep ... --out FILE.parquet`` means: the command writes Arrow, which becomes Parquet.

    Parameters
    ----------
    arguments
        The words of the command line, after its name.
    run
        What runs a command line.

    Returns
    -------
    int
        The exit status.
    """
    place = next(number for number, word in enumerate(arguments) if _PARQUET.fullmatch(word))
    words = list(arguments)
    path = Path(words[place].removeprefix("--out="))
    beside = path.with_name(f"{path.name}.arrow")
    words[place] = f"--out={beside}" if words[place].startswith("--out=") else str(beside)
    try:
        _check_ending(path)
    except ValueError as error:
        print(f"error: --{error}", file=sys.stderr)
        return 2
    if (status := run(words)) != 0:
        return status
    _write_parquet(beside, path)
    beside.unlink()
    return 0
