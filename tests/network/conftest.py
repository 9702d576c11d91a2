"""Hosts for tests; where they can't be made, the tests are skipped and say why."""

from collections.abc import Iterator

import pytest
from hosts import Hosts, Unavailable, Wire


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    """Four hosts at 100 Mbit/s."""
    try:
        with Hosts(4, Wire(burst="4kb")) as made:
            yield made
    except Unavailable as reason:
        pytest.skip(f"no hosts to test on: {reason}")
