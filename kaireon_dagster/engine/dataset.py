"""Dataset validators, judged on what was counted while the rows passed by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from kaireon_dagster import ir
from kaireon_dagster.engine.errors import DatasetRefused
from kaireon_dagster.engine.outcome import RuleResult
from kaireon_dagster.engine.tally import Tally
from kaireon_dagster.plan.hidden import Check
from kaireon_dagster.plan.program import Program
from kaireon_dagster.plan.validate import ROWS, measured


def judge(nodes: Iterable[ir.Node], program: Program | None, tally: Tally | None) -> Iterator[RuleResult]:
    """Judge the dataset validators of these nodes; without a program, on no rows at all."""
    for node in nodes:
        if node.kind == "validate":
            spec = cast("ir.Validate", node)
            measures = _measures(node.id, program, tally)
            for index, rule in enumerate(spec.dataset_rules):
                yield _judge(node.id, rule, measures.get(ROWS, 0), measures.get(measured(index, rule), 0))


def refuse_broken(results: Iterable[RuleResult]) -> None:
    """Raise for the first validator that does not hold and aborts."""
    for result in results:
        if not result.passed and result.severity == "fail":
            raise DatasetRefused(result.node, result.rule, result.what)


def _measures(node: str, program: Program | None, tally: Tally | None) -> dict[str, int]:
    if program is None or tally is None:
        return {}
    mine: Iterable[Check] = (c for c in program.checks if c.node == node and c.severity == "measure")
    return {check.rule: tally.failed[check.bit] for check in mine}


def _judge(node: str, rule: ir.DatasetRule, rows: int, hits: int) -> RuleResult:
    passed, measured_value, what = _JUDGES[rule.validator](rule, rows, hits)
    severity = "fail" if rule.on_fail == "abort" else "warn"
    return RuleResult(node, rule.validator, cast("object", severity), measured_value, passed, what)  # type: ignore[arg-type]


def _row_count(rule: ir.DatasetRule, rows: int, _hits: int) -> tuple[bool, int, str]:
    low, high = rule.min or 0, rule.max
    passed = low <= rows and (high is None or rows <= high)
    limits = f"at least {low}" if high is None else f"between {low} and {high}"
    return passed, rows, f"{rows} rows, and {limits} are expected"


def _null_rate(rule: ir.DatasetRule, rows: int, hits: int) -> tuple[bool, int, str]:
    rate = hits / rows if rows else 0.0
    limit = float(rule.max or 0)
    return rate <= limit, hits, f"{rate:.2%} of {rule.field!r} is NULL, and at most {limit:.2%} may be"


def _uniqueness(rule: ir.DatasetRule, _rows: int, hits: int) -> tuple[bool, int, str]:
    return hits == 0, hits, f"{hits} rows share their ({', '.join(rule.fields)}) with another"


def _freshness(rule: ir.DatasetRule, rows: int, hits: int) -> tuple[bool, int, str]:
    what = f"no row's {rule.field!r} is within {rule.max_age_minutes} minutes of the run's start"
    return hits > 0 or rows == 0, hits, what


def _referential(rule: ir.DatasetRule, _rows: int, hits: int) -> tuple[bool, int, str]:
    return hits == 0, hits, f"{hits} rows have a {rule.field!r} that is not in {rule.references}"


_JUDGES = {
    "rowCount": _row_count,
    "nullRate": _null_rate,
    "uniqueness": _uniqueness,
    "freshness": _freshness,
    "referential": _referential,
}
