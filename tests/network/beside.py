"""Compare Maquette with other programs, on eight hosts at 100 Mbit/s or another rate: one file to seven receivers, and broadcasts of a program.

    python3 tests/network/beside.py [--files] [--broadcasts] [--runs N] [--rate 1gbit] [--mebibytes 128]

Programs run alternately, on the same hosts, wires and losses. The time of a file is from the start of the sending command until it ends,
when it knows that all receivers have the file; receivers are started before. Every copy is compared with the original. Beside it is the
processor time of the sender and of all receivers, since all hosts share this computer's processors. The time of a broadcast is from when the
root begins until the last rank has it.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import mpi
from hosts import Hosts, Unavailable, Wire

RECEIVERS = 7
GROUP = "239.255.77.1"
MAQUETTE = os.environ.get("MAQUETTE", "maquette")
TIMEOUT = 120.0
"""A program that takes longer has failed. [s]"""


@dataclass(frozen=True)
class Program:
    """A program that sends one file to all receivers."""

    name: str
    receive: Callable[[int, Path], list[str]]
    """The command with which host 2, 3, ... receives into a folder."""
    send: Callable[[Path], list[str]]
    received: Callable[[Path, str], Path]
    """The path of a receiver's copy."""


@dataclass(frozen=True)
class Cost:
    """What sending a file to all receivers takes."""

    time: float
    """Until the sender has ended. [s]"""
    processor: float
    """The processor time of all hosts. [s]"""


