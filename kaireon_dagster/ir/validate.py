"""The validate node: rules for rows, and validators for all of them together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from kaireon_dagster.ir.base import (
    Checked,
    Flaw,
    Model,
    Number,
    OneOrMany,
    Text,
    Whole,
    refuse,
    repeated,
)
from kaireon_dagster.ir.identifiers import (
    ColumnName,
    FieldReference,
    TableName,
    split_column,
    split_table,
)
from kaireon_dagster.ir.node import Consumer
from kaireon_dagster.ir.rules import find_rule_fault, split_arguments, split_rule


def _check_rule(rule: str) -> str:
    fault = find_rule_fault(rule)
    if fault is not None:
        raise refuse(fault)
    return rule


class RowRule(Model):
    """A rule that each row passes or fails; NULL passes every rule but not_null."""

    id: Text = Field(description="Name of the rule, shown with each row that fails it.")
    field: FieldReference = Field(description="The field that is looked at.")
    rule: Annotated[Text, AfterValidator(_check_rule)] = Field(
        description="not_null, gt gte lt lte eq ne, between:a,b, in:a|b|c, not_in:, regex:, "
        "min_length: max_length:, email, url, uuid, integer, numeric, date, timestamp or unique.",
        examples=["gt:0", "in:a|b|c", "not_null"],
    )
    on_fail: Literal["quarantine", "drop", "warn", "abort"] = Field(
        description="What becomes of a row that fails."
    )

    @property
    def name(self) -> str:
        """The rule's name: `gt` of `gt:0`."""
        return split_rule(self.rule)[0]

    @property
    def argument(self) -> str | None:
        """What follows the colon, untouched; None without one."""
        return split_rule(self.rule)[1]

    @property
    def arguments(self) -> tuple[str, ...]:
        """The parts of the argument; the bounds of `between` without blanks around them."""
        parts = split_arguments(self.name, self.argument)
        return tuple(part.strip() for part in parts) if self.name == "between" else parts


class DatasetRule(Checked):
    """A validator of all rows that reach the node."""

    validator: ClassVar[str]
    on_fail: Literal["abort", "warn"] = Field(description="Stop the run, or only warn.")


class RowCount(DatasetRule):
    """How many rows there must be."""

    validator = "rowCount"
    min: Whole | None = Field(default=None, ge=0, description="Rows at least.")
    max: Whole | None = Field(default=None, ge=0, description="Rows at most.")

    def flaws(self) -> Iterator[Flaw]:
        """Yield a range that no count is in, or that every count is in."""
        if self.min is None and self.max is None:
            yield (), "needs min, max or both"
        elif self.min is not None and self.max is not None and self.min > self.max:
            yield ("min",), f"found {self.min}; allowed: at most max, which is {self.max}"


class NullRate(DatasetRule):
    """How large a share of a field may be NULL."""

    validator = "nullRate"
    field: FieldReference = Field(description="The field that is looked at.")
    max: Number = Field(ge=0, le=1, description="Largest share of NULLs, 0 to 1.")


class Uniqueness(DatasetRule):
    """Which fields together tell rows apart."""

    validator = "uniqueness"
    fields: tuple[FieldReference, ...] = Field(min_length=1, description="The fields of the key.")


class Freshness(DatasetRule):
    """How old the newest row may be."""

    validator = "freshness"
    field: FieldReference = Field(description="A date or timestamp field.")
    max_age_minutes: Number = Field(gt=0, description="Largest age of the newest row, in minutes.")


class Referential(DatasetRule):
    """Which column of another table must hold every value of a field."""

    validator = "referential"
    field: FieldReference = Field(description="The field that is looked at.")
    references: ColumnName = Field(description="schema.table.column that holds the values.")

    @property
    def column(self) -> tuple[str, str, str]:
        """What `references` names, as (schema, table, column)."""
        return split_column(self.references)


class DatasetLevel(Model):
    """Validators by name; each is one object or a list of them."""

    row_count: Annotated[tuple[RowCount, ...], OneOrMany()] = Field(
        default=(), description="How many rows there must be."
    )
    null_rate: Annotated[tuple[NullRate, ...], OneOrMany()] = Field(
        default=(), description="How large a share of a field may be NULL."
    )
    uniqueness: Annotated[tuple[Uniqueness, ...], OneOrMany()] = Field(
        default=(), description="Which fields together tell rows apart."
    )
    freshness: Annotated[tuple[Freshness, ...], OneOrMany()] = Field(
        default=(), description="How old the newest row may be."
    )
    referential: Annotated[tuple[Referential, ...], OneOrMany()] = Field(
        default=(), description="Which column must hold every value of a field."
    )


class Quarantine(Model):
    """Where the rows go that a rule takes out."""

    table: TableName = Field(description="schema.table; by default the DLQ destination.")

    @property
    def relation(self) -> tuple[str, str]:
        """The table as (schema, table)."""
        return split_table(self.table)


class Validate(Checked, Consumer):
    """Checks rows one by one and all together."""

    kind: Literal["validate"] = Field(description="Checks rows.")
    row_level: tuple[RowRule, ...] = Field(default=(), description="Rules for each row.")
    dataset_level: DatasetLevel = Field(
        default=DatasetLevel(), description="Validators for all rows together."
    )
    quarantine: Quarantine | None = Field(
        default=None, description="Where quarantined rows of this node go."
    )

    @property
    def dataset_rules(self) -> tuple[DatasetRule, ...]:
        """The dataset validators in one list."""
        level = self.dataset_level
        return (
            *level.row_count,
            *level.null_rate,
            *level.uniqueness,
            *level.freshness,
            *level.referential,
        )

    def flaws(self) -> Iterator[Flaw]:
        """Yield rules that could not be told apart in the quarantine table."""
        for index, name in repeated(rule.id for rule in self.row_level):
            yield ("rowLevel", index, "id"), f"{name!r} is the id of an earlier rule of this node"
