"""YAML with JSON's meaning: what would be a string there is one here.

YAML 1.1 reads `on` and `no` as booleans, `12:30` as a number and `2026-03-01` as a date. Here a
plain word is a number, a boolean or null when it looks like one in JSON, and else a string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import yaml

from kaireon_dagster.ir.objects import build_object

if TYPE_CHECKING:
    from yaml import SafeLoader as _Base
else:
    # The C parser is ten times as fast; wheels have it, some source builds do not.
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_TAG = "tag:yaml.org,2002:"
_PLAIN = {
    "null": (r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    "bool": (r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    "int": (r"^-?(?:0|[1-9][0-9]*)$", list("-0123456789")),
    "float": (
        r"^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$|^[-+]?\.inf$|^\.nan$",
        list("-+.0123456789"),
    ),
}
_SCALARS: Mapping[str, Callable[[str], Any]] = {
    f"{_TAG}str": str,
    f"{_TAG}null": lambda text: None,
    f"{_TAG}bool": lambda text: text.lower() == "true",
    f"{_TAG}int": int,
    f"{_TAG}float": lambda text: float(text.replace(".inf", "inf").replace(".nan", "nan")),
}


class _Loader(_Base):
    """Resolves plain words as JSON would."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012


for _name, (_pattern, _first) in _PLAIN.items():
    _Loader.add_implicit_resolver(f"{_TAG}{_name}", re.compile(_pattern), _first)


def read_yaml(text: str) -> Any:
    """Read one YAML document as the JSON it stands for.

    Raises:
        ValueError: not YAML, more than one document, or a tag that JSON has no value for.
        RecursionError: nested too deeply, or an alias inside what it stands for.
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        words = error.problem or error.context or "cannot be read"
        raise ValueError(f"{_write_mark(error.problem_mark)}{words}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error).splitlines()[0]) from None
    return None if node is None else _build(node, {})


def _write_mark(mark: Any) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""


def _build(node: yaml.Node, built: dict[int, Any]) -> Any:
    # What aliases repeat is built once; otherwise a few lines could unfold into billions of values.
    if id(node) not in built:
        built[id(node)] = _build_new(node, built)
    return built[id(node)]


def _build_new(node: yaml.Node, built: dict[int, Any]) -> Any:
    if node.tag == f"{_TAG}map" and isinstance(node, yaml.MappingNode):
        return build_object([(_build_key(key), _build(item, built)) for key, item in node.value])
    if node.tag == f"{_TAG}seq" and isinstance(node, yaml.SequenceNode):
        return [_build(item, built) for item in node.value]
    return _build_scalar(node)


def _build_key(node: yaml.Node) -> Any:
    if not isinstance(node, yaml.ScalarNode):
        raise ValueError(f"{_write_mark(node.start_mark)}a key must be a string")
    return _build_scalar(node)


def _build_scalar(node: yaml.Node) -> Any:
    read = _SCALARS.get(node.tag)
    if read is None or not isinstance(node, yaml.ScalarNode):
        raise ValueError(f"{_write_mark(node.start_mark)}this tag has no value in JSON")
    try:
        return read(node.value)
    except ValueError:
        raise ValueError(f"{_write_mark(node.start_mark)}not a number that can be read") from None
