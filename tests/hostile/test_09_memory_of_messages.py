"""Memory of a run grows neither with the square of the ranks nor with the packets that have yet to leave."""

import subprocess

import pytest
from command import GIB, maquette


@pytest.mark.long
def test_long_messages_are_cut_when_they_leave() -> None:
    """512 nodes with half a terabyte each to send: within seconds, what waits to leave would take gigabytes if it were cut before.

    The run itself takes days: it is still going on after 20 s.
    """
    with pytest.raises(subprocess.TimeoutExpired):
        maquette("run", "all-pairs", "--machine", "torus-512", "--bytes", "1GiB", seconds=20, memory=2 * GIB // 3)


@pytest.mark.long
def test_a_ring_of_many_ranks() -> None:
    """A ring all-reduce has as many blocks as ranks on every rank: of those that are only sizes none is kept."""
    arguments = ["run", "all-reduce", "--machine", "loggp", "--nodes", "16384", "--bytes", "1MiB", "--algorithm", "ring"]
    done = maquette(*arguments, memory=GIB, seconds=900)
    assert done.returncode == 0, done.stderr


def test_a_ring_of_some_ranks() -> None:
    """The same with a few thousand steps."""
    arguments = ["run", "all-reduce", "--machine", "loggp", "--nodes", "2048", "--bytes", "1MiB", "--algorithm", "ring"]
    done = maquette(*arguments, memory=GIB // 8)
    assert done.returncode == 0, done.stderr
