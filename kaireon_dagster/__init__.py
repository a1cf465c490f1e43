"""Flow pipelines as Dagster assets on PostgreSQL."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kaireon_dagster.orchestration.code_location import flow_definitions
    from kaireon_dagster.orchestration.component import FlowPipelinesComponent

# Parsing a document must not cost the import of Dagster, so these come when they are asked for.
_PLACES = {
    "FlowPipelinesComponent": "kaireon_dagster.orchestration.component",
    "flow_definitions": "kaireon_dagster.orchestration.code_location",
}
__all__ = ["FlowPipelinesComponent", "flow_definitions"]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
