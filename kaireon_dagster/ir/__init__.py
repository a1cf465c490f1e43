"""The Flow language: documents, their models, and everything that can be wrong with them."""

from __future__ import annotations

from kaireon_dagster.ir.column_ops import (
    AddField,
    Cast,
    Drop,
    Expression,
    Hash,
    MapValues,
    MaskPii,
    Merge,
    Rename,
    Split,
)
from kaireon_dagster.ir.content_hash import content_hash, write_canonical
from kaireon_dagster.ir.document import Format
from kaireon_dagster.ir.failure import Dlq, ErrorHandling, Retry
from kaireon_dagster.ir.formats import FILE_FORMATS, FileFormat, FormatOptions
from kaireon_dagster.ir.frozen import FrozenMapping, freeze, thaw
from kaireon_dagster.ir.hook_sql import find_statement_fault
from kaireon_dagster.ir.hooks import FunctionHook, Hook, RefreshHook, SqlHook, WebhookHook
from kaireon_dagster.ir.identifiers import (
    LONGEST_NAME,
    find_name_fault,
    split_column,
    split_reference,
    split_table,
)
from kaireon_dagster.ir.json_schema import json_schema
from kaireon_dagster.ir.loading import (
    BrokenDocument,
    Document,
    FolderMissing,
    LoadedDocument,
    find_documents,
    load_folder,
)
from kaireon_dagster.ir.model_ops import GeoResolve, LanguageDetect, SentimentScore, VectorEmbed
from kaireon_dagster.ir.node import Consumer, Node
from kaireon_dagster.ir.parsing import (
    SUFFIXES,
    UnknownKeyWarning,
    parse_document,
    read_document,
)
from kaireon_dagster.ir.pipeline import (
    AnyNode,
    Deadline,
    FileArrival,
    Metadata,
    Pipeline,
    Trigger,
    fold_id,
)
from kaireon_dagster.ir.regex_subset import find_regex_fault
from kaireon_dagster.ir.routing import Archive, Branch, Enrich, Join, JoinKey, Route
from kaireon_dagster.ir.rules import Operand, read_operand
from kaireon_dagster.ir.schedule import CatchUpAll, Cron, Interval, Rrule, Schedule
from kaireon_dagster.ir.set_ops import (
    Aggregate,
    Aggregation,
    Deduplicate,
    Filter,
    LookupField,
    LookupJoin,
    LookupKey,
    Summarize,
)
from kaireon_dagster.ir.source import (
    Atomicity,
    Pattern,
    Source,
    SourceConfig,
    StartTimestamp,
    StreamConfig,
    StreamSource,
    WaitPolicy,
)
from kaireon_dagster.ir.target import (
    BackupBeforeLoad,
    ExpectedRowCountDelta,
    LoadMode,
    Target,
)
from kaireon_dagster.ir.templates import DATE_TOKENS, RUN_TOKENS
from kaireon_dagster.ir.transform import Op, Transform
from kaireon_dagster.ir.validate import (
    DatasetLevel,
    DatasetRule,
    Freshness,
    NullRate,
    Quarantine,
    Referential,
    RowCount,
    RowRule,
    Uniqueness,
    Validate,
)

__all__ = [
    "DATE_TOKENS",
    "FILE_FORMATS",
    "LONGEST_NAME",
    "RUN_TOKENS",
    "SUFFIXES",
    "AddField",
    "Aggregate",
    "Aggregation",
    "AnyNode",
    "Archive",
    "Atomicity",
    "BackupBeforeLoad",
    "Branch",
    "BrokenDocument",
    "Cast",
    "CatchUpAll",
    "Consumer",
    "Cron",
    "DatasetLevel",
    "DatasetRule",
    "Deadline",
    "Deduplicate",
    "Dlq",
    "Document",
    "Drop",
    "Enrich",
    "ErrorHandling",
    "ExpectedRowCountDelta",
    "Expression",
    "FileArrival",
    "FileFormat",
    "Filter",
    "FolderMissing",
    "Format",
    "FormatOptions",
    "Freshness",
    "FrozenMapping",
    "FunctionHook",
    "GeoResolve",
    "Hash",
    "Hook",
    "Interval",
    "Join",
    "JoinKey",
    "LanguageDetect",
    "LoadMode",
    "LoadedDocument",
    "LookupField",
    "LookupJoin",
    "LookupKey",
    "MapValues",
    "MaskPii",
    "Merge",
    "Metadata",
    "Node",
    "NullRate",
    "Op",
    "Operand",
    "Pattern",
    "Pipeline",
    "Quarantine",
    "Referential",
    "RefreshHook",
    "Rename",
    "Retry",
    "Route",
    "RowCount",
    "RowRule",
    "Rrule",
    "Schedule",
    "SentimentScore",
    "Source",
    "SourceConfig",
    "Split",
    "SqlHook",
    "StartTimestamp",
    "StreamConfig",
    "StreamSource",
    "Summarize",
    "Target",
    "Transform",
    "Trigger",
    "Uniqueness",
    "UnknownKeyWarning",
    "Validate",
    "VectorEmbed",
    "WaitPolicy",
    "WebhookHook",
    "content_hash",
    "find_documents",
    "find_name_fault",
    "find_regex_fault",
    "find_statement_fault",
    "fold_id",
    "freeze",
    "json_schema",
    "load_folder",
    "parse_document",
    "read_document",
    "read_operand",
    "split_column",
    "split_reference",
    "split_table",
    "thaw",
    "write_canonical",
]
