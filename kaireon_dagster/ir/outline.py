"""The graph of a document, read from its raw data so that wrong fields do not hide it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kaireon_dagster.ir.base import Location
from kaireon_dagster.ir.source import STREAM_CONNECTORS

NODE_KINDS = ("source", "transform", "validate", "branch", "join", "enrich", "archive", "target")


@dataclass(frozen=True, slots=True)
class Reference:
    """What a node reads: the text, and where it stands."""

    text: str
    location: Location


@dataclass(frozen=True, slots=True)
class NodeOutline:
    """As much of a node as its shape allows to see.

    Attributes:
        index: position in `nodes`.
        id: None when it is missing or no string.
        kind: None when it is missing or unknown.
        connector: None when the node has none.
        references: what it reads.
        routes: the routes of a branch.
        is_whole: whether `references` and `routes` are all there is.
    """

    index: int
    id: str | None
    kind: str | None
    connector: str | None
    references: tuple[Reference, ...]
    routes: tuple[str, ...]
    is_whole: bool

    @property
    def is_stream(self) -> bool:
        """Whether it is a source of messages."""
        return self.kind == "source" and self.connector in STREAM_CONNECTORS


def read_outline(data: Any) -> tuple[NodeOutline, ...]:
    """Read the nodes of a document, right or wrong; anything that is no object is left out."""
    nodes = data.get("nodes") if isinstance(data, dict) else None
    if not isinstance(nodes, list):
        return ()
    return tuple(
        _read_node(index, node) for index, node in enumerate(nodes) if isinstance(node, dict)
    )


def _read_node(index: int, node: dict[str, Any]) -> NodeOutline:
    kind = node.get("kind") if node.get("kind") in NODE_KINDS else None
    references = tuple(_read_references(index, node, kind))
    expected = {"source": 0, "join": 2}.get(kind or "", 1)
    routes, routes_whole = _read_routes(node) if kind == "branch" else ((), True)
    return NodeOutline(
        index=index,
        id=_text(node.get("id")),
        kind=kind,
        connector=_text(node.get("connector")),
        references=references,
        routes=routes,
        is_whole=kind is not None and len(references) == expected and routes_whole,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _read_references(index: int, node: dict[str, Any], kind: str | None) -> list[Reference]:
    written: list[tuple[Location, Any]] = []
    if kind == "join":
        inputs = node.get("inputs")
        listed = inputs if isinstance(inputs, list) else []
        written = [(("inputs", position), value) for position, value in enumerate(listed)]
    elif kind != "source":
        written = [(("input",), node.get("input"))]
    return [
        Reference(value, ("nodes", index, *place))
        for place, value in written
        if _text(value) is not None
    ]


def _read_routes(node: dict[str, Any]) -> tuple[tuple[str, ...], bool]:
    routes = node.get("routes")
    listed = routes if isinstance(routes, list) else []
    names = [_text(route.get("name")) if isinstance(route, dict) else None for route in listed]
    if "otherwise" in node:
        names.append(_text(node["otherwise"]))
    known = tuple(name for name in names if name is not None)
    return known, bool(names) and len(known) == len(names)
