"""Documents as the definitions of a code location."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import dagster as dg

from kaireon_dagster import ir
from kaireon_dagster.orchestration.blueprint import Blueprint
from kaireon_dagster.orchestration.checkpoint_store import FlowCheckpointStore
from kaireon_dagster.orchestration.describing import describe_pipeline
from kaireon_dagster.orchestration.drawing import draw
from kaireon_dagster.orchestration.externals import broken_specs, external_specs
from kaireon_dagster.orchestration.graphs import CHECKPOINT_STORE, build_asset
from kaireon_dagster.orchestration.labels import tags_of
from kaireon_dagster.orchestration.names import is_tag_value
from kaireon_dagster.orchestration.resources import (
    FlowBackupStore,
    FlowDatabase,
    FlowDlqStore,
    FlowEngine,
)
from kaireon_dagster.plan.steps import Checkpoints

FEW: Final = 100
"""With more documents than this, jobs cost a code location more than they give."""
PIPELINE_TAG: Final = "flow/pipeline"
STREAMING_VARIABLE: Final = "FLOW_STREAMING_ENABLED"


def flow_definitions(
    path: str | os.PathLike[str] = "pipelines",
    *,
    resources: Mapping[str, Any] | None = None,
    executor: dg.ExecutorDefinition | None = None,
    checkpoints: Checkpoints = "where_needed",
    asset_jobs: Literal["auto"] | bool = "auto",
    unknown_keys: Literal["error", "warn"] = "error",
) -> dg.Definitions:
    """Turn every document below a folder into Dagster definitions.

    Reads the documents and nothing else: neither databases nor source folders are touched. A
    broken document does not take the others down; it is logged, and shown as an asset of the group
    `broken_documents` with its problems.

    Args:
        path: folder of documents, or one document.
        resources: in place of the default ones: `database`, `engine`, `dlq_store`,
            `checkpoint_store`, `backup_store`.
        executor: of the jobs and of runs that Dagster puts together; steps run one after the other
            in the run's own process by default.
        checkpoints: which nodes become durable steps: those that need it, or every one.
        asset_jobs: whether each pipeline has a job of its name; by default while there are at
            most 100 documents.
        unknown_keys: whether an unknown key breaks a document, or only warns.

    Raises:
        FolderMissing: the path does not exist.
    """
    root = Path(path)
    streaming = os.environ.get(STREAMING_VARIABLE, "").lower() == "true"
    documents = ir.load_folder(root, streaming=streaming, unknown_keys=unknown_keys)
    broken = [document for document in documents if isinstance(document, ir.BrokenDocument)]
    _report(broken)
    sound = (document for document in documents if isinstance(document, ir.LoadedDocument))
    return build_definitions(
        draw(sound, checkpoints=checkpoints),
        extra=tuple(broken_specs(broken, root)),
        resources=resources,
        executor=executor,
        jobs=len(documents) <= FEW if asset_jobs == "auto" else asset_jobs,
    )


def build_definitions(
    blueprints: Sequence[Blueprint],
    *,
    extra: Iterable[dg.AssetSpec] = (),
    resources: Mapping[str, Any] | None = None,
    executor: dg.ExecutorDefinition | None = None,
    jobs: bool = True,
) -> dg.Definitions:
    """Build definitions from blueprints that were drawn together."""
    executor = executor or dg.in_process_executor
    return dg.Definitions(
        assets=[*map(build_asset, blueprints), *external_specs(blueprints), *extra],
        jobs=[_job(blueprint, executor) for blueprint in blueprints] if jobs else [],
        resources=_resources(resources or {}),
        executor=executor,
    )


def _job(blueprint: Blueprint, executor: dg.ExecutorDefinition) -> Any:
    pipeline = blueprint.pipeline
    named = {PIPELINE_TAG: pipeline.id} if is_tag_value(pipeline.id) else {}
    return dg.define_asset_job(
        blueprint.job,
        selection=dg.AssetSelection.assets(*map(blueprint.key, pipeline.targets)),
        description=describe_pipeline(pipeline),
        executor_def=executor,
        tags={**tags_of(pipeline), **named},
    )


def _resources(given: Mapping[str, Any]) -> dict[str, Any]:
    database = given.get("database", FlowDatabase())
    return {
        "database": database,
        "engine": FlowEngine(),
        "dlq_store": FlowDlqStore(database=database),
        CHECKPOINT_STORE: FlowCheckpointStore(database=database),
        "backup_store": FlowBackupStore(),
        **given,
    }


def _report(broken: Iterable[ir.BrokenDocument]) -> None:
    log = dg.get_dagster_logger("kaireon_dagster")
    for document in broken:
        for problem in document.problems:
            log.error(f"{document.path}: {problem}")
