"""From the location of a pydantic error to the place in the document, and what may stand there.

A location also names the members of unions it went through; those are no keys of the document.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, Discriminator
from pydantic.fields import FieldInfo

from kaireon_dagster.ir.base import Location


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a document.

    Attributes:
        location: keys and indexes from the top, as the document has them.
        owner: the model whose field the last key is, when there is one.
        field: that field; None for a key that the model does not know.
        members: the models that may stand here.
        awaits_tag: whether a member that has no model, such as a word, may stand here too.
    """

    location: Location
    owner: type[BaseModel] | None
    field: FieldInfo | None
    members: tuple[type[BaseModel], ...]
    awaits_tag: bool = False


def find_place(root: type[BaseModel], location: Location, data: Any) -> Place:
    """Follow a pydantic location through the models and the document at once."""
    place = Place((), None, None, (root,))
    for step in location:
        if isinstance(step, int):
            place, data = _enter_item(place, step, data)
        elif _is_tag(place, step):
            members = tuple(model for model in place.members if step in read_tags(model))
            place = replace(place, members=members or place.members, awaits_tag=False)
        else:
            place = _enter_key(place, step)
            data = data.get(step) if isinstance(data, dict) else None
    return place


def _is_tag(place: Place, step: str) -> bool:
    # Several members are possible and none chosen yet, unless a check across nodes names a key.
    is_open = len(place.members) > 1 and any(step in read_tags(model) for model in place.members)
    return place.awaits_tag or is_open


def _enter_item(place: Place, index: int, data: Any) -> tuple[Place, Any]:
    # A single item may stand for a list of one; the document then has no index.
    if not isinstance(data, list):
        return place, data
    item = data[index] if index < len(data) else None
    return replace(place, location=(*place.location, index)), item


def _enter_key(place: Place, key: str) -> Place:
    owner = place.members[0] if place.members else None
    field = fields_by_key(owner).get(key) if owner else None
    members = tuple(models_in(field.annotation)) if field else ()
    awaits = any(isinstance(item, Discriminator) for item in field.metadata) if field else False
    return Place((*place.location, key), owner, field, members, awaits)


def fields_by_key(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Map the keys of a document to the fields of a model."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that an annotation allows, however deep they stand in it."""
    # On Python 3.10 `tuple[int]` is a type as well, but none that issubclass takes.
    is_class = isinstance(annotation, type) and get_origin(annotation) is None
    if is_class and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from models_in(argument)


def words_in(annotation: Any) -> tuple[str, ...]:
    """Return the words of the `Literal`s in an annotation."""
    if get_origin(annotation) is Literal:
        return tuple(word for word in get_args(annotation) if isinstance(word, str))
    return tuple(word for argument in get_args(annotation) for word in words_in(argument))


def read_tags(model: type[BaseModel]) -> tuple[str, ...]:
    """Return what selects a model among others: its `kind` or `type`, and its own name."""
    fields = fields_by_key(model)
    field = fields.get("kind") or fields.get("type")
    return (*(words_in(field.annotation) if field else ()), f"<{model.__name__}>")
