"""Tells the rows that the server refuses from those it takes, where a load of all was refused.

The server names no row, so rows are tried in stretches: one that is refused is tried again in
shorter ones, until the row stands alone. All of it runs inside the server, in the load's
transaction, so that a refused row costs no round trips.
"""

from __future__ import annotations

from collections.abc import Iterator

from psycopg import sql

from kaireon_dagster.engine.inserting import (
    Load,
    Staging,
    Written,
    compared,
    staging_name,
    written,
)
from kaireon_dagster.engine.spool import Spool
from kaireon_dagster.plan.hidden import ORIGINAL, SEQUENCE
from kaireon_dagster.plan.sqltext import ident

PLACE = "_flow_place"
# Stretches of 8192 rows cost little each, and are soon tried again.
_TRY = """
DECLARE
    low bigint := 1; size bigint := 8192; taken bigint; fresh bigint;
    loaded bigint := 0; inserted bigint := 0; state text; named text; field text;
BEGIN
    WHILE low <= {rows} LOOP
        BEGIN
            EXECUTE {attempt} INTO taken, fresh USING low, least(low + size - 1, {rows});
            loaded := loaded + taken;
            inserted := inserted + fresh;
            low := low + size;
            size := least(size * 2, 8192);
        EXCEPTION WHEN data_exception OR integrity_constraint_violation THEN
            IF size > 1 THEN
                size := greatest(size / 4, 1);
            ELSE
                GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, named = CONSTRAINT_NAME,
                    field = COLUMN_NAME;
                EXECUTE {refuse} USING low, {rule};
                low := low + 1;
            END IF;
        END;
    END LOOP;
    PERFORM pg_catalog.set_config('flow.loaded', loaded::text, true),
        pg_catalog.set_config('flow.inserted', inserted::text, true);
END
"""
_RULE = """CASE WHEN state = '23502' THEN 'not_null:' || field
    WHEN named <> '' THEN 'constraint:' || named ELSE 'refused:' || state END"""


def sift(load: Load, staging: Staging, spool: Spool) -> Written:
    """Write the staged rows that the server takes; the others go to the spool, with their rule.

    Rules are `type:<column>`, `not_null:<column>`, `constraint:<name>`, and `refused:<SQLSTATE>`
    where the server says no more.
    """
    # A deferred constraint would refuse all of it at the commit, when nobody knows the row.
    load.connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    refused = staging_name(load, part=".refused")
    _execute(
        load,
        f"CREATE TEMP TABLE {refused} (id bigint GENERATED ALWAYS AS IDENTITY, "
        f"{SEQUENCE} bigint, rule text) ON COMMIT DROP",
    )
    _refuse_unreadable(load, staging, refused)
    unreadable = _count(load, f"SELECT count(DISTINCT {SEQUENCE}) FROM {refused}")
    sorted_ = staging_name(load, part=".sorted")
    rows = _execute(load, _sort(load, staging.table, refused, sorted_))
    _execute(load, f"CREATE INDEX ON {sorted_} ({PLACE})")
    attempt = written(load, f"{sorted_} s WHERE s.{PLACE} BETWEEN $1 AND $2")
    refuse = f"SELECT {SEQUENCE}, $2 FROM {sorted_} WHERE {PLACE} = $1"
    loaded, inserted = _try(
        load,
        f"WITH {attempt} SELECT {load.counts} FROM written",
        f"INSERT INTO {refused} ({SEQUENCE}, rule) {refuse}",
        rows,
        _RULE,
    )
    for rules, original in _originals(load, staging.table, refused):
        spool.add_refused(load.spec.id, rules, original)
    total = _count(load, f"SELECT count(DISTINCT {SEQUENCE}) FROM {refused}")
    repeated = staging.rows - unreadable - rows
    return Written(loaded, inserted, loaded - inserted, repeated, total)


def _refuse_unreadable(load: Load, staging: Staging, refused: str) -> None:
    _execute(load, f"CREATE INDEX ON {staging.table} ({SEQUENCE})")
    for column in load.shape.columns:
        if column.by_server:
            value = f"CAST({ident(column.name)} AS {column.read_as})"
            _try(
                load,
                f"SELECT count({value}), 0 FROM {staging.table} "
                f"WHERE {SEQUENCE} BETWEEN $1 - 1 AND $2 - 1",
                f"INSERT INTO {refused} ({SEQUENCE}, rule) VALUES ($1 - 1, $2)",
                staging.rows,
                sql.Literal(f"type:{column.name}").as_string(load.connection),
            )


def _sort(load: Load, staging: str, refused: str, name: str) -> str:
    """Make the table of rows to try: all that read, or the last one of each key, in key order."""
    left = f"NOT EXISTS (SELECT FROM {refused} r WHERE r.{SEQUENCE} = s.{SEQUENCE})"
    rows, order = f"SELECT s.* FROM {staging} s WHERE {left}", f"s.{SEQUENCE}"
    if load.placement.key:
        order = ", ".join(compared(load, "s"))
        distinct = f"SELECT DISTINCT ON ({order}) s.*"
        rows = f"{distinct} FROM {staging} s WHERE {left} ORDER BY {order}, {SEQUENCE} DESC"
    return (
        f"CREATE TEMP TABLE {name} ON COMMIT DROP AS "
        f"SELECT row_number() OVER (ORDER BY {order}) AS {PLACE}, s.* FROM ({rows}) s"
    )


def _try(load: Load, attempt: str, refuse: str, rows: int, rule: str) -> tuple[int, int]:
    """Run a statement over stretches of rows numbered from 1; the sums of the counts it gives."""
    body = sql.SQL(_TRY).format(
        attempt=sql.Literal(attempt),
        refuse=sql.Literal(refuse),
        rows=sql.SQL(str(rows)),
        rule=sql.SQL(rule),
    )
    load.connection.execute(sql.SQL("DO {}").format(sql.Literal(body.as_string(load.connection))))
    names = ("flow.loaded", "flow.inserted")
    row = load.connection.execute(
        "SELECT current_setting(%s)::bigint, current_setting(%s)::bigint", names
    ).fetchone()
    assert row is not None, "a query without FROM gives a row"
    return int(row[0]), int(row[1])


def _originals(load: Load, staging: str, refused: str) -> Iterator[tuple[list[str], str]]:
    query = (
        f"SELECT array_agg(r.rule ORDER BY r.id), s.{ORIGINAL} FROM {refused} r "
        f"JOIN {staging} s USING ({SEQUENCE}) GROUP BY s.{SEQUENCE}, s.{ORIGINAL} ORDER BY s.{SEQUENCE}"
    )
    with load.connection.cursor() as cursor:
        yield from cursor.stream(query.encode())


def _execute(load: Load, statement: str) -> int:
    return load.connection.execute(statement.encode()).rowcount


def _count(load: Load, query: str) -> int:
    row = load.connection.execute(query.encode()).fetchone()
    assert row is not None, "an aggregate gives a row"
    return int(row[0])
