"""What is sure to fail in a valid document, told before any file or column is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kaireon_dagster import ir
from kaireon_dagster.engine.runnable import require_runnable
from kaireon_dagster.errors import NotYetRunnable, Problem, Terminal
from kaireon_dagster.ir.paths import write_path
from kaireon_dagster.plan.casting import cast
from kaireon_dagster.plan.expressions import check_syntax
from kaireon_dagster.plan.types import TEXT, SqlType

_Check = tuple[str, Callable[[], object]]


def find_sure_faults(pipeline: ir.Pipeline) -> Iterator[Problem]:
    """Yield expressions, conditions and formats that are wrong whatever columns there are."""
    for index, node in enumerate(pipeline.nodes):
        if isinstance(node, ir.Transform):
            for place, op in enumerate(node.ops):
                yield from _run(("nodes", index, "ops", place), _checks_of_op(op))
        elif isinstance(node, ir.Branch):
            for place, route in enumerate(node.routes):
                yield from _run(
                    ("nodes", index, "routes", place), [_expression("when", route.when)]
                )


def find_missing_features(pipeline: ir.Pipeline) -> Iterator[NotYetRunnable]:
    """Yield the parts of the language that the document uses and this release cannot run."""
    yield from _refusals(pipeline, [])
    # What concerns the whole document is refused before any node, and would hide them all.
    handling = pipeline.error_handling.model_copy(update={"on_failure": "abort"})
    nodes_alone = pipeline.model_copy(update={"error_handling": handling})
    for node in pipeline.nodes:
        yield from _refusals(nodes_alone, [node])


def _refusals(pipeline: ir.Pipeline, nodes: list[ir.AnyNode]) -> Iterator[NotYetRunnable]:
    try:
        require_runnable(pipeline, nodes)
    except NotYetRunnable as error:
        yield error


def _run(location: tuple[str | int, ...], checks: list[_Check]) -> Iterator[Problem]:
    for key, check in checks:
        try:
            check()
        except Terminal as error:
            yield Problem(write_path((*location, key)), str(error))


def _checks_of_op(op: ir.Op) -> list[_Check]:
    if isinstance(op, ir.Expression):
        return [_expression("expression", op.expression)]
    if isinstance(op, ir.Filter):
        return [_expression("condition", op.condition)]
    if isinstance(op, ir.Cast) and op.format is not None:
        # A format reads text; for a column of another type it is refused in any case.
        return [("format", lambda: cast("v", TEXT, SqlType.parse(op.to), op.format))]
    return []


def _expression(key: str, text: str) -> _Check:
    return key, lambda: check_syntax(text)
