"""What the op of each kind of step does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.orchestration.attempt import Attempt, Ended
from kaireon_dagster.orchestration.blueprint import RELATION, Blueprint
from kaireon_dagster.orchestration.errors import ChecksAlone, TargetsLeftOut
from kaireon_dagster.orchestration.facts import claim_facts, load_facts, stage_facts
from kaireon_dagster.orchestration.looking import find_outcomes, row_count
from kaireon_dagster.orchestration.reporting import log_quarantine, results_of, violations_of
from kaireon_dagster.plan.steps import Step

if TYPE_CHECKING:
    from kaireon_dagster.engine.outcome import Outcome
    from kaireon_dagster.engine.relation import ClaimedFiles, Relation, StagedTable
    from kaireon_dagster.engine.scope import Scope

Events = Iterator[Any]
Compute = Callable[[dg.OpExecutionContext, Mapping[str, Any]], Events]


def compute_of(blueprint: Blueprint, step: Step) -> Compute:
    """The function that does a step inside Dagster."""
    work = {"claim": _claim, "stage": _stage, "load": _load}[step.kind]

    # Dagster wants a context without annotation, or one that it can read: a string is neither.
    return lambda context, inputs: work(context, blueprint, step, inputs)


def _claim(
    context: dg.OpExecutionContext, blueprint: Blueprint, step: Step, _inputs: Mapping[str, Any]
) -> Events:
    targets = _selected(context, blueprint)
    attempt = Attempt(context, blueprint, step, targets)

    def work(scope: Scope) -> ClaimedFiles:
        from kaireon_dagster.engine.claiming import claim_source
        from kaireon_dagster.orchestration.resuming import reclaim

        _require_runnable(context, blueprint, step, targets)
        # A re-execution works on the files of its run, wherever these have gone meanwhile.
        again = reclaim(scope, step) if context.run.root_run_id else None
        return again or claim_source(scope, step, attempt=attempt.looks)

    claimed = attempt.run(work)
    if isinstance(claimed, Ended):
        raise claimed.decision
    attempt.finished(_counted(len(claimed.files), "file"))
    facts = claim_facts(claimed)
    if claimed.files:
        key = blueprint.source_key(step.node)
        context.log_event(dg.AssetObservation(asset_key=key, metadata=facts))
    yield dg.Output(claimed, RELATION, metadata=facts)


def _stage(
    context: dg.OpExecutionContext, blueprint: Blueprint, step: Step, inputs: Mapping[str, Any]
) -> Events:
    attempt = Attempt(context, blueprint, step, _selected(context, blueprint))

    def work(scope: Scope) -> tuple[StagedTable, Outcome]:
        from kaireon_dagster.engine.staging import stage_node

        return stage_node(scope, step, _relations(scope, step, inputs))

    done = attempt.run(work)
    if isinstance(done, Ended):
        yield from violations_of(blueprint, done.error)
        raise done.decision
    staged, outcome = done
    log_quarantine(context, blueprint, attempt, outcome)
    attempt.finished(f"{_counted(outcome.counts.staged, 'row')} staged")
    yield dg.Output(staged, RELATION, metadata=stage_facts(outcome))


def _load(
    context: dg.OpExecutionContext, blueprint: Blueprint, step: Step, inputs: Mapping[str, Any]
) -> Events:
    attempt = Attempt(context, blueprint, step, _selected(context, blueprint))
    target = blueprint.pipeline.node(step.node)
    assert isinstance(target, ir.Target), "a load step ends in a target"

    def work(scope: Scope) -> tuple[Outcome, tuple[Outcome, ...]]:
        from kaireon_dagster.engine.load import load_target

        outcome = load_target(scope, step, _relations(scope, step, inputs))
        return outcome, find_outcomes(scope, blueprint.upstream(step))

    done = attempt.run(work)
    if isinstance(done, Ended):
        yield from violations_of(blueprint, done.error)
        raise done.decision
    outcome, before = done
    log_quarantine(context, blueprint, attempt, outcome)
    attempt.finished(f"{_counted(outcome.counts.loaded, 'row')} loaded")
    key = blueprint.key(target)
    facts = load_facts(blueprint, outcome, before) | row_count(attempt.opened, target)
    yield dg.MaterializeResult(asset_key=key, metadata=facts)
    for result in results_of(blueprint, target, (*before, outcome)):
        if (key, result.check_name) in _selected_checks(context):
            yield result


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _selected(context: dg.OpExecutionContext, blueprint: Blueprint) -> tuple[ir.Target, ...]:
    keys = context.selected_asset_keys
    return tuple(target for target in blueprint.pipeline.targets if blueprint.key(target) in keys)


def _selected_checks(context: dg.OpExecutionContext) -> set[tuple[dg.AssetKey, str]]:
    return {(key.asset_key, key.name) for key in context.selected_asset_check_keys}


def _require_runnable(
    context: dg.OpExecutionContext,
    blueprint: Blueprint,
    step: Step,
    targets: tuple[ir.Target, ...],
) -> None:
    from kaireon_dagster.engine.runnable import require_runnable

    pipeline = blueprint.pipeline
    alone = {key.asset_key for key in context.selected_asset_check_keys} - set(
        context.selected_asset_keys
    )
    if alone or not targets:
        raise ChecksAlone(tuple(sorted(key.to_user_string() for key in alone)))
    require_runnable(pipeline, pipeline.nodes)
    source = pipeline.node(step.node)
    assert isinstance(source, ir.Source), "only files can be read so far"
    missing = [target.schema_ for target in blueprint.reached(step.name) if target not in targets]
    if source.config.atomicity is not None and missing:
        raise TargetsLeftOut(source.id, tuple(missing))


def _relations(scope: Scope, step: Step, inputs: Mapping[str, Any]) -> dict[str, Relation]:
    """The step's inputs by step name; those the store does not have are made again."""
    from kaireon_dagster.orchestration.resuming import remake

    given = {name: inputs.get(f"input_{place}") for place, name in enumerate(step.inputs)}
    return {
        name: relation if relation is not None else remake(scope, scope.plan.step(name))
        for name, relation in given.items()
    }
