"""Measure exchanges between eight hosts, and compare them with the time that the busiest wire needs: `exchange.py [--runs N]`, as root.

64 KiB from one rank to another, for a quarter, a half, three quarters and all of the pairs, and skewed, where some ranks have far more than
others. No exchange can be faster than the wire of the rank that sends or receives most, with 1,448 bytes of a message in a frame of 1,514,
as TCP has them. Long datagrams, of which all frames but the first carry 1,480 bytes, may be a little faster.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hosts import Hosts, Unavailable, Wire
from repeats import report

HOSTS = 8
BYTES = 64 << 10
#: Bytes of a message in a frame, and bytes that the frame occupies on the wire.
CARRIED, OCCUPIED = 1448, 1514
BITS_PER_SECOND = 100e6
SEED = 1

Matrix = list[list[int]]


def matrices() -> Iterator[tuple[str, Matrix]]:
    """The exchanges by name, from a seed."""
    chance = random.Random(SEED)
    for density in (0.25, 0.5, 0.75, 1.0):
        matrix = [[BYTES * (chance.random() < density) if to != rank else 0 for to in range(HOSTS)] for rank in range(HOSTS)]
        yield f"{density:.0%}", matrix
    # By Zipf's law: rank r sends a share of 1 / (r + 1), and receives the same.
    shares = [[1 / ((rank + 1) * (to + 1)) if to != rank else 0.0 for to in range(HOSTS)] for rank in range(HOSTS)]
    total = HOSTS * (HOSTS - 1) * BYTES / 2 / sum(map(sum, shares))
    yield "skewed", [[round(share * total) for share in row] for row in shares]


def bound(matrix: Matrix) -> float:
    """The time that the busiest wire needs. [ms]"""
    most = max(*map(sum, matrix), *map(sum, zip(*matrix, strict=True)))
    return most * OCCUPIED / CARRIED * 8 / BITS_PER_SECOND * 1e3


def times(hosts: Hosts, folder: Path, matrix: Matrix, datagram: int, program: list[str], runs: int) -> list[float]:
    """How long each run took, in ascending order. [ms]"""
    traffic = folder / "traffic.csv"
    traffic.write_text("".join(",".join(map(str, row)) + "\n" for row in matrix))
    result = report(hosts, folder, ["--datagram", str(datagram), "all-to-all", "--traffic", str(traffic), *program], runs)
    return sorted(time / 1e9 for time in result["times_ps"])


def main() -> int:
    """Measure, and print a line for each exchange and algorithm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=31, help="of each exchange with each algorithm")
    parser.add_argument("--algorithms", nargs="*", default=["edge-colouring", "largest-first", "birkhoff", "linear"])
    parser.add_argument("--pacing", default="receiver-confirmed", help="what keeps the ranks in step")
    parser.add_argument("--switch-queue", default="128kb", help="of each wire at the switch, as tc reads it")
    parser.add_argument("--burst", default="4kb", help="of each wire, as tc reads it")
    parser.add_argument("--datagram", type=int, default=32_532, help="the longest datagram, of which two carry 64 KiB [B]")
    options = parser.parse_args()
    wire = Wire(burst=options.burst, switch_queue=options.switch_queue)
    try:
        with tempfile.TemporaryDirectory(prefix="exchange-") as scratch, Hosts(HOSTS, wire) as hosts:
            print("exchange  algorithm        bound      median            nine tenths", flush=True)
            for name, matrix in matrices():
                least = bound(matrix)
                for algorithm in options.algorithms:
                    program = ["--algorithm", algorithm, "--pacing", options.pacing]
                    measured = times(hosts, Path(scratch), matrix, options.datagram, program, options.runs)
                    median, most = measured[len(measured) // 2], measured[len(measured) * 9 // 10]
                    ratios = f"{median:6.1f} ms {median / least:5.2f}   {most:6.1f} ms {most / least:5.2f}"
                    print(f"{name:8}  {algorithm:15} {least:5.1f} ms  {ratios}", flush=True)
    except (Unavailable, AssertionError) as error:
        print(f"such exchanges can't be measured here: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
