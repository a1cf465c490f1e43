"""A scan of Parquet files, whose columns bring their types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from kaireon_dagster.errors import FlowError
from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.plan.types import JSONB, TEXT, SqlType
from kaireon_dagster.sources.arrow_types import holds_floats, read_type
from kaireon_dagster.sources.claimed import ClaimedFile
from kaireon_dagster.sources.columns import check_names, merge_names
from kaireon_dagster.sources.faults import ColumnTypesDiffer, FileBroken, HeaderRefused
from kaireon_dagster.sources.line_index import LineIndex
from kaireon_dagster.sources.local import check_ready, check_unchanged
from kaireon_dagster.sources.rejects import Reject
from kaireon_dagster.sources.unpack import name_plainly
from kaireon_dagster.sources.views import Views

if TYPE_CHECKING:
    from kaireon_dagster.ir import Source

_HAS_NUL: Final = "a NUL character in a text, which PostgreSQL cannot hold"
_NOT_FINITE: Final = "NaN or Infinity inside a list or struct, which JSON does not have"
_IN_JSON: Final = r"[:,\[]-?(?:NaN|Infinity)"


@dataclass(frozen=True, slots=True)
class ParquetPart:
    """One file with its columns.

    Attributes:
        file: the claimed file.
        path: what to read in its place.
        columns: name and type of each column in file order.
        with_floats: the jsonb columns in which NaN can stand.
        rows: number of rows in the file.
    """

    file: ClaimedFile
    path: Path
    columns: dict[str, SqlType]
    with_floats: frozenset[str]
    rows: int

    def conditions(self) -> Iterator[tuple[str, str]]:
        """Yield what makes a row unreadable, as SQL, and its cause."""
        nul = "chr(0)"
        for name, kind in self.columns.items():
            if kind == TEXT:
                yield f"contains({ident(name)}, {nul})", _HAS_NUL
            elif kind == JSONB:
                text = f"CAST(to_json({ident(name)}) AS VARCHAR)"
                yield f"contains({text}, '\\u0000')", _HAS_NUL
                if name in self.with_floats:
                    yield f"regexp_matches({text}, {literal(_IN_JSON)})", _NOT_FINITE


def open_parquet(
    files: Sequence[ClaimedFile],
    source: Source,
    connection: duckdb.DuckDBPyConnection,
    view: str,
    file_name_column: str | None,
) -> ParquetScan:
    """Open Parquet files; see `scan.open_scan`."""
    views = Views(connection, view)
    try:
        parts = [
            _read_part(file, number, views.folder)
            for number, file in enumerate(files)
            if file.size > 0
        ]
        return ParquetScan(files, parts, views, file_name_column)
    except BaseException:
        views.close()
        raise


class ParquetScan:
    """See `scan.Scan`; the line of a row is its number in the file, from 1."""

    def __init__(
        self,
        files: Sequence[ClaimedFile],
        parts: Sequence[ParquetPart],
        views: Views,
        file_name_column: str | None,
    ) -> None:
        self._files = files
        self._parts = parts
        self._views = views
        self._lines = LineIndex((part.file, partial(self._rows, part)) for part in parts)
        known = _merge_types(parts)
        extra = {} if file_name_column is None else {file_name_column: TEXT}
        self.columns: tuple[tuple[str, SqlType], ...] = tuple({**known, **extra}.items())
        selects = [self._select(part, known, file_name_column) for part in parts]
        views.create(selects, self.columns)

    def rejects(self) -> Iterator[Reject]:
        """Yield the rows that PostgreSQL cannot hold, as JSON, after the view was drained."""
        for file in self._files:
            check_unchanged(file)
        for part in self._parts:
            for number, cause, raw in self._find_rejects(part):
                yield Reject(part.file, number, cause, raw.encode("utf-8"))

    def locate(self, ordinal: int) -> tuple[ClaimedFile, int]:
        """Say in which file the n-th delivered row stands, and its number there."""
        return self._lines.locate(ordinal)

    def explain(self, error: Exception) -> FlowError | None:
        """Turn an error of draining the view into one that says file and cause."""
        return self._views.explain(error, {part.path: part.file for part in self._parts})

    def close(self) -> None:
        """Drop the view and what stands behind it."""
        self._views.close()

    def _select(
        self, part: ParquetPart, known: dict[str, SqlType], file_name_column: str | None
    ) -> str:
        values = [f"{_value(part, name, kind)} AS {ident(name)}" for name, kind in known.items()]
        if file_name_column is not None:
            values.append(f"{literal(part.file.label)} AS {ident(file_name_column)}")
        unreadable = " OR ".join(condition for condition, _ in part.conditions()) or "false"
        return (
            f"SELECT {', '.join(values)} FROM {_read_parquet(part)} "
            f"WHERE ({unreadable}) IS NOT TRUE"
        )

    def _find_rejects(self, part: ParquetPart) -> Iterator[tuple[int, str, str]]:
        cases = " ".join(
            f"WHEN {condition} THEN {literal(cause)}" for condition, cause in part.conditions()
        )
        if not cases:
            return
        columns = ", ".join(ident(name) for name in part.columns)
        packed = ", ".join(f"{ident(name)} := {ident(name)}" for name in part.columns)
        yield from self._views.fetch(
            f"SELECT number, cause, CAST(to_json(struct_pack({packed})) AS VARCHAR) FROM ("
            f"SELECT file_row_number + 1 AS number, CASE {cases} END AS cause, {columns} "
            f"FROM {_read_parquet(part, 'file_row_number = true')}) "
            "WHERE cause IS NOT NULL ORDER BY number"
        )

    def _rows(self, part: ParquetPart) -> Iterator[int]:
        wrong = {number for number, _, _ in self._find_rejects(part)}
        return (number for number in range(1, part.rows + 1) if number not in wrong)


def _read_part(file: ClaimedFile, number: int, folder: Path) -> ParquetPart:
    check_ready(file)
    try:
        with pq.ParquetFile(file.path) as opened:
            schema, rows = opened.schema_arrow, opened.metadata.num_rows
    except (pa.ArrowException, OSError):
        raise FileBroken(
            file.label, "not a complete Parquet file: its footer cannot be read"
        ) from None
    columns = {name: _read_column(file, schema.field(name)) for name in _names(file, schema)}
    with_floats = frozenset(
        name
        for name, kind in columns.items()
        if kind == JSONB and holds_floats(schema.field(name).type)
    )
    return ParquetPart(
        file, name_plainly(Path(file.path), number, folder), columns, with_floats, rows
    )


def _names(file: ClaimedFile, schema: pa.Schema) -> list[str]:
    check_names(file.label, schema.names)
    return list(schema.names)


def _read_column(file: ClaimedFile, column: pa.Field) -> SqlType:
    kind = read_type(column.type)
    if kind is None:
        raise HeaderRefused(
            file.label, (f"column {column.name!r} is {column.type}, which no column can hold",)
        )
    return kind


def _merge_types(parts: Sequence[ParquetPart]) -> dict[str, SqlType]:
    first: dict[str, tuple[str, SqlType]] = {}
    for part in parts:
        for name, kind in part.columns.items():
            label, known = first.setdefault(name, (part.file.label, kind))
            if known != kind:
                raise ColumnTypesDiffer(
                    name, (label, known.postgres), (part.file.label, kind.postgres)
                )
    names = merge_names((part.file.label, tuple(part.columns)) for part in parts)
    return {name: first[name][1] for name in names}


def _value(part: ParquetPart, name: str, kind: SqlType) -> str:
    if name not in part.columns:
        return f"CAST(NULL AS {kind.duckdb})"
    if kind == JSONB:
        return f"to_json({ident(name)})"
    return f"CAST({ident(name)} AS {kind.duckdb})"


def _read_parquet(part: ParquetPart, *options: str) -> str:
    given = ", ".join((literal(str(part.path)), "hive_partitioning = false", *options))
    return f"read_parquet({given})"
