"""Peak memory of a worker, each measured in a process of its own."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from benchmarks import loads
from benchmarks.data import Files
from kaireon_dagster.state.database import Database


def peak(conninfo: str, files: Files) -> int:
    """Peak resident megabytes of a process that loads the file by append."""
    command = [sys.executable, "-m", "benchmarks.memory", conninfo, str(files.raw)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout.strip())


def _main(conninfo: str, raw: str) -> None:
    file = Path(raw)
    loads.append(Database(conninfo), Files(file, file, 0), lineage=False)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


if __name__ == "__main__":
    _main(*sys.argv[1:])
