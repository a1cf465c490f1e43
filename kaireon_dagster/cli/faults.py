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


class ProgramFault(Terminal):
    """An error that nobody foresaw: a fault of this package or of the machine."""

    def __init__(self, kind: str, place: str) -> None:
        super().__init__(kind, place)
        self.kind, self.place = kind, place

    def __str__(self) -> str:
        return (
            f"unexpected {self.kind} at {self.place}; its text is not shown, since it may hold values "
            "of rows. Please report this"
        )
