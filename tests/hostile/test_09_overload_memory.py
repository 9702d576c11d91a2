"""Overload takes no more memory the longer it lasts."""

import os
import resource
import subprocess

import pytest
from command import COMMAND

MIB = 1 << 20
# The processor time that a case may take. [s]
SECONDS = 300


def memory(rate: float, packet: int, cycles: int, status: int) -> int:
    """The peak memory of a load that is measured for this many cycles. [B]"""
    load = ["--machine", "booksim-mesh-8x8", "--rate", str(rate), "--packet", str(packet)]
    running = subprocess.Popen(
        [COMMAND, "run", "traffic", *load, "--warm-up", "1000", "--measure", str(cycles)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
    )
    _, ended, usage = os.wait4(running.pid, 0)
    running.returncode = os.waitstatus_to_exitcode(ended)
    assert running.returncode == status
    return usage.ru_maxrss * 1024


def test_overload_does_not_keep_the_births_of_packets() -> None:
    """Nine times the backlog takes hardly more memory; when births were kept, it took 25 MB more."""
    assert memory(1, 16, 100_000, 1) - memory(1, 16, 10_000, 1) < 4 * MIB


@pytest.mark.long
def test_a_million_cycles_of_overload_take_little_memory() -> None:
    """It took 281 MB; without the births only the command itself and the network take memory, as in a short run."""
    assert memory(1, 16, 1_000_000, 1) - memory(1, 16, 10_000, 1) < 4 * MIB


@pytest.mark.long
def test_statistics_of_a_long_run_do_not_grow() -> None:
    """Latencies are counted, not kept: twelve million of them under a stable load."""
    assert memory(0.2, 1, 1_000_000, 0) < 60 * MIB
