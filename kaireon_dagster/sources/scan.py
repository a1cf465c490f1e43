"""Reading claimed files: one view over all of them, and the records that gave no row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol

import duckdb

from kaireon_dagster.errors import FlowError
from kaireon_dagster.plan.types import SqlType
from kaireon_dagster.sources.claimed import ClaimedFile
from kaireon_dagster.sources.csv_scan import open_csv
from kaireon_dagster.sources.faults import SourceNotRunnable
from kaireon_dagster.sources.json_scan import open_json, open_json_lines
from kaireon_dagster.sources.parquet import open_parquet
from kaireon_dagster.sources.rejects import Reject

if TYPE_CHECKING:
    from kaireon_dagster.ir import Source


class Scan(Protocol):
    """The readable rows of several files, as a view of a DuckDB connection.

    `SELECT * FROM <view>` gives exactly `columns`, file after file, row after row, once; a second
    reading of the view is not defined. With no column at all (files that are empty to the last
    byte) the view has no row and one column that means nothing.
    """

    columns: tuple[tuple[str, SqlType], ...]
    """Names and types in the order of the view, the file-name column last if it was asked for."""

    def rejects(self) -> Iterator[Reject]:
        """Yield the records that gave no row, in file and row order, after the view was drained.

        Raises:
            FileChanged: when a file changed while it was read.
            FileBroken: when rows may have been missed; the run must not commit.
        """

    def locate(self, ordinal: int) -> tuple[ClaimedFile, int]:
        """Say in which file and physical line the n-th delivered row begins, n from 0.

        Reads the files again; meant for messages about single rows. Ascending calls go on from
        where the last one stopped.
        """

    def explain(self, error: Exception) -> FlowError | None:
        """Turn an error that draining the view raised into one that says file and cause.

        DuckDB's own messages quote rows, so they must not leave the worker. None for an error
        that does not come from these files.
        """

    def close(self) -> None:
        """Drop the view and what stands behind it; safe to repeat."""


_READERS: Final[dict[str, Callable[..., Scan]]] = {
    "csv": open_csv,
    "tsv": open_csv,
    "json": open_json,
    "jsonl": open_json_lines,
    "parquet": open_parquet,
}


def is_readable(format: str) -> bool:
    """Whether this release can read files of a format."""
    return format in _READERS


def open_scan(
    files: Sequence[ClaimedFile],
    source: Source,
    connection: duckdb.DuckDBPyConnection,
    view: str,
    *,
    file_name_column: str | None = None,
) -> Scan:
    """Make a view over claimed files.

    The columns of all files are matched by name, in the order in which they first appear; one that
    a file lacks is NULL in its rows. csv and json columns are text.

    Args:
        files: claimed files in the order in which their rows shall come.
        source: the source node, for format and options.
        connection: where the view is made; memory and threads are as its settings say.
        view: name of the temporary view.
        file_name_column: name of a further column that holds the file's name.

    Raises:
        SourceNotRunnable: for a format this release cannot read.
        FileChanged: when a file is not as it was when it was claimed.
        FileBroken, HeaderRefused, ColumnTypesDiffer: when files cannot be read.
    """
    reader = _READERS.get(source.config.format)
    if reader is None:
        raise SourceNotRunnable(source.id, f"format {source.config.format!r}")
    return reader(files, source, connection, view, file_name_column)
