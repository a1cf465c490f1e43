"""The base of all models: strict, immutable, camelCase in documents, snake_case in code."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictBool,
    StrictFloat,
    StrictInt,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema
from typing_extensions import Self

Location = tuple[str | int, ...]
Flaw = tuple[Location, str]

Flag = StrictBool
Whole = StrictInt
# StrictFloat takes whole numbers too, and no booleans or strings of digits.
Number = StrictFloat
Text = Annotated[str, StringConstraints(min_length=1)]


class Model(BaseModel):
    """A part of a document: unknown keys refused, values never coerced, frozen and hashable."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        protected_namespaces=(),
        hide_input_in_errors=True,
    )


class Checked(Model):
    """A model whose fields must also agree with each other."""

    def flaws(self) -> Iterator[Flaw]:
        """Yield (location below this model, message) for each disagreement of fields."""
        yield from ()

    @model_validator(mode="after")
    def _agree(self) -> Self:
        flaws = tuple(self.flaws())
        if flaws:
            raise refuse_all(type(self).__name__, flaws)
        return self


def refuse(message: str) -> PydanticCustomError:
    """Build the error a field validator raises; the message is shown as it stands."""
    return PydanticCustomError("flow", "{text}", {"text": message})


def refuse_all(title: str, flaws: Iterable[Flaw]) -> ValidationError:
    """Build one error that carries several flaws, each with its own location."""
    details = [
        InitErrorDetails(type=refuse(message), loc=location, input=None)
        for location, message in flaws
    ]
    return ValidationError.from_exception_data(title, details, hide_input=True)


def repeated(values: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (index, value) for each value that stood earlier in the list already."""
    seen: set[str] = set()
    for index, value in enumerate(values):
        if value in seen:
            yield index, value
        seen.add(value)


def _check_scalar(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        found = "an object" if isinstance(value, dict) else "a list"
        raise refuse(f"expected a string, a number, true, false or null, found {found}")
    return value


JsonScalar = Annotated[
    StrictBool | StrictInt | StrictFloat | str | None, BeforeValidator(_check_scalar)
]


class SeenAs:
    """Annotation of a type that only code can check fully: what a JSON Schema sees of it."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        # A copy: pydantic writes each field's description and default into what it is given.
        return copy.deepcopy(self._schema)


class OneOrMany:
    """Annotation of a tuple field that a document may also write as its single item."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_as_list, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        many = handler(schema)
        return {"anyOf": [many["items"], many]}


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, (str, dict)) else value
