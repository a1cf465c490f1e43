"""`init`: a starter document for a data file; the five-minute start."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kaireon_dagster.cli.counts import count
from kaireon_dagster.cli.faults import UsageFault
from kaireon_dagster.cli.reply import Reply, tell
from kaireon_dagster.cli.settings import pipelines_folder
from kaireon_dagster.cli.starter import Draft, FileGroup, draft, group_files
from kaireon_dagster.cli.starter.writing import document_id, write_document
from kaireon_dagster.ir import parse_document


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=Path,
        help="csv, tsv, json, jsonl or parquet; files of one kind make one document",
    )
    parser.add_argument("--force", action="store_true", help="overwrite a document that is there")
    parser.add_argument("--stdout", action="store_true", help="print the document, write no file")


def execute(options: argparse.Namespace) -> Reply:
    """Write a document for each kind of file that was named."""
    groups = group_files(options.files)
    places = {group: _place(group) for group in groups}
    taken = [place for place in places.values() if place.exists()]
    if taken and not options.force and not options.stdout:
        raise UsageFault(
            f"{taken[0]} is there already; --force overwrites it, --stdout writes no file"
        )
    drafts = [draft(group) for group in groups]
    for warning in (text for found in drafts for text in _warnings(found)):
        tell(f"warning: {warning}")
    texts = {found.group: _document(found, places[found.group]) for found in drafts}
    if options.stdout:
        data = {"documents": [{"text": text} for text in texts.values()]}
        return Reply(lines=tuple(text.rstrip("\n") for text in texts.values()), data=data)
    for group, text in texts.items():
        _write(places[group], text)
    lines = [line for found in drafts for line in _lines(found, places[found.group])]
    facts = [_facts(found, places[found.group]) for found in drafts]
    return Reply(lines=tuple(lines), data={"documents": facts})


def _place(group: FileGroup) -> Path:
    """In the pipelines folder, where Dagster sees it; without one, beside the file."""
    name = f"{group.stem}.yaml"
    return pipelines_folder() / name if pipelines_folder().is_dir() else Path(group.folder, name)


def _document(found: Draft, place: Path) -> str:
    text = write_document(found, str(place))
    parse_document(text, source=str(place), format="yaml")
    return text


def _lines(found: Draft, place: Path) -> list[str]:
    casts = sum(facts.cast is not None for facts in found.columns)
    key = f"upsert by {', '.join(found.key)}" if found.key else f"append: {found.why_no_key}"
    sizes = f"{count(found.rows, 'row')}, {count(len(found.columns), 'column')}"
    lines = [f"{place}: {sizes}, {casts} of them with a type; {key}"]
    if found.rejects:
        broken = count(found.rejects, "record")
        lines.append(f"  {broken} cannot be read, first {found.first_reject}")
    return [*lines, f"  next: kaireon-dagster run {shlex.quote(str(place))}"]


def _warnings(found: Draft) -> Iterator[str]:
    if found.is_without_header:
        yield (
            f"{found.group.first}: the first line looks like a row and not like names of columns; "
            "the document says `header: false`, so the columns are c1, c2, …"
        )


def _write(place: Path, text: str) -> None:
    try:
        place.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageFault(f"{place}: cannot be written: {reason}; see --stdout") from None


def _facts(found: Draft, place: Path) -> dict[str, Any]:
    columns = [
        {"name": c.name, "type": c.cast.to if c.cast else c.type.postgres, "filled": c.filled}
        for c in found.columns
    ]
    return {
        "path": str(place),
        "id": document_id(found),
        "rows": found.rows,
        "rejects": found.rejects,
        "columns": columns,
        "key": list(found.key),
    }
