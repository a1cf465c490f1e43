"""`python -m benchmarks [--rows N] [--rounds N] [--full]`: measures and writes the report."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

from benchmarks import loads, memory, overhead
from benchmarks.data import Files, make
from benchmarks.report import Line, ratio, write
from kaireon_dagster.server import start_server
from kaireon_dagster.state import Database, migrate

# What a server of this size is given; the defaults of PostgreSQL are for a machine of 1 GB.
SETTINGS = ("-c", "shared_buffers=1GB", "-c", "max_wal_size=4GB")
REPORT = Path(__file__).with_name("README.md")
Rounds = dict[str, list[float]]


def main() -> None:
    """Measure, print and write the report."""
    arguments = _arguments()
    with (
        tempfile.TemporaryDirectory(prefix="flow-bench-") as folder,
        start_server(Path(folder) / "server", options=SETTINGS) as server,
    ):
        database = Database(server.conninfo)
        migrate(database)
        report = _measure(database, Path(folder), arguments)
    print(report)
    REPORT.write_text(report, encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--full", action="store_true", help="memory at ten times the rows as well")
    return parser.parse_args()


def _measure(database: Database, folder: Path, arguments: argparse.Namespace) -> str:
    files = make(folder, arguments.rows)
    seconds = _rounds(database, files, arguments.rounds)
    base = seconds["COPY"]
    lines = [
        ratio("append", list(zip(seconds["append"], base, strict=True)), "≤ 1.3"),
        ratio(
            "append, with the lineage column",
            list(zip(seconds["lineage"], base, strict=True)),
            "none",
        ),
        ratio("upsert over 500,000 rows", list(zip(seconds["upsert"], base, strict=True)), "≤ 3.5"),
        *_memory(database, folder, files, arguments.full),
        overhead.measure(database),
    ]
    medians = {name: median(values) for name, values in seconds.items()}
    settings = ", ".join(setting for setting in SETTINGS if setting != "-c")
    return write(lines, arguments.rows, medians, settings)


def _rounds(database: Database, files: Files, rounds: int) -> Rounds:
    seconds: Rounds = {"COPY": [], "append": [], "lineage": [], "upsert": []}
    loads.copy(database, files)
    for number in range(rounds):
        seconds["COPY"].append(loads.copy(database, files))
        seconds["append"].append(loads.append(database, files, lineage=False)[0])
        seconds["lineage"].append(loads.append(database, files, lineage=True)[0])
        seconds["upsert"].append(loads.upsert(database, files, lineage=False)[0])
        print(
            f"round {number + 1}:", {name: round(values[-1], 2) for name, values in seconds.items()}
        )
    return seconds


def _memory(database: Database, folder: Path, files: Files, full: bool) -> list[Line]:
    lines = [Line("worker memory", f"{memory.peak(database.conninfo, files)} MB", "≤ 600 MB")]
    if full:
        tenfold = make(folder, files.rows * 10)
        peak = memory.peak(database.conninfo, tenfold)
        lines.append(Line("worker memory at ten times the rows", f"{peak} MB", "no more"))
    return lines


if __name__ == "__main__":
    main()
