"""The stage step: a node's rows in an unlogged table, for the steps that read them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

import duckdb
from psycopg import sql

from kaireon_dagster import ir
from kaireon_dagster.engine import relations as checkpoints
from kaireon_dagster.engine.dataset import refuse_broken
from kaireon_dagster.engine.encoding import exported
from kaireon_dagster.engine.fetching import luggage_type
from kaireon_dagster.engine.flow import Flow
from kaireon_dagster.engine.inputs import Inputs
from kaireon_dagster.engine.outcome import Outcome
from kaireon_dagster.engine.relation import Relation, StagedTable
from kaireon_dagster.engine.running import begin, is_complete, record
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.engine.working import (
    catalog_of,
    column_facts,
    compile_here,
    ensure_quarantine,
    flowing,
    keep_open,
    quarantine_tables,
    reading_none,
    rule_results,
    working,
)
from kaireon_dagster.engine.writing import Shape, copy_rows
from kaireon_dagster.errors import Terminal
from kaireon_dagster.plan.names import StagedKind, staged_table
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.sqltext import ident, qualified
from kaireon_dagster.plan.steps import Step
from kaireon_dagster.plan.target import Placed
from kaireon_dagster.state.database import Connection
from kaireon_dagster.state.errors import wrapped


class StagingLost(Terminal):
    """A staged table that is gone, with nothing left to make it again from."""

    def __init__(self, step: str, table: str) -> None:
        super().__init__(step, table)
        self.step, self.table = step, table

    def __str__(self) -> str:
        return (
            f"step {self.step!r}: staged table {self.table} is gone, and what it was made from is not "
            "remembered; start the pipeline anew"
        )


def stage_node(
    scope: Scope, step: Step, relations: Mapping[str, Relation]
) -> tuple[StagedTable, Outcome]:
    """Stage a node's rows, or find them staged by an earlier attempt of the run."""
    with wrapped(f"stage {step.node}"), scope.database.connect() as connection:
        earlier = begin(connection, scope, step)
        staged = checkpoints.find(connection, scope, step.name) if earlier else None
        if earlier and isinstance(staged, StagedTable) and is_whole(connection, staged):
            return staged, earlier
        if earlier and is_complete(connection, scope):
            # Nothing reads it any more, and what it refused stays in quarantine.
            return StagedTable(step.node, scope.database.staging_schema, "", (), 0), earlier
        _forget(connection, scope, step)
        ensure_quarantine(connection, scope, step)
        staged, outcome = _stage(
            connection, scope, step, usable(connection, scope, step, relations)
        )
        checkpoints.save(connection, scope, step.name, staged)
        record(connection, scope, outcome)
    return staged, outcome


def usable(
    connection: Connection, scope: Scope, step: Step, relations: Mapping[str, Relation]
) -> dict[str, Relation]:
    """The inputs of a step as they stand now.

    Files may have been put aside when the run failed before; a staged table that a crash of the
    server emptied is made again.
    """
    found = {
        name: checkpoints.find(connection, scope, name) or relations[name] for name in step.inputs
    }
    for name, relation in found.items():
        if isinstance(relation, StagedTable) and not is_whole(connection, relation):
            scope.log(f"staged table of {relation.node} is gone; staging it again")
            connection.commit()
            found[name] = _stage_again(scope, scope.plan.step(name), relation)
    return found


def _stage_again(scope: Scope, step: Step, lost: StagedTable) -> StagedTable:
    with scope.database.connect() as connection:
        inputs = {name: checkpoints.find(connection, scope, name) for name in step.inputs}
    known = {name: relation for name, relation in inputs.items() if relation is not None}
    if len(known) != len(inputs):
        raise StagingLost(step.name, lost.table)
    return stage_node(scope, step, known)[0]


def is_whole(connection: Connection, staged: StagedTable) -> bool:
    """Whether a staged table still has its rows: a server crash empties it, all at once."""
    if not staged.columns:
        return True
    name = sql.Identifier(staged.schema, staged.table)
    there = connection.execute("SELECT to_regclass(%s)", (name.as_string(connection),)).fetchone()
    if there is None or there[0] is None:
        return False
    rows = connection.execute(sql.SQL("SELECT EXISTS (SELECT FROM {})").format(name)).fetchone()
    return staged.rows == 0 or bool(rows and rows[0])


