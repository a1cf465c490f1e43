"""What stage and load share: inputs opened, the step compiled, its rows flowing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import duckdb

from kaireon_dagster import ir
from kaireon_dagster.engine.catalog import read_catalog
from kaireon_dagster.engine.dataset import judge
from kaireon_dagster.engine.fetching import LIFT_LIMITS, load_lookup
from kaireon_dagster.engine.flow import Flow
from kaireon_dagster.engine.inputs import Inputs, open_inputs
from kaireon_dagster.engine.outcome import RuleResult
from kaireon_dagster.engine.relation import Relation
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.engine.session import make_room, open_session
from kaireon_dagster.engine.spool import Spool
from kaireon_dagster.engine.tally import Tally
from kaireon_dagster.errors import FlowError, Terminal, Transient
from kaireon_dagster.plan.catalog import Catalog
from kaireon_dagster.plan.columns import Columns
from kaireon_dagster.plan.compile import Compiled, compile_step, lookups, tables
from kaireon_dagster.plan.program import Program
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.steps import Step
from kaireon_dagster.state.database import Connection
from kaireon_dagster.state.dlq import ensure_table

_TOLD = (duckdb.BinderException, duckdb.CatalogException, duckdb.OutOfMemoryException)
"""DuckDB errors whose text speaks of names and limits; the text of others may quote a row."""


class WorkerFault(Terminal):
    """The worker's engine could not run a step's SQL."""

    def __init__(self, step: str, kind: str, told: str) -> None:
        super().__init__(step, kind, told)
        self.step, self.kind, self.told = step, kind, told

    def __str__(self) -> str:
        said = f": {self.told}" if self.told else ""
        return (
            f"step {self.step!r}: the worker's engine stopped with {self.kind}{said}; see the step's SQL "
            "with `kaireon-dagster plan`"
        )


class WorkerDiskFault(Transient):
    """The worker's own files could not be written: what is unpacked, spilled, or waits for quarantine."""

    def __init__(self, step: str, reason: str) -> None:
        super().__init__(step, reason)
        self.step, self.reason = step, reason

    def __str__(self) -> str:
        return (
            f"step {self.step!r}: the worker's temporary files: {self.reason}; make room there, or point "
            "TMPDIR to a larger disk, and try again"
        )


@contextmanager
def working(
    scope: Scope, step: Step, relations: Mapping[str, Relation]
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Inputs]]:
    """A session with the step's inputs open; DuckDB's errors leave it without values of rows."""
    try:
        with _session(scope, step, relations) as opened:
            yield opened
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise WorkerDiskFault(step.name, reason) from None


@contextmanager
def _session(
    scope: Scope, step: Step, relations: Mapping[str, Relation]
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Inputs]]:
    with open_session(scope) as session:
        try:
            with open_inputs(session, scope, step, relations) as inputs:
                make_room(session, scope, inputs.columns)
                try:
                    yield session, inputs
                except duckdb.Error as error:
                    raise _explain(step, error, inputs) from None
        except duckdb.Error as error:
            raise _explain(step, error, None) from None


def _explain(step: Step, error: duckdb.Error, inputs: Inputs | None) -> FlowError:
    scans = inputs.scans.values() if inputs else ()
    found = next((told for scan in scans if (told := scan.explain(error))), None)
    if found is not None:
        return found
    message = str(error).splitlines()[0] if isinstance(error, _TOLD) else ""
    return WorkerFault(step.name, type(error).__name__, message)


def compile_here(
    scope: Scope,
    step: Step,
    session: duckdb.DuckDBPyConnection,
    inputs: Inputs,
    catalog: Catalog,
    *,
    keep_rows: bool = False,
) -> Compiled:
    """Compile the step for the columns at hand, with its lookup tables beside it."""
    for lookup in lookups(scope.plan, step):
        load_lookup(session, scope, lookup, catalog)
    return compile_step(scope.plan, step, inputs.leaves, catalog, keep_rows=keep_rows)


def catalog_of(connection: Connection, scope: Scope, step: Step) -> Catalog:
    """The tables that a step touches, as they are now."""
    return read_catalog(connection, tables(scope.plan, step))


@contextmanager
def flowing(
    scope: Scope, step: Step, session: duckdb.DuckDBPyConnection, inputs: Inputs, compiled: Compiled
) -> Iterator[Flow]:
    """The step's rows, ready to come by."""
    program = compiled.program
    quarantine = quarantine_tables(scope.pipeline)
    folder = scope.settings.spill_folder
    with Spool(program, quarantine, scope.pipeline.id, scope.run_id, folder) as spool:
        flow = Flow(scope, program, session, inputs, spool, Tally(program))
        try:
            flow.prepare()
            yield flow
        finally:
            scope.on_read(flow.seen)


@contextmanager
def reading_none(
    scope: Scope, step: Step, session: duckdb.DuckDBPyConnection, inputs: Inputs
) -> Iterator[Flow]:
    """The step where no input has a column: only what could not be read is left to be told."""
    nothing = Program((), Rows("", Columns(())), (), ())
    with flowing(scope, step, session, inputs, Compiled(nothing)) as flow:
        for leaf in inputs.leaves.values():
            if leaf.source in inputs.scans:
                session.execute(f"SELECT * FROM {ident(leaf.view)}").fetchall()
        flow.finish()
        yield flow


def keep_open(connection: Connection) -> None:
    """Let the transaction live while the worker computes; the server sees it idle meanwhile."""
    connection.execute(LIFT_LIMITS.encode())


def quarantine_tables(pipeline: ir.Pipeline) -> dict[str, str]:
    """Where the refused rows of each node go."""
    found = dict.fromkeys((node.id for node in pipeline.nodes), pipeline.dlq_destination)
    for node in pipeline.nodes:
        if node.kind == "validate" and node.quarantine is not None:
            found[node.id] = node.quarantine.table
    return found


def ensure_quarantine(connection: Connection, scope: Scope, step: Step) -> None:
    """Make the quarantine tables that a step may need, before its transaction."""
    pipeline = scope.pipeline
    places = quarantine_tables(pipeline)
    wanted = {places[node] for node in step.nodes if pipeline.error_handling.dlq.enabled}
    for node_id in step.nodes:
        node = pipeline.node(node_id)
        if node.kind == "validate" and _quarantines(node):
            wanted.add(places[node_id])
    for table in sorted(wanted):
        ensure_table(connection, table)
    connection.commit()


def _quarantines(node: ir.Validate) -> bool:
    return any(rule.on_fail == "quarantine" for rule in node.row_level)


def rule_results(scope: Scope, step: Step, flow: Flow | None) -> tuple[RuleResult, ...]:
    """Results of the document's row rules and dataset validators in a step."""
    nodes = [scope.pipeline.node(node_id) for node_id in step.nodes]
    documented = frozenset(
        (node.id, rule.id) for node in nodes if node.kind == "validate" for rule in node.row_level
    )
    if flow is None:
        return tuple(judge(nodes, None, None))
    return (*flow.rules(documented), *judge(nodes, flow.program, flow.tally))


def column_facts(
    columns: Columns,
) -> tuple[tuple[tuple[str, str], ...], dict[str, tuple[tuple[str, str], ...]]]:
    """Names and types of columns, and the columns that each was computed from."""
    types = tuple((column.name, column.type.postgres) for column in columns)
    lineage = {c.name: tuple(sorted((o.relation, o.column) for o in c.origins)) for c in columns}
    return types, lineage
