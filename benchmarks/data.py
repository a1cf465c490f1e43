"""The measured data: orders with quotes, newlines, unicode, and one bad row in two hundred."""

from __future__ import annotations

import csv
import random
from dataclasses import dataclass
from pathlib import Path

HEADER = [
    "Order Id",
    "Customer",
    "email",
    "amount",
    "qty",
    "ordered_at",
    "country",
    "status",
    "note",
    "address",
    "sku",
    "comment",
]
CLEAN_TABLE = (
    "id bigint, customer text, email text, amount numeric(12,2), qty integer, ordered_at timestamp, "
    "country text, status text, note text, address text, sku text, comment text"
)
BAD_EVERY = 200
_WORDS = [
    "alpha",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
    "juliet",
    "kilo",
    "lima",
    "zürich",
    "größe",
    "naïve",
    "東京",
    "café",
    "🚚",
]
_STATUSES = (
    "new",
    "paid",
    "cancelled",
    "shipped",
    "returned",
    "held",
    "packed",
    "sent",
    "lost",
    "open",
)
_COUNTRIES = ("DE", "PE", "NO", "US")


@dataclass(frozen=True, slots=True)
class Files:
    """One data set: as it arrives, and a copy that COPY can take, without header and bad rows."""

    raw: Path
    clean: Path
    rows: int


def make(folder: Path, rows: int) -> Files:
    """Write both files, the same on every machine; files that are there are used again."""
    files = Files(folder / f"orders-{rows}.csv", folder / f"orders-{rows}.clean.csv", rows)
    if files.clean.exists():
        return files
    chance = random.Random(7)
    with (
        files.raw.open("w", newline="", encoding="utf-8") as raw,
        files.clean.with_suffix(".part").open("w", newline="", encoding="utf-8") as clean,
    ):
        full, copy = (csv.writer(f, lineterminator="\n") for f in (raw, clean))
        full.writerow(HEADER)
        for number in range(rows):
            row = _order(number, chance)
            full.writerow(row)
            if number % BAD_EVERY != BAD_EVERY - 1:
                copy.writerow(row)
    files.clean.with_suffix(".part").rename(files.clean)
    return files


def _order(number: int, chance: random.Random) -> list[object]:
    words = chance.choices(_WORDS, k=10)
    note = " ".join(words[:6]) + ('\nsecond "line", here' if number % 20 == 0 else "")
    bad = number % BAD_EVERY == BAD_EVERY - 1
    return [
        number,
        f"{words[6]} {words[7]}",
        f"user{number}@example.com",
        "oops" if bad else f"{chance.uniform(1, 999):.2f}",
        chance.randint(1, 9),
        f"2026-0{chance.randint(1, 9)}-{chance.randint(10, 28)} 10:00:00",
        chance.choice(_COUNTRIES),
        chance.choice(_STATUSES),
        note,
        f"{chance.randint(1, 999)} {words[8]} street, {words[9]}",
        f"SKU-{chance.randint(1, 99999):05d}",
        words[0] * 3,
    ]
