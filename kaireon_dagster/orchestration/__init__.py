"""Documents as Dagster definitions: ops, assets, checks, jobs, resources, the component."""

from __future__ import annotations

from kaireon_dagster.orchestration.checkpoint_store import FlowCheckpointStore
from kaireon_dagster.orchestration.code_location import flow_definitions
from kaireon_dagster.orchestration.component import FlowPipelinesComponent
from kaireon_dagster.orchestration.resources import (
    FlowBackupStore,
    FlowDatabase,
    FlowDlqStore,
    FlowEngine,
)
from kaireon_dagster.orchestration.running import RunReport, execute
from kaireon_dagster.orchestration.watching import StepEvent

__all__ = [
    "FlowBackupStore",
    "FlowCheckpointStore",
    "FlowDatabase",
    "FlowDlqStore",
    "FlowEngine",
    "FlowPipelinesComponent",
    "RunReport",
    "StepEvent",
    "execute",
    "flow_definitions",
]
