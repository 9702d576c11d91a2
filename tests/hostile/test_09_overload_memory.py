"""Overload takes no more memory the longer it lasts."""

import os
import resource
import subprocess

import pytest
from command import COMMAND

MIB = 1 << 20
# The processor's time that a case may take.
SECONDS = 300


def memory(rate: float, packet: int, cycles: int, status: int) -> int:
    """The most memory that a load took that was measured for so many cycles. [B]"""
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


def test_overload_does_not_keep_what_is_born() -> None:
    """Nine times the backlog takes hardly more; kept, it took 25 MB more."""
    assert memory(1, 16, 100_000, 1) - memory(1, 16, 10_000, 1) < 4 * MIB


@pytest.mark.long
def test_a_million_cycles_of_overload_fit_in_little() -> None:
    """It took 281 MB; without the births it is what the command itself takes, and the network."""
    assert memory(1, 16, 1_000_000, 1) < 40 * MIB


@pytest.mark.long
def test_statistics_of_a_long_run_do_not_grow() -> None:
    """Latencies are counted, not kept: twelve million of them on a load that is carried."""
    assert memory(0.2, 1, 1_000_000, 0) < 60 * MIB
