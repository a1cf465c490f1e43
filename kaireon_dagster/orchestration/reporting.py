"""Outcomes of steps as Dagster's events: check results, and quarantine tables that grew."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.errors import FlowError
from kaireon_dagster.orchestration.facts import quarantine_facts
from kaireon_dagster.orchestration.keys import table_key

if TYPE_CHECKING:
    from kaireon_dagster.engine.outcome import Outcome, RuleResult
    from kaireon_dagster.orchestration.attempt import Attempt
    from kaireon_dagster.orchestration.blueprint import Blueprint
    from kaireon_dagster.orchestration.guards import Guard


def results_of(
    blueprint: Blueprint, target: ir.Target, outcomes: Iterable[Outcome]
) -> Iterator[dg.AssetCheckResult]:
    """The result of every rule that guards a target; rules that no row met are kept."""
    fared = _by_place(outcomes)
    key = blueprint.key(target)
    for guard in blueprint.guards[target.id]:
        result = fared.get((guard.node, guard.rule, guard.place))
        yield dg.AssetCheckResult(
            asset_key=key,
            check_name=guard.check,
            passed=result is None or result.passed,
            severity=guard.severity,
            description=None if result is None or result.passed else result.what,
            metadata={"node": guard.node, "rows": 0 if result is None else int(result.failed)},
        )


def violations_of(blueprint: Blueprint, error: FlowError) -> Iterator[dg.AssetCheckEvaluation]:
    """The failed check of a rule that stopped the step, for all targets it guards."""
    node, rule = getattr(error, "node", None), getattr(error, "validator", None)
    rule = rule or getattr(error, "rule", None)
    for target in blueprint.pipeline.targets:
        for guard in blueprint.guards[target.id]:
            if (guard.node, guard.rule) == (node, rule) and guard.is_strict:
                yield _violation(blueprint.key(target), guard, error)


def log_quarantine(
    context: dg.OpExecutionContext, blueprint: Blueprint, attempt: Attempt, outcome: Outcome
) -> None:
    """Store that a step's refused rows went into quarantine tables."""
    pipeline, run_id = blueprint.pipeline.id, attempt.opened.run_id
    for name, rows in outcome.quarantine.items():
        if rows == 0:
            continue
        table = ir.split_table(name)
        by_rule: dict[str, int] = {}
        with contextlib.suppress(
            FlowError
        ):  # the rows are safe, whether they can be counted or not
            by_rule = context.resources.dlq_store.count_by_rule(table, pipeline, run_id)
        facts = quarantine_facts(blueprint, outcome.step, rows, by_rule)
        context.log_event(dg.AssetMaterialization(asset_key=table_key(table), metadata=facts))


def _by_place(outcomes: Iterable[Outcome]) -> dict[tuple[str, str, int], RuleResult]:
    found: dict[tuple[str, str, int], RuleResult] = {}
    for outcome in outcomes:
        for result in outcome.rules:
            place = 0
            while (result.node, result.rule, place) in found:
                place += 1
            found[(result.node, result.rule, place)] = result
    return found


def _violation(key: dg.AssetKey, guard: Guard, error: FlowError) -> dg.AssetCheckEvaluation:
    rows = getattr(error, "rows", None)
    return dg.AssetCheckEvaluation(
        asset_key=key,
        check_name=guard.check,
        passed=False,
        severity=guard.severity,
        description=str(error),
        metadata={"node": guard.node} if rows is None else {"node": guard.node, "rows": rows},
    )
