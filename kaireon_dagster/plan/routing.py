"""Branch and join: where rows part and where they meet."""

from __future__ import annotations

from kaireon_dagster import ir
from kaireon_dagster.plan import computed, hidden
from kaireon_dagster.plan.builder import Builder, NodeBuilder
from kaireon_dagster.plan.columns import Column, Columns
from kaireon_dagster.plan.faults import NodeFault
from kaireon_dagster.plan.rows import Rows
from kaireon_dagster.plan.sqltext import ident


def route_names(spec: ir.Branch) -> tuple[str, ...]:
    """All routes in order, the `otherwise` one last."""
    named = tuple(route.name for route in spec.routes)
    return (*named, spec.otherwise) if spec.otherwise else named


def route_mask(spec: ir.Branch, route: str) -> int:
    """The bit of a route in `_flow_routes`."""
    return 1 << route_names(spec).index(route)


def branch(node: NodeBuilder, spec: ir.Branch, consumed: frozenset[str]) -> None:
    """Give each row the bits of the routes it takes; rows that take none are counted as filtered."""
    node.layer({hidden.ROUTES: "0::BIGINT"}, comment="no route yet", routes=True)
    for index, route in enumerate(spec.routes):
        _take(node, spec, index, route)
    node.decide()
    if spec.otherwise:
        last = 1 << len(spec.routes)
        rest = f"CASE WHEN {hidden.ROUTES} = 0 THEN {last}::BIGINT ELSE {hidden.ROUTES} END"
        node.layer({hidden.ROUTES: rest}, comment=f"otherwise {spec.otherwise}")
    read = sum(route_mask(spec, name) for name in consumed)
    node.send("filter", f"({hidden.ROUTES} & {read}) = 0", "rows that no node reads")


def _take(node: NodeBuilder, spec: ir.Branch, index: int, route: ir.Route) -> None:
    sql, attempted = computed.condition(node, route.when, f"route:{route.name}")
    free = f"{hidden.ROUTES} = 0 AND " if spec.mode == "first" else ""
    taken = f"CASE WHEN {free}({sql}) THEN {1 << index}::BIGINT ELSE 0 END"
    gone = [hidden.ATTEMPT] if attempted else []
    node.layer(
        {hidden.ROUTES: f"{hidden.ROUTES} | {taken}"},
        exclude=gone,
        comment=f"route {route.name} when {' '.join(route.when.split())}",
    )


def follow(node: NodeBuilder, spec: ir.Branch, route: str, *, counted: bool) -> None:
    """Read one route of a branch.

    The rows of other routes leave as filtered where this reader is the only one (`counted`);
    where the branch is staged, other steps read them, and they are simply not taken up here.
    """
    mask = route_mask(spec, route)
    if counted:
        node.send("filter", f"({hidden.ROUTES} & {mask}) = 0", f"rows of route {route}")
    else:
        tail = f"\nWHERE ({hidden.ROUTES} & {mask}) <> 0"
        node.layer({}, tail=tail, comment=f"rows of route {route}")
    node.layer({}, exclude=[hidden.ROUTES], comment="forget the routes", routes=False)


def join(builder: Builder, spec: ir.Join, left: Rows, right: Rows) -> Rows:
    """Join two inputs. All columns are kept; a right column whose name is taken gets the suffix."""
    sides = [
        builder.settle(side, f"{spec.id}: {name} rows before the join")
        for name, side in (("left", left), ("right", right))
    ]
    _check_keys(spec, *sides)
    columns, items = _joined_columns(spec, *(side.columns for side in sides))
    keys = " AND ".join(f"l.{ident(pair.left)} = r.{ident(pair.right)}" for pair in spec.on)
    sources = f"{ident(sides[0].view)} AS l\n{spec.type.upper()} JOIN {ident(sides[1].view)} AS r ON {keys}"
    files = [f"{'lr'[i]}.{hidden.FILE}" for i, side in enumerate(sides) if side.file]
    file = [f"coalesce({', '.join(files)}) AS {hidden.FILE}"] if files else []
    name = f"{spec.id}.joined"
    builder.view(
        name, f"SELECT {', '.join([*items, *file])}\nFROM {sources}", f"{spec.id}: {spec.type} join"
    )
    return Rows(name, columns, file=bool(files), source=sides[0].source)


def _joined_columns(spec: ir.Join, left: Columns, right: Columns) -> tuple[Columns, list[str]]:
    columns = left.at(spec.id)
    items = [f"l.{ident(name)}" for name in left.names]
    for column in right:
        taken = any(column.name.lower() == name.lower() for name in columns.names)
        name = column.name + spec.suffix if taken else column.name
        if name in columns:
            raise NodeFault(spec.id, f"column {name!r} would be made twice; choose another suffix")
        columns = columns.put(Column(name, column.type, column.origins))
        items.append(f"r.{ident(column.name)} AS {ident(name)}")
    return columns, items


def _check_keys(spec: ir.Join, left: Rows, right: Rows) -> None:
    for pair in spec.on:
        one = left.columns.at(spec.id).get(pair.left).type
        other = right.columns.at(spec.id).get(pair.right).type
        comparable = one.name == other.name or (one.is_numeric and other.is_numeric)
        if not comparable:
            raise NodeFault(
                spec.id,
                f"on: {pair.left!r} is {one.postgres} and {pair.right!r} is {other.postgres}; "
                "cast one of them first",
            )
