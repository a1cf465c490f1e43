"""How a delimited file is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kaireon_dagster.ir import Source


@dataclass(frozen=True, slots=True)
class Dialect:
    """The characters of a delimited file, and what its values mean.

    Attributes:
        delimiter: between values.
        quote: around values; empty when values are never quoted.
        escape: before a quote inside quotes; the quote itself when quotes are doubled.
        header: whether the first record names the columns.
        nulls: unquoted texts that mean NULL.
    """

    delimiter: str
    quote: str
    escape: str
    header: bool
    nulls: frozenset[str]

    @classmethod
    def of(cls, source: Source) -> Dialect:
        """Read a source's `formatOptions`, with the defaults of its format."""
        options = source.config.format_options
        usual = "\t" if source.config.format == "tsv" else ","
        return cls(
            delimiter=options.delimiter or usual,
            quote=options.quote,
            escape=(options.escape or options.quote) if options.quote else "",
            header=options.header,
            nulls=frozenset(options.null_values),
        )

    @property
    def is_plain(self) -> bool:
        """Whether DuckDB's reader can be trusted with these characters.

        It knows quotes of one byte, and gives wrong offsets for faulty records where quotes have
        an escape of their own.
        """
        return (
            self.quote.isascii() and self.quote == self.escape and len(self.delimiter.encode()) <= 4
        )
