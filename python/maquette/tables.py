"""Tables of what came of a run, for polars, pandas, pyarrow, DuckDB and whatever else speaks Arrow."""

import io
from typing import Any


class Table:
    """A table that Arrow's readers take as it is.

    It speaks the Arrow PyCapsule interface: ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and
    ``pandas.DataFrame.from_arrow(table)`` take it, and DuckDB reads what ``pyarrow.table`` makes of it. Columns whose names end in
    ``_ps`` are times in whole picoseconds.

    Attributes
    ----------
    name : str
        What it is called.
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
            The values of each column, by its name; None where there is none.
        """
        try:
            names, columns = self._read().to_columns_pysequence()
        except ValueError:
            # Columns with missing values are not read as a whole.
            names, columns = self.columns, zip(*self._read().iter_tuples(), strict=True)
        return {name: list(column) for name, column in zip(names, columns, strict=True)}

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an Arrow stream of it: each call begins anew.

        Parameters
        ----------
        requested_schema
            A capsule with the schema that the reader would like best; it may be another.

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
        # It is only needed where somebody looks at a table, and takes longer to import than all of this.
        import nanoarrow  # type: ignore[import-untyped]

        return nanoarrow.ArrayStream.from_readable(io.BytesIO(self._stream))
