"""Memory of a run grows neither with the square of the ranks nor with the packets that have yet to leave."""

import pytest
from command import GIB, maquette

QUARTER = GIB // 4


def test_long_messages_are_cut_when_they_leave() -> None:
    """Two messages of 64 MiB on a network of small packets: 70,000 packets, of which few are there at once."""
    arguments = ["run", "all-to-all", "--machine", "torus-512", "--nodes", "2", "--bytes", "64MiB"]
    done = maquette(*arguments, memory=QUARTER)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_half_a_million_packets_of_each_message() -> None:
    """Eight nodes, each with 7 GiB to send: what waits to leave would take gigabytes if it were cut before."""
    arguments = ["run", "all-to-all", "--machine", "torus-512", "--nodes", "8", "--bytes", "1GiB"]
    done = maquette(*arguments, memory=QUARTER, seconds=600)
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_a_ring_of_many_ranks() -> None:
    """A ring all-reduce has as many blocks as ranks on every rank: of those that are only sizes none is kept."""
    arguments = ["run", "combine", "--machine", "loggp", "--nodes", "16384", "--bytes", "1MiB", "--algorithm", "ring"]
    done = maquette(*arguments, memory=GIB, seconds=900)
    assert done.returncode == 0, done.stderr


def test_a_ring_of_some_ranks() -> None:
    """The same with a few thousand steps."""
    arguments = ["run", "combine", "--machine", "loggp", "--nodes", "2048", "--bytes", "1MiB", "--algorithm", "ring"]
    done = maquette(*arguments, memory=GIB // 8)
    assert done.returncode == 0, done.stderr
