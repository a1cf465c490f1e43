"""What each column of a file holds: measured over all rows, never over a sample alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import duckdb

from kaireon_dagster.cli.starter.candidates import FORMATTED, PLAIN, Candidate
from kaireon_dagster.cli.starter.hints import Hint, find_hint
from kaireon_dagster.plan.sqltext import ident, literal
from kaireon_dagster.plan.types import SqlType

NULL_MARKERS: Final = ("NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", r"\N", "-")
"""Words that exports write for a missing value."""

_LOOK: Final = 1000
"""Values looked at first, to spare the rest the types that are out of the question."""

_NEARLY: Final = 0.1
"""With at most this share of misfits a type is still worth a remark."""

_LEAST_SCALE: Final = 4
"""Decimals that a column of decimals gets at least: a later value with more is rounded."""

_LEAST_PRECISION: Final = 18
_MOST_DIGITS: Final = 38

_EXACT_DIGITS: Final = 15
"""Significant digits that a double gives back as they were."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """How a column may be read.

    Attributes:
        to: data type of the language.
        format: how its values are written, where that is not ISO.
        misfits: values that do not read so.
        decimals: most decimals of a value, for numeric.
    """

    to: str
    format: str | None = None
    misfits: int = 0
    decimals: int = 0


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column.

    Attributes:
        type: as the file has it.
        filled: rows that have a value.
        proposal: the type that fits all values, or nearly all; empty when there is none.
        ambiguous: formats of which several read all values differently.
        marker: the null marker that alone keeps it from being read as another type.
        hint: what a text looks like that no cast reads as it is.
    """

    name: str
    type: SqlType
    filled: int
    proposal: Proposal | None = None
    ambiguous: tuple[str, ...] = ()
    marker: str | None = None
    hint: Hint | None = None

    @property
    def cast(self) -> Proposal | None:
        """The type that all values read as, if that is one and not text."""
        best = self.proposal
        return best if best and not best.misfits and not self.ambiguous else None


def measure(
    connection: duckdb.DuckDBPyConnection, table: str, columns: Sequence[tuple[str, SqlType]]
) -> tuple[ColumnFacts, ...]:
    """Measure every column of a table that holds the rows of the files."""
    return tuple(_measure(connection, table, name, type_) for name, type_ in columns)


def _measure(
    connection: duckdb.DuckDBPyConnection, table: str, name: str, type_: SqlType
) -> ColumnFacts:
    column = ident(name)
    present = f"{column} IS NOT NULL" + (f" AND {column} <> ''" if type_.is_text else "")
    (filled,) = _row(connection, f"SELECT count(*) FILTER ({present}) FROM {ident(table)}")
    if not type_.is_text or filled == 0:
        return ColumnFacts(name, type_, filled)
    rows = f"(SELECT {column} FROM {ident(table)} WHERE {present})"
    facts = ColumnFacts(name, type_, filled)
    return _with_marker(connection, rows, facts) or _propose(connection, rows, facts)


def _propose(connection: duckdb.DuckDBPyConnection, rows: str, facts: ColumnFacts) -> ColumnFacts:
    column = ident(facts.name)
    fitting = list(_fitting(connection, rows, column, facts.filled, PLAIN))
    if not any(misfits == 0 for _, misfits in fitting):
        fitting += _fitting(connection, rows, column, facts.filled, FORMATTED, stop=False)
    fitting.sort(key=lambda pair: pair[1])
    whole = [c for c, misfits in fitting if not misfits]
    if not whole and (hint := find_hint(connection, rows, column)):
        return replace(facts, hint=hint)
    best = _sized(connection, rows, column, *fitting[0]) if fitting else None
    ambiguous = tuple(c.format for c in whole if c.format) if len(whole) > 1 else ()
    return replace(facts, proposal=best, ambiguous=ambiguous)


def _fitting(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    column: str,
    filled: int,
    candidates: Sequence[Candidate],
    *,
    stop: bool = True,
) -> Iterator[tuple[Candidate, int]]:
    """The candidates with at most a few misfits; with `stop`, none after one that fits whole."""
    head = f"(SELECT {column} FROM {rows} LIMIT {_LOOK})"
    looked = min(filled, _LOOK)
    for candidate, missed in _misfits(connection, head, column, candidates):
        if missed > looked / 2:
            continue
        ((_, misfits),) = _misfits(connection, rows, column, [candidate])
        if misfits <= filled * _NEARLY and _is_sensible(connection, rows, column, candidate):
            yield candidate, misfits
            if stop and not misfits:
                return


def _misfits(
    connection: duckdb.DuckDBPyConnection, rows: str, column: str, candidates: Sequence[Candidate]
) -> list[tuple[Candidate, int]]:
    counts = ", ".join(f"count(*) FILTER ({c.misfit(column)})" for c in candidates)
    return list(zip(candidates, _row(connection, f"SELECT {counts} FROM {rows}"), strict=True))


def _is_sensible(
    connection: duckdb.DuckDBPyConnection, rows: str, column: str, candidate: Candidate
) -> bool:
    if candidate.type != "boolean":
        return True
    # Nothing but F, say, is more likely a code of which other letters are still to come.
    (kinds,) = _row(connection, f"SELECT count(DISTINCT lower({column})) FROM {rows}")
    return kinds > 1


def _sized(
    connection: duckdb.DuckDBPyConnection,
    rows: str,
    column: str,
    candidate: Candidate,
    misfits: int,
) -> Proposal:
    if not candidate.is_number:
        return Proposal(candidate.type, candidate.format, misfits)
    point = "," if candidate.format == "1.234,56" else "."
    whole = f"length(regexp_replace(split_part({column}, '{point}', 1), '[^0-9]', '', 'g'))"
    digits, decimals = _row(
        connection,
        f"SELECT max({whole}), max(length(split_part({column}, '{point}', 2))) FROM {rows}",
    )
    type_ = _number_type(digits, decimals, candidate.format)
    return Proposal(type_, candidate.format, misfits, decimals)


def _number_type(digits: int, decimals: int, format: str | None) -> str:
    """Room for the numbers of tomorrow: amounts stay exact, measurements become double."""
    if decimals > 6 and digits + decimals <= _EXACT_DIGITS + 1 and format is None:
        return "double"
    # A written decimal point is to come where the format has one, even if no value shows it yet.
    wanted = max(decimals, _LEAST_SCALE) if decimals or format else 0
    scale = max(decimals, min(wanted, _MOST_DIGITS - digits))
    precision = max(_LEAST_PRECISION, digits + scale + 2)
    return f"numeric({min(precision, _MOST_DIGITS)},{scale})"


def _with_marker(
    connection: duckdb.DuckDBPyConnection, rows: str, facts: ColumnFacts
) -> ColumnFacts | None:
    """The column with its null marker, if it has one and all other values are of a type."""
    column = ident(facts.name)
    markers = ", ".join(literal(marker) for marker in NULL_MARKERS)
    found = connection.execute(
        f"SELECT {column}, count(*) FROM {rows} WHERE {column} IN ({markers}) GROUP BY 1"
    ).fetchall()
    if len(found) != 1 or found[0][1] == facts.filled:
        return None
    marker, times = found[0]
    rest = f"(SELECT {column} FROM {rows} WHERE {column} <> {literal(marker)})"
    others = _propose(connection, rest, replace(facts, filled=facts.filled - times))
    return replace(facts, marker=marker) if others.cast else None


def _row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple[int, ...]:
    row = connection.execute(query).fetchone()
    assert row is not None, "an aggregate gives a row"
    return tuple(int(value or 0) for value in row)
