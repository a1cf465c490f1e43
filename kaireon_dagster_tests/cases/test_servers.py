"""Servers whose settings, encoding or schemas differ from what one expects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from kaireon_dagster.errors import Terminal
from kaireon_dagster.state import Database, migrate
from kaireon_dagster_tests.cases.inputs import cast, quarantine, transform
from kaireon_dagster_tests.harness import Run, document, execute, query, run, source, target

COLUMNS = {
    "id": "bigint",
    "d": "date",
    "ts": "timestamp",
    "tz": "timestamptz",
    "n": "numeric(12,3)",
    "f": "double",
    "b": "boolean",
    "u": "uuid",
    "j": "jsonb",
    "note": "text",
}
LINE = (
    "1,2024-02-03,2024-02-03 04:05:06.789012,2024-02-03T04:05:06.789012+05:30,-12.345,"
    '0.1234567890123456,true,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,"{""k"": ""\\\\""}","back\\slash \'q\' é",'
    "-1 day 02:03:04,\\x00ff\n"
)
ROW = (
    "SELECT d::text, ts::text, tz::text, n::text, f::text, b, u::text, j->>'k', note, i::text, "
    "encode(raw, 'hex'), label, since::text FROM t"
)


def load_all_types(database: Database, folder: Path) -> Run:
    """Every type by a file, a staged table, a lookup and a table that reads text itself."""
    (folder / "a.csv").write_text(f"{','.join(COLUMNS)},i,raw\n{LINE}", encoding="utf-8")
    casts = [cast(name, type_) for name, type_ in COLUMNS.items()]
    lookup = {
        "type": "lookup_join",
        "table": "public.names",
        "on": [{"field": "tz", "column": "at"}],
        "fields": [{"column": "label", "as": "label"}, {"column": "since", "as": "since"}],
        "joinType": "inner",
    }
    staged = {**transform(*casts), "checkpoint": True}
    found = {**transform(lookup, input="x"), "id": "y"}
    return run(document(source(folder), staged, found, target(input="y"), dlq=True), database)


def prepare(database: Database) -> None:
    execute(
        database,
        "CREATE TABLE public.t (id bigint, d date, ts timestamp, tz timestamptz, n numeric(12,3), "
        "f double precision, b boolean, u uuid, j jsonb, note text, i interval, raw bytea, "
        "label text, since date);"
        "CREATE TABLE public.names (at timestamptz, label text, since date);"
        "INSERT INTO public.names VALUES ('2024-02-03T04:05:06.789012+05:30', 'é', '2024-05-06')",
    )


RIGHT = (
    "2024-02-03",
    "2024-02-03 04:05:06.789012",
    "2024-02-02 22:35:06.789012+00",
    "-12.345",
    "0.1234567890123456",
    True,
    "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "\\",
    "back\\slash 'q' é",
    "-1 days +02:03:04",
    "00ff",
    "é",
    "2024-05-06",
)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"DateStyle": "German", "TimeZone": "'Asia/Kolkata'"},
        {"DateStyle": "'SQL, DMY'", "TimeZone": "'America/New_York'", "bytea_output": "escape"},
        {"IntervalStyle": "sql_standard", "extra_float_digits": "-15"},
        {"standard_conforming_strings": "off", "backslash_quote": "on"},
        {"client_encoding": "LATIN1"},
        {"search_path": "''"},
        {"default_transaction_isolation": "'repeatable read'"},
        {"default_transaction_isolation": "serializable", "default_transaction_deferrable": "on"},
    ],
    ids=lambda settings: ",".join(settings) or "defaults",
)
def test_settings_of_the_database_change_no_value(
    database: Database, folder: Path, settings: dict[str, str]
) -> None:
    prepare(database)
    ((name,),) = query(database, "SELECT current_database()")
    for key, value in settings.items():
        execute(database, f"ALTER DATABASE {name} SET {key} = {value}")
    done = load_all_types(database, folder)
    execute(database, f"ALTER DATABASE {name} RESET ALL")
    assert quarantine(database) == []
    assert query(database, ROW) == [RIGHT]
    assert (done.counts.read, done.counts.loaded) == (1, 1)


def test_a_worker_that_computes_is_not_idle(database: Database, folder: Path) -> None:
    ((name,),) = query(database, "SELECT current_database()")
    execute(database, f"ALTER DATABASE {name} SET idle_in_transaction_session_timeout = '100ms'")
    (folder / "a.csv").write_text("id\n" + "".join(f"{i}\n" for i in range(200_000)))
    counted = [{"function": "count", "as": "n"}]
    groups = {"type": "aggregate", "groupBy": ["id"], "aggregations": counted}
    for checkpoint in (False, True):
        node = {**transform(groups), "checkpoint": checkpoint}
        run(document(source(folder), node, target(input="x")), database)
        (folder / ".archive" / "a.csv").rename(folder / "a.csv")
    assert query(database, "SELECT count(*), sum(n) FROM t") == [(400_000, 400_000)]


def test_names_of_the_user_s_own_schema_do_not_stand_in_for_the_server_s(
    database: Database, folder: Path
) -> None:
    ((name,),) = query(database, "SELECT current_database()")
    execute(
        database,
        "CREATE SCHEMA mine; CREATE TABLE mine.pg_class (x int); CREATE TABLE mine.pg_attribute (x int);"
        "CREATE TABLE mine.pg_namespace (x int); CREATE TABLE mine.pg_type (x int);"
        "CREATE DOMAIN mine.text AS pg_catalog.int4; CREATE DOMAIN mine.jsonb AS pg_catalog.text;"
        "CREATE FUNCTION mine.hashtextextended(text, bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1/0';"
        "CREATE FUNCTION mine.format_type(oid, integer) RETURNS pg_catalog.text LANGUAGE sql "
        "AS $$ SELECT 'x'::pg_catalog.text $$;"
        "CREATE FUNCTION mine.now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT 'epoch'::timestamptz $$;"
        "CREATE FUNCTION mine.no(pg_catalog.text, pg_catalog.text) RETURNS boolean LANGUAGE sql "
        "AS 'SELECT false';"
        "CREATE OPERATOR mine.= (LEFTARG = pg_catalog.text, RIGHTARG = pg_catalog.text, FUNCTION = mine.no);"
        f"ALTER DATABASE {name} SET search_path = mine, pg_catalog, public",
    )
    execute(database, f"ALTER DATABASE {name} SET quote_all_identifiers = on")
    execute(
        database, "CREATE TABLE public.o (id bigint PRIMARY KEY, note pg_catalog.text, n numeric)"
    )
    for id_ in ("1", "x"):
        (folder / "a.csv").write_text(f"id,note,n\n{id_},new,0.10\n")
        nodes = (source(folder), target("public.o", "upsert", upsertKey="id"))
        run(document(*nodes, dlq=True), database)
    execute(database, f"ALTER DATABASE {name} RESET ALL")
    assert query(database, "SELECT id, note, n::text FROM o") == [(1, "new", "0.10")]
    assert quarantine(database) == [("type:id", {"id": "x", "note": "new", "n": "0.10"})]


def test_types_of_a_schema_that_is_not_on_the_path_are_found(
    database: Database, folder: Path
) -> None:
    execute(
        database,
        'CREATE SCHEMA "Own Types"; CREATE TYPE "Own Types"."Mood" AS ENUM (\'so, so\', \'ok\');'
        'CREATE DOMAIN "Own Types".pct AS numeric(5,2) CHECK (VALUE <= 100);'
        'CREATE TABLE t (m "Own Types"."Mood"[], p "Own Types".pct)',
    )
    (folder / "a.csv").write_text('m,p\n"{""so, so"",ok}",7\n"{worse}",8\n{ok},900\n{ok},100.5\n')
    run(document(source(folder), target(), dlq=True), database)
    assert query(database, "SELECT m::text, p::text FROM t") == [('{"so, so",ok}', "7.00")]
    assert [rule for rule, _ in quarantine(database)] == [
        "type:m",
        "constraint:pct_check",
        "constraint:pct_check",
    ]


# encodings


@pytest.fixture
def latin_database(server_conninfo: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    name = f"flow_{uuid4().hex[:12]}"
    with psycopg.connect(server_conninfo, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{request.param}' LOCALE 'C'".encode()
        )
        try:
            database = Database(make_conninfo(server_conninfo, dbname=name))
            migrate(database)
            yield database
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.mark.parametrize("latin_database", ["LATIN1", "SQL_ASCII"], indirect=True)
def test_a_database_of_another_encoding_keeps_what_it_can_hold(
    latin_database: Database, folder: Path
) -> None:
    prepare(latin_database)
    load_all_types(latin_database, folder)
    assert query(latin_database, ROW) == [RIGHT]


@pytest.mark.parametrize("latin_database", ["LATIN1"], indirect=True)
@pytest.mark.parametrize("place", ["value", "quarantined value"])
def test_what_the_encoding_cannot_hold_is_said_and_never_replaced(
    latin_database: Database, folder: Path, place: str
) -> None:
    execute(latin_database, "CREATE TABLE t (id int, note text)")
    (folder / "a.csv").write_text(
        f"id,note\n1,plain\n{'2' if place == 'value' else 'x'},5 €\n", encoding="utf-8"
    )
    try:
        run(document(source(folder), target(), dlq=True), latin_database)
    except Terminal as error:
        assert "LATIN1" in str(error) or "encoding" in str(error)
        assert "€" not in str(error)
        assert query(latin_database, "SELECT count(*) FROM t") == [(0,)]
    else:
        assert query(latin_database, "SELECT * FROM t") == [(1, "plain")]
        ((_, row),) = quarantine(latin_database)
        assert row["note"] == "5 €"
