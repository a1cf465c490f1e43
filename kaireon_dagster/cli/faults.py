"""Errors of the command line itself."""

from __future__ import annotations

from kaireon_dagster.errors import Terminal


class UsageFault(Terminal):
    """A command that was asked for something it cannot do as asked; nothing was done."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return self.message
