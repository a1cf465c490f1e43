"""The load step: rows, quarantine, ledger and run row in one transaction."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, replace
from typing import cast

import duckdb
import psycopg

from kaireon_dagster import ir
from kaireon_dagster.engine import modes
from kaireon_dagster.engine.closing import close_if_last
from kaireon_dagster.engine.dataset import refuse_broken
from kaireon_dagster.engine.encoding import exported
from kaireon_dagster.engine.errors import CountsDisagree
from kaireon_dagster.engine.flow import Flow
from kaireon_dagster.engine.inputs import Inputs
from kaireon_dagster.engine.inserting import Load, Written
from kaireon_dagster.engine.outcome import Counts, Outcome, RuleResult
from kaireon_dagster.engine.relation import Relation
from kaireon_dagster.engine.runnable import require_runnable
from kaireon_dagster.engine.running import begin, record
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.engine.staging import usable
from kaireon_dagster.engine.working import (
    catalog_of,
    column_facts,
    compile_here,
    ensure_quarantine,
    flowing,
    keep_open,
    reading_none,
    rule_results,
    working,
)
from kaireon_dagster.engine.writing import Lineage, Shape
from kaireon_dagster.plan.catalog import Catalog
from kaireon_dagster.plan.compile import Compiled
from kaireon_dagster.plan.hidden import ORIGINAL
from kaireon_dagster.plan.steps import Step
from kaireon_dagster.plan.target import Placement
from kaireon_dagster.state.database import Connection
from kaireon_dagster.state.errors import RowFault, classify, wrapped


def load_target(scope: Scope, step: Step, relations: Mapping[str, Relation]) -> Outcome:
    """Load a target once, whatever happens: a load that committed before is only reported again.

    Raises:
        Transient: the same call may succeed later; nothing was changed.
        Terminal: the document, the rows or the database forbid it; nothing was changed.
    """
    spec = cast("ir.Target", scope.pipeline.node(step.node))
    require_runnable(scope.pipeline, [spec])
    with wrapped(f"load into {spec.schema_}"), scope.database.connect() as connection:
        outcome = begin(connection, scope, step)
        if outcome is None:
            ensure_quarantine(connection, scope, step)
            outcome = _load(
                connection, scope, step, spec, usable(connection, scope, step, relations)
            )
        connection.commit()
        close_if_last(connection, scope, step)
    return outcome


def _load(
    connection: Connection,
    scope: Scope,
    step: Step,
    spec: ir.Target,
    relations: Mapping[str, Relation],
) -> Outcome:
    started = time.monotonic()
    if scope.pipeline.error_handling.dlq.enabled:
        outcome = _load_or_sift(connection, scope, step, spec, relations)
    else:
        outcome = _attempt(connection, scope, step, spec, relations)
    outcome = replace(outcome, seconds=round(time.monotonic() - started, 3))
    record(connection, scope, outcome)
    return outcome


def _load_or_sift(
    connection: Connection,
    scope: Scope,
    step: Step,
    spec: ir.Target,
    relations: Mapping[str, Relation],
) -> Outcome:
    """Load all rows at once; where the server refuses one, start over and tell the bad ones apart."""
    connection.execute("SAVEPOINT flow_load")
    try:
        outcome = _attempt(connection, scope, step, spec, relations)
        connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except psycopg.Error as error:
        if classify(error) is not RowFault:
            raise
        connection.execute("ROLLBACK TO SAVEPOINT flow_load")
        scope.log(f"{spec.schema_} refused a row; loading again to find all such rows")
        return _attempt(connection, scope, step, spec, relations, sifting=True)
    return outcome


def _attempt(
    connection: Connection,
    scope: Scope,
    step: Step,
    spec: ir.Target,
    relations: Mapping[str, Relation],
    *,
    sifting: bool = False,
) -> Outcome:
    keep_open(connection)
    with working(scope, step, relations) as (session, inputs):
        if inputs.without_columns:
            return _nothing(connection, scope, step, spec, session, inputs)
        return _rows(connection, scope, step, spec, session, inputs, sifting)


def _nothing(
    connection: Connection,
    scope: Scope,
    step: Step,
    spec: ir.Target,
    session: duckdb.DuckDBPyConnection,
    inputs: Inputs,
) -> Outcome:
    with reading_none(scope, step, session, inputs) as flow:
        flow.spool.store(connection)
    rules = rule_results(scope, step, None)
    refuse_broken(rules)
    if spec.load_mode == "truncate":
        modes.empty(connection, scope, spec, catalog_of(connection, scope, step).get(spec.table))
    reasons = "; ".join(inputs.bare) or "the staged input has no rows and no columns"
    warning = f"nothing to load: {reasons}"
    return Outcome(
        step.name,
        step.kind,
        flow.counts(),
        rules,
        spec.schema_,
        dict(flow.spool.rows),
        warnings=(warning,),
    )


def _rows(
    connection: Connection,
    scope: Scope,
    step: Step,
    spec: ir.Target,
    session: duckdb.DuckDBPyConnection,
    inputs: Inputs,
    sifting: bool,
) -> Outcome:
    compiled, placement = _compile(connection, scope, step, spec, session, inputs, sifting)
    with flowing(scope, step, session, inputs, compiled) as flow:
        written = _write(connection, scope, spec, placement, flow, sifting)
        flow.finish()
        rules = rule_results(scope, step, flow)
        refuse_broken(rules)
        flow.spool.store(connection)
        outcome = _outcome(step, spec, placement, compiled, flow, written, rules)
        return replace(outcome, warnings=(*outcome.warnings, *_repeats(scope, spec)))


def _compile(
    connection: Connection,
    scope: Scope,
    step: Step,
    spec: ir.Target,
    session: duckdb.DuckDBPyConnection,
    inputs: Inputs,
    sifting: bool,
) -> tuple[Compiled, Placement]:
    catalog = catalog_of(connection, scope, step)
    if _changes_table(spec, catalog):
        # One writer at a time where the table itself changes; the catalog is read again behind the lock.
        _lock(connection, f"load.{spec.schema_}")
        if spec.table[0] not in catalog.schemas:
            _lock(connection, f"schema.{spec.table[0]}")
        catalog = catalog_of(connection, scope, step)
    compiled = compile_here(scope, step, session, inputs, catalog, keep_rows=sifting)
    assert compiled.placement is not None, "a load step is compiled with its placement"
    for statement in compiled.placement.ddl:
        connection.execute(statement.encode())
    return compiled, compiled.placement


def _lock(connection: Connection, name: str) -> None:
    lock = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
    connection.execute(lock, (f"kaireon_dagster.{name}",))


def _changes_table(spec: ir.Target, catalog: Catalog) -> bool:
    missing = catalog.get(spec.table) is None
    return missing or spec.load_mode != "append" or spec.on_new_columns == "add"


def _write(
    connection: Connection,
    scope: Scope,
    spec: ir.Target,
    placement: Placement,
    flow: Flow,
    sifting: bool,
) -> Written:
    items = [exported(column) for column in placement.columns] + [ORIGINAL] * sifting
    source = flow.program.result.source
    lineage = Lineage(scope.run_id, scope.pipeline.id, source) if placement.lineage else None
    numbered = sifting or bool(placement.key)
    shape = Shape(placement.columns, lineage, sequence=numbered, original=sifting)
    spool = flow.spool if sifting else None
    load = Load(connection, scope, spec, placement, shape, spool)
    # Closed here, whatever happens: an open reader would keep the files from being closed.
    with closing(flow.batches(items, in_order=bool(placement.key))) as batches:
        return modes.write(load, batches)


def _outcome(
    step: Step,
    spec: ir.Target,
    placement: Placement,
    compiled: Compiled,
    flow: Flow,
    written: Written,
    rules: tuple[RuleResult, ...],
) -> Outcome:
    counts = flow.counts()
    kept_out = flow.passed - written.loaded - written.repeated - written.refused
    counts = replace(
        counts,
        staged=flow.inputs.staged,
        loaded=written.loaded,
        inserted=written.inserted,
        updated=written.updated,
        quarantined=counts.quarantined + written.refused,
        filtered=counts.filtered + kept_out,
        deduplicated=counts.deduplicated + written.repeated,
    )
    _balance(step, flow, counts, kept_out if not placement.guards else 0)
    _, lineage = column_facts(compiled.program.columns)
    written_names = {column.name for column in placement.columns}
    return Outcome(
        step.name,
        step.kind,
        counts,
        rules,
        spec.schema_,
        dict(flow.spool.rows),
        tuple((c.name, c.postgres_type) for c in placement.columns),
        {name: origins for name, origins in lineage.items() if name in written_names},
        (*flow.warnings(), *_kept_out(spec, placement, kept_out)),
        compiled.program.sql(),
    )


def _kept_out(spec: ir.Target, placement: Placement, rows: int) -> Iterator[str]:
    if rows:
        triggers = ", ".join(placement.guards)
        yield f"{rows} rows were kept out by triggers of {spec.schema_} ({triggers})"


def _repeats(scope: Scope, spec: ir.Target) -> Iterator[str]:
    for source in scope.pipeline.sources:
        if spec.load_mode == "append" and getattr(source.config, "atomicity", None) is None:
            yield (
                f"source {source.id!r} leaves its files where they are, and the next run appends them "
                "again; give it atomicity folders, or use loadMode upsert or truncate"
            )


def _balance(step: Step, flow: Flow, counts: Counts, missing: int) -> None:
    spooled = sum(flow.spool.rows.values())
    balanced = missing == 0 and spooled == counts.quarantined + counts.rejected
    if not flow.held and flow.inputs.scans:
        balanced = balanced and counts.read == counts.loaded + counts.gone
    if not balanced:
        raise CountsDisagree(step.name, ", ".join(f"{k} {v}" for k, v in asdict(counts).items()))
