"""File formats and how their text is written."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, StringConstraints

from kaireon_dagster.errors import quote_allowed
from kaireon_dagster.ir.base import Checked, Flag, Flaw, OneOrMany, Text, refuse
from kaireon_dagster.ir.spelling import unknown

FileFormat = Literal["csv", "tsv", "json", "jsonl", "parquet", "avro", "orc", "xml"]
Compression = Literal["auto", "none", "gzip", "zstd", "bz2"]

_COMMON_ENCODINGS = ("utf-8", "utf-16", "latin-1", "iso-8859-15", "windows-1252", "ascii")
_DELIMITED = ("csv", "tsv")
# Which formats an option has a meaning in; an option elsewhere would silently do nothing.
_FORMATS_OF_OPTION = {
    "delimiter": _DELIMITED,
    "quote": _DELIMITED,
    "escape": _DELIMITED,
    "header": _DELIMITED,
    "nullValues": _DELIMITED,
    "encoding": ("csv", "tsv", "json", "jsonl", "xml"),
    "compression": ("csv", "tsv", "json", "jsonl", "xml"),
    "recordsPath": ("json",),
    "rowTag": ("xml",),
}


def _check_encoding(encoding: str) -> str:
    try:
        is_text = codecs.lookup(encoding)._is_text_encoding
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        raise refuse(unknown("encoding", encoding, _COMMON_ENCODINGS))
    return encoding


def _check_single(character: str) -> str:
    if character in ("\n", "\r", "\x00"):
        raise refuse("a line end or NUL cannot stand here")
    return character


Character = Annotated[
    str, StringConstraints(min_length=1, max_length=1), AfterValidator(_check_single)
]
QuoteCharacter = Annotated[str, StringConstraints(max_length=1), AfterValidator(_check_single)]


class FormatOptions(Checked):
    """How delimited text, JSON or XML is written, where it is not the usual way."""

    delimiter: Character | None = Field(
        default=None, description="Between values; a comma in csv and a tab in tsv by default."
    )
    quote: QuoteCharacter = Field(
        default='"', description="Around values; empty: values are never quoted."
    )
    escape: Character | None = Field(
        default=None, description="Before a quote inside quotes; a doubled quote by default."
    )
    header: Flag = Field(default=True, description="Whether the first line names the columns.")
    encoding: Annotated[Text, AfterValidator(_check_encoding)] = Field(
        default="utf-8", description="Text encoding; utf-8 is read with or without a BOM."
    )
    null_values: Annotated[tuple[str, ...], OneOrMany()] = Field(
        default=("",), description="Unquoted texts that mean NULL."
    )
    compression: Compression = Field(
        default="auto", description="auto decides by the suffix .gz, .zst or .bz2."
    )
    records_path: Text | None = Field(
        default=None,
        description="Where the list of records stands in a JSON file, such as data.items.",
    )
    row_tag: Text | None = Field(default=None, description="The XML element that is one row.")

    def flaws(self) -> Iterator[Flaw]:
        """Yield characters that would stand for two things at once."""
        if self.quote and self.quote == self.delimiter:
            yield ("quote",), "the quote and the delimiter are the same character"
        if self.escape is not None and self.escape == self.delimiter:
            yield ("escape",), "the escape and the delimiter are the same character"


def find_misplaced_options(options: FormatOptions, file_format: FileFormat) -> Iterator[Flaw]:
    """Yield the options that differ from their default but mean nothing in this format."""
    for field in sorted(options.model_fields_set):
        if getattr(options, field) == FormatOptions.model_fields[field].default:
            continue
        key = FormatOptions.model_fields[field].alias or field
        formats = _FORMATS_OF_OPTION[key]
        if file_format not in formats:
            yield (key,), f"means nothing in {file_format}; it belongs to {quote_allowed(formats)}"


FILE_FORMATS: tuple[FileFormat, ...] = get_args(FileFormat)
