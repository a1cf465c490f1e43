"""The document as a whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from kaireon_dagster.ir.base import Checked, Flaw, Model, Text, Whole
from kaireon_dagster.ir.failure import ErrorHandling
from kaireon_dagster.ir.identifiers import LONGEST_NAME, NodeId, PipelineId, split_table
from kaireon_dagster.ir.routing import Archive, Branch, Enrich, Join
from kaireon_dagster.ir.schedule import Schedule
from kaireon_dagster.ir.source import AnySource, Source, StreamSource
from kaireon_dagster.ir.target import REPLACING_MODES, Target
from kaireon_dagster.ir.transform import Transform
from kaireon_dagster.ir.validate import Validate

AnyNode = Annotated[
    AnySource | Transform | Validate | Branch | Join | Enrich | Archive | Target,
    Field(discriminator="kind"),
]
DLQ_SCHEMA = "flow_dlq"


class Metadata(Model):
    """What people call the pipeline, and whose it is."""

    name: Text = Field(description="Name shown to people.")
    owner: Text | None = Field(default=None, description="Person or team that owns it.")
    tags: tuple[Text, ...] = Field(default=(), description="Words to find it by.")
    description: str | None = Field(default=None, description="What the pipeline is for.")


class Deadline(Model):
    """By when files must have come."""

    window_minutes: Whole = Field(ge=1, description="Minutes after the due time.")
    on_miss: Literal["alert", "fail", "skip"] = Field(description="What happens when none came.")


class FileArrival(Model):
    """Runs the pipeline when files arrive."""

    deadline: Deadline | None = Field(default=None, description="By when files must have come.")
    source: NodeId | None = Field(
        default=None, description="The source that is watched; by default every one."
    )
    min_file_age_seconds: Whole = Field(
        default=0, ge=0, description="How long a file must have been unchanged."
    )


class Trigger(Model):
    """What starts a run besides the schedule."""

    file_arrival: FileArrival = Field(alias="file_arrival", description="Files arriving.")


class Pipeline(Checked):
    """A Flow document: one pipeline, from its sources to its targets."""

    kind: Literal["pipeline"] = Field(description="Always pipeline.")
    version: Literal["1.0"] = Field(description="Version of the language, 1.0.")
    id: PipelineId = Field(description="Name of the pipeline, unique among documents.")
    tenant_id: Text = Field(default="default", description="Tenant whose rows and runs these are.")
    metadata: Metadata = Field(description="Name, owner and tags.")
    schedule: Schedule | None = Field(default=None, description="When the pipeline runs.")
    trigger: Trigger | None = Field(default=None, description="What else starts a run.")
    nodes: tuple[AnyNode, ...] = Field(
        min_length=1, description="Sources, the nodes that work on their rows, and targets."
    )
    error_handling: ErrorHandling = Field(
        default=ErrorHandling(), description="Retry, DLQ, and what a failure stops."
    )

    def node(self, node_id: str) -> AnyNode:
        """Return the node of that id.

        Raises:
            KeyError: the pipeline has no such node.
        """
        for node in self.nodes:
            if node.id == node_id:
                return node
        raise KeyError(node_id)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources that read files, in document order."""
        return tuple(node for node in self.nodes if isinstance(node, Source))

    @property
    def streams(self) -> tuple[StreamSource, ...]:
        """The sources that read messages, in document order."""
        return tuple(node for node in self.nodes if isinstance(node, StreamSource))

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets, in document order."""
        return tuple(node for node in self.nodes if isinstance(node, Target))

    @property
    def dlq_destination(self) -> str:
        """The DLQ table, `schema.table`, with the default applied; at most 63 bytes each."""
        return self.error_handling.dlq.destination or f"{DLQ_SCHEMA}.{dlq_table_name(self.id)}"

    @property
    def dlq_table(self) -> tuple[str, str]:
        """The DLQ table as (schema, table)."""
        return split_table(self.dlq_destination)

    def flaws(self) -> Iterator[Flaw]:
        """Yield targets that are also the place for bad rows."""
        quarantines = {self.dlq_table} | {
            node.quarantine.relation
            for node in self.nodes
            if isinstance(node, Validate) and node.quarantine
        }
        for index, node in enumerate(self.nodes):
            if isinstance(node, Target) and node.table in quarantines:
                yield ("nodes", index, "schema"), "bad rows go to this table; load another"
        yield from _find_rivals(self.nodes)


def _find_rivals(nodes: tuple[AnyNode, ...]) -> Iterator[Flaw]:
    """Yield targets of which one would remove what another loaded."""
    seen: dict[tuple[str, str], tuple[int, Target]] = {}
    for index, node in enumerate(nodes):
        if not isinstance(node, Target):
            continue
        first, other = seen.setdefault(node.table, (index, node))
        replacing = next((t for t in (other, node) if t.load_mode in REPLACING_MODES), None)
        if other is not node and replacing is not None:
            yield (
                ("nodes", index, "schema"),
                f"nodes[{first}] loads this table too, and {replacing.load_mode} of node "
                f"{replacing.id!r} would remove the other's rows; join the rows first",
            )


def fold_id(pipeline_id: str) -> str:
    """Write a pipeline id with the letters that table and Dagster names may have."""
    return pipeline_id.replace("-", "_").replace(".", "_")


def dlq_table_name(pipeline_id: str) -> str:
    """Name a pipeline's DLQ table; an id too long for PostgreSQL keeps its start and a hash."""
    name = fold_id(pipeline_id)
    if len(name) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(pipeline_id.encode()).hexdigest()[:8]
    return f"{name[: LONGEST_NAME - 9]}_{digest}"
