"""Tables of results, for polars, pandas, pyarrow, DuckDB and anything else that reads Arrow."""

import io
from collections.abc import Iterable
from typing import Any


class Table:
    """A table that Arrow readers take directly.

    It supports the Arrow PyCapsule interface: ``polars.DataFrame(table)``, ``pyarrow.table(table)``, ``pandas.DataFrame.from_arrow(table)``
    and ``duckdb.sql("select max(finish_ps) from ranks")`` take it. Columns whose names end in ``_ps`` are times in whole picoseconds.

    Attributes
    ----------
    name : str
        Its name.
    columns : list of str
        The names of its columns.
    """

    def __init__(self, name: str, stream: bytes) -> None:
        self.name = name
        self._stream = stream

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return [field.name for field in self._read().schema.fields]

    def to_dict(self) -> dict[str, list[Any]]:
        """Its columns as lists.

        Returns
        -------
        dict
            The values of each column, by its name; None where one is missing.
        """
        names, columns = self._read().to_columns_pysequence(handle_nulls=_none_for_missing)
        return {name: list(column) for name, column in zip(names, columns, strict=True)}

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an Arrow stream of the table: each call starts a new one.

        Parameters
        ----------
        requested_schema
            A capsule with the schema that the reader would prefer; it need not be followed.

        Returns
        -------
        PyCapsule
            One called ``arrow_array_stream``.
        """
        return self._read().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """A capsule with its schema."""
        return self._read().schema.__arrow_c_schema__()

    def __len__(self) -> int:
        return sum(len(batch) for batch in self._read().iter_chunks())

    def __repr__(self) -> str:
        return f"<maquette.Table {self.name}: {len(self)} rows of {', '.join(self.columns)}>"

    def _read(self) -> Any:
        # Needed only when a table is read, and slower to import than the whole package.
        import nanoarrow  # type: ignore[import-untyped]

        return nanoarrow.ArrayStream.from_readable(io.BytesIO(self._stream))


def _none_for_missing(is_valid: Iterable[bool] | None, data: Iterable[Any]) -> Iterable[Any]:
    return data if is_valid is None else (value if valid else None for value, valid in zip(data, is_valid, strict=True))
