"""Names that carry SQL, names made at once by several processes, tables that a crash emptied."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from kaireon_dagster.errors import DocumentInvalid
from kaireon_dagster.server import start_server
from kaireon_dagster.sources import HeaderRefused
from kaireon_dagster.state import Database, migrate
from kaireon_dagster_tests.cases.inputs import (
    case,
    cast,
    copy,
    quarantine,
    statements,
    transform,
    work_together,
)
from kaireon_dagster_tests.harness import document, execute, query, run, source, target

HOSTILE = [
    'id"; DROP TABLE victim; --',
    "select",
    "Order",
    "naïve col",
    "user",
    "a%b",
    "x:y",
    "  padded  ",
    "tab\there",
    "'; DROP TABLE victim; --",
    "$$x$$",
    "%s",
    "%(x)s",
    "{0}",
    "\\",
    '"',
    '""',
    "a.b",
    "/*",
    "--",
    "line\nend",
    "?",
    "$1",
    "`",
    "😀",
]


def write(folder: Path, text: str, name: str = "a.csv") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8", newline="")


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def assert_unharmed(database: Database) -> None:
    assert query(database, "SELECT i FROM victim") == [(1,)]


# 016: names that carry SQL


def test_the_hostile_header_is_refused_for_what_cannot_be_a_column(
    database: Database, folder: Path
) -> None:
    execute(database, statements("016"))
    copy("016", folder, "hostile.csv")
    with pytest.raises(HeaderRefused) as caught:
        run(document(source(folder), target()), database)
    told = str(caught.value)
    assert "column 8 has no name" in told
    assert "column 10 'ccc" in told and "column 11 'ccc" in told and "longer than 63 bytes" in told
    assert_unharmed(database)


@pytest.mark.parametrize("mode", ["append", "truncate", "upsert"])
def test_hostile_names_become_plain_columns(database: Database, folder: Path, mode: str) -> None:
    execute(database, statements("016"))
    key = {"upsertKey": HOSTILE[0]} if mode == "upsert" else {}
    header = ",".join(map(quote, HOSTILE))
    for round_ in range(2):
        line = ",".join(str(round_ + place) for place in range(len(HOSTILE)))
        write(folder, f"{header}\n{line}\n{line}\n")
        run(document(source(folder), target("public.orders", mode, **key), dlq=True), database)
    columns = ", ".join(map(quote, HOSTILE))
    rows = query(database, f"SELECT DISTINCT {columns} FROM orders ORDER BY 1".encode().decode())
    assert rows[-1] == tuple(str(1 + place) for place in range(len(HOSTILE)))
    assert_unharmed(database)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_passes_through_every_node(
    database: Database, folder: Path, name: str
) -> None:
    execute(database, statements("016"))
    execute(database, f"CREATE TABLE names ({quote(name)} text, {quote(name + '2')} text)")
    execute(database, "INSERT INTO names VALUES ('1', 'found')")
    write(folder, f"{quote(name)},n\n1,5\n1,x\n2,6\n3,7\n")
    lookup = {
        "type": "lookup_join",
        "table": "public.names",
        "on": [{"field": name, "column": name}],
        "fields": [{"column": name + "2", "as": name + "!"}],
        "joinType": "left",
    }
    ops = (
        cast("n", "integer"),
        lookup,
        {"type": "rename", "from": name, "to": name + "?"},
        {"type": "expression", "field": name, "expression": f"upper({quote(name + '?')})"},
        {"type": "hash", "field": name, "algorithm": "md5", "into": name + "#"},
        {"type": "deduplicate", "keys": [name + "?"], "keep": "last"},
    )
    checked = {
        "id": "v",
        "kind": "validate",
        "input": "x",
        "rowLevel": [{"id": name, "field": name + "?", "rule": "ne:3", "onFail": "quarantine"}],
    }
    staged = {**transform(*ops), "checkpoint": True}
    into = target("public.orders", "upsert", input="v", upsertKey=name + "?")
    done = run(document(source(folder), staged, checked, into, dlq=True), database)
    assert query(
        database, f"SELECT {quote(name + '?')}, n, {quote(name + '!')} FROM orders ORDER BY 2"
    ) == [("1", 5, "found"), ("2", 6, None)]
    assert [rule for rule, _ in quarantine(database)] == ["cast:n", name]
    assert (done.counts.read, done.counts.loaded, done.counts.quarantined) == (4, 2, 2)
    assert_unharmed(database)


@pytest.mark.parametrize("line", (case("016") / "target-names.txt").read_text().splitlines())
@pytest.mark.parametrize("schema", ["public", "", 'pub"lic'])
def test_hostile_targets_are_quoted_or_refused(
    database: Database, folder: Path, line: str, schema: str
) -> None:
    execute(database, statements("016"))
    write(folder, "id\n1\n")
    name = f"{schema}.{line}" if schema else line
    try:
        run(document(source(folder), target(name), dlq=True), database)
    except DocumentInvalid as error:
        assert "schema" in str(error)
    else:
        schema, table = name.split(".")
        assert query(database, f"SELECT id FROM {quote(schema)}.{quote(table)}") == [("1",)]
    assert_unharmed(database)


@pytest.mark.parametrize(
    "table", ["a b", "a%b", "x:y", "O'Brien", "select", "$1", "Ünïcode", "a-b", "{x}", "\\"]
)
def test_odd_tables_are_made_loaded_and_quarantined_into(
    database: Database, folder: Path, table: str
) -> None:
    for round_ in range(2):
        write(folder, "id,n\n1,1\n2,x\n")
        handling = {"dlq": {"enabled": True, "destination": f"{table} q.{table}"}}
        nodes = (
            source(folder),
            transform(cast("n", "integer")),
            target(f"{table} s.{table}", "upsert", input="x", upsertKey="id"),
        )
        run(document(*nodes, errorHandling=handling), database)
        del round_
    assert query(database, f"SELECT id, n FROM {quote(table + ' s')}.{quote(table)}") == [("1", 1)]
    assert len(quarantine(database, f"{quote(table + ' q')}.{quote(table)}")) == 2


# 025: several processes make the same things at once


def _start(round_: int, conninfo: str, folder: str, number: int) -> int:
    database = Database(conninfo)
    write(Path(folder), "id,n\n1,1\n2,x\n", f"{round_}.csv")
    migrate(database)
    handling = {"dlq": {"enabled": True, "destination": f"made{round_}.bad"}}
    schema = "made" if number % 2 else "new"
    into = target(f"{schema}{round_}.t{number % 4}", input="x")
    staged = {**transform(cast("n", "integer")), "checkpoint": True}
    nodes = (source(Path(folder), f"{round_}.csv"), staged, into)
    return run(document(*nodes, id=f"p{number}", errorHandling=handling), database).counts.loaded


def test_processes_that_start_at_once_make_everything_once(
    empty_database: Database, tmp_path: Path
) -> None:
    arguments = [(empty_database.conninfo, str(tmp_path / str(n)), n) for n in range(8)]
    assert work_together(_start, 4, arguments) == [1] * 32
    for round_ in range(4):
        for number, schema in enumerate(["new", "made", "new", "made"]):
            count = f"SELECT count(*) FROM {schema}{round_}.t{number}"
            assert query(empty_database, count) == [(2,)]
        assert query(empty_database, f"SELECT count(*) FROM made{round_}.bad") == [(8,)]


# 026: a crash of the server empties unlogged tables


def test_a_crash_of_the_server_between_steps_loses_no_row(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, "id\n" + "".join(f"{i}\n" for i in range(10)) + "x\n")
    staged = {**transform(cast("id", "integer")), "checkpoint": True}
    pipeline = document(source(folder), staged, target(input="x"), dlq=True)
    table = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'flow_staging'"
    with start_server(tmp_path / "server") as server:
        database = Database(server.conninfo)
        migrate(database)
        run(pipeline, database, run_id="r", steps=["src", "x"])
        ((name,),) = query(database, table)
        assert query(database, f'SELECT count(*) FROM flow_staging."{name}"') == [(10,)]
        server.process.send_signal(signal.SIGQUIT)
        server.process.wait(30)
    with start_server(tmp_path / "server") as server:
        database = Database(server.conninfo)
        assert query(database, f'SELECT count(*) FROM flow_staging."{name}"') == [(0,)]
        done = run(pipeline, database, run_id="r", steps=["tgt"])
        assert query(database, "SELECT count(*), sum(id) FROM t") == [(10, 45)]
        assert quarantine(database) == [("cast:id", {"id": "x"})]
        assert done.counts.loaded == 10
        totals = 'SELECT "rowsIn", "rowsLoaded", "rowsQuarantined" FROM flow.pipeline_runs'
        assert query(database, totals) == [(11, 10, 1)]
        assert query(database, table) == []
