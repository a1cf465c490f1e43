"""Documents in words, for the descriptions that Dagster shows."""

from __future__ import annotations

from collections.abc import Iterable

from kaireon_dagster import ir


def describe_pipeline(pipeline: ir.Pipeline) -> str:
    """A document in markdown: what it is for, and a table of its nodes."""
    said = pipeline.metadata.description or f"Flow pipeline `{pipeline.id}`."
    rows = [
        f"| `{node.id}` | {_cell(describe_node(node))} | {_references(node.inputs)} |"
        for node in pipeline.nodes
    ]
    return "\n".join([said, "", "| node | does | reads |", "| --- | --- | --- |", *rows])


def describe_node(node: ir.AnyNode) -> str:
    """What a node does, in one line."""
    does = _does(node)
    return f"{node.description} ({does})" if node.description else does


def describe_schedule(schedule: ir.Schedule) -> str:
    """A schedule in one line."""
    if isinstance(schedule, ir.Interval):
        return f"every {schedule.minutes} minutes"
    rule = schedule.expression if isinstance(schedule, ir.Cron) else schedule.rrule
    return f"{schedule.kind} {rule} ({schedule.timezone})"


def _does(node: ir.AnyNode) -> str:
    if isinstance(node, ir.Source):
        pattern = node.config.pattern.value
        return f"{node.config.format} files {pattern} in {node.config.path} ({node.connector})"
    if isinstance(node, ir.StreamSource):
        return f"messages of {node.config.topic or node.config.connection} ({node.connector})"
    if isinstance(node, ir.Target):
        key = f" by {', '.join(node.upsert_key)}" if node.upsert_key else ""
        return f"{node.load_mode} into {node.schema_}{key}"
    return _does_inside(node)


def _does_inside(node: ir.AnyNode) -> str:
    if isinstance(node, ir.Transform):
        return ", ".join(dict.fromkeys(op.type for op in node.ops)) or "nothing"
    if isinstance(node, ir.Validate):
        rules = [rule.id for rule in node.row_level]
        rules += [rule.validator for rule in node.dataset_rules]
        return f"checks {', '.join(rules)}"
    if isinstance(node, ir.Branch):
        return f"parts rows into {', '.join(node.route_names)}"
    if isinstance(node, ir.Join):
        return f"{node.type} join on {', '.join(f'{k.left} = {k.right}' for k in node.on)}"
    return node.kind


def _references(inputs: Iterable[str]) -> str:
    return ", ".join(f"`{reference}`" for reference in inputs)


def _cell(text: str) -> str:
    # A pipe ends a cell, and a star would begin emphasis.
    escaped = "".join(f"\\{char}" if char in "|*_`<" else char for char in text)
    return " ".join(escaped.split())
