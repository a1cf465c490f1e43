"""JSON values that cannot change: documents are shared between threads and used as keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar, get_args

from pydantic import AfterValidator, GetCoreSchemaHandler, PlainSerializer
from pydantic_core import CoreSchema, core_schema

V = TypeVar("V")


class FrozenMapping(Mapping[str, V], Generic[V]):
    """A JSON object that is immutable and hashable; keeps the order of the document."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[str, V] | None = None) -> None:
        self._items = dict(items or {})

    def __getitem__(self, key: str) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return f"FrozenMapping({self._items!r})"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[dict[str, V]]]:
        return FrozenMapping, (self._items,)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (value,) = get_args(source) or (Any,)
        return core_schema.no_info_after_validator_function(
            freeze,
            core_schema.dict_schema(core_schema.str_schema(), handler.generate_schema(value)),
            serialization=core_schema.plain_serializer_function_ser_schema(thaw),
        )


def freeze(value: Any) -> Any:
    """Turn a JSON value into one of tuples and `FrozenMapping`s, all the way down."""
    if isinstance(value, Mapping):
        return FrozenMapping({key: freeze(item) for key, item in value.items()})
    if isinstance(value, (list, tuple)):
        return tuple(freeze(item) for item in value)
    return value


def thaw(value: Any) -> Any:
    """Undo `freeze`: plain lists and dicts, as `json.dumps` takes them."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [thaw(item) for item in value]
    return value


FREEZE = AfterValidator(freeze)
THAW = PlainSerializer(thaw)
