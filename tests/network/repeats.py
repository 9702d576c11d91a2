"""The share of datagrams that are repeated needlessly between eight hosts whose wires lose nothing.

A repeat is needless when its receiver had the packet already; receivers count these. The queues of the switch are deep enough for
all packets under way, so nothing is lost.

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
TIMEOUT = 300
"""The longest time that a launch may take. [s]"""
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
    """How many datagrams a launch sent, and how many repeatedly."""

    time: float
    """The median of its runs. [ms]"""
    datagrams: int
    repeated: int
    needless: int

    @property
    def share(self) -> float:
        """The share of needless repeats in all datagrams."""
        return self.needless / max(self.datagrams, 1)


def lossless(rate: str) -> Wire:
    """A wire of that rate whose switch drops nothing."""
    return Wire(rate=rate, burst="4kb", switch_queue="64mb")


def programs(goal: Path, sizes: list[str]) -> Iterator[list[str]]:
    """All programs to sweep."""
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
    """The report of a launch of a program on all hosts."""
    file = folder / "hosts"
    file.write_text(hosts.lines())
    start = [MAQUETTE, "launch", "--hosts", str(file), "--shell", "ip netns exec {host}", "--maquette", MAQUETTE]
    start += ["--control", f"{hosts.address(1)}:0", "--json", "--repeat", str(repeat)]
    completed = subprocess.run(
        hosts.command(1, [*start, *program]), capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert completed.returncode == 0, f"{program}: {completed.stderr}"
    result: dict[str, Any] = json.loads(completed.stdout)
    return result


def measure(hosts: Hosts, folder: Path, program: list[str], repeat: int = 5) -> Repeats:
    """Launch a program on all hosts, and count its repeats."""
    result = report(hosts, folder, program, repeat)
    times = sorted(result["times_ps"])
    needless = result.get("needless", result["repeated"])
    return Repeats(times[len(times) // 2] / 1e9, result["datagrams"], result["repeated"], needless)


def main() -> int:
    """Sweep programs and sizes, and print the worst at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", default="100mbit", help="of each wire, as tc reads it")
    parser.add_argument("--repeat", type=int, default=5, help="how often each program runs")
    parser.add_argument("--only", default="", help="only command lines that contain this")
    parser.add_argument("--sizes", nargs="*", default=SIZES, help="of messages")
    options = parser.parse_args()
    worst: tuple[float, str] = (0.0, "none")
    try:
        with tempfile.TemporaryDirectory(prefix="repeats-") as scratch, Hosts(HOSTS, lossless(options.rate)) as hosts:
            goal = Path(scratch) / "everyone.goal"
            goal.write_text(GOAL)
            print("  needless  repeats  datagrams      share     median", flush=True)
            for program in programs(goal, options.sizes):
                name = " ".join(program).replace(f"{scratch}/", "")
                if options.only not in name:
                    continue
                try:
                    repeats = measure(hosts, Path(scratch), program, options.repeat)
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
