"""No test may hang: what waits longer than `LIMIT`, for a process, a pipe or a browser, fails."""

import signal
from collections.abc import Iterator
from types import FrameType

import pytest

#: How long a test may take; those that run whole studies take minutes. [s]
LIMIT = 1_200


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    def fail(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"the test has not ended within {LIMIT} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
