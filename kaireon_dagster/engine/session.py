"""The worker's DuckDB: limits, variables of the run, and nothing from the network."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as pa
from duckdb.func import PythonUDFType

from kaireon_dagster import ir
from kaireon_dagster.engine.errors import EnvironmentMissing
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.plan import variables
from kaireon_dagster.plan.sqltext import literal
from kaireon_dagster.sources.scratch import Scratch

# Measured on DuckDB 1.5, which takes several times what 2.0 does.
_NARROW = 200
_COLUMN_BYTES = 1 << 20
_DEEPEST = 5000


@contextmanager
def open_session(scope: Scope) -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB of its own for one step, with a spill folder that goes when it closes."""
    with Scratch(scope.settings.spill_folder) as spill:
        connection = duckdb.connect(config=_config(scope, str(spill)))
        try:
            _prepare(connection, scope)
            yield connection
        finally:
            connection.close()


def make_room(connection: duckdb.DuckDBPyConnection, scope: Scope, columns: int) -> None:
    """Raise the limit of memory for wide rows: DuckDB holds a vector per column at every stage."""
    if columns > _NARROW:
        row = connection.execute(
            "SELECT parse_formatted_bytes(?)", [scope.settings.memory_limit]
        ).fetchone()
        limit = (row[0] if row else 0) + columns * _COLUMN_BYTES
        connection.execute(f"SET memory_limit = '{limit}B'")
        connection.execute("SET threads = 1")


def _config(scope: Scope, spill: str) -> dict[str, str | bool | int | float | list[str]]:
    return {
        "memory_limit": scope.settings.memory_limit,
        "threads": scope.settings.threads,
        "temp_directory": spill,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "preserve_insertion_order": True,
    }


def _prepare(connection: duckdb.DuckDBPyConnection, scope: Scope) -> None:
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET enable_progress_bar = false")
    # The layers of a step stand inside each other, so a long chain of nodes is a deep query.
    connection.execute(f"SET max_expression_depth = {_DEEPEST}")
    connection.create_function(
        "flow_sha512", _sha512, ["VARCHAR"], "VARCHAR", type=PythonUDFType.ARROW
    )
    values = {
        variables.RUN_ID: scope.run_id,
        variables.PIPELINE_ID: scope.pipeline.id,
        variables.STARTED_AT: scope.started_at.isoformat(),
        **_salts(scope.pipeline),
    }
    for name, value in values.items():
        connection.execute(f"SET VARIABLE {name} = {literal(value)}")


def _salts(pipeline: ir.Pipeline) -> dict[str, str]:
    found = {}
    for node in pipeline.nodes:
        for op in node.ops if node.kind == "transform" else ():
            if op.type == "hash" and op.salt_env:
                found[variables.salt(op.salt_env)] = _environment(node.id, op.salt_env)
    return found


def _environment(node: str, variable: str) -> str:
    if variable not in os.environ:
        raise EnvironmentMissing(node, variable)
    return os.environ[variable]


def _sha512(texts: pa.Array) -> pa.Array:
    digests = (
        None if t is None else hashlib.sha512(t.encode()).hexdigest() for t in texts.to_pylist()
    )
    return pa.array(digests, pa.string())
