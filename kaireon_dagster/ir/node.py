"""What every node of a pipeline has."""

from __future__ import annotations

from pydantic import Field

from kaireon_dagster.ir.base import Flag, Model
from kaireon_dagster.ir.identifiers import NodeId, NodeReference


class Node(Model):
    """One node of a pipeline; its kind decides the rest of its fields."""

    id: NodeId = Field(description="Name of the node, unique in the document.")
    description: str | None = Field(default=None, description="What the node is for.")
    checkpoint: Flag = Field(
        default=False, description="Make this node's result a durable step to resume from."
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the node reads, as written: node ids, or `branch.route`."""
        return ()


class Consumer(Node):
    """A node that reads one other."""

    input: NodeReference = Field(
        description="The node that is read, or a branch's route as branchId.routeName."
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        """The one reference, as written."""
        return (self.input,)
