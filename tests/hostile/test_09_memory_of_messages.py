"""The memory of a run grows neither with the square of the ranks nor with the packets that are still to be sent."""

import os
import subprocess

import pytest
from command import COMMAND, GIB, maquette


@pytest.mark.long
def test_long_messages_are_split_into_packets_as_they_leave() -> None:
    """512 nodes send half a terabyte each: if messages were split beforehand, packets would take gigabytes within seconds.

    The run itself takes days: it is still running after 20 s.
    """
    with pytest.raises(subprocess.TimeoutExpired):
        maquette("run", "all-pairs", "--machine", "torus-512", "--bytes", "1GiB", seconds=20, memory=2 * GIB // 3)


@pytest.mark.long
def test_a_ring_of_many_ranks_keeps_no_blocks() -> None:
    """A ring all-reduce has as many blocks on every rank as there are ranks; blocks that are only sizes are not kept."""
    arguments = ["run", "all-reduce", "--machine", "loggp", "--nodes", "16384", "--bytes", "1MiB", "--algorithm", "ring"]
    completed = maquette(*arguments, memory=GIB, seconds=900)
    assert completed.returncode == 0, completed.stderr


def peak(ranks: int) -> int:
    """The peak memory of a ring all-reduce of 1 MiB among so many ranks. [B]"""
    arguments = ["run", "all-reduce", "--machine", "loggp", "--nodes", str(ranks), "--bytes", "1MiB", "--algorithm", "ring"]
    running = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0
    return usage.ru_maxrss * 1024


def test_a_ring_of_fewer_ranks_keeps_no_blocks() -> None:
    """The same, with a few thousand steps, beside what the command takes for itself: blocks of all ranks at all would be 4 million."""
    assert peak(2048) - peak(64) < 16 << 20
