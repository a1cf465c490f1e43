"""From the text of a document to a `Pipeline`, or to everything that is wrong with it."""

from __future__ import annotations

import copy
import shlex
import warnings
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from kaireon_dagster.errors import DocumentInvalid, Problem
from kaireon_dagster.ir.base import Location
from kaireon_dagster.ir.credentials import find_secrets
from kaireon_dagster.ir.document import Format, Unreadable, find_data_problems, read_data
from kaireon_dagster.ir.pipeline import Pipeline
from kaireon_dagster.ir.problems import read_problems
from kaireon_dagster.ir.spelling import describe
from kaireon_dagster.ir.structure import find_structure_problems

UnknownKeys = Literal["error", "warn"]
_DATA_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".gz", ".zst", ".bz2")
SUFFIXES: dict[str, Format] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}


class UnknownKeyWarning(UserWarning):
    """A key that the language does not have, in a document read with `unknown_keys="warn"`."""


def parse_document(
    text: str,
    *,
    source: str,
    format: Format = "json",
    unknown_keys: UnknownKeys = "error",
    streaming: bool = False,
) -> Pipeline:
    """Read one Flow document.

    Args:
        text: the document.
        source: what messages call it, such as its path.
        format: `json` or `yaml`.
        unknown_keys: `warn` turns unknown keys, and nothing else, into `UnknownKeyWarning`s.
        streaming: whether streaming connectors may be used.

    Raises:
        DocumentInvalid: with every problem of the document, shape and structure together.
    """
    try:
        data = read_data(text, format)
        return _build(data, source, unknown_keys, streaming)
    except Unreadable as error:
        raise DocumentInvalid(source, (Problem("", str(error)),)) from None


def read_document(
    path: Path, *, unknown_keys: UnknownKeys = "error", streaming: bool = False
) -> Pipeline:
    """Read the document in a file; `.json` is JSON, `.yaml` and `.yml` are YAML.

    Raises:
        DocumentInvalid: as `parse_document`, or because the file is called like another kind of
            file, or cannot be read as text.
    """
    _check_suffix(path)
    return parse_document(
        _read_text(path),
        source=str(path),
        format=SUFFIXES.get(path.suffix.lower(), "json"),
        unknown_keys=unknown_keys,
        streaming=streaming,
    )


def _check_suffix(path: Path) -> None:
    suffix = path.suffix.lower()
    if not suffix or suffix in SUFFIXES:
        return
    message = f"not a Flow document by its suffix; documents end in {', '.join(SUFFIXES)}"
    if suffix in _DATA_SUFFIXES:
        message += f"; for a data file: kaireon-dagster init {shlex.quote(str(path))}"
    raise DocumentInvalid(str(path), (Problem("", message),))


def _read_text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"not UTF-8: byte {error.start + 1} of the file"
    except OSError as error:
        message = f"cannot be read: {error.strerror or type(error).__name__}"
    raise DocumentInvalid(str(path), (Problem("", message),))


def _build(data: Any, source: str, unknown_keys: UnknownKeys, streaming: bool) -> Pipeline:
    faults = list(find_data_problems(data))
    if not isinstance(data, dict):
        message = f"a document is an object, found {describe(data)}"
        raise DocumentInvalid(source, (*faults, Problem("", message)))
    secrets = dict(find_secrets(data))
    if unknown_keys == "warn":
        data = _without_unknown_keys(data, source, secrets)
    pipeline, shape = _check_shape(data)
    # A secret under a key that is unknown as well is only called a secret.
    faults += [problem for location, problem in shape if location not in secrets]
    faults += [*secrets.values(), *find_structure_problems(data, streaming=streaming)]
    if faults or pipeline is None:
        raise DocumentInvalid(source, tuple(dict.fromkeys(faults)))
    return pipeline


def _check_shape(data: dict[str, Any]) -> tuple[Pipeline | None, list[tuple[Location, Problem]]]:
    try:
        return Pipeline.model_validate(data), []
    except ValidationError as error:
        return None, [(at, problem) for at, problem, _ in read_problems(error, Pipeline, data)]


def _without_unknown_keys(
    data: dict[str, Any], source: str, secrets: dict[Location, Problem]
) -> dict[str, Any]:
    try:
        Pipeline.model_validate(data)
        return data
    except ValidationError as error:
        found = [
            (at, problem)
            for at, problem, is_unknown in read_problems(error, Pipeline, data)
            if is_unknown and at not in secrets
        ]
    data = copy.deepcopy(data)
    for location, problem in found:
        warnings.warn(f"{source}: {problem}", UnknownKeyWarning, stacklevel=4)
        _remove(data, location)
    return data


def _remove(data: Any, location: Location) -> None:
    *above, last = location
    for step in above:
        data = data[step]
    data.pop(last, None)
