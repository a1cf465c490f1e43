"""The temporary objects that a scan makes in a DuckDB connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType

from kaireon_dagster.errors import FlowError
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.types import SqlType
from kaireon_dagster.sources.claimed import ClaimedFile
from kaireon_dagster.sources.faults import FileBroken
from kaireon_dagster.sources.scratch import Scratch

_NO_COLUMNS: Final = 'SELECT CAST(NULL AS VARCHAR) AS "_flow_nothing" WHERE false'
_UNREADABLE: Final = "cannot be read; it is damaged, or not of the format that it should be"
_FETCH: Final = 10_000


class Views:
    """One view, the streams and tables behind it, and a folder for files of its own.

    Args:
        connection: where all of it is made.
        name: name of the view; the other names begin with it.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._folder = Scratch()
        self._count = 0
        self._cleanup: list[str] = []
        self._streams: list[str] = []
        self._functions: list[str] = []
        self._fault: FlowError | None = None

    @property
    def folder(self) -> Path:
        """A folder that is removed with the rest."""
        return self._folder.path

    def create(self, selects: Sequence[str], columns: Sequence[tuple[str, SqlType]]) -> None:
        """Make the view of several SELECTs with the same columns, one after another."""
        if not columns:
            body = _NO_COLUMNS
        elif selects:
            body = " UNION ALL ".join(selects)
        else:
            nothing = ", ".join(
                f"CAST(NULL AS {kind.duckdb}) AS {ident(name)}" for name, kind in columns
            )
            body = f"SELECT {nothing} WHERE false"
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW {ident(self._name)} AS {body}")

    def stream(self, reader: pa.RecordBatchReader) -> str:
        """Register a stream of batches, and give the name to select from."""
        name = self.reserve()
        guarded = pa.RecordBatchReader.from_batches(reader.schema, self._guard(reader))
        self._connection.register(name, guarded)
        self._streams.append(name)
        return ident(name)

    def function(self, judge: Callable[[bytes], list[str | None] | None]) -> str:
        """Register a function from a text to a list of texts, and give its name."""
        name = self.reserve()

        def judge_all(texts: pa.ChunkedArray) -> pa.Array:
            encoded = (text.as_py().encode("utf-8") for text in texts)
            return pa.array([judge(text) for text in encoded], pa.list_(pa.string()))

        self._connection.create_function(
            name,
            judge_all,
            ["VARCHAR"],
            "VARCHAR[]",
            type=PythonUDFType.ARROW,
            null_handling=FunctionNullHandling.SPECIAL,
            side_effects=True,
        )
        self._functions.append(name)
        return name

    def reserve(self) -> str:
        """Give a name that nothing else of this scan has."""
        self._count += 1
        return f"{self._name}_part{self._count}"

    def drop_later(self, statement: str) -> None:
        """Have a statement run when the scan is closed."""
        self._cleanup.append(statement)

    def fetch(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query; no other may run on the connection meanwhile."""
        cursor = self._connection.execute(query)
        while rows := cursor.fetchmany(_FETCH):
            yield from rows

    def explain(self, error: Exception, files: Mapping[Path, ClaimedFile]) -> FlowError | None:
        """Give the error of our own that stands behind one of DuckDB's.

        Args:
            error: what draining the view raised.
            files: the files by the paths at which DuckDB reads them.
        """
        if isinstance(error, FlowError):
            return error
        if self._fault is not None:
            return self._fault
        blamed = next((file for path, file in files.items() if str(path) in str(error)), None)
        if blamed is not None:
            return FileBroken(blamed.label, _UNREADABLE)
        # Damage inside a Parquet page raises the bare class, without the path.
        if type(error) is duckdb.Error and files:
            return FileBroken(", ".join(file.label for file in files.values()), _UNREADABLE)
        return None

    def close(self) -> None:
        """Drop everything; safe to repeat."""
        self._connection.execute(f"DROP VIEW IF EXISTS {ident(self._name)}")
        for name in self._streams:
            self._connection.unregister(name)
        for statement in self._cleanup:
            self._connection.execute(statement)
        for name in self._functions:
            self._connection.remove_function(name)
        self._streams.clear()
        self._functions.clear()
        self._cleanup.clear()
        self._folder.close()

    def _guard(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        """Keep an error of ours, which DuckDB would pass on as text."""
        try:
            yield from reader
        except FlowError as error:
            self._fault = error
            raise
