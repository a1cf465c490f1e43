"""User expressions: PostgreSQL-flavoured scalar SQL, checked, typed and written for DuckDB."""

from __future__ import annotations

from kaireon_dagster.plan.expressions.compiling import Compiled, compile_expression
from kaireon_dagster.plan.expressions.refusals import ExpressionRefused
from kaireon_dagster.plan.expressions.syntax import check_syntax

__all__ = ["Compiled", "ExpressionRefused", "check_syntax", "compile_expression"]
