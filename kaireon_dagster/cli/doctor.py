"""`doctor`: everything around the documents that can be wrong, and what to do about it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict

from kaireon_dagster.cli.checks import Finding
from kaireon_dagster.cli.checks.database import check_database
from kaireon_dagster.cli.checks.folders import check_folders
from kaireon_dagster.cli.checks.versions import check_versions
from kaireon_dagster.cli.reply import DONE, FAILED, Reply


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes: nothing."""


def execute(options: argparse.Namespace) -> Reply:
    """Run all checks."""
    findings = [*check_versions(), *check_database(), *check_folders()]
    problems = sum(finding.status == "problem" for finding in findings)
    warnings = sum(finding.status == "warning" for finding in findings)
    lines = [line for finding in findings for line in _lines(finding)]
    summary = f"{len(findings)} checks: {problems} problem(s), {warnings} warning(s)"
    data = {"checks": [asdict(finding) for finding in findings]}
    return Reply(FAILED if problems else DONE, (*lines, summary), data)


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.status:<8} {finding.subject}: {finding.message}"
    if finding.advice:
        yield f"         {finding.advice}"
