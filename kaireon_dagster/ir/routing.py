"""Nodes that part rows, bring them together, enrich them, or send their files elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field

from kaireon_dagster.ir.base import Checked, Flaw, Model, Text, repeated
from kaireon_dagster.ir.frozen import FrozenMapping
from kaireon_dagster.ir.identifiers import FieldName, FieldReference, NodeReference, RouteName
from kaireon_dagster.ir.node import Consumer, Node
from kaireon_dagster.ir.source import Folder


class Route(Model):
    """One way out of a branch."""

    name: RouteName = Field(description="Name of the route; read as branchId.routeName.")
    when: Text = Field(description="Boolean expression; rows where it is true take the route.")


class Branch(Checked, Consumer):
    """Parts rows into routes."""

    kind: Literal["branch"] = Field(description="Parts rows into routes.")
    routes: tuple[Route, ...] = Field(min_length=1, description="The routes, in order.")
    otherwise: RouteName | None = Field(
        default=None,
        description="Route of the rows that no other takes; without one they are counted and "
        "dropped with a warning.",
    )
    mode: Literal["first", "all"] = Field(
        default="first", description="A row takes the first route that fits, or all that fit."
    )

    @property
    def route_names(self) -> tuple[str, ...]:
        """All routes, `otherwise` last."""
        names = tuple(route.name for route in self.routes)
        return names if self.otherwise is None else (*names, self.otherwise)

    def flaws(self) -> Iterator[Flaw]:
        """Yield routes of one name."""
        names = [route.name for route in self.routes]
        for index, name in repeated(names):
            yield ("routes", index, "name"), f"route {name!r} is named twice"
        if self.otherwise in names:
            yield ("otherwise",), f"route {self.otherwise!r} is named twice"


class JoinKey(Model):
    """One pair of a join's key."""

    left: FieldReference = Field(description="Field of the first input.")
    right: FieldReference = Field(description="Field of the second input.")


class Join(Node):
    """Brings the rows of two nodes together by a key."""

    kind: Literal["join"] = Field(description="Joins two nodes.")
    inputs_: tuple[NodeReference, NodeReference] = Field(
        alias="inputs", description="The two nodes, left and right."
    )
    type: Literal["inner", "left", "right", "full"] = Field(description="Which rows stay.")
    on: tuple[JoinKey, ...] = Field(
        min_length=1, description="The pairs of fields that must match."
    )
    suffix: FieldName = Field(
        default="_right", description="Added to a right field whose name the left has too."
    )

    @property
    def inputs(self) -> tuple[str, ...]:
        """Left and right, as written."""
        return self.inputs_


class Enrich(Consumer):
    """Asks a provider about each row."""

    kind: Literal["enrich"] = Field(description="Adds what a provider answers.")
    provider: Text = Field(description="Name of the provider plug-in; http is built in.")
    config: FrozenMapping[Any] = Field(
        default=FrozenMapping(), description="Settings of the provider; never a secret."
    )
    output_field: FieldName = Field(description="The field that receives the answer.")
    on_error: Literal["null", "quarantine", "fail"] = Field(
        description="What becomes of a row that the provider fails on."
    )


class Archive(Consumer):
    """Sends the source files behind its input to a folder of their own."""

    kind: Literal["archive"] = Field(description="Archives the files behind its input.")
    folder: Folder = Field(
        description="Folder below the source's path, instead of successFolder; date tokens allowed."
    )
