"""What a command answers, for people and for programs alike."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import Any, Final

DONE: Final = 0
FAILED: Final = 1
INVALID: Final = 2
"""Wrong usage, or a document that cannot be used."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a command.

    Attributes:
        code: exit code, one of `DONE`, `FAILED`, `INVALID`.
        lines: for people, on standard output.
        data: the same facts as JSON values, printed in place of the lines under `--json`.
    """

    code: int = DONE
    lines: tuple[str, ...] = ()
    data: Any = field(default_factory=dict)

    def print(self, *, as_json: bool) -> None:
        """Write the answer to standard output."""
        if as_json:
            print(json.dumps(self.data, indent=2, ensure_ascii=False, default=str))
        elif self.lines:
            print(*self.lines, sep="\n")


def tell(line: str) -> None:
    """Say at once what is going on, where it does not mix with the answer: on standard error."""
    print(line, file=sys.stderr, flush=True)


def write_table(header: tuple[str, ...], rows: list[tuple[Any, ...]]) -> tuple[str, ...]:
    """Write rows as aligned columns: numbers to the right, with thousands apart."""
    texts = [header, *(tuple(_write(value) for value in row) for row in rows)]
    widths = [max(len(text) for text in column) for column in zip(*texts, strict=True)]
    right = [any(isinstance(row[i], (int, float)) for row in rows) for i in range(len(header))]
    lines = [_write_row(row, widths, right) for row in texts]
    return (lines[0], "  ".join("-" * width for width in widths), *lines[1:])


def _write(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _write_row(row: tuple[str, ...], widths: list[int], right: list[bool]) -> str:
    cells = (
        text.rjust(width) if to_right else text.ljust(width)
        for text, width, to_right in zip(row, widths, right, strict=True)
    )
    return "  ".join(cells).rstrip()
