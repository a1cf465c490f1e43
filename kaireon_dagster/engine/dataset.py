"""Dataset validators, judged on what was counted while the rows passed by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kaireon_dagster import ir
from kaireon_dagster.engine.errors import DatasetRefused
from kaireon_dagster.engine.outcome import RuleResult
from kaireon_dagster.engine.tally import Tally
from kaireon_dagster.plan.hidden import Check, Severity
from kaireon_dagster.plan.program import Program
from kaireon_dagster.plan.validate import ROWS, measured


def judge(
    nodes: Iterable[ir.AnyNode], program: Program | None, tally: Tally | None
) -> Iterator[RuleResult]:
    """Judge the dataset validators of these nodes; without a program, on no rows at all."""
    for node in nodes:
        if node.kind == "validate":
            measures = _measures(node.id, program, tally)
            for index, rule in enumerate(node.dataset_rules):
                yield _judge(
                    node.id, rule, measures.get(ROWS, 0), measures.get(measured(index, rule), 0)
                )


def refuse_broken(results: Iterable[RuleResult]) -> None:
    """Raise for the first validator that does not hold and aborts."""
    for result in results:
        if not result.passed and result.severity == "fail":
            raise DatasetRefused(result.node, result.rule, result.what)


def _measures(node: str, program: Program | None, tally: Tally | None) -> dict[str, int]:
    if program is None or tally is None:
        return {}
    mine: Iterable[Check] = (
        c for c in program.checks if c.node == node and c.severity == "measure"
    )
    return {check.rule: tally.failed[check.bit] for check in mine}


def _judge(node: str, rule: ir.DatasetRule, rows: int, hits: int) -> RuleResult:
    passed, measure, what = _verdict(rule, rows, hits)
    severity: Severity = "fail" if rule.on_fail == "abort" else "warn"
    return RuleResult(node, rule.validator, severity, measure, passed, what)


def _verdict(rule: ir.DatasetRule, rows: int, hits: int) -> tuple[bool, int, str]:
    if isinstance(rule, ir.RowCount):
        return _row_count(rule, rows)
    if isinstance(rule, ir.NullRate):
        return _null_rate(rule, rows, hits)
    if isinstance(rule, ir.Uniqueness):
        return hits == 0, hits, f"{hits} rows share their ({', '.join(rule.fields)}) with another"
    if isinstance(rule, ir.Freshness):
        return _freshness(rule, rows, hits)
    assert isinstance(rule, ir.Referential), rule.validator
    return hits == 0, hits, f"{hits} rows have a {rule.field!r} that is not in {rule.references}"


def _row_count(rule: ir.RowCount, rows: int) -> tuple[bool, int, str]:
    low, high = rule.min or 0, rule.max
    passed = low <= rows and (high is None or rows <= high)
    limits = f"at least {low}" if high is None else f"between {low} and {high}"
    return passed, rows, f"{rows} rows passed, and {limits} are expected"


def _null_rate(rule: ir.NullRate, rows: int, hits: int) -> tuple[bool, int, str]:
    rate = hits / rows if rows else 0.0
    what = f"{rate:.2%} of {rule.field!r} is NULL, and at most {rule.max:.2%} may be"
    return rate <= rule.max, hits, what


def _freshness(rule: ir.Freshness, rows: int, hits: int) -> tuple[bool, int, str]:
    what = f"no {rule.field!r} is within {rule.max_age_minutes:g} minutes of the run's start"
    return hits > 0 or rows == 0, hits, what
