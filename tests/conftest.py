"""No test may hang: one that waits longer than `LIMIT`, for a process, a pipe or a browser, fails.

The report of the studies is begun before the first test, in parallel with the tests that don't need it.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from browser.reproduction import Reproduction

#: How long a test may take; those that run whole studies take minutes. [s]
LIMIT = 1_200


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    def fail(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"the test has not ended within {LIMIT} s")

    previous = signal.signal(signal.SIGALRM, fail)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


_BEGUN = pytest.StashKey[Reproduction]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin the report, if one of the tests needs it."""
    needed = any("report_of_studies" in getattr(item, "fixturenames", ()) for item in session.items)
    command = Reproduction.command()
    if needed and command and not session.config.option.collectonly and "MAQUETTE_REPORT" not in os.environ:
        session.config.stash[_BEGUN] = Reproduction(command)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop it if no test has waited for it."""
    if (begun := config.stash.get(_BEGUN, None)) is not None:
        begun.close()


@pytest.fixture(scope="session")
def report_of_studies(pytestconfig: pytest.Config) -> Path:
    """The page: made by the installed command, or the file that `MAQUETTE_REPORT` names."""
    if given := os.environ.get("MAQUETTE_REPORT"):
        return Path(given)
    begun = pytestconfig.stash.get(_BEGUN, None)
    if begun is None:
        pytest.skip("maquette is not installed and MAQUETTE_REPORT names no report")
    return begun.page()
