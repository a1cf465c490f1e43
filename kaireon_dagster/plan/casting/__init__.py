"""Casts between column types, in DuckDB SQL with PostgreSQL's meaning."""

from __future__ import annotations

from kaireon_dagster.plan.casting.casts import Cast, cast
from kaireon_dagster.plan.casting.refusals import CastRefused, FormatRefused

__all__ = ["Cast", "CastRefused", "FormatRefused", "cast"]
