"""The command line: `kaireon-dagster COMMAND`."""

from __future__ import annotations

from kaireon_dagster.cli.entry import main

__all__ = ["main"]
