"""Each class of error, provoked on a real server."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable

import psycopg
import pytest

from kaireon_dagster.errors import Terminal, Transient
from kaireon_dagster.state import (
    Database,
    RowFault,
    StatementError,
    StatementInterrupted,
    classify,
    wrap,
    wrapped,
)

SECRET = "4711-secret"
SETUP = f"""
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE taken (
    id text PRIMARY KEY,
    amount int CONSTRAINT amount_positive CHECK (amount > 0),
    parent int REFERENCES parent
);
INSERT INTO taken VALUES ('{SECRET}', 1);
CREATE FUNCTION refuse() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'bad customer {SECRET}' USING ERRCODE = '42501', TABLE = 'taken';
END $$;
"""


@pytest.fixture
def filled(database: Database) -> Database:
    with database.connect() as connection:
        connection.execute(SETUP)
    return database


def provoke(database: Database, statement: str) -> psycopg.Error:
    with database.connect() as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute(statement)
    return caught.value


@pytest.mark.parametrize(
    ("statement", "sqlstate"),
    [
        (f"INSERT INTO taken VALUES ('{SECRET}', 1)", "23505"),
        ("INSERT INTO taken VALUES ('b', -4711)", "23514"),
        ("INSERT INTO taken VALUES (NULL, 1)", "23502"),
        ("INSERT INTO taken VALUES ('c', 1, 4711)", "23503"),
        (f"SELECT '{SECRET}'::int", "22P02"),
        (f"SELECT '{SECRET}'::date", "22007"),
        ("SELECT 4711::int / 0", "22012"),
        ("SELECT 4711471147114711::int", "22003"),
        ("SELECT '4711'::varchar(3)::int, 'x4711'::char(2)::json", "22P02"),
    ],
)
def test_faults_of_rows_name_the_place_and_not_the_value(
    filled: Database, statement: str, sqlstate: str
) -> None:
    error = provoke(filled, statement)
    assert (error.sqlstate, classify(error)) == (sqlstate, RowFault)
    told = wrap(error, "load into public.taken")
    assert isinstance(told, RowFault)
    assert "4711" not in str(told)
    assert f"({sqlstate})" in str(told)
    assert str(told).startswith("load into public.taken: ")


def test_constraint_table_and_column_are_named(filled: Database) -> None:
    told = str(wrap(provoke(filled, f"INSERT INTO taken VALUES ('{SECRET}')"), "load"))
    assert "UniqueViolation (23505) at table 'public.taken', constraint 'taken_pkey'" in told
    told = str(wrap(provoke(filled, "INSERT INTO taken VALUES (NULL, 1)"), "load"))
    assert "column 'id'" in told


@pytest.mark.parametrize(
    ("statement", "sqlstate", "said"),
    [
        ("SELECT 1 FROM nowhere", "42P01", 'relation "nowhere" does not exist'),
        ("SELEC 1", "42601", "syntax error"),
        ("SELECT nope FROM taken", "42703", 'column "nope" does not exist'),
        ("SET LOCAL ROLE nobody_knows", "22023", ""),
        ("CREATE TABLE taken ()", "42P07", "already exists"),
        ("DROP TABLE parent", "2BP01", ""),
    ],
)
def test_faults_of_statements_are_terminal(
    filled: Database, statement: str, sqlstate: str, said: str
) -> None:
    error = provoke(filled, statement)
    assert error.sqlstate == sqlstate
    assert issubclass(classify(error), Terminal)
    assert said in str(wrap(error, "prepare"))


def test_missing_right_is_terminal(filled: Database) -> None:
    with filled.connect() as connection:
        connection.execute("CREATE ROLE outsider")
        connection.execute("SET LOCAL ROLE outsider")
        with pytest.raises(psycopg.Error) as caught:
            connection.execute("SELECT * FROM taken")
        connection.rollback()
    assert (caught.value.sqlstate, classify(caught.value)) == ("42501", Terminal)
    assert "permission denied for table taken" in str(wrap(caught.value, "load"))


def test_what_a_users_function_raises_is_not_repeated(filled: Database) -> None:
    told = str(wrap(provoke(filled, "SELECT refuse()"), "hook"))
    assert "InsufficientPrivilege (42501)" in told
    assert SECRET not in told


def lock_timeout(database: Database) -> psycopg.Error:
    with database.connect() as holder:
        holder.execute("LOCK TABLE taken")
        return provoke(database, "SET LOCAL lock_timeout = '50ms'; LOCK TABLE taken")


def statement_timeout(database: Database) -> psycopg.Error:
    return provoke(database, "SET LOCAL statement_timeout = '50ms'; SELECT pg_sleep(5)")


def serialization_failure(database: Database) -> psycopg.Error:
    with database.connect() as first, database.connect() as second:
        first.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        first.execute("SELECT * FROM taken")
        second.execute("UPDATE taken SET amount = 2")
        second.commit()
        with pytest.raises(psycopg.Error) as caught:
            first.execute("UPDATE taken SET amount = 3")
        first.rollback()
    return caught.value


def deadlock(database: Database) -> psycopg.Error:
    caught: list[psycopg.Error] = []
    with database.connect() as first, database.connect() as second:
        first.execute("SET LOCAL deadlock_timeout = '50ms'; LOCK TABLE taken")
        second.execute("SET LOCAL deadlock_timeout = '50ms'; LOCK TABLE parent")

        def cross(connection: psycopg.Connection, table: str) -> None:
            try:
                connection.execute(f"LOCK TABLE {table}")
            except psycopg.Error as error:
                caught.append(error)
            connection.rollback()

        threads = [
            threading.Thread(target=cross, args=(first, "parent")),
            threading.Thread(target=cross, args=(second, "taken")),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    (error,) = caught
    return error


def killed_backend(database: Database) -> psycopg.Error:
    with database.connect() as victim, database.connect(autocommit=True) as killer:
        killer.execute("SELECT pg_terminate_backend(%s, 5000)", (victim.info.backend_pid,))
        with pytest.raises(psycopg.Error) as caught:
            victim.execute("SELECT 1")
        victim.close()
    return caught.value


def closed_connection(database: Database) -> psycopg.Error:
    connection = database.connect()
    connection.close()
    with pytest.raises(psycopg.Error) as caught:
        connection.execute("SELECT 1")
    return caught.value


def read_only(database: Database) -> psycopg.Error:
    return provoke(database, "SET TRANSACTION READ ONLY; INSERT INTO parent VALUES (1)")


def idle_in_transaction(database: Database) -> psycopg.Error:
    with database.connect() as connection:
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = '50ms'")
        time.sleep(0.3)
        with pytest.raises(psycopg.Error) as caught:
            connection.execute("SELECT 1")
        connection.close()
    return caught.value


@pytest.mark.parametrize(
    ("act", "sqlstate"),
    [
        (lock_timeout, "55P03"),
        (statement_timeout, "57014"),
        (serialization_failure, "40001"),
        (deadlock, "40P01"),
        (killed_backend, "57P01"),
        (closed_connection, None),
        (read_only, "25006"),
        (idle_in_transaction, "25P03"),
    ],
)
def test_faults_of_the_moment_may_pass(
    filled: Database, act: Callable[[Database], psycopg.Error], sqlstate: str | None
) -> None:
    error = act(filled)
    assert (error.sqlstate, classify(error)) == (sqlstate, Transient)
    assert "try again" in str(wrap(error, "load"))


@pytest.mark.parametrize("sqlstate", ["08006", "08003", "53300", "53100", "57P02", "57P03"])
def test_codes_that_a_test_cannot_provoke_may_pass(filled: Database, sqlstate: str) -> None:
    statement = f"DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '{sqlstate}'; END $$"
    assert classify(provoke(filled, statement)) is Transient


def test_data_that_cannot_be_sent_belong_to_the_row(filled: Database) -> None:
    with filled.connect() as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute("SELECT %s::text", ("nul\0nul",))
    assert classify(caught.value) is RowFault


def test_misuse_of_the_driver_is_terminal(filled: Database) -> None:
    with filled.connect() as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute("SELECT %s, %s", (1,))
    assert classify(caught.value) is Terminal


def test_wrapped_error_forgets_the_one_that_quotes_values(filled: Database) -> None:
    statement = f"INSERT INTO taken VALUES ('{SECRET}', 1)"
    with (
        pytest.raises(StatementError) as caught,
        filled.connect() as connection,
        wrapped("load into public.taken"),
    ):
        connection.execute(statement)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value)
    assert copy.facts.sqlstate == "23505"


def test_other_errors_pass_through_unchanged() -> None:
    with pytest.raises(ZeroDivisionError), wrapped("nothing"):
        1 / 0  # noqa: B018
    assert not isinstance(ZeroDivisionError(), StatementInterrupted)
