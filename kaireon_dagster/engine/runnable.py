"""What this release can run, asked before a file is moved or a table is touched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kaireon_dagster import ir
from kaireon_dagster.engine import modes
from kaireon_dagster.errors import NotYetRunnable
from kaireon_dagster.plan import compile as compiling
from kaireon_dagster.plan import transform
from kaireon_dagster.sources import scan


def require_runnable(pipeline: ir.Pipeline, nodes: Iterable[ir.AnyNode]) -> None:
    """Refuse nodes of a document that use a part of the language without execution.

    Raises:
        NotYetRunnable: for the first of them.
    """
    if pipeline.error_handling.on_failure == "continue":
        raise NotYetRunnable(pipeline.id, "errorHandling", "onFailure 'continue'")
    for node in nodes:
        for feature in _missing(node):
            raise NotYetRunnable(pipeline.id, node.id, feature)


def _missing(node: ir.AnyNode) -> Iterator[str]:
    if isinstance(node, ir.Source | ir.StreamSource):
        if not isinstance(node, ir.Source) or node.connector != "local_fs":
            yield f"connector {node.connector!r}"
        elif not scan.is_readable(node.config.format):
            yield f"format {node.config.format!r}"
    elif isinstance(node, ir.Target):
        yield from _missing_of_target(node)
    elif not compiling.is_runnable(node):
        yield f"a node of kind {node.kind!r}"
    elif isinstance(node, ir.Transform):
        unknown = (op.type for op in node.ops if not transform.is_runnable(op))
        yield from (f"op {name!r}" for name in unknown)


def _missing_of_target(target: ir.Target) -> Iterator[str]:
    if not modes.runnable(target.load_mode):
        yield f"loadMode {target.load_mode!r}"
    if target.pre_hook or target.post_hook:
        yield "a hook"
    backup = target.backup_before_load
    if target.load_mode == "truncate" and backup and backup.enabled:
        yield "backupBeforeLoad"
    if target.expected_row_count_delta is not None:
        yield "expectedRowCountDelta"
