"""What share of all datagrams is repeated needlessly between eight hosts whose wires lose nothing.

A repeat is needless when its receiver had the packet already; receivers count these. The switch's queues are deep enough for
whatever is under way, so that nothing is lost.

Usage, as root: python tests/network/repeats.py [--rate 100mbit] [--only NAME]; MAQUETTE is the command, if set.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosts import Hosts, Unavailable, Wire

MAQUETTE = os.environ.get("MAQUETTE", str(Path(sys.executable).with_name("maquette")))
HOSTS = 8
SIZES = ["64B", "1KiB", "4KiB", "16KiB", "64KiB", "256KiB", "1MiB", "4MiB"]
MOST = 0.01
"""The share of needless repeats that is allowed."""
PATIENCE = 300
"""How long a launch may take. [s]"""
GOAL = "num_ranks 8\n" + "".join(
    f"rank {rank} {{\n"
    + "".join(f"s{to}: send 65536b to {to} tag 0\n" for to in range(8) if to != rank)
    + "".join(f"r{of}: recv 65536b from {of} tag 0\n" for of in range(8) if of != rank)
    + "}\n"
    for rank in range(8)
)
"""Every rank sends to every other at once."""


@dataclass(frozen=True)
class Repeats:
    """What a launch sent."""

    time: float
    """The median of its runs. [ms]"""
    datagrams: int
    repeated: int
    needless: int

    @property
    def share(self) -> float:
        """Needless repeats of all datagrams."""
        return self.needless / max(self.datagrams, 1)


def lossless(rate: str) -> Wire:
    """A wire of that rate whose switch drops nothing."""
    return Wire(rate=rate, burst="4kb", switch_queue="64mb")


def programs(goal: Path, sizes: list[str]) -> Iterator[list[str]]:
    """Everything that is swept."""
    for size in sizes:
        yield ["ping-pong", "--bytes", size]
        for algorithm in ("linear", "binomial", "recursive", "pipeline", "scatter-gather", "hardware"):
            yield ["broadcast", "--algorithm", algorithm, "--bytes", size]
        for algorithm in ("recursive-doubling", "ring", "rabenseifner"):
            yield ["all-reduce", "--algorithm", algorithm, "--bytes", size]
        for algorithm in ("linear", "pairwise", "balanced", "recursive", "bruck"):
            yield ["all-to-all", "--algorithm", algorithm, "--bytes", size]
    for points in ("64", "256", "512"):
        yield ["fft", "--size", points]
    yield ["linear-hash", "--servers", "4", "--clients", "4", "--random-keys", "2000"]
    yield ["goal", str(goal)]


def report(hosts: Hosts, folder: Path, program: list[str], repeat: int) -> dict[str, Any]:
    """What a launch of that program on all hosts reports."""
    file = folder / "hosts"
    file.write_text(hosts.lines())
    start = [MAQUETTE, "launch", "--hosts", str(file), "--shell", "ip netns exec {host}", "--maquette", MAQUETTE]
    start += ["--control", f"{hosts.address(1)}:0", "--json", "--repeat", str(repeat)]
    done = subprocess.run(
        hosts.command(1, [*start, *program]), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, f"{program}: {done.stderr}"
    reported: dict[str, Any] = json.loads(done.stdout)
    return reported


def launched(hosts: Hosts, folder: Path, program: list[str], repeat: int = 5) -> Repeats:
    """What such a launch sent, and what of it repeatedly."""
    reported = report(hosts, folder, program, repeat)
    times = sorted(reported["times_ps"])
    needless = reported.get("needless", reported["repeated"])
    return Repeats(times[len(times) // 2] / 1e9, reported["datagrams"], reported["repeated"], needless)


def main() -> int:
    """Sweeps programs and sizes, and ends with the worst."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", default="100mbit", help="of each wire, as tc reads it")
    parser.add_argument("--repeat", type=int, default=5, help="how often each program runs")
    parser.add_argument("--only", default="", help="only command lines that contain this")
    parser.add_argument("--sizes", nargs="*", default=SIZES, help="of messages")
    chosen = parser.parse_args()
    worst: tuple[float, str] = (0.0, "none")
    try:
        with tempfile.TemporaryDirectory(prefix="repeats-") as scratch, Hosts(HOSTS, lossless(chosen.rate)) as hosts:
            goal = Path(scratch) / "everyone.goal"
            goal.write_text(GOAL)
            print("  needless  repeats  datagrams      share     median", flush=True)
            for program in programs(goal, chosen.sizes):
                name = " ".join(program).replace(f"{scratch}/", "")
                if chosen.only not in name:
                    continue
                try:
                    repeats = launched(hosts, Path(scratch), program, chosen.repeat)
                except (AssertionError, subprocess.TimeoutExpired) as error:
                    print(f"  {name}: {error}", flush=True)
                    continue
                numbers = f"{repeats.needless:10} {repeats.repeated:8} {repeats.datagrams:10} {repeats.share:10.2%}"
                print(f"{numbers} {repeats.time:8.2f} ms  {name}", flush=True)
                worst = max(worst, (repeats.share, name))
    except Unavailable as error:
        print(f"such hosts can't be made here: {error}", file=sys.stderr)
        return 2
    print(f"the worst: {worst[0]:.2%}, {worst[1]}; allowed are {MOST:.0%}")
    return 0 if worst[0] <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
