"""A draft as a YAML document, with the evidence beside each line."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from kaireon_dagster.cli.counts import count
from kaireon_dagster.cli.starter.columns import ColumnFacts, Proposal
from kaireon_dagster.cli.starter.drafting import Draft
from kaireon_dagster.cli.starter.names import transliterate

_PLAIN_WORD: Final = re.compile(r"[A-Za-z_/.][A-Za-z0-9_./-]*")
_SPECIAL: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_TIDY: Final = re.compile(r"[a-z_][a-z0-9_]*")
_LONGEST_ID: Final = 60


def document_id(draft: Draft) -> str:
    """An id made of the files' name."""
    return _slug(draft.group.stem).replace("_", "-").strip("-") or "starter"


def write_document(draft: Draft, place: str) -> str:
    """Write the document.

    Args:
        draft: what was found.
        place: where it will stand, for the commands in its first lines.
    """
    names = _tidy_names(draft.columns)
    lines = [
        *_head(draft, place),
        *_source(draft),
        *_types(draft, names),
        *_target(draft, names),
        "",
        "# A row that does not read as these types goes to a table beside, with the reason.",
        "errorHandling:",
        "  dlq: {enabled: true}",
    ]
    return "\n".join(lines) + "\n"


def _head(draft: Draft, place: str) -> Iterator[str]:
    files = ", ".join(draft.group.names[:3]) + (", …" if len(draft.group.names) > 3 else "")
    sizes = f"{count(draft.rows, 'row')}, {count(len(draft.columns), 'column')}"
    yield f"# A starter for {_one_line(files)}: {sizes}."
    yield "# Read it, change what is wrong, then run it:"
    yield f"#   kaireon-dagster run {shlex.quote(place)}"
    if draft.rejects:
        broken = count(draft.rejects, "record")
        yield f"# {broken} cannot be read and will be quarantined, the first at"
        yield f"#   {_one_line(draft.first_reject)}"
    yield "kind: pipeline"
    yield 'version: "1.0"'
    yield f"id: {_word(document_id(draft))}"
    yield "metadata:"
    yield f"  name: {_word(document_id(draft))}"
    yield "nodes:"


def _source(draft: Draft) -> Iterator[str]:
    type_, value = draft.group.pattern
    yield "  - id: source"
    yield "    kind: source"
    yield "    connector: local_fs"
    yield "    config:"
    folder = draft.group.folder
    here = "" if Path(folder).is_absolute() else "  # counted from the folder where it is run"
    yield f"      path: {_word(folder)}{here}"
    yield f"      pattern: {{type: {type_}, value: {_word(value)}}}"
    yield f"      format: {draft.group.format}"
    yield from _options(draft)
    yield "      # Take this in to have each file loaded once, then moved out of the way:"
    yield "      # atomicity: {stagingFolder: .processing/, successFolder: .archive/}"


def _options(draft: Draft) -> Iterator[str]:
    if not draft.options:
        return
    yield "      formatOptions:"
    if draft.is_without_header:
        yield "        # The first line looks like a row. If it names the columns, remove `header`."
    for name, value in draft.options.items():
        text = json.dumps(value, ensure_ascii=False)
        yield f"        {name}: {text}{_OPTION_REMARKS.get(name, '')}"


_OPTION_REMARKS: Final = {
    "nullValues": "  # they keep columns from being read as numbers; they mean NULL in all columns",
    "recordsPath": "  # the only list of objects in the file",
    "encoding": "  # not valid UTF-8; look whether letters with accents come out right",
}


def _types(draft: Draft, names: dict[str, str]) -> Iterator[str]:
    casts, renames = [*_casts(draft.columns)], [*_renames(names)]
    remarks = [*_remarks(draft.columns)]
    if not casts and not renames and not remarks:
        return
    yield ""
    if not casts and not renames:
        yield from (f"  # {remark}" for remark in remarks)
        return
    yield "  - id: types"
    yield "    kind: transform"
    yield f"    description: {_describe(draft.columns)}"
    yield "    input: source"
    yield "    ops:"
    yield from (f"      - {op}" for op in casts)
    yield from (f"      # {remark}" for remark in remarks)
    yield from (f"      - {op}" for op in renames)


