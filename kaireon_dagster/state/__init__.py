"""Flow's own tables in PostgreSQL: runs, ledger, checkpoints, watermarks, alerts, quarantine."""

from __future__ import annotations

from kaireon_dagster.state.connection_errors import (
    Address,
    ConnectionFailed,
    ConnectionSettingsInvalid,
    DatabaseRefused,
    DatabaseUnreachable,
)
from kaireon_dagster.state.database import Connection, Database
from kaireon_dagster.state.errors import (
    Facts,
    RowFault,
    RowRefused,
    StatementError,
    StatementInterrupted,
    StatementRefused,
    classify,
    wrap,
    wrapped,
)
from kaireon_dagster.state.migrate import current_version, migrate

__all__ = [
    "Address",
    "Connection",
    "ConnectionFailed",
    "ConnectionSettingsInvalid",
    "Database",
    "DatabaseRefused",
    "DatabaseUnreachable",
    "Facts",
    "RowFault",
    "RowRefused",
    "StatementError",
    "StatementInterrupted",
    "StatementRefused",
    "classify",
    "current_version",
    "migrate",
    "wrap",
    "wrapped",
]
