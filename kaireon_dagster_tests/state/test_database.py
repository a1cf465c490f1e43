from __future__ import annotations

import contextlib
import logging
import pickle
import signal
import socket
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from kaireon_dagster.errors import Terminal, Transient
from kaireon_dagster.server import EmbeddedServer, start_server
from kaireon_dagster.state import (
    ConnectionSettingsInvalid,
    Database,
    DatabaseRefused,
    DatabaseUnreachable,
)
from kaireon_dagster.state.database import read_settings

PASSWORDS = [
    "p@ss",
    "p/ss",
    "p:ss",
    "p%40ss",
    "p#ss?x=1",
    "sp ace",
    "q'uote",
    "b\\ack",
    "ü",
]


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture(scope="module")
def guarded_server(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[EmbeddedServer, int]]:
    """A server on loopback that asks for passwords, and its port."""
    port, folder = free_port(), tmp_path_factory.mktemp("guarded")
    options = ("-F", "-c", "listen_addresses=127.0.0.1", "-p", str(port))
    with start_server(folder, options=options) as server:
        hba = Path(folder / "data" / "pg_hba.conf")
        hba.write_text(
            "local all postgres trust\nhost all guest 127.0.0.1/32 reject\n"
            "host all all 127.0.0.1/32 scram-sha-256\n"
        )
        with connect_admin(server, port) as connection:
            for number, password in enumerate(PASSWORDS):
                connection.execute(
                    sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(
                        sql.Identifier(f"user{number}"), sql.Literal(password)
                    )
                )
            connection.execute("CREATE ROLE guest LOGIN")
            connection.execute("CREATE ROLE idle_role NOLOGIN PASSWORD 'x'")
            connection.execute("CREATE DATABASE closed")
            connection.execute("REVOKE CONNECT ON DATABASE closed FROM public")
            connection.execute("SELECT pg_reload_conf()")
        yield server, port


def connect_admin(server: EmbeddedServer, port: int) -> psycopg.Connection:
    return psycopg.connect(server.conninfo, port=port, autocommit=True)


def write_url(user: str, password: str, port: int, database: str = "postgres") -> str:
    return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{port}/{database}"


def write_pairs(user: str, password: str, port: int, database: str = "postgres") -> str:
    return make_conninfo(host="127.0.0.1", port=port, user=user, password=password, dbname=database)


def tell(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)) + repr(error)


def assert_hidden(password: str, told: str) -> None:
    for spelling in {password, quote(password, safe=""), quote(password)}:
        # One letter is found in any traceback; as a word of its own it would be a leak.
        assert spelling not in told if len(spelling) > 1 else f"{spelling}'" not in told


