"""Questions that the demo's tables answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from kaireon_dagster.state import Connection, wrapped


@dataclass(frozen=True, slots=True)
class Answer:
    """A question, and the rows that answer it."""

    question: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


_QUESTIONS: Final = {
    "Which routes arrive latest, of those flown daily or more?": """
        SELECT route, min(airline) || CASE WHEN count(DISTINCT airline) > 1 THEN ' and others' ELSE ''
               END AS airline, count(*) AS flights, round(avg(arr_delay), 1)::float8 AS minutes_late
        FROM flights.departures
        GROUP BY route HAVING count(*) >= 365
        ORDER BY avg(arr_delay) DESC LIMIT 5
    """,
    "How many minutes late do flights leave, by how far one can see?": """
        SELECT origin,
               max(average_delay) FILTER (WHERE visibility = 'below 1 mile')::float8 AS "below 1 mile",
               max(average_delay) FILTER (WHERE visibility = '1 to 5 miles')::float8 AS "1 to 5 miles",
               max(average_delay) FILTER (WHERE visibility = '10 miles and more')::float8 AS "10 and more"
        FROM flights.delays_by_weather GROUP BY origin ORDER BY origin
    """,
    "Which rows went to quarantine in this demo, and by which rule?": """
        SELECT "pipelineId" AS document, "ruleId" AS rule, count(*) AS rows
        FROM (SELECT * FROM flights_dlq.airports UNION ALL SELECT * FROM flights_dlq.planes
              UNION ALL SELECT * FROM flights_dlq.weather UNION ALL SELECT * FROM flights_dlq.flights) q
        WHERE "runId" = ANY(%(runs)s)
        GROUP BY 1, 2 ORDER BY 1, 3 DESC, 2
    """,
}


def ask(connection: Connection, runs: tuple[str, ...]) -> tuple[Answer, ...]:
    """Ask the demo's questions.

    Args:
        connection: to the database that the documents loaded.
        runs: ids of the demo's runs; quarantine tables keep the rows of earlier ones too.
    """
    with wrapped("ask the demo's questions"):
        return tuple(_ask(connection, *pair, runs) for pair in _QUESTIONS.items())


def _ask(connection: Connection, question: str, query: str, runs: tuple[str, ...]) -> Answer:
    cursor = connection.execute(query.encode(), {"runs": list(runs)})
    columns = tuple(column.name for column in cursor.description or ())
    return Answer(question, columns, tuple(cursor.fetchall()))
