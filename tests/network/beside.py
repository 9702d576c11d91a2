"""Compare Maquette with other programs, on eight hosts at 100 Mbit/s: one file to seven receivers, and broadcasts of a program.

    python3 tests/network/beside.py [--files] [--broadcasts] [--runs N]

Programs run alternately, on the same hosts, wires and losses. The time of a file is from the start of the sending command until it ends,
when it knows that all receivers have the file; receivers are started before. Every copy is compared with the original. The time of a
broadcast is from when the root begins until the last rank has it.
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
SIZE = 64 << 20
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


def uftp() -> Program:
    """UFTP at the rate of the wire, with the timing that was best on these hosts."""
    timing = ["-r", "0.005:0.001:0.02", "-s", "10"]
    return Program(
        "UFTP, tuned",
        lambda _, folder: ["uftpd", "-d", "-D", str(folder), "-I", "eth0", "-B", "4000000"],
        lambda file: ["uftp", "-I", "eth0", "-B", "4000000", "-R", "98500", "-b", "1456", *timing, str(file)],
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


def time_to_send(hosts: Hosts, program: Program, file: Path) -> float:
    """How long it takes to send the file. [s]"""
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
        return took


def files(runs: int, losses: list[float], name_part: str) -> None:
    """Measure one file to seven receivers, by programs with this in their name."""
    all_programs = [maquette(""), uftp(), udpcast(), tcp()]
    programs = [program for program in all_programs if name_part in program.name]
    with tempfile.TemporaryDirectory(prefix="beside-") as scratch, Hosts(RECEIVERS + 1, Wire(burst="4kb")) as hosts:
        file = Path(scratch) / "file.bin"
        file.write_bytes(os.urandom(SIZE))
        for loss in losses:
            hosts.lose(loss)
            times: dict[str, list[float]] = {program.name: [] for program in programs}
            for _ in range(runs):
                for program in programs:
                    try:
                        times[program.name].append(time_to_send(hosts, program, file))
                    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                        print(f"  {error}", flush=True)
            print(f"64 MiB to {RECEIVERS} receivers, {loss} % lost at each [s]: median (least to most)")
            for name, took in times.items():
                if took:
                    print(f"  {name:28} {statistics.median(took):6.2f} ({min(took):.2f} to {max(took):.2f})", flush=True)


def main() -> int:
    """Measure what the options select."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="only one file to seven receivers")
    parser.add_argument("--broadcasts", action="store_true", help="only broadcasts of a program")
    parser.add_argument("--runs", type=int, default=3, help="how often each is run")
    parser.add_argument("--losses", type=float, nargs="*", default=[0.0, 1.0], help="percent lost at each receiver")
    parser.add_argument("--only", default="", help="only programs whose name has this in it")
    options = parser.parse_args()
    missing = [tool for tool in ("uftp", "udp-sender", "mpicc.mpich", "mpicc.openmpi") if shutil.which(tool) is None]
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
    try:
        if not options.broadcasts:
            files(options.runs, options.losses, options.only)
        if not options.files:
            mpi.broadcasts(RECEIVERS + 1, MAQUETTE)
    except Unavailable as error:
        print(f"such hosts can't be made here: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
