"""Passwords that URLs and SQL trip over: each connects, and none is ever seen."""

from __future__ import annotations

import logging
import socket
import traceback
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from kaireon_dagster.errors import FlowError
from kaireon_dagster.server import start_server
from kaireon_dagster.state import Database, migrate
from kaireon_dagster_tests.cases.inputs import cast, quarantine, transform
from kaireon_dagster_tests.harness import document, execute, query, run, source, target

PASSWORDS = ["p@ss", "p/ss", "p:ss", "p%40ss", "p#ss?x=1", "sp ace", "q'uote", "b\\ack", "ü"]
ALL_TEXT = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_schema LIKE 'flow%' AND table_type = 'BASE TABLE'
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A server on loopback that asks for passwords: how its owner connects, and its port."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = int(taken.getsockname()[1])
    folder = tmp_path_factory.mktemp("guarded")
    options = ("-F", "-c", "listen_addresses=127.0.0.1", "-p", str(port))
    with start_server(folder, options=options) as server:
        (folder / "data" / "pg_hba.conf").write_text(
            "local all postgres trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        )
        owner = make_conninfo(server.conninfo, port=port)
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute("SELECT pg_reload_conf()")
            for number, password in enumerate(PASSWORDS):
                make = sql.SQL("CREATE ROLE {0} LOGIN PASSWORD {1}; ")
                named = sql.Identifier(f"user{number}")
                connection.execute(make.format(named, sql.Literal(password)))
                connection.execute(sql.SQL("CREATE DATABASE {0} OWNER {0}").format(named))
        yield owner, port


def url(number: int, port: int, *, host: str = "127.0.0.1") -> str:
    password = quote(PASSWORDS[number], safe="")
    return f"postgresql://user{number}:{password}@{host}:{port}/user{number}"


def pairs(number: int, port: int, *, host: str = "127.0.0.1") -> str:
    user = f"user{number}"
    return make_conninfo(host=host, port=port, user=user, password=PASSWORDS[number], dbname=user)


def assert_unseen(password: str, told: str) -> None:
    for spelling in {password, quote(password, safe=""), quote(password)}:
        assert spelling not in told


@pytest.mark.parametrize("write", [url, pairs])
@pytest.mark.parametrize("number", range(len(PASSWORDS)), ids=PASSWORDS)
def test_a_whole_run_connects_and_leaves_no_trace_of_the_password(
    guarded: tuple[str, int],
    folder: Path,
    number: int,
    write: object,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    database = Database(write(number, guarded[1]))  # type: ignore[operator]
    migrate(database)
    execute(database, "DROP TABLE IF EXISTS t, names; CREATE TABLE names (id int, name text)")
    (folder / "a.csv").write_text("id\n1\nx\n")
    lookup = {
        "type": "lookup_join",
        "table": "public.names",
        "on": [{"field": "id", "column": "id"}],
        "fields": [{"column": "name", "as": "name"}],
        "joinType": "left",
    }
    staged = {**transform(cast("id", "integer"), lookup), "checkpoint": True}
    done = run(document(source(folder), staged, target(input="x"), dlq=True), database)
    assert (done.counts.loaded, len(quarantine(database)) >= 1) == (1, True)
    kept = [
        query(database, f'SELECT t::text FROM "{schema}"."{table}" t')
        for schema, table in query(database, ALL_TEXT)
    ]
    assert_unseen(PASSWORDS[number], f"{kept} {done} {database} {caplog.text}")


@pytest.mark.parametrize("write", [url, pairs])
@pytest.mark.parametrize("number", range(len(PASSWORDS)), ids=PASSWORDS)
@pytest.mark.parametrize("wrong", ["host", "port", "password"])
def test_a_failed_connection_shows_no_password(
    guarded: tuple[str, int],
    folder: Path,
    number: int,
    write: object,
    wrong: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    port = 1 if wrong == "port" else guarded[1]
    host = "no-such-host.invalid" if wrong == "host" else "127.0.0.1"
    conninfo = write(number, port, host=host)  # type: ignore[operator]
    if wrong == "password":
        conninfo = make_conninfo(conninfo, user=f"user{(number + 1) % len(PASSWORDS)}")
    (folder / "a.csv").write_text("id\n1\n")
    with pytest.raises(FlowError) as caught:
        run(document(source(folder), target()), Database(conninfo))
    told = str(caught.value) + repr(caught.value) + caplog.text
    assert_unseen(PASSWORDS[number], told)
    lines = traceback.format_exception_only(caught.value)
    assert_unseen(PASSWORDS[number], "".join(lines))
