"""Database errors sorted by SQLSTATE, and told without a value from a row or a secret.

A server's message for a bad row quotes the row, so for such errors the condition's name and the
names of table, column and constraint stand in its place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import psycopg

from kaireon_dagster.errors import FlowError, Terminal, Transient

# A whole class: lost connections, rollbacks forced by others, lack of resources.
TRANSIENT_CLASSES = frozenset({"08", "40", "53"})
# lock_not_available; a standby's refusal to write; shutdowns and start-up; and what the server's
# time limits end: statement_timeout (which shares its code with a cancel: whoever cancels knows),
# idle_in_transaction_session_timeout, transaction_timeout, idle_session_timeout.
TRANSIENT_STATES = frozenset(
    {"55P03", "25006", "57P01", "57P02", "57P03", "57014", "25P03", "25P04", "57P05"}
)
ROW_CLASSES = frozenset({"22", "23"})
UNTRANSLATABLE = "22P05"
# What is raised in these classes speaks of names, types, locks and limits, never of row values.
TOLD_CLASSES = frozenset(
    {"08", "0A", "25", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58", "XX"}
)
# Wherever a function of the user's says RAISE, message and names are the user's, whatever its code.
RAISED_BY_USER = "exec_stmt_raise"


class RowFault(Terminal):
    """A row that the database cannot take: a candidate for quarantine, never for a retry."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What may be told of a database error.

    Attributes:
        doing: what was tried, such as `load into public.orders`.
        sqlstate: five characters, None when the connection was lost or psycopg refused.
        condition: psycopg's name for it, such as `UniqueViolation`.
        table: qualified name, where the server gave it; so with `column`, `constraint`, `type`.
        message: the server's primary message if it cannot hold a value, else None.
    """

    doing: str
    sqlstate: str | None
    condition: str
    table: str | None = None
    column: str | None = None
    constraint: str | None = None
    type: str | None = None
    message: str | None = None


class StatementError(FlowError):
    """A statement that failed; its subclasses say whether trying again can help."""

    advice = ""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts)
        self.facts = facts

    def __str__(self) -> str:
        facts = self.facts
        code = f"{facts.condition} ({facts.sqlstate})" if facts.sqlstate else facts.condition
        places = [
            f"{noun} {name!r}"
            for noun, name in (
                ("table", facts.table),
                ("column", facts.column),
                ("constraint", facts.constraint),
                ("type", facts.type),
            )
            if name
        ]
        where = f" at {', '.join(places)}" if places else ""
        said = f": {facts.message}" if facts.message else ""
        return f"{facts.doing}: {code}{where}{said}; {self.advice}"


class StatementInterrupted(StatementError, Transient):
    """The server or the network ended a statement that may succeed when tried again."""

    advice = "it may pass: try again on a new connection"


class StatementRefused(StatementError, Terminal):
    """The server will refuse this statement every time."""

    advice = "change the document, the table or the rights; trying again does not help"


class RowRefused(StatementError, RowFault):
    """The server refused a row's values."""

    advice = "find the row by the names given, or let errorHandling.dlq quarantine such rows"


class CharacterRefused(RowRefused):
    """A character that the database cannot hold."""

    advice = (
        "a character of a row is NUL, or has no place in the encoding of the database; take it out, "
        "or load into a database of encoding UTF8"
    )


def classify(error: psycopg.Error) -> type[Transient] | type[Terminal] | type[RowFault]:
    """Decide by SQLSTATE whether an error may pass, stays, or belongs to a row.

    Without a SQLSTATE the error was made on this side: a lost or closed connection may pass,
    data that cannot be sent belong to a row, the rest is a fault of the program.
    """
    state = error.sqlstate
    return _classify_local(error) if state is None else classify_state(state)


def classify_state(state: str) -> type[Transient] | type[Terminal] | type[RowFault]:
    """Decide as `classify` does, by a SQLSTATE that another driver gave."""
    if state[:2] in TRANSIENT_CLASSES or state in TRANSIENT_STATES:
        return Transient
    return RowFault if state[:2] in ROW_CLASSES else Terminal


def name_state(state: str) -> str:
    """Write a SQLSTATE with psycopg's name for it, such as `UndefinedTable (42P01)`."""
    try:
        return f"{psycopg.errors.lookup(state).__name__} ({state})"
    except KeyError:
        return state


def wrap(error: psycopg.Error, doing: str) -> StatementError:
    """Build our error from psycopg's, keeping what may be told.

    Args:
        error: what psycopg raised.
        doing: what was tried, in words without values.
    """
    kind = classify(error)
    facts = _read_facts(error, doing)
    if issubclass(kind, Transient):
        return StatementInterrupted(facts)
    if error.sqlstate == UNTRANSLATABLE:
        return CharacterRefused(facts)
    return RowRefused(facts) if issubclass(kind, RowFault) else StatementRefused(facts)


@contextlib.contextmanager
def wrapped(doing: str) -> Iterator[None]:
    """Turn psycopg's errors inside the block into ours; the original, which may quote
    values, is not chained.
    """
    try:
        yield
    except psycopg.Error as error:
        raise wrap(error, doing) from None


def _classify_local(error: psycopg.Error) -> type[Transient] | type[Terminal] | type[RowFault]:
    if isinstance(error, psycopg.DataError):
        return RowFault
    lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return Transient if lost else Terminal


def _read_facts(error: psycopg.Error, doing: str) -> Facts:
    diag = error.diag
    facts = Facts(doing, error.sqlstate, type(error).__name__)
    if diag.source_function == RAISED_BY_USER:
        return facts
    told = (error.sqlstate or "")[:2] in TOLD_CLASSES and not _is_in_function(diag)
    names = (diag.schema_name, diag.table_name)
    return replace(
        facts,
        table=".".join(name for name in names if name) if diag.table_name else None,
        column=diag.column_name,
        constraint=diag.constraint_name,
        type=diag.datatype_name,
        message=diag.message_primary if told else None,
    )


def _is_in_function(diag: psycopg.errors.Diagnostic) -> bool:
    """Whether a statement of a function failed, which a trigger may have put together of values."""
    context = diag.context or ""
    return bool(context) and not context.startswith("COPY ")
