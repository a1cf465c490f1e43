"""What the environment says, in one place."""

from __future__ import annotations

import os
from pathlib import Path

PIPELINES_VARIABLE = "FLOW_PIPELINES"
DATABASE_VARIABLE = "FLOW_DATABASE_URL"
STREAMING_VARIABLE = "FLOW_STREAMING_ENABLED"


def pipelines_folder() -> Path:
    """The folder of documents: `FLOW_PIPELINES`, else `pipelines` in the current folder."""
    return Path(os.environ.get(PIPELINES_VARIABLE) or "pipelines")


def streaming_enabled() -> bool:
    """Whether documents may name streaming connectors."""
    return os.environ.get(STREAMING_VARIABLE, "").strip().lower() == "true"


def database_url() -> str | None:
    """The database that was named; None for the embedded one."""
    return os.environ.get(DATABASE_VARIABLE) or None
