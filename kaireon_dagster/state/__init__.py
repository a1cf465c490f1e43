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
from kaireon_dagster.state.dlq import DlqRow, DlqTableUnfit
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
from kaireon_dagster.state.ledger import AlreadyLoaded, LedgerRow
from kaireon_dagster.state.migrate import SchemaTooNew, current_version, latest_version, migrate
from kaireon_dagster.state.quarantine import encode_row, restore_value, storable
from kaireon_dagster.state.runs import Run, RunUnknown
from kaireon_dagster.state.watermarks import Watermark

__all__ = [
    "Address",
    "AlreadyLoaded",
    "Connection",
    "ConnectionFailed",
    "ConnectionSettingsInvalid",
    "Database",
    "DatabaseRefused",
    "DatabaseUnreachable",
    "DlqRow",
    "DlqTableUnfit",
    "Facts",
    "LedgerRow",
    "RowFault",
    "RowRefused",
    "Run",
    "RunUnknown",
    "SchemaTooNew",
    "StatementError",
    "StatementInterrupted",
    "StatementRefused",
    "Watermark",
    "classify",
    "current_version",
    "encode_row",
    "latest_version",
    "migrate",
    "restore_value",
    "storable",
    "wrap",
    "wrapped",
]
