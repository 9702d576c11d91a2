"""The report of the studies is begun before the first test, beside those that don't need it."""

import os
from pathlib import Path

import pytest

from reproduction import Reproduction

_BEGUN = pytest.StashKey[Reproduction]()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin the report, if one of the tests needs it."""
    needed = any("report_of_studies" in getattr(item, "fixturenames", ()) for item in session.items)
    command = Reproduction.command()
    if needed and command and not session.config.option.collectonly and "MAQUETTE_REPORT" not in os.environ:
        session.config.stash[_BEGUN] = Reproduction(command)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End it, should nobody have waited for it."""
    if (begun := config.stash.get(_BEGUN, None)) is not None:
        begun.close()


@pytest.fixture(scope="session")
def report_of_studies(pytestconfig: pytest.Config) -> Path:
    """The page: made by the command that these tests run with, or the file that `MAQUETTE_REPORT` names."""
    if given := os.environ.get("MAQUETTE_REPORT"):
        return Path(given)
    begun = pytestconfig.stash.get(_BEGUN, None)
    if begun is None:
        pytest.skip("maquette is not installed and MAQUETTE_REPORT names no report")
    return begun.page()
