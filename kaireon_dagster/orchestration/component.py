"""The component: a folder of documents from a `defs.yaml`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import dagster as dg
from pydantic import Field

from kaireon_dagster.orchestration.code_location import flow_definitions
from kaireon_dagster.orchestration.resources import FlowDatabase


class FlowPipelinesComponent(dg.Component, dg.Resolvable, dg.Model):
    """Flow documents as assets that load PostgreSQL tables."""

    path: str = Field(
        default=".",
        description="Folder of documents, or one document; relative to the folder of defs.yaml.",
        examples=["pipelines"],
    )
    database_url_env: str | None = Field(
        default=None,
        description="Environment variable that holds the connection string of the database; "
        "FLOW_DATABASE_URL by default.",
    )
    checkpoints: Literal["where_needed", "every_node"] = Field(
        default="where_needed", description="Which nodes become durable steps."
    )
    asset_jobs: Literal["auto"] | bool = Field(
        default="auto",
        description="Whether each pipeline has a job of its name; auto: while they are few.",
    )
    unknown_keys: Literal["error", "warn"] = Field(
        default="error", description="Whether an unknown key breaks a document, or only warns."
    )

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Build the definitions of the documents."""
        url = dg.EnvVar(self.database_url_env) if self.database_url_env else None
        return flow_definitions(
            Path(context.path, self.path),
            resources={"database": FlowDatabase(url=url)},
            checkpoints=self.checkpoints,
            asset_jobs=self.asset_jobs,
            unknown_keys=self.unknown_keys,
        )
