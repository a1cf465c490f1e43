"""Values of a run that SQL reads by name, so that a step's SQL is the same in every run."""

from __future__ import annotations

import re

from kaireon_dagster.plan.hidden import FILE
from kaireon_dagster.plan.sqltext import literal

RUN_ID = "flow_run_id"
PIPELINE_ID = "flow_pipeline_id"
STARTED_AT = "flow_run_started_at"
"""ISO 8601 in UTC, as text."""

_TEMPLATE = re.compile(r"\{\{(runId|pipelineId|runStartedAt|fileName)\}\}")


def read(name: str) -> str:
    """SQL that reads a variable of the session; NULL when it is not set."""
    return f"getvariable({literal(name)})"


def salt(environment_variable: str) -> str:
    """Name of the variable that holds a salt, so that the salt itself never stands in SQL."""
    return f"flow_salt_{environment_variable.lower()}"


def asks_for_file(text: object) -> bool:
    """Whether a template value needs the name of the row's file."""
    return isinstance(text, str) and "{{fileName}}" in text


def fill(text: str, *, has_file: bool) -> str:
    """SQL of a text with `{{runId}}` and its like filled in."""
    values = {
        "runId": read(RUN_ID),
        "pipelineId": read(PIPELINE_ID),
        "runStartedAt": read(STARTED_AT),
        "fileName": FILE if has_file else "NULL",
    }
    pieces = _TEMPLATE.split(text)
    parts = [values[p] if i % 2 else literal(p) for i, p in enumerate(pieces) if i % 2 or p]
    return f"({' || '.join(parts)})" if parts else literal(text)