def _forget(connection: Connection, scope: Scope, step: Step) -> None:
    # What an earlier attempt of this step refused is refused again; it must not stand twice.
    places = quarantine_tables(scope.pipeline)
    delete = sql.SQL(
        'DELETE FROM {} WHERE "pipelineId" = %s AND "runId" = %s AND "nodeId" = ANY(%s)'
    )
    if not _unrecord(connection, scope, step):
        return
    for table in {places[node] for node in step.nodes}:
        name = sql.Identifier(*ir.split_table(table))
        there = connection.execute(
            "SELECT to_regclass(%s)", (name.as_string(connection),)
        ).fetchone()
        if there and there[0] is not None:
            values = (scope.pipeline.id, scope.run_id, list(step.nodes))
            connection.execute(delete.format(name), values)


def _unrecord(connection: Connection, scope: Scope, step: Step) -> bool:
    ledger = sql.Identifier(scope.database.schema, "flow_loads")
    delete = sql.SQL('DELETE FROM {} WHERE "runId" = %s AND node = %s').format(ledger)
    return connection.execute(delete, (scope.run_id, step.name)).rowcount > 0


def _stage(
    connection: Connection, scope: Scope, step: Step, relations: Mapping[str, Relation]
) -> tuple[StagedTable, Outcome]:
    started = time.monotonic()
    keep_open(connection)
    with working(scope, step, relations) as (session, inputs):
        if inputs.without_columns:
            staged, outcome = _nothing(connection, scope, step, session, inputs)
        else:
            staged, outcome = _rows(connection, scope, step, session, inputs)
    return staged, replace(outcome, seconds=round(time.monotonic() - started, 3))


def _nothing(
    connection: Connection,
    scope: Scope,
    step: Step,
    session: duckdb.DuckDBPyConnection,
    inputs: Inputs,
) -> tuple[StagedTable, Outcome]:
    with reading_none(scope, step, session, inputs) as flow:
        flow.spool.store(connection)
    rules = rule_results(scope, step, None)
    refuse_broken(rules)
    source = next(iter(inputs.leaves.values())).source
    staged = StagedTable(step.node, scope.database.staging_schema, "", (), 0, source=source)
    quarantine = dict(flow.spool.rows)
    return staged, Outcome(step.name, step.kind, flow.counts(), rules, quarantine=quarantine)


def _rows(
    connection: Connection,
    scope: Scope,
    step: Step,
    session: duckdb.DuckDBPyConnection,
    inputs: Inputs,
) -> tuple[StagedTable, Outcome]:
    catalog = catalog_of(connection, scope, step)
    compiled = compile_here(scope, step, session, inputs, catalog)
    with flowing(scope, step, session, inputs, compiled) as flow:
        staged = _write(connection, scope, step, flow)
        flow.finish()
        rules = rule_results(scope, step, flow)
        refuse_broken(rules)
        flow.spool.store(connection)
        types, lineage = column_facts(compiled.program.columns)
        outcome = Outcome(
            step.name,
            step.kind,
            replace(flow.counts(), staged=staged.rows),
            rules,
            f"{staged.schema}.{staged.table}",
            dict(flow.spool.rows),
            types,
            lineage,
            flow.warnings(),
            compiled.program.sql(),
        )
    return staged, outcome


def _write(connection: Connection, scope: Scope, step: Step, flow: Flow) -> StagedTable:
    rows = flow.program.result
    name = staged_table(_kind(scope, step), scope.pipeline.id, step.node, scope.run_id)
    place = (scope.database.staging_schema, name)
    columns = _placed(rows)
    definition = ", ".join(f"{ident(c.name)} {c.postgres_type}" for c in columns)
    connection.execute(f"DROP TABLE IF EXISTS {qualified(place)}".encode())
    connection.execute(f"CREATE UNLOGGED TABLE {qualified(place)} ({definition})".encode())
    items = [exported(column) for column in columns]
    with closing(flow.batches(items, in_order=True)) as batches:
        written = copy_rows(connection, qualified(place), Shape(columns), batches)
    return StagedTable(step.node, *place, rows.columns.items, written, rows.luggage, rows.source)


def _placed(rows: Rows) -> tuple[Placed, ...]:
    own = [Placed(c.name, c.type, c.type.postgres) for c in rows.columns]
    hidden = [(name, luggage_type(name)) for name in rows.luggage]
    return (*own, *(Placed(name, type_, type_.postgres) for name, type_ in hidden))


def _kind(scope: Scope, step: Step) -> StagedKind:
    kinds: dict[str, StagedKind] = {"source": "src", "branch": "branch"}
    return kinds.get(scope.pipeline.node(step.node).kind, "xform")
