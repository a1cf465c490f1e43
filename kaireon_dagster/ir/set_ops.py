"""Transform ops that look at many rows, or decide which rows stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from kaireon_dagster.ir.base import Checked, Flaw, Model, Text, repeated
from kaireon_dagster.ir.identifiers import FieldName, FieldReference, TableName, split_table


class Filter(Model):
    """Keeps the rows where a condition is true."""

    type: Literal["filter"] = Field(description="Keeps rows by a condition.")
    condition: Text = Field(
        description="One boolean expression in PostgreSQL's manner.", examples=["amount > 0"]
    )


class Deduplicate(Model):
    """Keeps one row of each key."""

    type: Literal["deduplicate"] = Field(description="Keeps one row per key.")
    keys: tuple[FieldReference, ...] = Field(min_length=1, description="The fields of the key.")
    order_by: FieldReference | None = Field(
        default=None, description="Field that orders the rows of a key; by default file order."
    )
    keep: Literal["first", "last"] = Field(description="Which row of a key stays.")


class Aggregation(Checked):
    """One computed column of an aggregate."""

    function: Literal[
        "count", "sum", "avg", "min", "max", "count_distinct", "array_agg", "string_agg"
    ] = Field(description="The aggregate function.")
    field: FieldReference | None = Field(
        default=None, description="The field it works on; count alone can do without."
    )
    as_: FieldName = Field(alias="as", description="Name of the result.")

    def flaws(self) -> Iterator[Flaw]:
        """Yield a function that was given nothing to work on."""
        if self.field is None and self.function != "count":
            yield (
                ("field",),
                f"required key is missing; only count works without, {self.function} not",
            )


class Aggregate(Checked):
    """One row per group."""

    type: Literal["aggregate"] = Field(description="Groups rows and computes over each group.")
    group_by: tuple[FieldReference, ...] = Field(
        description="The fields of a group; empty: all rows are one group."
    )
    aggregations: tuple[Aggregation, ...] = Field(min_length=1, description="What is computed.")

    def flaws(self) -> Iterator[Flaw]:
        """Yield result names that would stand twice."""
        for index, name in repeated(self.group_by):
            yield ("groupBy", index), f"field {name!r} is named twice"
        names = [*dict.fromkeys(self.group_by), *(item.as_ for item in self.aggregations)]
        offset = len(names) - len(self.aggregations)
        for index, name in repeated(names):
            yield ("aggregations", index - offset, "as"), f"field {name!r} exists already"


class LookupKey(Model):
    """One pair of a lookup's key."""

    field: FieldReference = Field(description="Field of the rows.")
    column: FieldReference = Field(description="Column of the lookup table.")


class LookupField(Model):
    """One column taken from a lookup table."""

    column: FieldReference = Field(description="Column of the lookup table.")
    as_: FieldName = Field(alias="as", description="Name it gets in the rows.")


class LookupJoin(Checked):
    """Adds columns of a PostgreSQL table, matched by a unique key."""

    type: Literal["lookup_join"] = Field(description="Adds columns of a lookup table.")
    table: TableName = Field(description="The lookup table, schema.table.")
    on: tuple[LookupKey, ...] = Field(min_length=1, description="The key, unique in the table.")
    fields: tuple[LookupField, ...] = Field(min_length=1, description="The columns to take.")
    # Not `type`, which says already that this op is a lookup.
    join_type: Literal["left", "inner"] = Field(
        default="left", description="left keeps rows without a match, inner does not."
    )

    @property
    def relation(self) -> tuple[str, str]:
        """The lookup table as (schema, table)."""
        return split_table(self.table)

    def flaws(self) -> Iterator[Flaw]:
        """Yield columns that would arrive under one name."""
        for index, name in repeated(item.as_ for item in self.fields):
            yield ("fields", index, "as"), f"field {name!r} is named twice"


class Summarize(Model):
    """One row per column: count, nulls, distinct, min, max, mean."""

    type: Literal["summarize"] = Field(description="Describes columns, one row for each.")
    fields: tuple[FieldReference, ...] | None = Field(
        default=None, min_length=1, description="The columns to describe; by default all."
    )
