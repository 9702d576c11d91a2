"""Hosts for tests. Where they can't be created, the tests are skipped, with the reason."""

from collections.abc import Iterator

import pytest
from hosts import Hosts, Unavailable, Wire


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    """Four hosts at 100 Mbit/s."""
    try:
        with Hosts(4, Wire(burst="4kb")) as hosts:
            yield hosts
    except Unavailable as reason:
        pytest.skip(f"no hosts to test on: {reason}")
