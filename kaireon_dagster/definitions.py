"""The code location of `workspace.yaml`: the documents of the folder that FLOW_PIPELINES names.

Without that variable it is `pipelines` in the current folder.
"""

from __future__ import annotations

import os

from kaireon_dagster.orchestration import flow_definitions

defs = flow_definitions(os.environ.get("FLOW_PIPELINES") or "pipelines")
