"""Broadcasts of a program, by Maquette and by MPI, over the same hosts."""

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
"""From this size on it is repeated a tenth as often, as in mpi_broadcast.c. [B]"""
SHELL = """#!/bin/sh
# Stands for ssh: [options] HOST COMMAND... It gives each host a name of its own, since MPI tells hosts apart by it.
while [ "${1#-}" != "$1" ]; do [ "$1" = -p ] && shift; shift; done
host=$1; shift
exec ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"
"""
OPEN_MPI = ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0"]
OPEN_MPI_OUT_OF_BAND = ["--mca", "oob_tcp_if_include", "eth0", "--mca", "mpi_yield_when_idle", "1"]


def names(hosts: Hosts) -> None:
    """Each host knows the others by name."""
    lines = "127.0.0.1 localhost\n"
    lines += "".join(f"{hosts.address(host)} {hosts.name(host)}\n" for host in range(1, hosts.count + 1))
    for host in range(1, hosts.count + 1):
        folder = Path("/etc/netns") / hosts.name(host)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "hosts").write_text(lines)


def forget(hosts: Hosts) -> None:
    """Takes back what `names` made."""
    for host in range(1, hosts.count + 1):
        shutil.rmtree(Path("/etc/netns") / hosts.name(host), ignore_errors=True)


def run(hosts: Hosts, name: str, command: list[str], environment: dict[str, str]) -> None:
    """Runs it on the first host and prints what it says."""
    inside = f"hostname {hosts.name(1)}; exec {' '.join(command)}"
    whole = hosts.command(1, ["unshare", "--uts", "sh", "-c", inside])
    try:
        done = subprocess.run(
            whole, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
        )
    except subprocess.TimeoutExpired:
        print(f"  {name}: took too long")
        return
    if done.returncode != 0:
        print(f"  {name}: status {done.returncode}: {done.stderr[-300:]}")
    for line in done.stdout.splitlines():
        size, *times = line.split()
        least, median, most = map(float, times)
        tell(name, int(size), least, median, most)


def mpich(hosts: Hosts, scratch: Path, shell: Path) -> None:
    """MPICH by TCP."""
    program = scratch / "mpich"
    source = str(Path(__file__).parent / "mpi_broadcast.c")
    subprocess.run(["mpicc.mpich", "-O2", "-o", str(program), source], check=True, timeout=120)
    everyone = ",".join(hosts.name(host) for host in range(1, hosts.count + 1))
    start = ["mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", str(shell), "-hosts", everyone]
    start += ["-n", str(hosts.count), "-iface", "eth0"]
    sizes = [str(size) for size in SIZES]
    run(hosts, "MPICH", [*start, str(program), str(REPEATS), *sizes], {"FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0"})


def open_mpi(hosts: Hosts, scratch: Path, shell: Path) -> None:
    """Open MPI by TCP."""
    program = scratch / "open-mpi"
    source = str(Path(__file__).parent / "mpi_broadcast.c")
    subprocess.run(["mpicc.openmpi", "-O2", "-o", str(program), source], check=True, timeout=120)
    everyone = ",".join(hosts.name(host) for host in range(1, hosts.count + 1))
    start = ["mpirun.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent", str(shell)]
    start += [*OPEN_MPI, *OPEN_MPI_OUT_OF_BAND, "-H", everyone, "-n", str(hosts.count)]
    run(hosts, "Open MPI", [*start, str(program), str(REPEATS), *(str(size) for size in SIZES)], {})


def ours(hosts: Hosts, scratch: Path, maquette: str) -> None:
    """Our own: by multicast, and by the binomial tree."""
    file = scratch / "hosts"
    file.write_text(hosts.lines())
    start = [maquette, "launch", "--hosts", str(file), "--shell", "ip netns exec {host}"]
    start += ["--control", f"{hosts.address(1)}:0", "--json", "--repeat"]
    for algorithm in ("hardware", "binomial"):
        for size in SIZES:
            repeats = REPEATS if size < LARGE else REPEATS // 10
            program = ["broadcast", "--algorithm", algorithm, "--bytes", str(size)]
            done = subprocess.run(
                hosts.command(1, [*start, str(repeats), *program]), capture_output=True, text=True, timeout=120
            )
            if done.returncode != 0:
                print(f"  maquette, {algorithm}: status {done.returncode}: {done.stderr[-300:]}")
                continue
            times = [picoseconds / 1e6 for picoseconds in json.loads(done.stdout)["times_ps"]]
            tell(f"maquette, {algorithm}", size, min(times), statistics.median(times), max(times))


def tell(name: str, size: int, least: float, median: float, most: float) -> None:
    """A line of the table. [B], [us]"""
    print(f"  {name:24} {size:>8} B  {median:10.1f} ({least:.1f} to {most:.1f})", flush=True)


def broadcasts(count: int, maquette: str) -> None:
    """All of them, small messages on wires that let one packet pass free, as small messages see them."""
    with tempfile.TemporaryDirectory(prefix="beside-") as scratch, Hosts(count, Wire(burst="1600")) as hosts:
        shell = Path(scratch) / "shell"
        shell.write_text(SHELL)
        shell.chmod(0o755)
        print(f"a broadcast to {count - 1} others [us]: median (least to most) of {REPEATS}")
        ours(hosts, Path(scratch), maquette)
        try:
            names(hosts)
            mpich(hosts, Path(scratch), shell)
            open_mpi(hosts, Path(scratch), shell)
        finally:
            forget(hosts)
