"""The result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        subject: what was looked at, such as `database`.
        status: `problem` when something will not work, `warning` when it may not.
        message: what was found.
        advice: what to do; empty when all is well.
    """

    subject: str
    status: Status
    message: str
    advice: str = ""


def ok(subject: str, message: str) -> Finding:
    """All is well."""
    return Finding(subject, "ok", message)


def warning(subject: str, message: str, advice: str) -> Finding:
    """Works now, or may not always."""
    return Finding(subject, "warning", message, advice)


def problem(subject: str, message: str, advice: str) -> Finding:
    """Does not work."""
    return Finding(subject, "problem", message, advice)
