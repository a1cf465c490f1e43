"""Rights in the database: on Flow's own schemas, and on the tables that documents load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from kaireon_dagster.cli.checks.finding import Finding, ok, problem
from kaireon_dagster.cli.counts import count
from kaireon_dagster.ir import Pipeline, Target, Validate
from kaireon_dagster.state import Connection

TableName = tuple[str, str]

_USER: Final = "SELECT quote_ident(current_user), quote_ident(current_database())"
_MAY_CREATE: Final = "SELECT has_database_privilege(current_database(), 'CREATE')"
_SCHEMA: Final = """
SELECT quote_ident(nspname), ARRAY(
    SELECT name FROM unnest(%s::text[]) AS name WHERE NOT has_schema_privilege(oid, name))
FROM pg_namespace WHERE nspname = %s
"""
# A right on some columns may be enough for what a document writes.
_LACKS: Final = """
NOT CASE WHEN name IN ('INSERT', 'SELECT', 'UPDATE') THEN has_any_column_privilege(c.oid, name)
         ELSE has_table_privilege(c.oid, name) END
"""
_TABLE: Final = f"""
SELECT quote_ident(c.relname), ARRAY(SELECT name FROM unnest(%s::text[]) AS name WHERE {_LACKS})
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s
"""
_OWN_TABLES: Final = f"""
SELECT count(*), count(*) FILTER (WHERE EXISTS (
    SELECT FROM unnest(%s::text[]) AS name WHERE {_LACKS}))
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relkind = 'r'
"""
_FLOW_NEEDS: Final = ("SELECT", "INSERT", "UPDATE", "DELETE")
_MODE_NEEDS: Final = {"truncate": ("INSERT", "TRUNCATE"), "upsert": ("SELECT", "INSERT", "UPDATE")}


@dataclass(frozen=True, slots=True)
class _Place:
    """A table that a document loads, and the rights that this takes."""

    table: TableName
    needs: tuple[str, ...]
    creates: bool


def check_flow_rights(connection: Connection, staging_schema: str) -> tuple[Finding, ...]:
    """Find the rights on Flow's own schemas that this user lacks; nothing when all are there."""
    return tuple(
        _problem(grant, ("Flow's tables",))
        for grant in dict.fromkeys(_flow_grants(connection, staging_schema))
    )


def check_table_rights(connection: Connection, pipelines: Iterable[Pipeline]) -> Iterator[Finding]:
    """Check that targets and quarantine tables can be made and written, one line for each GRANT."""
    places = [place for pipeline in pipelines for place in _places(pipeline)]
    lacking: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for place in places:
        for grant in _table_grants(connection, place):
            lacking[grant][".".join(place.table)] = None
    yield from (_problem(grant, tables) for grant, tables in lacking.items())
    tables = {place.table for place in places}
    if tables and not lacking:
        yield ok("rights", f"enough for {count(len(tables), 'table')} of the documents")


def _problem(grant: str, purposes: Iterable[str]) -> Finding:
    right = grant.removeprefix("GRANT ").rpartition(" TO ")[0]
    message = f"this user lacks {right}, for {', '.join(purposes)}"
    return problem("rights", message, f"have the owner or an administrator run: {grant};")


def _places(pipeline: Pipeline) -> Iterator[_Place]:
    for node in pipeline.nodes:
        if isinstance(node, Target):
            needs = _MODE_NEEDS.get(node.load_mode, ("INSERT",))
            yield _Place(node.table, needs, node.create_table)
        if isinstance(node, Validate) and any(r.on_fail == "quarantine" for r in node.row_level):
            table = node.quarantine.relation if node.quarantine else pipeline.dlq_table
            yield _Place(table, ("INSERT",), creates=True)
    if pipeline.error_handling.dlq.enabled:
        yield _Place(pipeline.dlq_table, ("INSERT",), creates=True)


def _flow_grants(connection: Connection, staging_schema: str) -> Iterator[str]:
    user, _ = _names(connection)
    row = connection.execute(_OWN_TABLES, (list(_FLOW_NEEDS), connection.schema)).fetchone()
    made, closed = row if row is not None else (0, 0)
    yield from _schema_grants(connection, connection.schema, creates=not made)
    yield from _schema_grants(connection, staging_schema, creates=True)
    if closed:
        rights = ", ".join(_FLOW_NEEDS)
        yield f"GRANT {rights} ON ALL TABLES IN SCHEMA {connection.schema} TO {user}"


def _table_grants(connection: Connection, place: _Place) -> Iterator[str]:
    row = connection.execute(_TABLE, (list(place.needs), *place.table)).fetchone()
    yield from _schema_grants(connection, place.table[0], creates=row is None and place.creates)
    if row is not None and row[1]:
        user, _ = _names(connection)
        schema = connection.execute(_SCHEMA, ([], place.table[0])).fetchone()
        assert schema is not None, "a table has a schema"
        yield f"GRANT {', '.join(row[1])} ON TABLE {schema[0]}.{row[0]} TO {user}"


def _schema_grants(connection: Connection, name: str, *, creates: bool) -> Iterator[str]:
    user, database = _names(connection)
    needs = ["USAGE", "CREATE"] if creates else ["USAGE"]
    row = connection.execute(_SCHEMA, (needs, name)).fetchone()
    if row is not None and row[1]:
        yield f"GRANT {', '.join(row[1])} ON SCHEMA {row[0]} TO {user}"
    if row is None and creates and connection.execute(_MAY_CREATE).fetchone() == (False,):
        yield f"GRANT CREATE ON DATABASE {database} TO {user}"


def _names(connection: Connection) -> tuple[str, str]:
    """The user and the database, quoted where SQL wants it."""
    row = connection.execute(_USER).fetchone()
    assert row is not None, "a query without FROM gives a row"
    return row[0], row[1]
