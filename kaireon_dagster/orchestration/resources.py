"""Resources: the database, the worker's limits, the DLQ store and the backup store."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Final

import dagster as dg
from psycopg import sql
from pydantic import Field

from kaireon_dagster.engine.scope import LOOKUP_ROWS, Settings
from kaireon_dagster.server import connect_embedded, find_home
from kaireon_dagster.state import Database, migrate, wrapped

URL_VARIABLE: Final = "FLOW_DATABASE_URL"

_guard = threading.Lock()
_migrated: set[Database] = set()


class FlowDatabase(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The PostgreSQL that pipelines load into, and that holds Flow's own tables.

    Flow's tables are brought up to date when a process first opens it.
    """

    url: str | None = Field(
        default=None,
        description="Connection string, as libpq reads it. Give it as EnvVar: a plain text is "
        "shown in the UI. By default the value of FLOW_DATABASE_URL where a step runs, else the "
        "embedded server of the work folder.",
    )
    db_schema: str = Field(
        default="flow", description="Schema of Flow's tables; staged tables go to <schema>_staging."
    )

    def open(self) -> Database:
        """Find the database, and make sure that Flow's tables are there.

        Raises:
            Transient: it cannot be reached now.
            Terminal: it refuses, or holds tables of a newer release.
        """
        database = Database(self._conninfo(), self.db_schema)
        with _guard:
            if database not in _migrated:
                migrate(database)
                _migrated.add(database)
        return database

    def _conninfo(self) -> str:
        return self.url or os.environ.get(URL_VARIABLE) or connect_embedded(find_home())


class FlowEngine(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Limits of the worker that a step runs in."""

    memory_limit: str = Field(
        default="256MB",
        description="Memory of DuckDB; beyond it, it spills to disk. Batches on their way to "
        "PostgreSQL come on top.",
    )
    threads: int = Field(default=2, ge=1, description="Threads of DuckDB.")
    batch_rows: int = Field(default=8192, ge=1, description="Rows of a batch sent to PostgreSQL.")
    lookup_rows: int = Field(
        default=LOOKUP_ROWS, ge=1, description="Rows of a lookup table at most; more is refused."
    )
    spill_folder: str | None = Field(
        default=None, description="Where to spill; by default the system's temporary folder."
    )

    def settings(self) -> Settings:
        """These limits as the engine takes them."""
        return Settings(
            memory_limit=self.memory_limit,
            threads=self.threads,
            batch_rows=self.batch_rows,
            lookup_rows=self.lookup_rows,
            spill_folder=Path(self.spill_folder) if self.spill_folder else None,
        )


class FlowDlqStore(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The DLQ tables: rows that were refused, as they came, with the rules they failed."""

    database: FlowDatabase

    def count_by_rule(
        self, table: tuple[str, str], pipeline_id: str, run_id: str
    ) -> dict[str, int]:
        """Count what a run has in a DLQ table, by the first rule that each row failed."""
        query = sql.SQL(
            'SELECT "ruleId", count(*) FROM {} WHERE "pipelineId" = %s AND "runId" = %s GROUP BY 1'
        ).format(sql.Identifier(*table))
        with self.database.open().connect() as connection, wrapped("count quarantined rows"):
            return dict(connection.execute(query, (pipeline_id, run_id)).fetchall())


class FlowBackupStore(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Copies of target tables taken before a load. Nothing takes or lists any in this release."""
