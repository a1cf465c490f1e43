"""A key of the rows: columns that are never empty and never the same twice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import duckdb

from kaireon_dagster.cli.starter.columns import ColumnFacts
from kaireon_dagster.plan.casting import cast
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.types import SqlType

_SINGLE: Final = ("integer", "bigint", "uuid", "text")
_PAIR: Final = (*_SINGLE, "smallint", "date", "timestamp", "timestamptz")
_LONGEST: Final = 100
"""Characters of the longest text that is still taken for a key, not for prose."""

_PAIRED: Final = 10
"""Columns from the left that are tried in pairs."""

_LIKE_A_KEY: Final = re.compile(
    r"(?:^|[_\s.-])(?:id|key|code|uuid|guid|no|nr|num|number|sku|isbn|ean|email)$|[a-z](?:Id|ID|Key|Code|No)$",
)


def find_key(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[ColumnFacts], rows: int
) -> tuple[str, ...]:
    """Find the columns that identify a row; none where it takes more than two, or only looks so.

    In a short file many columns happen to be unique, so the key must be named like one, or begin
    with the first column.
    """
    if rows < 2:
        return ()
    present = [facts for facts in columns if facts.filled == rows]
    for names in _candidates(columns, present):
        if len(names) < len(columns) and _is_unique(connection, table, columns, names, rows):
            return names
    return ()


def _candidates(
    columns: Sequence[ColumnFacts], present: Sequence[ColumnFacts]
) -> Iterator[tuple[str, ...]]:
    first = columns[0].name
    named = [c.name for c in present if _LIKE_A_KEY.search(c.name) or c.name == first]
    singles = {c.name for c in present if _type(c).name in _SINGLE}
    for name in sorted(named, key=lambda name: not _LIKE_A_KEY.search(name)):
        if name in singles:
            yield (name,)
    pairs = [c.name for c in present[:_PAIRED] if _type(c).name in _PAIR]
    yield from (pair for pair in combinations(pairs, 2) if set(pair) & set(named))


def _is_unique(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Sequence[ColumnFacts],
    names: tuple[str, ...],
    rows: int,
) -> bool:
    chosen = [facts for facts in columns if facts.name in names]
    values = ", ".join(_value(facts) for facts in chosen)
    longest = ", ".join(f"max(length({ident(f.name)}::VARCHAR))" for f in chosen)
    query = f"SELECT count(DISTINCT ({values})), greatest({longest}, 0) FROM {ident(table)}"
    found = connection.execute(query).fetchone()
    return found is not None and found[0] == rows and found[1] <= _LONGEST


def _value(facts: ColumnFacts) -> str:
    column = ident(facts.name)
    if facts.cast is None:
        return column
    return cast(column, facts.type, SqlType.parse(facts.cast.to), facts.cast.format).value


def _type(facts: ColumnFacts) -> SqlType:
    return SqlType.parse(facts.cast.to) if facts.cast else facts.type
