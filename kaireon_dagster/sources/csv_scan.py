"""A scan of delimited files: DuckDB's reader for clean files, the careful one for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from kaireon_dagster.errors import FlowError
from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.plan.types import TEXT, SqlType
from kaireon_dagster.sources.careful_csv import read_carefully
from kaireon_dagster.sources.census import take_census
from kaireon_dagster.sources.claimed import ClaimedFile
from kaireon_dagster.sources.columns import merge_names
from kaireon_dagster.sources.csv_header import Header, read_header
from kaireon_dagster.sources.csv_part import CsvPart
from kaireon_dagster.sources.csv_sql import (
    LONGEST_LINE,
    drop_rejects,
    read_all_columns,
    read_csv,
    select_wrong,
)
from kaireon_dagster.sources.dialect import Dialect
from kaireon_dagster.sources.faults import FileBroken
from kaireon_dagster.sources.line_index import LineIndex
from kaireon_dagster.sources.local import check_unchanged
from kaireon_dagster.sources.rejects import Reject
from kaireon_dagster.sources.unpack import make_ready
from kaireon_dagster.sources.views import Views

if TYPE_CHECKING:
    from kaireon_dagster.ir import Source


def open_csv(
    files: Sequence[ClaimedFile],
    source: Source,
    connection: duckdb.DuckDBPyConnection,
    view: str,
    file_name_column: str | None,
) -> CsvScan:
    """Open csv or tsv files; see `scan.open_scan`."""
    views = Views(connection, view)
    try:
        parts = list(_read_parts(files, source, views.folder))
        return CsvScan(files, parts, views, file_name_column)
    except BaseException:
        views.close()
        raise


def _read_parts(files: Sequence[ClaimedFile], source: Source, folder: Path) -> Iterator[CsvPart]:
    dialect = Dialect.of(source)
    for number, file in enumerate(files):
        ready = make_ready(file, number, source, folder)
        header = read_header(ready.path, file.label, dialect)
        if header is not None:
            part = CsvPart(ready, header, is_clean=False)
            part.is_clean = (
                _may_be_clean(header)
                and take_census(ready.path, dialect).is_clean
                # DuckDB holds a kilobyte for every wrong record until the end.
                and part.begins_well()
            )
            yield part


def _may_be_clean(header: Header) -> bool:
    # DuckDB tells an empty value in a last column without name from a surplus one only by its
    # being a NULL marker.
    dialect = header.shape.dialect
    has_odd_end = header.shape.ends_in_delimiter and "" not in dialect.nulls
    return dialect.is_plain and header.is_simple and not has_odd_end


class CsvScan:
    """See `scan.Scan`."""

    def __init__(
        self,
        files: Sequence[ClaimedFile],
        parts: list[CsvPart],
        views: Views,
        file_name_column: str | None,
    ) -> None:
        self._files = files
        self._parts = parts
        self._views = views
        self._file_name_column = file_name_column
        self._tables: list[str] = []
        self._lines = LineIndex((part.ready.file, part.lines) for part in parts)
        self._names = merge_names((part.label, part.header.names) for part in parts)
        extra = (file_name_column,) if file_name_column is not None else ()
        self.columns: tuple[tuple[str, SqlType], ...] = tuple(
            (name, TEXT) for name in (*self._names, *extra)
        )
        views.create([self._select(group) for group in self._groups()], self.columns)

    def rejects(self) -> Iterator[Reject]:
        """Yield the records that gave no row, after the view was drained."""
        for file in self._files:
            check_unchanged(file)
        self._note_wrong()
        for part in self._parts:
            yield from part.rejects()

    def locate(self, ordinal: int) -> tuple[ClaimedFile, int]:
        """Say in which file and line the n-th delivered row begins."""
        return self._lines.locate(ordinal)

    def explain(self, error: Exception) -> FlowError | None:
        """Turn an error of draining the view into one that says file and cause."""
        return self._views.explain(
            error, {part.ready.path: part.ready.file for part in self._parts}
        )

    def close(self) -> None:
        """Drop the view and what stands behind it."""
        self._views.close()

    def _groups(self) -> Iterator[list[CsvPart]]:
        """Put neighbours together that one reading can take."""
        for (is_clean, _), neighbours in groupby(
            self._parts, lambda part: (part.is_clean, part.header)
        ):
            if is_clean and self._file_name_column is None:
                yield list(neighbours)
            else:
                yield from ([part] for part in neighbours)

    def _select(self, group: list[CsvPart]) -> str:
        header = group[0].header
        places = {name: place for place, name in enumerate(header.names)}
        values = [
            f"c{places[name]} AS {ident(name)}"
            if name in places
            else f"CAST(NULL AS VARCHAR) AS {ident(name)}"
            for name in self._names
        ]
        if self._file_name_column is not None:
            values.append(f"{literal(group[0].label)} AS {ident(self._file_name_column)}")
        return f"SELECT {', '.join(values)} FROM {self._relation(group)}"

    def _relation(self, group: list[CsvPart]) -> str:
        if not group[0].is_clean:
            return self._views.stream(read_carefully(group[0]))
        rejects = self._views.reserve()
        shape = group[0].header.shape
        for statement in drop_rejects(rejects):
            self._views.drop_later(statement)
        self._tables.append(rejects)
        scanned = read_csv([part.ready.path for part in group], shape, rejects)
        return f"{scanned} WHERE {read_all_columns(shape)}"

    def _note_wrong(self) -> None:
        clean = {str(part.ready.path): part for part in self._parts if part.is_clean}
        for part in clean.values():
            del part.wrong[:]
        for table in self._tables:
            found = self._views.fetch(select_wrong(table))
            for path, position, is_too_long in found:
                part = clean[path]
                if is_too_long:
                    raise FileBroken(part.label, _too_long(position))
                part.wrong.append(position)


def _too_long(position: int) -> str:
    return (
        f"the record at byte {position} is longer than {LONGEST_LINE >> 20} MiB; "
        "a quote in it may not be closed"
    )