def _describe(columns: Iterable[ColumnFacts]) -> str:
    text = "Types that every value reads as, and names that need no quotes."
    rounds = any(facts.cast and facts.cast.to.startswith("numeric") for facts in columns)
    return f"{text} Decimals beyond those of a numeric are rounded." if rounds else text


def _casts(columns: Iterable[ColumnFacts]) -> Iterator[str]:
    for facts in columns:
        if facts.cast is not None:
            yield f"{_cast(facts.name, facts.cast)}  # {_evidence(facts, facts.cast)}"


def _cast(name: str, proposal: Proposal) -> str:
    format_ = f", format: {json.dumps(proposal.format)}" if proposal.format else ""
    return f"{{type: cast, field: {_word(name)}, to: {_to(proposal.to)}{format_}}}"


def _to(type_: str) -> str:
    return json.dumps(type_) if "(" in type_ else type_


def _evidence(facts: ColumnFacts, proposal: Proposal) -> str:
    read = facts.filled - proposal.misfits
    how = f" by {proposal.format}" if proposal.format else ""
    seen = f"{read:,} of {facts.filled:,} values read as {proposal.to.split('(')[0]}{how}"
    if not proposal.to.startswith("numeric"):
        return seen
    scale = proposal.to.rstrip(")").split(",")[-1]
    return f"{seen}, up to {count(proposal.decimals, 'decimal')}; more than {scale} are rounded"


def _remarks(columns: Iterable[ColumnFacts]) -> Iterator[str]:
    for facts in columns:
        name, proposal = _word(facts.name), facts.proposal
        if facts.hint is not None:
            yield f"{name} stays text: {facts.hint.looks}; {facts.hint.advice}"
            yield from (f"  - {op}" for op in facts.hint.write_ops(facts.name))
        if proposal is not None and facts.ambiguous:
            formats = " and ".join(facts.ambiguous)
            yield f"{name} stays text: {formats} both read all values. Choose one, such as"
            yield f"  - {_cast(facts.name, replace(proposal, format=facts.ambiguous[0]))}"
        elif proposal is not None and proposal.misfits:
            yield f"{name} stays text: {_evidence(facts, proposal)}; with this op the others"
            yield f"are quarantined: - {_cast(facts.name, proposal)}"


def _renames(names: dict[str, str]) -> Iterator[str]:
    for old, new in names.items():
        if old != new:
            yield f"{{type: rename, from: {_word(old)}, to: {new}}}"


def _target(draft: Draft, names: dict[str, str]) -> Iterator[str]:
    moved = any(facts.cast for facts in draft.columns) or any(a != b for a, b in names.items())
    yield ""
    yield "  - id: target"
    yield "    kind: target"
    yield f"    input: {'types' if moved else 'source'}"
    yield f"    schema: {_word('public.' + (_slug(draft.group.stem) or 'starter'))}"
    if draft.key:
        key = ", ".join(_word(names[name]) for name in draft.key)
        yield "    loadMode: upsert"
        rows = count(draft.rows, "row")
        yield f"    upsertKey: [{key}]  # never empty, and different in all {rows}"
    else:
        reason = (
            "Too few rows to tell a key"
            if draft.rows < 2
            else "No column and no pair of columns is a key"
        )
        yield f"    # {reason}, so each run adds the rows it reads."
        yield "    loadMode: append"


def _tidy_names(columns: Sequence[ColumnFacts]) -> dict[str, str]:
    """New names that SQL takes without quotes, where that makes no two the same."""
    taken = {facts.name.lower() for facts in columns}
    names = {}
    for facts in columns:
        tidy = _slug(facts.name)
        free = tidy.lower() not in taken or tidy.lower() == facts.name.lower()
        usable = bool(_TIDY.fullmatch(tidy)) and not tidy.startswith("_flow_")
        names[facts.name] = tidy if free and usable else facts.name
        taken.add(names[facts.name].lower())
    return names


def _slug(text: str) -> str:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", transliterate(text))
    slug = re.sub(r"[^A-Za-z0-9]+", "_", spaced).strip("_").lower()[:_LONGEST_ID]
    return f"_{slug}" if slug[:1].isdigit() else slug


def _word(text: Any) -> str:
    plain = _PLAIN_WORD.fullmatch(text) and text.lower() not in _SPECIAL
    return text if plain else json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    return " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).split())
