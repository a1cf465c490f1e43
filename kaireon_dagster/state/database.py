"""Where Flow's tables are, and how each connection to them is set."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from kaireon_dagster.state.connection_errors import (
    Address,
    ConnectionSettingsInvalid,
    explain,
)

DEFAULT_SCHEMA = "flow"
# The request to cancel a statement opens a connection of its own.
CANCEL_SECONDS = 5.0
# PostgreSQL cuts names at 63 bytes, and the staging schema has a longer one.
SCHEMA_BYTES = 55
DEFAULTS = {"application_name": "kaireon_dagster", "connect_timeout": "10"}
# This side notices within a minute that the server's machine is gone: 30 + 3 * 10 seconds.
FIXED = {
    "client_encoding": "UTF8",
    "keepalives": "1",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
# A transaction pooler follows these by itself, so they do not leak into others' sessions.
SESSION = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "standard_conforming_strings": "on",
}
# The server notices within a minute that our machine is gone, and frees our locks. A pooler
# gives a pid of its own and would keep the settings for the next client, so it is left alone.
SERVER_KEEPALIVES = """
SELECT set_config('tcp_keepalives_idle', '30', false),
       set_config('tcp_keepalives_interval', '10', false),
       set_config('tcp_keepalives_count', '3', false),
       set_config('tcp_user_timeout', '60000', false)
WHERE pg_backend_pid() = %s
"""
URL = re.compile(r"postgres(?:ql)?://(?P<authority>[^/?]*)(?P<rest>.*)", re.DOTALL)


class Connection(psycopg.Connection[TupleRow]):
    """A psycopg connection that knows which schema holds Flow's tables."""

    schema: str = DEFAULT_SCHEMA

    def wait(self, gen: PQGen[RV], *args: Any, **options: Any) -> RV:
        """Wait for the server; whatever interrupts this ends the statement there as well."""
        try:
            return super().wait(gen, *args, **options)
        except (Exception, KeyboardInterrupt):
            raise  # an answer of the server, or what psycopg itself cancels for
        except BaseException:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                with contextlib.suppress(psycopg.Error):
                    self.cancel_safe(timeout=CANCEL_SECONDS)
                    super().wait(gen, *args, **options)
            raise


@dataclass(frozen=True, slots=True)
class Database:
    """A PostgreSQL database and the schema of Flow's tables in it.

    Attributes:
        conninfo: URL or key=value text, as libpq reads it. Never shown.
        schema: schema of Flow's tables; staged tables go to `<schema>_staging`.
    """

    conninfo: str = field(repr=False)
    schema: str = DEFAULT_SCHEMA

    def __post_init__(self) -> None:
        if not 0 < len(self.schema.encode()) <= SCHEMA_BYTES or self.schema.startswith("pg_"):
            raise ConnectionSettingsInvalid(
                f"the schema of Flow's tables needs a name of 1 to {SCHEMA_BYTES} bytes "
                "that does not start with pg_"
            )

    @property
    def staging_schema(self) -> str:
        """Schema of staged tables."""
        return f"{self.schema}_staging"

    @property
    def settings(self) -> dict[str, str]:
        """libpq's options for every connection, the password among them."""
        return {**DEFAULTS, **read_settings(self.conninfo), **FIXED}

    @property
    def address(self) -> Address:
        """Where connections go, without the password."""
        settings = read_settings(self.conninfo)
        user = settings.get("user") or os.environ.get("PGUSER") or "the system user's name"
        return Address(
            host=settings.get("host")
            or settings.get("hostaddr")
            or os.environ.get("PGHOST")
            or "local socket",
            port=settings.get("port") or os.environ.get("PGPORT") or "5432",
            database=settings.get("dbname") or os.environ.get("PGDATABASE") or user,
            user=user,
        )

    def connect(self, **options: Any) -> Connection:
        """Open a connection: UTC, ISO dates, UTF-8, no prepared statements, keepalives.

        It works behind a transaction pooler, and both sides notice within a minute when the
        other's machine is gone.

        Args:
            **options: further arguments of `psycopg.connect`, such as `autocommit`.

        Raises:
            ConnectionSettingsInvalid: the connection string cannot be read.
            DatabaseUnreachable: no connection now; it may pass.
            DatabaseRefused: every such connection will be refused.
        """
        autocommit = bool(options.pop("autocommit", False))
        settings = {"prepare_threshold": None, **self.settings, **options}
        try:
            connection = Connection.connect("", autocommit=True, **settings)
            with _closed_on_error(connection):
                configure(connection)
                connection.autocommit = autocommit
        except psycopg.ProgrammingError:
            raise ConnectionSettingsInvalid("one of its options is not valid") from None
        except psycopg.OperationalError as error:
            raise explain(error, self.address) from None
        connection.schema = self.schema
        return connection


def read_settings(conninfo: str) -> dict[str, str]:
    """Read a connection string into libpq's options.

    Raises:
        ConnectionSettingsInvalid: it cannot be read, or would be read as something else than
            was meant; the text does not repeat any of it.
    """
    url = URL.fullmatch(conninfo)
    if url and (url["authority"].count("@") > 1 or "@" in url["rest"]):
        raise ConnectionSettingsInvalid(
            "an @ stands where it cuts the URL in two; percent-encode the characters "
            "of user name and password (@ is %40, / is %2F, # is %23, ? is %3F)"
        )
    try:
        settings = {key: str(value) for key, value in conninfo_to_dict(conninfo).items()}
    except psycopg.Error:
        raise ConnectionSettingsInvalid("it has neither the form of a URL nor key=value") from None
    if not re.fullmatch(r"\d*(,\d*)*", settings.get("port", "")):
        raise ConnectionSettingsInvalid("the port is not a number")
    return settings


@contextlib.contextmanager
def _closed_on_error(connection: Connection) -> Iterator[None]:
    try:
        yield
    except psycopg.Error:
        connection.close()
        raise


def configure(connection: psycopg.Connection[Any]) -> None:
    """Set what values and names mean, and the server's keepalives, where they are not so already."""
    for name, value in SESSION.items():
        if connection.info.parameter_status(name) != value:
            connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", (name, value))
    _put_catalog_first(connection)
    if connection.info.hostaddr:
        connection.execute(SERVER_KEEPALIVES, (connection.info.backend_pid,))


def _put_catalog_first(connection: psycopg.Connection[Any]) -> None:
    # Unless a path names pg_catalog elsewhere, it comes first without being named.
    path = connection.info.parameter_status("search_path")  # told since PostgreSQL 18
    if path is None:
        row = connection.execute("SELECT pg_catalog.current_setting('search_path')").fetchone()
        path = row[0] if row else ""
    schemas = [name.strip().strip('"') for name in path.split(",")]
    if "pg_catalog" in schemas[1:]:
        value = f"pg_catalog, {path}"
        connection.execute("SELECT pg_catalog.set_config('search_path', %s, false)", (value,))
