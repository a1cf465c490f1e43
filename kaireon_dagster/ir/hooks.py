"""What runs before and after a load."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from kaireon_dagster.ir.base import Model, OneOrMany, Text, refuse
from kaireon_dagster.ir.frozen import FREEZE, THAW, FrozenMapping
from kaireon_dagster.ir.hook_sql import ALLOWED_TEXT, find_statement_fault
from kaireon_dagster.ir.identifiers import EnvironmentName, TableName, split_table


def _check_statement(statement: str) -> str:
    fault = find_statement_fault(statement)
    if fault is not None:
        raise refuse(fault)
    return statement


def _check_url(url: str) -> str:
    if not re.match(r"https?://[^/\s]+", url):
        raise refuse("needs a URL, http:// or https://")
    return url


class SqlHook(Model):
    """Runs one harmless statement in the load's transaction."""

    type: Literal["sql"] = Field(description="Runs a statement.")
    statement: Annotated[Text, AfterValidator(_check_statement)] = Field(
        description=f"One statement: {ALLOWED_TEXT}."
    )


class RefreshHook(Model):
    """Refreshes a materialized view."""

    type: Literal["refresh"] = Field(description="Refreshes a materialized view.")
    view: TableName = Field(description="The materialized view, schema.view.")

    @property
    def relation(self) -> tuple[str, str]:
        """The view as (schema, view)."""
        return split_table(self.view)


class WebhookHook(Model):
    """Calls a URL."""

    type: Literal["webhook"] = Field(description="Calls a URL.")
    url: Annotated[Text, AfterValidator(_check_url)] = Field(
        description="http:// or https://; private addresses are refused."
    )
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = Field(
        default="POST", description="HTTP method."
    )
    headers_env: FrozenMapping[EnvironmentName] = Field(
        default=FrozenMapping(),
        description="Header name to the environment variable that holds its value.",
    )


class FunctionHook(Model):
    """Calls a function that a plug-in registered."""

    type: Literal["custom_function"] = Field(description="Calls a registered function.")
    name: Text = Field(description="Name under which the function is registered.")
    args: Annotated[Any, FREEZE, THAW] = Field(
        default=None, description="JSON value that the function receives."
    )


Hook = Annotated[SqlHook | RefreshHook | WebhookHook | FunctionHook, Field(discriminator="type")]
Hooks = Annotated[tuple[Hook, ...], OneOrMany()]
