"""A scan of JSON: lines, each an object, or documents that are rewritten as lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from kaireon_dagster.errors import FlowError
from kaireon_dagster.plan.types import TEXT, SqlType
from kaireon_dagster.sources.census import take_census
from kaireon_dagster.sources.claimed import ClaimedFile
from kaireon_dagster.sources.columns import merge_names
from kaireon_dagster.sources.dialect import Dialect
from kaireon_dagster.sources.json_columns import Group, find_keys, select_group
from kaireon_dagster.sources.json_document import split_document
from kaireon_dagster.sources.json_part import LinesPart
from kaireon_dagster.sources.line_index import LineIndex
from kaireon_dagster.sources.local import check_unchanged
from kaireon_dagster.sources.rejects import Reject
from kaireon_dagster.sources.unpack import Ready, make_ready
from kaireon_dagster.sources.views import Views

if TYPE_CHECKING:
    from kaireon_dagster.ir import Source

_UNQUOTED = Dialect(delimiter="\x01", quote="", escape="", header=False, nulls=frozenset())


def open_json_lines(
    files: Sequence[ClaimedFile],
    source: Source,
    connection: duckdb.DuckDBPyConnection,
    view: str,
    file_name_column: str | None,
) -> JsonScan:
    """Open files of JSON lines; see `scan.open_scan`."""
    return _open(files, source, Views(connection, view), file_name_column, _lines_part)


def open_json(
    files: Sequence[ClaimedFile],
    source: Source,
    connection: duckdb.DuckDBPyConnection,
    view: str,
    file_name_column: str | None,
) -> JsonScan:
    """Open JSON documents; see `scan.open_scan` and `json_document`."""

    def part(ready: Ready, number: int, folder: Path) -> LinesPart:
        records_path = source.config.format_options.records_path
        return split_document(ready, folder / f"{number:06d}.jsonl", records_path)

    return _open(files, source, Views(connection, view), file_name_column, part)


def _lines_part(ready: Ready, number: int, folder: Path) -> LinesPart:
    return LinesPart(ready, ready.path, take_census(ready.path, _UNQUOTED).is_clean)


def _open(
    files: Sequence[ClaimedFile],
    source: Source,
    views: Views,
    file_name_column: str | None,
    make_part: Callable[[Ready, int, Path], LinesPart],
) -> JsonScan:
    try:
        parts = [
            make_part(make_ready(file, number, source, views.folder), number, views.folder)
            for number, file in enumerate(files)
        ]
        return JsonScan(files, parts, views, file_name_column)
    except BaseException:
        views.close()
        raise


def _group(parts: Sequence[LinesPart], *, alone: bool) -> Iterator[Group]:
    """Put neighbours together that one reading can take."""
    for _, neighbours in groupby(parts, lambda part: part.is_clean):
        group = list(neighbours)
        for part in group:
            part.suspects = group[0].suspects
        if alone:
            yield from ([part] for part in group)
        else:
            yield group


class JsonScan:
    """See `scan.Scan`."""

    def __init__(
        self,
        files: Sequence[ClaimedFile],
        parts: Sequence[LinesPart],
        views: Views,
        file_name_column: str | None,
    ) -> None:
        self._files = files
        self._parts = parts
        self._views = views
        self._lines = LineIndex((part.ready.file, part.lines) for part in parts)
        groups = list(_group(parts, alone=file_name_column is not None))
        found = [find_keys(group, views) for group in groups]
        headers = chain.from_iterable(keys.names for keys in found)
        names = merge_names((part.label, keys) for part, keys in zip(parts, headers, strict=True))
        extra = () if file_name_column is None else (file_name_column,)
        self.columns: tuple[tuple[str, SqlType], ...] = tuple(
            (name, TEXT) for name in (*names, *extra)
        )
        selects = [
            select_group(group, names, keys.has_doubles, views, file_name_column)
            for group, keys in zip(groups, found, strict=True)
            if names
        ]
        views.create(selects, self.columns)

    def rejects(self) -> Iterator[Reject]:
        """Yield the lines that gave no row, after the view was drained."""
        for file in self._files:
            check_unchanged(file)
        for part in self._parts:
            yield from part.rejects()

    def locate(self, ordinal: int) -> tuple[ClaimedFile, int]:
        """Say in which file and line the n-th delivered row begins."""
        return self._lines.locate(ordinal)

    def explain(self, error: Exception) -> FlowError | None:
        """Turn an error of draining the view into one that says file and cause."""
        return self._views.explain(error, {part.path: part.ready.file for part in self._parts})

    def close(self) -> None:
        """Drop the view and what stands behind it."""
        self._views.close()
