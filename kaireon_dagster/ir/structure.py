"""The second phase: whether the nodes of a document make a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kaireon_dagster.errors import Problem, quote_allowed
from kaireon_dagster.ir.base import Location
from kaireon_dagster.ir.cycles import find_cycle
from kaireon_dagster.ir.identifiers import split_reference
from kaireon_dagster.ir.outline import NodeOutline, Reference, read_outline
from kaireon_dagster.ir.paths import write_path
from kaireon_dagster.ir.spelling import nearest, quote, unknown

Nodes = Mapping[str, NodeOutline]


def find_structure_problems(data: Any, *, streaming: bool) -> Iterator[Problem]:
    """Yield what is wrong between the nodes of a document, as far as its shape lets it be seen.

    Args:
        data: the raw document; its shape need not be right.
        streaming: whether streaming connectors may be used.
    """
    outline = read_outline(data)
    nodes: dict[str, NodeOutline] = {}
    for node in outline:
        if node.id is not None:
            nodes.setdefault(node.id, node)
    for location, message in (
        *_find_id_faults(outline),
        *_find_reference_faults(outline, nodes),
        *_find_cycle_faults(nodes),
        *_find_unread(outline, nodes),
        *_find_missing_ends(data, outline),
        *_find_stream_faults(outline, streaming),
        *_find_archive_faults(outline, nodes),
        *_find_trigger_faults(data, outline),
    ):
        yield Problem(write_path(location), message)


Faults = Iterator[tuple[Location, str]]


def _find_id_faults(outline: tuple[NodeOutline, ...]) -> Faults:
    seen: dict[str, NodeOutline] = {}
    for node in outline:
        if node.id is None:
            continue
        first = seen.setdefault(node.id.replace("-", "_"), node)
        if first is node:
            continue
        location = ("nodes", node.index, "id")
        if first.id == node.id:
            yield location, f"{quote(node.id)} is already the id of nodes[{first.index}]"
        else:
            yield (
                location,
                f"{quote(node.id)} and {quote(first.id or '')} differ only in '-' and '_'",
            )


def _find_reference_faults(outline: tuple[NodeOutline, ...], nodes: Nodes) -> Faults:
    for node in outline:
        for reference in node.references:
            message = _find_reference_fault(reference, nodes, node)
            if message is not None:
                yield reference.location, message


def _find_reference_fault(reference: Reference, nodes: Nodes, reader: NodeOutline) -> str | None:
    node_id, route = split_reference(reference.text)
    node = nodes.get(node_id)
    if node is None:
        readable = [name for name, other in nodes.items() if other.kind != "target"]
        return unknown("node", node_id, [name for name in readable if name != reader.id])
    if node.kind == "target":
        return f"{quote(node_id)} is a target; nothing can read from it"
    if node.kind != "branch":
        if route is None or node.kind is None:
            return None
        return f"{quote(node_id)} is no branch, it has no route {quote(route)}; write {node_id!r}"
    if route is None:
        return f"{quote(node_id)} is a branch; name a route of it: {_routes_of(node)}"
    if route not in node.routes:
        return unknown(f"route of {node_id!r}", route, node.routes)
    return None


def _routes_of(node: NodeOutline) -> str:
    return quote_allowed([f"{node.id}.{route}" for route in node.routes]) if node.routes else "none"


def _find_cycle_faults(nodes: Nodes) -> Faults:
    edges = {
        node_id: [split_reference(reference.text)[0] for reference in node.references]
        for node_id, node in nodes.items()
    }
    cycle = find_cycle(edges)
    if cycle:
        # Data flows against the direction of references: from the node that is read.
        names = " → ".join(repr(name) for name in reversed(cycle))
        first, upstream = nodes[cycle[0]], cycle[1]
        location = next(
            reference.location
            for reference in first.references
            if split_reference(reference.text)[0] == upstream
        )
        yield location, f"the nodes form a cycle: {names}"


def _find_unread(outline: tuple[NodeOutline, ...], nodes: Nodes) -> Faults:
    read = {_meant(reference, nodes) for node in outline for reference in node.references}
    # A node whose input cannot be seen, or names nothing, may mean any of the others.
    if not all(node.is_whole for node in outline) or not all(name in nodes for name, _ in read):
        return
    # Of a branch one route is enough: rows of the others are counted when it runs, and told of.
    consumed = {name for name, _ in read}
    for node in nodes.values():
        if node.kind not in ("target", "archive") and node.id not in consumed:
            yield (
                ("nodes", node.index),
                f"no node reads {quote(node.id or '')}; its rows go nowhere",
            )


def _meant(reference: Reference, nodes: Nodes) -> tuple[str, str | None]:
    """Resolve a reference, a misspelt one to what it probably means: one fault, one message.

    A route that resembles none may mean any, as if the whole branch were read.
    """
    node_id, route = split_reference(reference.text)
    if node_id not in nodes:
        node_id = nearest(node_id, nodes) or node_id
    node = nodes.get(node_id)
    if node is not None and route is not None and route not in node.routes:
        route = nearest(route, node.routes)
    return node_id, route


def _find_missing_ends(data: Any, outline: tuple[NodeOutline, ...]) -> Faults:
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list):
        return
    kinds = {node.kind for node in outline}
    if None in kinds or len(outline) < len(data["nodes"]):
        return
    for kind in ("source", "target"):
        if kind not in kinds:
            yield ("nodes",), f"a pipeline needs at least one node of kind {kind!r}"


def _find_stream_faults(outline: tuple[NodeOutline, ...], streaming: bool) -> Faults:
    sources = [node for node in outline if node.kind == "source" and node.connector is not None]
    streams = [node for node in sources if node.is_stream]
    if not streaming:
        for node in streams:
            yield (
                ("nodes", node.index, "connector"),
                f"connector {node.connector!r} is not authorable while streaming is off; "
                "set FLOW_STREAMING_ENABLED=true",
            )
    if streams and len(streams) < len(sources):
        batch = next(node for node in sources if not node.is_stream)
        yield (
            ("nodes", streams[0].index, "connector"),
            f"streaming and batch sources cannot be mixed; nodes[{batch.index}] is a batch source",
        )


def _find_archive_faults(outline: tuple[NodeOutline, ...], nodes: Nodes) -> Faults:
    owners: dict[str, NodeOutline] = {}
    for archive in outline:
        if archive.kind != "archive":
            continue
        location = ("nodes", archive.index, "input")
        for source in _find_sources(archive, nodes):
            if source.is_stream:
                yield location, f"source {quote(source.id or '')} is a stream, it has no files"
                continue
            owner = owners.setdefault(source.id or "", archive)
            if owner is not archive:
                yield (
                    location,
                    f"the files of {quote(source.id or '')} already go to nodes[{owner.index}]; "
                    "a file has one archive folder",
                )


def _find_sources(node: NodeOutline, nodes: Nodes) -> list[NodeOutline]:
    waiting, seen = [node], {node.index}
    found = []
    while waiting:
        current = waiting.pop()
        if current.kind == "source":
            found.append(current)
        for reference in current.references:
            upstream = nodes.get(split_reference(reference.text)[0])
            if upstream is not None and upstream.index not in seen:
                seen.add(upstream.index)
                waiting.append(upstream)
    return sorted(found, key=lambda source: source.index)


def _find_trigger_faults(data: Any, outline: tuple[NodeOutline, ...]) -> Faults:
    arrival: Any = data
    for key in ("trigger", "file_arrival"):
        arrival = arrival.get(key) if isinstance(arrival, dict) else None
    source = arrival.get("source") if isinstance(arrival, dict) else None
    if not isinstance(source, str):
        return
    sources = [node.id for node in outline if node.kind == "source" and not node.is_stream]
    names = [name for name in sources if name is not None]
    if source not in names:
        yield ("trigger", "file_arrival", "source"), unknown("source of files", source, names)
