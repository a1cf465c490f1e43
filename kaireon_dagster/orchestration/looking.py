"""What a load reads back: the outcomes of the steps before it, and the size of its table."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from psycopg import sql

from kaireon_dagster import ir
from kaireon_dagster.errors import FlowError
from kaireon_dagster.orchestration.facts import ROW_COUNT, Metadata
from kaireon_dagster.plan.steps import Step
from kaireon_dagster.state import ledger, wrapped

if TYPE_CHECKING:
    from kaireon_dagster.engine.outcome import Outcome
    from kaireon_dagster.engine.scope import Scope

# A number that is nice to have must not cost more than a person notices.
_COUNTING_MS: Final = 500


def find_outcomes(scope: Scope, steps: Iterable[Step]) -> tuple[Outcome, ...]:
    """Read from the ledger what stage steps of this run did, in the order given."""
    from kaireon_dagster.engine.outcome import Outcome

    staged = [step.name for step in steps if step.kind == "stage"]
    if not staged:
        return ()
    with wrapped("read the ledger"), scope.database.connect() as connection:
        rows = [ledger.find(connection, scope.run_id, name) for name in staged]
    return tuple(Outcome.from_json(row.detail) for row in rows if row is not None)


def row_count(scope: Scope, target: ir.Target) -> Metadata:
    """Count a target's rows, as metadata; nothing where that takes too long or is not allowed."""
    query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(*target.table))
    with (
        contextlib.suppress(FlowError),
        wrapped("count"),
        scope.database.connect() as connection,
    ):
        limit = f"SET LOCAL statement_timeout = {_COUNTING_MS}"
        connection.execute(limit.encode())
        row = connection.execute(query).fetchone()
        return {ROW_COUNT: int(row[0])} if row else {}
    return {}
