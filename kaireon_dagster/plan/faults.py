"""Documents that are well formed, and still cannot be compiled for the columns at hand."""

from __future__ import annotations

from kaireon_dagster.errors import Terminal


class NodeFault(Terminal):
    """Something a node asks for that its input or the database does not allow."""

    def __init__(self, node: str, message: str) -> None:
        super().__init__(node, message)
        self.node, self.message = node, message

    def __str__(self) -> str:
        return f"node {self.node!r}: {self.message}"


class NotCondition(Terminal):
    """A condition whose value is not boolean."""

    def __init__(self, node: str, text: str, found: str) -> None:
        super().__init__(node, text, found)
        self.node, self.text, self.found = node, text, found

    def __str__(self) -> str:
        return (
            f"node {self.node!r}: condition {self.text!r} is {self.found}, not boolean; "
            "compare it with something, for example `… = 'x'` or `… IS NOT NULL`"
        )
