"""What `doctor` looks at: one module for each thing that can be wrong."""

from __future__ import annotations

from kaireon_dagster.cli.checks.finding import Finding

__all__ = ["Finding"]
