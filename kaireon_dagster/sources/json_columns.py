"""The columns of JSON lines, and how each line becomes their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

import pyarrow as pa

from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.sources.columns import check_names
from kaireon_dagster.sources.faults import HeaderRefused
from kaireon_dagster.sources.json_part import LinesPart
from kaireon_dagster.sources.json_sql import select_keys, select_values
from kaireon_dagster.sources.json_value import Row
from kaireon_dagster.sources.views import Views

MOST_COLUMNS: Final = 1600
"""Columns that a PostgreSQL table can have; more different keys are data used as names."""

_BATCH_ROWS: Final = 4096


Group = Sequence[LinesPart]
"""Neighbours that are read by one reader; they share their suspects."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of all objects of a group of files.

    Attributes:
        names: for each file, each key once, in the order in which they first appear.
        has_doubles: whether some object has a key twice; such objects give no row.
    """

    names: tuple[tuple[str, ...], ...]
    has_doubles: bool


def find_keys(group: Group, views: Views) -> Keys:
    """Read all lines of files for their keys, so that one that appears late is not lost.

    Raises:
        HeaderRefused: when keys cannot be columns side by side, or are too many.
    """
    names: dict[Path, dict[str, None]] = {part.path: {} for part in group}
    labels = {part.path: part.label for part in group}
    has_doubles = False
    for path, keys in _key_lists(group, views):
        if len(set(keys)) < len(keys):
            has_doubles = True
        else:
            names[path].update(dict.fromkeys(keys))
        _check_count(labels[path], len(names[path]))
    for path, found in names.items():
        check_names(labels[path], tuple(found))
    return Keys(tuple(tuple(found) for found in names.values()), has_doubles)


def select_group(
    group: Group,
    names: Sequence[str],
    has_doubles: bool,
    views: Views,
    file_name_column: str | None,
) -> str:
    """Write the SELECT that gives the rows of a group of files, of one file if its name is asked for."""
    if group[0].is_clean:
        judge = views.function(lambda raw: _values(group[0].judge(raw), names))
        paths = [part.path for part in group]
        relation = select_values(paths, names, judge, has_doubles=has_doubles)
        values = [f"line_values[{place}]" for place in range(1, len(names) + 1)]
    else:
        schema = pa.schema([(f"c{place}", pa.string()) for place in range(len(names))])
        batches = _batches(chain.from_iterable(part.rows() for part in group), names, schema)
        relation = views.stream(pa.RecordBatchReader.from_batches(schema, batches))
        values = schema.names
    selected = [f"{value} AS {ident(name)}" for value, name in zip(values, names, strict=True)]
    if file_name_column is not None:
        selected.append(f"{literal(group[0].label)} AS {ident(file_name_column)}")
    return f"SELECT {', '.join(selected)} FROM {relation}"


def _key_lists(group: Group, views: Views) -> Iterator[tuple[Path, Sequence[str]]]:
    if group[0].is_clean:
        judge = views.function(lambda raw: _keys(group[0].judge(raw)))
        for path, keys in views.fetch(select_keys([part.path for part in group], judge)):
            yield Path(path), keys
    else:
        for part in group:
            yield from ((part.path, tuple(row)) for row in part.rows())


def _check_count(label: str, count: int) -> None:
    if count > MOST_COLUMNS:
        raise HeaderRefused(label, (f"its objects have more than {MOST_COLUMNS} different keys",))


def _keys(row: Row | str) -> list[str | None] | None:
    return None if isinstance(row, str) else list(row)


def _values(row: Row | str, names: Sequence[str]) -> list[str | None] | None:
    return None if isinstance(row, str) else [row.get(name) for name in names]


def _batches(
    rows: Iterator[Row], names: Sequence[str], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    held: list[Row] = []
    for row in rows:
        held.append(row)
        if len(held) >= _BATCH_ROWS:
            yield _batch(held, names, schema)
            held = []
    if held:
        yield _batch(held, names, schema)


def _batch(rows: list[Row], names: Sequence[str], schema: pa.Schema) -> pa.RecordBatch:
    columns = [pa.array([row.get(name) for row in rows], pa.string()) for name in names]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
