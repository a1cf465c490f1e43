from __future__ import annotations

import pytest
from pydantic import ValidationError

from kaireon_dagster.errors import Terminal, Transient
from kaireon_dagster.ir import Retry
from kaireon_dagster.orchestration.retrying import Tries, delay, delay_again
from kaireon_dagster.sources import FilesNotThere


def retry(**fields: object) -> Retry:
    return Retry.model_validate(fields)


def test_exponential_delays_rise_to_the_cap_and_stay() -> None:
    policy = retry(maxAttempts=20, backoff="exponential", delaySeconds=5, maxDelaySeconds=300)
    delays = [delay(policy, attempt) for attempt in range(1, 21)]
    assert delays[:8] == [5, 10, 20, 40, 80, 160, 300, 300]
    assert set(delays[6:]) == {300}


def test_no_attempt_overflows() -> None:
    policy = retry(maxAttempts=20, delaySeconds=3600, maxDelaySeconds=1e9)
    assert delay(policy, 100_000) == 1e9


def test_linear_and_fixed() -> None:
    linear = retry(maxAttempts=3, backoff="linear", delaySeconds=5, maxDelaySeconds=12)
    assert [delay(linear, attempt) for attempt in (1, 2, 3)] == [5, 10, 12]
    fixed = retry(maxAttempts=3, backoff="fixed", delaySeconds=5)
    assert [delay(fixed, attempt) for attempt in (1, 2, 3)] == [5, 5, 5]


def test_no_delay_stays_no_delay() -> None:
    assert delay(retry(maxAttempts=3, delaySeconds=0), 20) == 0


def test_zero_attempts_means_no_retry() -> None:
    assert delay_again(Transient("x"), retry(), Tries()) is None


def test_attempts_are_counted_after_the_first() -> None:
    policy = retry(maxAttempts=2, delaySeconds=1)
    assert delay_again(Transient("x"), policy, Tries(0)) == 1
    assert delay_again(Transient("x"), policy, Tries(1)) == 2
    assert delay_again(Transient("x"), policy, Tries(2)) is None


def test_twenty_attempts_are_made() -> None:
    policy = retry(maxAttempts=20)
    made = [t for t in range(25) if delay_again(Transient("x"), policy, Tries(t)) is not None]
    assert made == list(range(20))


def test_terminal_errors_are_never_tried_again() -> None:
    assert delay_again(Terminal("x"), retry(maxAttempts=20), Tries()) is None


def test_spread_never_passes_the_cap_and_doubled_delays_still_rise() -> None:
    policy = retry(maxAttempts=20, delaySeconds=5, maxDelaySeconds=300)
    late = [delay_again(Transient("x"), policy, Tries(t), chance=0) or 0 for t in range(6)]
    early = [delay_again(Transient("x"), policy, Tries(t), chance=1) or 0 for t in range(6)]
    assert all(a < b for a, b in zip(late, early[1:], strict=False))
    assert max(late) <= 300


def test_waiting_for_files_has_its_own_budget() -> None:
    missing = FilesNotThere("src", 0, 300.0)
    assert delay_again(missing, retry(), Tries(7, 7)) == 300
    policy = retry(maxAttempts=1, delaySeconds=1)
    assert delay_again(Transient("x"), policy, Tries(retries=7, looks=7)) == 1
    assert delay_again(Transient("x"), policy, Tries(retries=8, looks=7)) is None


def test_nonsense_is_refused_when_the_document_is_checked() -> None:
    for fields in ({"maxAttempts": -1}, {"maxAttempts": 21}, {"delaySeconds": -1}):
        with pytest.raises(ValidationError):
            retry(**fields)