def uftp(kilobits: int) -> Program:
    """UFTP at the rate of the wire, with the timing that was best on these hosts."""
    timing = ["-r", "0.005:0.001:0.02", "-s", "10"]
    return Program(
        "UFTP, tuned",
        lambda _, folder: ["uftpd", "-d", "-D", str(folder), "-I", "eth0", "-B", "4000000"],
        lambda file: ["uftp", "-I", "eth0", "-B", "4000000", "-R", str(kilobits * 985 // 1000), "-b", "1456", *timing, str(file)],
        lambda folder, name: folder / name,
    )


def udpcast() -> Program:
    """udpcast."""
    return Program(
        "udpcast",
        lambda _, folder: ["udp-receiver", "--interface", "eth0", "--nokbd", "--file", str(folder / "file")],
        lambda file: [
            *("udp-sender", "--interface", "eth0", "--nokbd", "--full-duplex", "--min-receivers", str(RECEIVERS)),
            *("--file", str(file)),
        ],
        lambda folder, _: folder / "file",
    )


def maquette(name: str, *options: str) -> Program:
    """`maquette cast`."""
    to = ["--to", GROUP, "--interface", "eth0"]
    return Program(
        f"maquette cast{name}",
        lambda _, folder: [MAQUETTE, "cast", "receive", "--from", *to[1:], "--into", str(folder)],
        lambda file: [MAQUETTE, "cast", "send", *to, "--receivers", str(RECEIVERS), *options, str(file)],
        lambda folder, name: folder / name,
    )


def tcp() -> Program:
    """TCP, to one receiver after another."""
    script = str(Path(__file__).parent / "tcp_copy.py")
    addresses = [f"10.77.0.{host}" for host in range(2, RECEIVERS + 2)]
    return Program(
        "TCP, one after the other",
        lambda _, folder: [sys.executable, script, "receive", str(folder / "file")],
        lambda file: [sys.executable, script, "send", str(file), *addresses],
        lambda folder, _: folder / "file",
    )


@contextmanager
def receivers(hosts: Hosts, program: Program, folders: list[Path]) -> Iterator[None]:
    """Start all receivers, and stop them at the end of the block."""
    started: list[subprocess.Popen[bytes]] = []
    try:
        for host, folder in enumerate(folders, start=2):
            command = hosts.command(host, program.receive(host, folder))
            discarded = subprocess.DEVNULL
            started.append(subprocess.Popen(command, stdout=discarded, stderr=discarded, stdin=discarded))
        time.sleep(1.0)  # none of these programs reports when it listens
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()


def processor_time() -> float:
    """That of the processes that this one has started and waited for. [s]"""
    times = os.times()
    return times.children_user + times.children_system


def cost_to_send(hosts: Hosts, program: Program, file: Path) -> Cost:
    """What sending the file takes."""
    before = processor_time()
    with tempfile.TemporaryDirectory(prefix="beside-") as scratch:
        folders = [Path(scratch) / str(host) for host in range(2, RECEIVERS + 2)]
        for folder in folders:
            folder.mkdir()
        with receivers(hosts, program, folders):
            begun = time.monotonic()
            command = hosts.command(1, program.send(file))
            completed = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT
            )
            took = time.monotonic() - begun
        if completed.returncode != 0:
            raise RuntimeError(f"{program.name}: status {completed.returncode}: {completed.stderr[-300:]}")
        for folder in folders:
            copy = program.received(folder, file.name)
            if not filecmp.cmp(file, copy, shallow=False):
                raise RuntimeError(f"{program.name}: {copy} is not the file")
        return Cost(took, processor_time() - before)


def wire(rate: str) -> Wire:
    """A wire of this rate: what passes at once, and what waits in queues, grows with it."""
    if rate == "100mbit":
        return Wire(burst="4kb")
    return Wire(rate=rate, burst="32kb", host_queue="4mb", switch_queue="512kb")


def kilobits(rate: str) -> int:
    """A rate in the notation of `tc`: 100mbit, 1gbit. [kbit/s]"""
    units = {"mbit": 1_000, "gbit": 1_000_000}
    return next(int(rate.removesuffix(unit)) * factor for unit, factor in units.items() if rate.endswith(unit))


def files(options: argparse.Namespace) -> None:
    """Measure one file to seven receivers, by the programs that the options select."""
    all_programs = [maquette(""), uftp(kilobits(options.rate)), udpcast(), tcp()]
    programs = [program for program in all_programs if options.only in program.name]
    size = options.mebibytes
    with tempfile.TemporaryDirectory(prefix="beside-") as scratch, Hosts(RECEIVERS + 1, wire(options.rate)) as hosts:
        file = Path(scratch) / "file.bin"
        file.write_bytes(os.urandom(size << 20))
        for loss in options.losses:
            hosts.lose(loss)
            costs: dict[str, list[Cost]] = {program.name: [] for program in programs}
            for _ in range(options.runs):
                for program in programs:
                    try:
                        costs[program.name].append(cost_to_send(hosts, program, file))
                    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                        print(f"  {error}", flush=True)
            print(f"{size} MiB to {RECEIVERS} receivers at {options.rate}, {loss} % lost at each [s]: median (least to most), processor time")
            for name, taken in costs.items():
                if taken:
                    times = [cost.time for cost in taken]
                    processor = statistics.median(cost.processor for cost in taken)
                    spread = f"({min(times):.2f} to {max(times):.2f})"
                    print(f"  {name:28} {statistics.median(times):6.2f} {spread:18} {processor:6.2f}", flush=True)


def main() -> int:
    """Measure what the options select."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="only one file to seven receivers")
    parser.add_argument("--broadcasts", action="store_true", help="only broadcasts of a program")
    parser.add_argument("--runs", type=int, default=3, help="how often each is run")
    parser.add_argument("--losses", type=float, nargs="*", default=[0.0, 1.0], help="percent lost at each receiver")
    parser.add_argument("--rate", default="100mbit", help="the rate of the wires, in the notation of tc")
    parser.add_argument("--mebibytes", type=int, default=64, help="the size of the file")
    parser.add_argument("--only", default="", help="only programs whose name has this in it")
    options = parser.parse_args()
    missing = [tool for tool in ("uftp", "udp-sender", "mpicc.mpich", "mpicc.openmpi") if shutil.which(tool) is None]
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
    try:
        if not options.broadcasts:
            files(options)
        if not options.files:
            mpi.broadcasts(RECEIVERS + 1, MAQUETTE)
    except Unavailable as error:
        print(f"such hosts can't be made here: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
