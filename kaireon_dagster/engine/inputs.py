"""Opens what a step reads: claimed files as scans, staged tables as streams, lookups as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import duckdb

from kaireon_dagster import ir
from kaireon_dagster.engine.fetching import staged_view
from kaireon_dagster.engine.relation import ClaimedFiles, Relation, StagedTable
from kaireon_dagster.engine.scope import Scope
from kaireon_dagster.plan import hidden, routing
from kaireon_dagster.plan.columns import Column, Columns, Origin
from kaireon_dagster.plan.compile import asks_for_file
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.steps import Step, consumers
from kaireon_dagster.sources import Scan, open_scan

_DELIMITED = ("csv", "tsv")


@dataclass(slots=True)
class Inputs:
    """What a step reads.

    Attributes:
        leaves: the rows of each input step, by its name.
        scans: open scans of files, by source node.
        staged: rows of staged inputs, as they were recorded.
        bare: why inputs have no columns, in words.
    """

    leaves: dict[str, Rows] = field(default_factory=dict)
    scans: dict[str, Scan] = field(default_factory=dict)
    staged: int = 0
    bare: list[str] = field(default_factory=list)

    @property
    def columns(self) -> int:
        """Columns of all inputs together."""
        return sum(len(leaf.columns) for leaf in self.leaves.values())

    @property
    def without_columns(self) -> bool:
        """No input has a column: nothing was delivered, so there is nothing to compile for."""
        return all(not leaf.columns.items for leaf in self.leaves.values())


@contextmanager
def open_inputs(
    connection: duckdb.DuckDBPyConnection,
    scope: Scope,
    step: Step,
    relations: Mapping[str, Relation],
) -> Iterator[Inputs]:
    """Open all inputs of a step."""
    inputs = Inputs()
    with ExitStack() as stack:
        for name in step.inputs:
            relation = relations[name]
            if isinstance(relation, StagedTable):
                _open_staged(stack, connection, scope, step, name, relation, inputs)
            else:
                _open_files(stack, connection, scope, name, relation, inputs)
        _require_all_or_none(scope, inputs)
        yield inputs


def _require_all_or_none(scope: Scope, inputs: Inputs) -> None:
    bare = [name for name, leaf in inputs.leaves.items() if not leaf.columns.items]
    if bare and not inputs.without_columns:
        raise NodeFault(
            bare[0], "has no file, so its columns are not known to the nodes that read it"
        )


def _open_files(
    stack: ExitStack,
    connection: duckdb.DuckDBPyConnection,
    scope: Scope,
    name: str,
    relation: ClaimedFiles,
    inputs: Inputs,
) -> None:
    source = cast("ir.Source", scope.pipeline.node(relation.node))
    file = hidden.FILE if asks_for_file(scope.pipeline) else None
    if not relation.files:
        inputs.bare.append(_nobody_came(source))
        inputs.leaves[name] = Rows(name, Columns((), name), source=source.id)
        return
    scan = open_scan(relation.files, source, connection, name, file_name_column=file)
    stack.callback(scan.close)
    untouched = source.config.format in _DELIMITED and _empty_is_null(source)
    columns = tuple(
        Column(column, type_, frozenset({Origin(source.id, column)}), untouched)
        for column, type_ in scan.columns
        if column != file
    )
    if not columns:
        inputs.bare.append(f"the files of source {source.id!r} are empty, without a header")
    inputs.scans[source.id] = scan
    inputs.leaves[name] = Rows(
        name,
        Columns(columns, source.id),
        file=file is not None,
        source=source.id,
        delivered=True,
    )


def _nobody_came(source: ir.Source) -> str:
    config = source.config
    folder = Path(config.path).resolve()
    return f"no file in {folder} matches {config.pattern.type} {config.pattern.value!r}"


def _empty_is_null(source: ir.Source) -> bool:
    options = source.config.format_options
    return options is None or tuple(options.null_values) == ("",)


def _open_staged(
    stack: ExitStack,
    connection: duckdb.DuckDBPyConnection,
    scope: Scope,
    step: Step,
    name: str,
    relation: StagedTable,
    inputs: Inputs,
) -> None:
    rows = Rows(
        name,
        relation.visible,
        sequence=hidden.SEQUENCE in relation.luggage,
        file=hidden.FILE in relation.luggage,
        routes=hidden.ROUTES in relation.luggage,
        source=relation.source,
    )
    inputs.leaves[name] = rows
    if not relation.columns:
        return
    references = _references(scope, step, relation.node)
    where = _where(scope, relation, references)
    stack.enter_context(staged_view(connection, scope, relation, name, where))
    if len(references) > 1:
        _hold(connection, name)
    inputs.staged += relation.rows


def _references(scope: Scope, step: Step, node: str) -> list[str | None]:
    return [route for reader, route in consumers(scope.pipeline)[node] if reader in step.nodes]


def _where(scope: Scope, relation: StagedTable, references: list[str | None]) -> str:
    if hidden.ROUTES not in relation.luggage:
        return ""
    spec = cast("ir.Branch", scope.pipeline.node(relation.node))
    mask = sum({routing.route_mask(spec, route) for route in references if route})
    return f" WHERE {hidden.ROUTES} & {mask} <> 0"


def _hold(connection: duckdb.DuckDBPyConnection, view: str) -> None:
    # A stream can be read once; a step that reads it twice needs it held.
    connection.execute(f'CREATE TEMP TABLE "{view}.kept" AS SELECT * FROM "{view}"')
    connection.execute(f'CREATE OR REPLACE TEMP VIEW "{view}" AS SELECT * FROM "{view}.kept"')
