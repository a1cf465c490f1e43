"""The columns of a relation at one point of a pipeline, and where each came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from kaireon_dagster.errors import Terminal
from kaireon_dagster.plan.types import SqlType


class ColumnFault(Terminal):
    """A node names a column that is not there, or makes one that already is."""

    def __init__(self, node: str, column: str, fault: str, known: tuple[str, ...]) -> None:
        super().__init__(node, column, fault, known)
        self.node, self.column, self.fault, self.known = node, column, fault, known

    def __str__(self) -> str:
        near = get_close_matches(self.column, self.known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        shown = ", ".join(self.known[:20]) or "none"
        return (
            f"node {self.node!r}: column {self.column!r} {self.fault}{hint} (columns here: {shown})"
        )


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A column of a source node, or of a lookup table (`schema.table`)."""

    relation: str
    column: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, its type and the columns it was computed from.

    `untouched` marks text exactly as a delimited file gave it, where an empty field reads as NULL.
    """

    name: str
    type: SqlType
    origins: frozenset[Origin] = frozenset()
    untouched: bool = False


@dataclass(frozen=True, slots=True)
class Columns:
    """An ordered set of columns. Names are told apart without regard to case, as DuckDB does."""

    items: tuple[Column, ...]
    node: str = ""
    _by_name: dict[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", {c.name: c for c in self.items})

    def __iter__(self) -> Iterator[Column]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @property
    def names(self) -> tuple[str, ...]:
        """The names in order."""
        return tuple(c.name for c in self.items)

    @property
    def types(self) -> Mapping[str, SqlType]:
        """Name to type, in order."""
        return {c.name: c.type for c in self.items}

    def at(self, node: str) -> Columns:
        """The same columns, seen by another node; errors name it."""
        return Columns(self.items, node)

    def get(self, name: str) -> Column:
        """The column of that name; `ColumnFault` when there is none."""
        if name not in self._by_name:
            raise ColumnFault(self.node, name, "does not exist", self.names)
        return self._by_name[name]

    def put(self, column: Column) -> Columns:
        """Replace the column of that name in its place, or append it."""
        if column.name in self._by_name:
            return self._with(column if c.name == column.name else c for c in self.items)
        self._refuse_clash(column.name)
        return self._with((*self.items, column))

    def drop(self, names: Iterable[str]) -> Columns:
        """Without these columns; each must exist, and one must remain."""
        gone = {self.get(name).name for name in names}
        left = tuple(c for c in self.items if c.name not in gone)
        if not left:
            raise ColumnFault(
                self.node, ", ".join(sorted(gone)), "would leave no column", self.names
            )
        return self._with(left)

    def rename(self, old: str, new: str) -> Columns:
        """Rename in place; the new name must be free."""
        column = self.get(old)
        if old.lower() != new.lower():
            self._refuse_clash(new)
        renamed = replace(column, name=new)
        return self._with(renamed if c.name == old else c for c in self.items)

    def origins(self, names: Iterable[str]) -> frozenset[Origin]:
        """All that these columns were computed from."""
        return frozenset().union(*(self.get(name).origins for name in names))

    def _refuse_clash(self, name: str) -> None:
        if any(c.name.lower() == name.lower() for c in self.items):
            raise ColumnFault(
                self.node, name, "already exists (names differ by case at most)", self.names
            )

    def _with(self, items: Iterable[Column]) -> Columns:
        return Columns(tuple(items), self.node)
