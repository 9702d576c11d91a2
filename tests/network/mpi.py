"""Broadcasts of a program, by Maquette and by MPI, on the same hosts."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from hosts import Hosts, Wire

SIZES = [256, 4096, 1 << 20]
REPEATS = 200
LARGE = 100_000
"""Broadcasts of this size or more are repeated a tenth as often, as in mpi_broadcast.c. [B]"""
SHELL = """#!/bin/sh
# In place of ssh: [options] HOST COMMAND... Each host gets a name of its own, by which MPI distinguishes them.
while [ "${1#-}" != "$1" ]; do [ "$1" = -p ] && shift; shift; done
host=$1; shift
exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"
"""
OPEN_MPI = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0"]
OPEN_MPI_OUT_OF_BAND = ["--mca", "oob_tcp_if_include", "eth0", "--mca", "mpi_yield_when_idle", "1"]


def add_names(hosts: Hosts) -> None:
    """Let each host know the others by name."""
    lines = "127.0.0.1 localhost\n"
    lines += "".join(f"{hosts.address(host)} {hosts.name(host)}\n" for host in range(1, hosts.count + 1))
    for host in range(1, hosts.count + 1):
        folder = Path("/etc/netns") / hosts.name(host)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hosts").write_text(lines)


def remove_names(hosts: Hosts) -> None:
    """Remove what `add_names` has created."""
    for host in range(1, hosts.count + 1):
        shutil.rmtree(Path("/etc/netns") / hosts.name(host), ignore_errors=True)


def run(hosts: Hosts, name: str, command: list[str], environment: dict[str, str]) -> None:
    """Run a command on the first host, and print the times that it prints."""
    script = f"hostname {hosts.name(1)}; exec {' '.join(command)}"
    on_host = hosts.command(1, ["unshare", "--uts", "sh", "-c", script])
    try:
        completed = subprocess.run(
            on_host, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
        )
    except subprocess.TimeoutExpired:
        print(f"  {name}: took too long")
        return
    if completed.returncode != 0:
        print(f"  {name}: status {completed.returncode}: {completed.stderr[-300:]}")
    for line in completed.stdout.splitlines():
        size, *times = line.split()
        least, median, most = map(float, times)
        print_line(name, int(size), least, median, most)


def mpich(hosts: Hosts, scratch: Path, shell: Path) -> None:
    """MPICH over TCP."""
    program = scratch / "mpich"
    source = str(Path(__file__).parent / "mpi_broadcast.c")
    subprocess.run(["mpicc.mpich", "-O2", "-o", str(program), source], check=True, timeout=120)
    all_names = ",".join(hosts.name(host) for host in range(1, hosts.count + 1))
    start = ["mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", str(shell), "-hosts", all_names]
    start += ["-n", str(hosts.count), "-iface", "eth0"]
    sizes = [str(size) for size in SIZES]
    run(hosts, "MPICH", [*start, str(program), str(REPEATS), *sizes], {"FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0"})


def open_mpi(hosts: Hosts, scratch: Path, shell: Path) -> None:
    """Open MPI over TCP."""
    program = scratch / "open-mpi"
    source = str(Path(__file__).parent / "mpi_broadcast.c")
    subprocess.run(["mpicc.openmpi", "-O2", "-o", str(program), source], check=True, timeout=120)
    all_names = ",".join(hosts.name(host) for host in range(1, hosts.count + 1))
    start = ["mpirun.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent", str(shell)]
    start += [*OPEN_MPI, *OPEN_MPI_OUT_OF_BAND, "-H", all_names, "-n", str(hosts.count)]
    run(hosts, "Open MPI", [*start, str(program), str(REPEATS), *(str(size) for size in SIZES)], {})


def maquette_launch(hosts: Hosts, scratch: Path, maquette: str) -> None:
    """Maquette: by multicast, and by the binomial tree."""
    file = scratch / "hosts"
    file.write_text(hosts.lines())
    start = [maquette, "launch", "--hosts", str(file), "--shell", "ip netns exec {host}"]
    start += ["--control", f"{hosts.address(1)}:0", "--json", "--repeat"]
    for algorithm in ("hardware", "binomial"):
        for size in SIZES:
            repeats = REPEATS if size < LARGE else REPEATS // 10
            program = ["broadcast", "--algorithm", algorithm, "--bytes", str(size)]
            completed = subprocess.run(
                hosts.command(1, [*start, str(repeats), *program]), capture_output=True, text=True, timeout=120
            )
            if completed.returncode != 0:
                print(f"  maquette, {algorithm}: status {completed.returncode}: {completed.stderr[-300:]}")
                continue
            times = [picoseconds / 1e6 for picoseconds in json.loads(completed.stdout)["times_ps"]]
            print_line(f"maquette, {algorithm}", size, min(times), statistics.median(times), max(times))


def print_line(name: str, size: int, least: float, median: float, most: float) -> None:
    """Print a line of the table. [B], [us]"""
    print(f"  {name:24} {size:>8} B  {median:10.1f} ({least:.1f} to {most:.1f})", flush=True)


def broadcasts(count: int, maquette: str) -> None:
    """Measure all of them, on wires that let one packet pass at once, so that small messages are not delayed."""
    with tempfile.TemporaryDirectory(prefix="beside-") as scratch, Hosts(count, Wire(burst="1600")) as hosts:
        shell = Path(scratch) / "shell"
        shell.write_text(SHELL)
        shell.chmod(0o755)
        print(f"a broadcast to {count - 1} others [us]: median (least to most) of {REPEATS}")
        maquette_launch(hosts, Path(scratch), maquette)
        try:
            add_names(hosts)
            mpich(hosts, Path(scratch), shell)
            open_mpi(hosts, Path(scratch), shell)
        finally:
            remove_names(hosts)
