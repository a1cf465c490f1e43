"""Text to syntax tree: sqlglot's PostgreSQL grammar, narrowed to what is checked afterwards.

Calls of functions stay plain calls, so that the registry decides what a name means. Where
sqlglot groups operators in another way than PostgreSQL does, the tree is refused and parentheses
are asked for.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import Token, TokenType

from kaireon_dagster.plan.expressions.refusals import ExpressionRefused

LONGEST: Final = 10_000
"""Characters of an expression."""

_KEPT_CALLS: Final = ("CAST", "EXTRACT", "POSITION", "SUBSTRING", "TRIM")
_KEPT_WORDS: Final = ("CASE",)
_ATOM: Final = 100
_LEVELS: Final[dict[type[exp.Expression], int]] = {
    exp.Or: 1,
    exp.And: 2,
    exp.Not: 3,
    exp.Is: 4,
    exp.NullSafeEQ: 4,
    exp.NullSafeNEQ: 4,
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE), 5),
    **dict.fromkeys((exp.Like, exp.ILike, exp.Between, exp.In, exp.Escape), 6),
    **dict.fromkeys((exp.DPipe, exp.RegexpLike, exp.RegexpILike), 7),
    **dict.fromkeys((exp.Add, exp.Sub), 8),
    **dict.fromkeys((exp.Mul, exp.Div, exp.Mod), 9),
    exp.Pow: 10,
    exp.AtTimeZone: 11,
    exp.Neg: 12,
    exp.Cast: 13,
}
"""PostgreSQL's precedence; higher binds closer."""

_LEFT_ASSOCIATIVE: Final = frozenset({1, 2, 4, 7, 8, 9, 10, 11, 13})
_PREFIX: Final = frozenset({3, 12})


class _Parser(PostgresParser):
    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: parse
        for name, parse in PostgresParser.FUNCTION_PARSERS.items()
        if name in _KEPT_CALLS
    }
    NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: parse
        for name, parse in PostgresParser.NO_PAREN_FUNCTION_PARSERS.items()
        if name in _KEPT_WORDS
    }

    def _parse_interval(self, *_args: Any, **_options: Any) -> Any:
        # sqlglot takes the text apart and loses what it does not expect, such as `ago`.
        if not self._match_pair(TokenType.INTERVAL, TokenType.STRING, advance=False):
            return None
        self._advance()
        text = exp.Literal.string(self._curr.text).update_positions(self._curr)
        self._advance()
        return exp.Interval(this=text)


class _Dialect(Postgres):
    Parser = _Parser


def parse(text: str) -> exp.Expression:
    """Parse exactly one expression.

    Raises:
        ExpressionRefused: for anything that is not one, with comments, or too long.
    """
    if len(text) > LONGEST:
        raise ExpressionRefused(text[:80], 0, f"an expression may have {LONGEST} characters")
    if not text.strip():
        raise ExpressionRefused(text, 0, "the expression is empty")
    dialect = _Dialect()
    try:
        tokens = dialect.tokenize(text)
        _refuse_tokens(text, tokens)
        trees = dialect.parser().parse(tokens, text)
    except TokenError as error:
        raise ExpressionRefused(text, 0, "a quote or comment is not closed") from error
    except ParseError as error:
        raise ExpressionRefused(text, _offset(text, error), "cannot be parsed here") from error
    except RecursionError as error:
        raise ExpressionRefused(text, 0, "the expression is nested too deeply") from error
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Expression):
        raise ExpressionRefused(text, 0, "must be one expression")
    return tree


def position(node: exp.Expression) -> int:
    """Offset of the first character of a node, as far as its parts tell."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    return min(starts, default=0)


def check_grouping(text: str, node: exp.Expression) -> None:
    """Check that PostgreSQL would group the operands of a node in the same way.

    Raises:
        ExpressionRefused: if it would not, or if it would not take the node at all.
    """
    level = _LEVELS.get(type(node), _ATOM)
    if level == _ATOM or isinstance(node, exp.Escape):
        return
    operands = [
        node.args[key] for key in ("this", "expression", "low", "high") if node.args.get(key)
    ]
    for index, operand in enumerate(operands):
        inner = _LEVELS.get(type(operand), _ATOM) if isinstance(operand, exp.Expression) else _ATOM
        may_equal = (index == 0 and level in _LEFT_ASSOCIATIVE) or level in _PREFIX
        if inner < level + (not may_equal):
            raise ExpressionRefused(text, position(operand), "put parentheses around this operand")


def _refuse_tokens(text: str, tokens: list[Token]) -> None:
    for token in tokens:
        if token.comments:
            raise ExpressionRefused(text, token.start, "comments are not allowed in expressions")
        if token.token_type == TokenType.SEMICOLON:
            raise ExpressionRefused(text, token.start, "must be one expression, without `;`")


def _offset(text: str, error: ParseError) -> int:
    first = error.errors[0] if error.errors else {}
    line, column = int(first.get("line") or 1), int(first.get("col") or 1)
    before = sum(len(row) + 1 for row in text.split("\n")[: line - 1])
    return max(min(before + column - len(str(first.get("highlight") or " ")), len(text)), 0)