@pytest.mark.parametrize("write", [write_url, write_pairs])
@pytest.mark.parametrize("number", range(len(PASSWORDS)), ids=PASSWORDS)
def test_awkward_password_connects_and_is_never_shown(
    guarded_server: tuple[EmbeddedServer, int],
    write: object,
    number: int,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    port, password = guarded_server[1], PASSWORDS[number]
    database = Database(write(f"user{number}", password, port))  # type: ignore[operator]
    with database.connect() as connection:
        assert connection.execute("SELECT current_user").fetchone() == (f"user{number}",)
    assert_hidden(password, f"{database!r} {database.address} {caplog.text}")


@pytest.mark.parametrize("write", [write_url, write_pairs])
@pytest.mark.parametrize("number", range(len(PASSWORDS)), ids=PASSWORDS)
def test_awkward_password_is_not_shown_when_nobody_answers(
    write: object, number: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    port, password = free_port(), PASSWORDS[number]
    with pytest.raises(DatabaseUnreachable, match="nothing listens") as caught:
        Database(write("someone", password, port)).connect()  # type: ignore[operator]
    assert_hidden(password, tell(caught.value) + caplog.text)
    assert f"port {port}" in str(caught.value)


@pytest.mark.parametrize("password", PASSWORDS)
def test_wrong_password_is_refused_and_not_shown(
    guarded_server: tuple[EmbeddedServer, int], password: str
) -> None:
    wrong = f"{password}-wrong"
    with pytest.raises(DatabaseRefused, match="password is wrong") as caught:
        Database(write_url("user0", wrong, guarded_server[1])).connect()
    assert_hidden(wrong, tell(caught.value))


@pytest.mark.parametrize("password", ["p@ss", "p/ss@x", "p#s?x@1", "a:b/c@d", "p?ss"])
def test_password_that_cuts_the_url_in_two_is_refused_unseen(password: str) -> None:
    database = Database(f"postgresql://user:{password}@db.example:5432/flow")
    with pytest.raises(ConnectionSettingsInvalid, match="percent-encode") as caught:
        database.connect()
    assert_hidden(password, str(caught.value) + repr(caught.value))


@pytest.mark.parametrize(
    "conninfo",
    ["nonsense", "host=x secretword", "postgresql://u:%zz@h/d", "host=h port=secretword"],
)
def test_text_that_is_no_connection_string_is_not_repeated(conninfo: str) -> None:
    with pytest.raises(ConnectionSettingsInvalid) as caught:
        Database(conninfo).connect()
    assert "secretword" not in tell(caught.value)
    assert issubclass(ConnectionSettingsInvalid, Terminal)


def test_option_that_libpq_refuses_is_not_repeated() -> None:
    with pytest.raises(DatabaseRefused, match="not valid") as caught:
        Database("host=127.0.0.1 sslmode=secretword").connect()
    assert "secretword" not in str(caught.value) + repr(caught.value)


def test_refusals_say_why(guarded_server: tuple[EmbeddedServer, int]) -> None:
    port = guarded_server[1]
    for conninfo, reason in (
        (write_pairs("guest", "x", port), "pg_hba.conf"),
        (write_pairs("user0", "p@ss", port, "closed"), "CONNECT right"),
        (write_pairs("user0", "p@ss", port, "missing"), "does not exist"),
        (write_pairs("idle_role", "x", port), "may not log in"),
        (write_pairs("user0", "p@ss", port, "starting up"), "does not exist"),
        (f"host=127.0.0.1 port={port} user=user0 dbname=postgres", "a password and none"),
        (write_pairs("user0", "p@ss", port) + " sslmode=require", "the server has none"),
    ):
        with pytest.raises(DatabaseRefused, match=reason) as caught:
            Database(conninfo).connect()
        assert pickle.loads(pickle.dumps(caught.value)).reason == caught.value.reason


@pytest.mark.parametrize(
    ("conninfo", "reason"),
    [
        ("host=no-such-host.invalid dbname=x", "host name"),
        ("host=/no/such/folder dbname=x", "no socket"),
    ],
)
def test_absent_servers_may_come_back(conninfo: str, reason: str) -> None:
    with pytest.raises(DatabaseUnreachable, match=reason):
        Database(conninfo).connect()
    assert issubclass(DatabaseUnreachable, Transient)


def test_server_without_free_connections_may_have_one_later(
    guarded_server: tuple[EmbeddedServer, int],
) -> None:
    server, port = guarded_server
    with connect_admin(server, port) as connection:
        connection.execute("ALTER ROLE user0 CONNECTION LIMIT 0")
        with pytest.raises(DatabaseUnreachable, match="no free connection"):
            Database(write_pairs("user0", "p@ss", port)).connect()
        connection.execute("ALTER ROLE user0 CONNECTION LIMIT -1")


def test_machine_that_does_not_answer_is_given_up() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        with pytest.raises(DatabaseUnreachable, match="in time"):
            Database(f"host=127.0.0.1 port={port} dbname=x connect_timeout=2").connect()


def test_session_reads_and_writes_the_same_everywhere(database: Database) -> None:
    with database.connect(autocommit=True) as admin:
        name = conninfo_to_dict(database.conninfo)["dbname"]
        for setting in ("TimeZone = 'Asia/Kolkata'", "DateStyle = 'German, DMY'"):
            statement = sql.SQL("ALTER DATABASE {} SET " + setting)
            admin.execute(statement.format(sql.Identifier(str(name))))
    with database.connect() as connection:
        rows = connection.execute(
            """SELECT name, setting FROM pg_settings
            WHERE name IN ('TimeZone', 'DateStyle', 'client_encoding', 'application_name')
            ORDER BY lower(name)"""
        ).fetchall()
        assert dict(rows) == {
            "application_name": "kaireon_dagster",
            "client_encoding": "UTF8",
            "DateStyle": "ISO, MDY",
            "TimeZone": "UTC",
        }
        assert connection.prepare_threshold is None
        assert connection.autocommit is False
        assert connection.schema == "flow"


def test_user_names_the_application(database: Database) -> None:
    named = Database(make_conninfo(database.conninfo, application_name="nightly"))
    with named.connect() as connection:
        assert connection.execute("SHOW application_name").fetchone() == ("nightly",)


def test_both_sides_notice_a_vanished_machine_within_a_minute(
    guarded_server: tuple[EmbeddedServer, int],
) -> None:
    names = ("tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count")
    with Database(write_url("user0", "p@ss", guarded_server[1])).connect() as connection:
        idle, interval, count = (
            int(connection.execute(f"SHOW {name}").fetchone()[0])  # type: ignore[index]
            for name in names
        )
        assert 0 < idle + interval * count <= 60
        assert connection.execute("SHOW tcp_user_timeout").fetchone() == ("60000",)
        parameters = connection.info.get_parameters()
    assert int(parameters["keepalives_idle"]) + 10 * 3 <= 60
    assert parameters["tcp_user_timeout"] == "60000"


@contextmanager
def lie_about_backend(port: int) -> Iterator[int]:
    """A proxy that, as poolers do, gives the client a backend pid of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_relay, args=(listener, port), daemon=True).start()
        yield int(listener.getsockname()[1])


def _relay(listener: socket.socket, port: int) -> None:
    client, _ = listener.accept()
    server = socket.create_connection(("127.0.0.1", port))
    threading.Thread(target=_pump, args=(client, server, False), daemon=True).start()
    _pump(server, client, True)


def _pump(source: socket.socket, sink: socket.socket, lie: bool) -> None:
    with contextlib.suppress(OSError), source, sink:
        _copy(source, sink, lie)


def _copy(source: socket.socket, sink: socket.socket, lie: bool) -> None:
    while data := source.recv(65536):
        start = data.find(b"K\x00\x00\x00") if lie else -1
        if start >= 0:
            # BackendKeyData: the pid is the first four bytes after the length.
            data = data[: start + 5] + b"\x00\x00\x00\x01" + data[start + 9 :]
            lie = False
        sink.sendall(data)


def test_sessions_of_a_pooler_are_left_as_they_are(
    guarded_server: tuple[EmbeddedServer, int],
) -> None:
    with lie_about_backend(guarded_server[1]) as port:
        connection = Database(write_url("user0", "p@ss", port)).connect()
        assert connection.info.backend_pid == 1
        assert connection.execute("SHOW tcp_user_timeout").fetchone() == ("0",)
        connection.close()


@pytest.mark.parametrize("schema", ["", "x" * 56, "pg_flow"])
def test_schema_that_cannot_be_is_refused(schema: str) -> None:
    with pytest.raises(ConnectionSettingsInvalid, match="schema"):
        Database("dbname=x", schema)


def test_address_falls_back_as_libpq_does(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGHOST", "PGPORT", "PGDATABASE", "PGUSER"):
        monkeypatch.delenv(name, raising=False)
    assert str(Database("user=u").address) == (
        "host 'local socket', port 5432, database 'u', user 'u'"
    )
    monkeypatch.setenv("PGHOST", "db")
    monkeypatch.setenv("PGPORT", "6000")
    assert "host 'db', port 6000" in str(Database("user=u").address)


def test_settings_of_url_and_pairs_are_the_same() -> None:
    pairs = "host=h port=5 dbname=d user=u password='a b'"
    assert read_settings("postgresql://u:a%20b@h:5/d") == read_settings(pairs)


class Terminated(BaseException):
    """What an orchestrator raises from a signal handler."""


def test_interrupt_ends_the_statement_on_the_server(database: Database) -> None:
    def interrupt(signum: int, frame: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Terminated), database.connect() as connection:
            connection.execute("SELECT pg_sleep(60)")
    finally:
        signal.signal(signal.SIGALRM, before)
    with database.connect() as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'"
        assert connection.execute(query).fetchone() == (0,)
