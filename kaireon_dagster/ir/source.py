"""Where rows come from: files of a store, or messages of a broker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from kaireon_dagster.ir.base import Checked, Flag, Flaw, Model, Text, Whole, refuse
from kaireon_dagster.ir.formats import FileFormat, FormatOptions, find_misplaced_options
from kaireon_dagster.ir.identifiers import FieldReference
from kaireon_dagster.ir.node import Node
from kaireon_dagster.ir.templates import find_date_token_fault, find_folder_fault, has_date_token
from kaireon_dagster.ir.timestamps import read_timestamp
from kaireon_dagster.ir.zones import Zone

FileConnector = Literal["local_fs", "s3", "gcs", "azure_blob", "sftp", "http_pull"]
StreamConnector = Literal["kafka", "kinesis", "pulsar"]
STREAM_CONNECTORS: tuple[str, ...] = get_args(StreamConnector)


def _check_folder(folder: str) -> str:
    fault = find_folder_fault(folder)
    if fault is not None:
        raise refuse(fault)
    return folder


def _refuse_ftp(connector: Any) -> Any:
    if connector in ("ftp", "ftps"):
        raise refuse(f"connector {connector!r} is refused: it sends in the clear; use 'sftp'")
    return connector


Folder = Annotated[Text, AfterValidator(_check_folder)]


class Pattern(Checked):
    """Which files of the folder are read, by name alone."""

    type: Literal["glob", "regex", "date_template"] = Field(
        description="glob: * and ?; regex: matches the whole name; date_template: tokens of a date."
    )
    value: Text = Field(
        description="The pattern. Date tokens: {YYYY} {MM} {DD} {HH} {mm} {ss} {YYYY-MM-DD} "
        "{YYYYMMDD}.",
        examples=["orders_*.csv", "log_{YYYY-MM-DD}.jsonl"],
    )
    timezone: Zone = Field(default="UTC", description="IANA time zone of the date tokens.")

    def flaws(self) -> Iterator[Flaw]:
        """Yield what stops the value from ever matching a name."""
        fault = _PATTERN_CHECKS[self.type](self.value)
        if fault is not None:
            yield ("value",), fault


def _find_glob_fault(value: str) -> str | None:
    if "/" in value:
        return "matched against the file name alone; put the folder into 'path'"
    return None


def _find_regex_fault(value: str) -> str | None:
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
    return None


def _find_template_fault(value: str) -> str | None:
    fault = find_date_token_fault(value) or _find_glob_fault(value)
    if fault is None and not has_date_token(value):
        return "a date_template needs at least one date token, such as {YYYY-MM-DD}; or use 'glob'"
    return fault


_PATTERN_CHECKS = {
    "glob": _find_glob_fault,
    "regex": _find_regex_fault,
    "date_template": _find_template_fault,
}


class WaitPolicy(Model):
    """How long a run waits for files that are not there yet."""

    max_retries: Whole = Field(ge=0, description="How often to look again.")
    interval_minutes: Whole = Field(ge=0, description="Minutes between two looks.")
    on_miss_action: Literal["alert", "skip", "fail"] = Field(
        description="After the last look: alert and go on empty, go on empty, or fail."
    )


class Atomicity(Checked):
    """Where a file is while it is read, after the run, and after a run that failed."""

    staging_folder: Folder = Field(
        default=".processing/", description="Files are moved here before a byte of them is read."
    )
    success_folder: Folder = Field(
        default=".archive/", description="Files go here once every target of the run committed."
    )
    failure_folder: Folder = Field(
        default=".failed/", description="Files go here when the run has finally failed."
    )

    def flaws(self) -> Iterator[Flaw]:
        """Yield a staging folder that is also a final one: its files would look unfinished."""
        for key, folder in (
            ("successFolder", self.success_folder),
            ("failureFolder", self.failure_folder),
        ):
            if folder.strip("/") == self.staging_folder.strip("/"):
                yield (key,), "the same folder as stagingFolder; files in it would be taken again"


class SourceConfig(Checked):
    """Which files a source reads, in which order, and how they are written."""

    path: Text = Field(description="Folder, bucket with prefix, or URL.")
    pattern: Pattern = Field(description="Which files of the path are read.")
    ordering: Literal["lexicographic", "fifo_by_name", "process_all", "latest_by_mtime"] = Field(
        default="lexicographic",
        description="By name (lexicographic, fifo_by_name), as listed (process_all), or only the "
        "newest file (latest_by_mtime).",
    )
    max_files: Whole | None = Field(
        default=None, ge=1, description="Files per run at most; the rest wait for the next run."
    )
    wait_policy: WaitPolicy | None = Field(
        default=None, description="What to do while no file matches."
    )
    atomicity: Atomicity | None = Field(
        default=None, description="The folders that files are moved through."
    )
    format: FileFormat = Field(description="Format of the files.")
    format_options: FormatOptions = Field(
        default=FormatOptions(), description="How the files are written, where it is unusual."
    )
    connection: Text | None = Field(
        default=None,
        description="Name of the connection resource that holds the credentials; they never stand "
        "in a document.",
    )

    def flaws(self) -> Iterator[Flaw]:
        """Yield options that the format has no use for."""
        for location, message in find_misplaced_options(self.format_options, self.format):
            yield ("formatOptions", *location), message


def _check_instant(text: str) -> str:
    if read_timestamp(text) is None:
        raise refuse("needs ISO 8601, such as 2026-03-01T00:00:00Z")
    return text


class StartTimestamp(Model):
    """Start at the first message at or after an instant."""

    timestamp: Annotated[Text, AfterValidator(_check_instant)] = Field(
        description="ISO 8601; without an offset it is UTC.", examples=["2026-03-01T00:00:00Z"]
    )


def _start_tag(value: Any) -> str:
    return "<timestamp>" if isinstance(value, (dict, StartTimestamp)) else "<word>"


StartFrom = Annotated[
    Annotated[Literal["earliest", "latest"], Tag("<word>")]
    | Annotated[StartTimestamp, Tag("<timestamp>")],
    Discriminator(_start_tag),
]


class StreamConfig(Model):
    """Which messages a streaming source reads, and how many make a batch."""

    connection: Text = Field(
        description="Name of the connection resource with the brokers, stream or service URL."
    )
    topic: Text | None = Field(
        default=None, description="Topic; for kinesis the connection names the stream."
    )
    format: Literal["json", "jsonl", "csv", "tsv", "avro", "xml"] = Field(
        description="Format of one message."
    )
    start_from: StartFrom = Field(
        description="Where the first batch starts: earliest, latest or {timestamp}."
    )
    max_batch_records: Whole = Field(default=50_000, ge=1, description="Messages per batch.")
    max_batch_seconds: Whole = Field(default=30, ge=1, description="Seconds per batch.")
    key_field: FieldReference | None = Field(
        default=None, description="Field that receives the message key."
    )
    include_headers: Flag = Field(
        default=False, description="Whether the message headers become a field."
    )


class Source(Checked, Node):
    """Reads the files of a store."""

    kind: Literal["source"] = Field(description="A source of rows.")
    connector: Annotated[FileConnector, BeforeValidator(_refuse_ftp)] = Field(
        description="The kind of store."
    )
    config: SourceConfig = Field(description="Which files, and how they are written.")

    def flaws(self) -> Iterator[Flaw]:
        """Yield a path that the connector cannot open."""
        if self.connector == "http_pull" and not re.match(r"https?://", self.config.path):
            yield ("config", "path"), "http_pull needs a URL, http:// or https://"


class StreamSource(Checked, Node):
    """Reads batches of messages from a broker."""

    kind: Literal["source"] = Field(description="A source of rows.")
    connector: StreamConnector = Field(description="The kind of broker.")
    config: StreamConfig = Field(description="Which messages, and how many at a time.")

    def flaws(self) -> Iterator[Flaw]:
        """Yield a broker that was not told its topic."""
        if self.connector != "kinesis" and self.config.topic is None:
            yield ("config", "topic"), f"required key is missing; {self.connector} reads a topic"


def _source_tag(value: Any) -> str:
    connector = value.get("connector") if isinstance(value, dict) else value.connector
    is_stream = isinstance(connector, str) and connector in STREAM_CONNECTORS
    return "<StreamSource>" if is_stream else "<Source>"


AnySource = Annotated[
    Annotated[Source, Tag("<Source>")] | Annotated[StreamSource, Tag("<StreamSource>")],
    Discriminator(_source_tag),
]
