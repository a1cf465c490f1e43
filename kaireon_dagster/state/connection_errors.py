"""Connections that could not be made, told without the password.

libpq gives no SQLSTATE for a failed connection, and its text may hold a piece of a password that
was not percent-encoded. So its text is only searched for known causes, and never shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import psycopg

from kaireon_dagster.errors import FlowError, Terminal, Transient


@dataclass(frozen=True, slots=True)
class Address:
    """Where a connection goes; the part of the settings that may be shown."""

    host: str
    port: str
    database: str
    user: str

    def __str__(self) -> str:
        return (
            f"host {self.host!r}, port {self.port}, database {self.database!r}, user {self.user!r}"
        )


class ConnectionFailed(FlowError):
    """A connection that could not be made."""

    def __init__(self, address: Address, reason: str) -> None:
        super().__init__(address, reason)
        self.address = address
        self.reason = reason

    def __str__(self) -> str:
        return f"PostgreSQL at {self.address}: {self.reason}"


class DatabaseUnreachable(ConnectionFailed, Transient):
    """Nobody answered, or the server cannot take connections now."""


class DatabaseRefused(ConnectionFailed, Terminal):
    """The server, or its absence of rights, will refuse every such connection."""


class ConnectionSettingsInvalid(Terminal):
    """A connection string that cannot be read; none of it is shown."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"the database's connection string cannot be used: {self.reason}. Write it as "
            "postgresql://user:password@host:5432/database, or as "
            "host=… port=… dbname=… user=… password='…'"
        )


# Texts of libpq and of the server in English; an unknown text counts as passing.
TERMINAL_CAUSES = (
    ("password authentication failed", "the user name or the password is wrong"),
    ("no password supplied", "the server asks for a password and none was given"),
    ("no pg_hba.conf entry", "the server's pg_hba.conf does not admit this user from here"),
    ("rejects connection", "the server's pg_hba.conf rejects this user from here"),
    ("authentication failed", "the server did not accept this user"),
    ("permission denied for database", "the user lacks the CONNECT right on the database"),
    ("is not permitted to log in", "the user may not log in"),
    ("Permission denied", "the socket may not be opened by this user"),
    ("does not exist", "the database or the user does not exist"),
    ("is not currently accepting connections", "the database does not accept connections"),
    ("server does not support SSL", "sslmode asks for TLS and the server has none"),
    ("invalid", "an option is not valid, or what listens there is not PostgreSQL"),
    ("certificate", "the TLS certificates of the two sides do not agree"),
)
PASSING_CAUSES = (
    ("refused", "nothing listens there; is the server running?"),
    ("No such file or directory", "no socket is there; is the server running?"),
    ("timeout", "no answer in time"),
    ("translate host name", "the host name is not known here; check its spelling and the DNS"),
    ("resolve host", "the host name is not known here; check its spelling and the DNS"),
    ("Name or service not known", "the host name is not known here; check its spelling"),
    ("too many", "the server has no free connection"),
    ("remaining connection slots", "the server has no free connection"),
    ("starting up", "the server is starting"),
    ("shutting down", "the server is shutting down"),
    ("recovery", "the server is recovering"),
    ("closed the connection", "the server closed the connection"),
)
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
UNKNOWN_CAUSE = "no connection could be made; is it the right host and port, and does it run?"


def explain(error: psycopg.OperationalError, address: Address) -> ConnectionFailed:
    """Build our error for a connection that psycopg could not make."""
    # What is quoted are names of the user's, in which a sign would mean nothing.
    text = QUOTED.sub("", str(error))
    for sign, reason in TERMINAL_CAUSES:
        if sign in text:
            return DatabaseRefused(address, reason)
    if error.pgconn is not None and error.pgconn.needs_password:
        return DatabaseRefused(address, TERMINAL_CAUSES[1][1])
    for sign, reason in PASSING_CAUSES:
        if sign in text:
            return DatabaseUnreachable(address, reason)
    return DatabaseUnreachable(address, UNKNOWN_CAUSE)
