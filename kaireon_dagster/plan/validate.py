"""The validate node: row rules and dataset validators, all as bits on the rows that pass by."""

from __future__ import annotations

from kaireon_dagster import ir
from kaireon_dagster.plan import variables
from kaireon_dagster.plan.builder import NodeBuilder
from kaireon_dagster.plan.catalog import Catalog
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.hidden import Check, Severity
from kaireon_dagster.plan.names import lookup_view
from kaireon_dagster.plan.ops.lookup import Lookup, held_type
from kaireon_dagster.plan.rules import reorders, repeated, violation
from kaireon_dagster.plan.sqltext import ident
from kaireon_dagster.plan.types import TEXT, TIMESTAMPTZ

ROWS = "rows"
"""The measured rule that every row passing a validate node counts for."""

_SEVERITY: dict[str, Severity] = {
    "quarantine": "quarantine",
    "drop": "drop",
    "warn": "warn",
    "abort": "fail",
}


def validate(node: NodeBuilder, spec: ir.Validate, catalog: Catalog) -> None:
    """Mark rows by the row rules, let those that fail go, and measure the rest."""
    _row_level(node, spec)
    node.decide()
    if spec.dataset_rules:
        _dataset_level(node, spec, catalog)


def _row_level(node: NodeBuilder, spec: ir.Validate) -> None:
    if any(rule.name in reorders for rule in spec.row_level):
        node.sequence()
        node.scramble()
    conditions = {_open(node, rule): _violates(node, rule) for rule in spec.row_level}
    if conditions:
        node.mark(conditions, "row rules")


def _open(node: NodeBuilder, rule: ir.RowRule) -> Check:
    what = f"violates {rule.rule}"
    return node.builder.check(node.node, rule.id, _SEVERITY[rule.on_fail], what, rule.field)


def _violates(node: NodeBuilder, rule: ir.RowRule) -> str:
    return violation(node, rule, node.rows.columns.get(rule.field))


def _dataset_level(node: NodeBuilder, spec: ir.Validate, catalog: Catalog) -> None:
    if any(rule.validator == "uniqueness" for rule in spec.dataset_rules):
        node.sequence()
        node.scramble()
    conditions = {node.builder.check(node.node, ROWS, "measure", "rows that pass"): "TRUE"}
    for index, rule in enumerate(spec.dataset_rules):
        condition = _measure(node, rule, catalog)
        if condition is not None:
            name = measured(index, rule)
            conditions[node.builder.check(node.node, name, "measure", rule.validator)] = condition
    node.mark(conditions, "measures for the dataset validators")


def measured(index: int, rule: ir.DatasetRule) -> str:
    """Id of the measure behind a dataset validator, unique in its node."""
    return f"{rule.validator}#{index}"


def _measure(node: NodeBuilder, rule: ir.DatasetRule, catalog: Catalog) -> str | None:
    columns = node.rows.columns
    if isinstance(rule, ir.NullRate):
        return f"{ident(columns.get(rule.field).name)} IS NULL"
    if isinstance(rule, ir.Uniqueness):
        return repeated([columns.get(name).name for name in rule.fields], node.rows.alive)
    if isinstance(rule, ir.Freshness):
        return _fresh(node, rule)
    return _orphan(node, rule, catalog) if isinstance(rule, ir.Referential) else None


def _fresh(node: NodeBuilder, rule: ir.Freshness) -> str:
    column = node.rows.columns.get(rule.field)
    moment = node.builder.read(ident(column.name), column.type, TIMESTAMPTZ).value
    now = f"{variables.read(variables.STARTED_AT)}::TIMESTAMPTZ"
    return f"coalesce({moment} >= {now} - INTERVAL '{round(rule.max_age_minutes * 60)} seconds', FALSE)"


def referenced(node: str, rule: ir.Referential) -> Lookup:
    """The column of PostgreSQL that a referential validator looks values up in."""
    schema, table, column = rule.column
    name = (schema, table)
    return Lookup(lookup_view(name, (column,)), node, name, (column,), ())


def _orphan(node: NodeBuilder, rule: ir.Referential, catalog: Catalog) -> str:
    lookup = referenced(node.node, rule)
    table = catalog.get(lookup.table)
    column = lookup.columns[0]
    if table is None or column not in table.types:
        raise NodeFault(node.node, f"referential: {rule.references} does not exist")
    here = node.rows.columns.get(rule.field)
    there = held_type(table.types[column])
    value = ident(here.name)
    if here.type != there:
        text = node.builder.read(value, here.type, TEXT).value
        value = node.builder.read(text, TEXT, there).value
    listed = f"{value} IN (SELECT {ident(column)} FROM {ident(lookup.view)})"
    return f"({ident(here.name)} IS NOT NULL AND coalesce(NOT ({listed}), TRUE))"
