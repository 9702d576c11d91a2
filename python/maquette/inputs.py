"""Python objects accepted in place of a file or a machine."""

import json
import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from maquette.machine import Machine

#: What can be given as a machine.
MachineLike = Machine | str | os.PathLike[str] | Mapping[str, Any]
#: What can be given as a matrix of bytes: a file, or rows of numbers, such as a numpy array or a sparse matrix of scipy.
MatrixLike = str | os.PathLike[str] | Iterable[Iterable[Any]]
#: What can be given as a table of measured times: a file, or rows by the names of the columns.
TimesLike = str | os.PathLike[str] | Sequence[Mapping[str, Any]]


def machine_of(machine: MachineLike) -> Machine:
    """The machine itself, built from its description if need be."""
    return machine if isinstance(machine, Machine) else Machine(machine)


def as_json(fields: Mapping[str, Any]) -> str:
    """Fields as JSON: numbers of any library as numbers, paths as text."""

    def plain(value: object) -> object:
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if hasattr(value, "__index__"):
            return operator.index(value)
        if hasattr(value, "__float__"):
            return float(value)
        raise TypeError(f"found {value!r}; allowed are numbers, texts, and lists and mappings of these")

    return json.dumps(fields, default=plain)


def matrix_of(matrix: MatrixLike) -> str | bytes:
    """The path of a matrix, or its text in CSV."""
    if isinstance(matrix, str | os.PathLike):
        return os.fspath(matrix)
    rows: Any = matrix
    for conversion in ("toarray", "to_numpy", "tolist"):
        rows = getattr(rows, conversion)() if hasattr(rows, conversion) else rows
    return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()


def times_of(times: TimesLike) -> str | bytes:
    """The path of measured times, or their text in CSV."""
    if isinstance(times, str | os.PathLike):
        return os.fspath(times)
    import csv
    import io

    columns = list(dict.fromkeys(name for row in times for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(times)
    return text.getvalue().encode()
