"""Few datagrams are repeated needlessly between eight hosts whose wires lose nothing; repeats.py sweeps all programs and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts import Hosts, Unavailable
from repeats import GOAL, HOSTS, MOST, lossless, measure


@pytest.fixture(scope="module")
def eight() -> Iterator[Hosts]:
    """Eight hosts at 100 Mbit/s."""
    try:
        with Hosts(HOSTS, lossless("100mbit")) as hosts:
            yield hosts
    except Unavailable as reason:
        pytest.skip(f"no hosts to test on: {reason}")


@pytest.mark.parametrize(
    "program",
    [
        ["broadcast", "--algorithm", "linear", "--bytes", "256KiB"],
        ["broadcast", "--algorithm", "hardware", "--bytes", "64KiB"],
        ["all-reduce", "--algorithm", "recursive-doubling", "--bytes", "64KiB"],
        ["all-to-all", "--algorithm", "linear", "--bytes", "16KiB"],
        ["linear-hash", "--servers", "4", "--clients", "4", "--random-keys", "500"],
        ["goal"],
    ],
    ids=" ".join,
)
def test_at_most_a_hundredth_of_datagrams_is_repeated_needlessly(eight: Hosts, tmp_path: Path, program: list[str]) -> None:
    if program == ["goal"]:
        (tmp_path / "everyone.goal").write_text(GOAL)
        program = [*program, str(tmp_path / "everyone.goal")]
    repeats = measure(eight, tmp_path, program, repeat=3)
    assert repeats.share <= MOST, f"{repeats.needless} of {repeats.datagrams} datagrams came twice"
