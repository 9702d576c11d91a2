"""A rehearsal between eight hosts of the kind that `hosts.py` makes: `rehearse.py FILE.toml FOLDER`, as root.

With `--mpi` the ranks are those of PyPI's MPICH over TCP, one on each host.
With `--trunk 25mbit` the second half of them is on a second switch, with a trunk of that rate between the two.

With `--undisturbed` the ranks have real-time priority, and processors never sleep: whoever wakes one that does waits for it, now and
then for longer than a small message takes.

Whoever has the computer to themselves gets the truest times: what ranks lose of their processors to others is told, and left out.
"""

import argparse
import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mpi
from hosts import Hosts, Trunk, Unavailable, Wire

#: The command, as `make release` installs it, unless MAQUETTE names another.
MAQUETTE = os.environ.get("MAQUETTE", str(Path(sys.executable).with_name("maquette")))
#: PyPI's MPICH, beside it.
MPIEXEC = str(Path(sys.executable).with_name("mpiexec"))
#: Over TCP by the hosts' wires, and by nothing quicker: MPICH would notice that they are on one computer.
TCP = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0", "MPIR_CVAR_NOLOCAL": "1"}
#: Of ranks that nobody is to disturb, among real-time ones.
PRIORITY = 10


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Gives what is started meanwhile real-time priority, and keeps each processor busy when nobody else wants it."""
    waste = ["chrt", "--idle", "0", sys.executable, "-c", "while True: pass"]
    wasting = [subprocess.Popen(waste) for _ in range(os.cpu_count() or 1)]
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        yield
    finally:
        os.sched_setscheduler(0, *before)
        for process in wasting:
            process.kill()
            process.wait()


def over_udp(hosts: Hosts, scratch: Path, what: list[str]) -> int:
    """Rehearse on processes of Maquette's own."""
    names = scratch / "hosts.txt"
    names.write_text(hosts.lines())
    start = [MAQUETTE, "rehearse", "--hosts", str(names), "--shell", "ip netns exec {host}"]
    start += ["--control", f"{hosts.address(1)}:0", "--timeout", "600s", *what]
    return subprocess.run(hosts.command(1, start), check=False).returncode


def over_mpi(hosts: Hosts, scratch: Path, what: list[str]) -> int:
    """Rehearse on ranks of MPICH, over TCP."""
    shell = scratch / "shell"
    shell.write_text(mpi.SHELL)
    shell.chmod(0o755)
    everyone = ",".join(hosts.name(host) for host in range(1, hosts.count + 1))
    start = [MPIEXEC, "-launcher", "ssh", "-launcher-exec", str(shell), "-hosts", everyone, "-n", str(hosts.count), "-iface", "eth0"]
    inside = f"hostname {hosts.name(1)}; exec {shlex.join([*start, MAQUETTE, 'rehearse', '--mpi', *what])}"
    try:
        mpi.names(hosts)
        command = hosts.command(1, ["unshare", "--uts", "sh", "-c", inside])
        return subprocess.run(command, check=False, env=os.environ | TCP).returncode
    finally:
        mpi.forget(hosts)


def main() -> int:
    """Rehearse a file between hosts, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what is rehearsed")
    parser.add_argument("folder", help="where to write what was fitted, predicted and measured")
    parser.add_argument("--rate", default="100mbit", help="of each wire, as tc reads it")
    parser.add_argument("--hosts", type=int, default=8, help="how many")
    parser.add_argument("--trunk", help="the rate of a trunk to a second switch")
    parser.add_argument("--mpi", action="store_true", help="on ranks of MPICH over TCP")
    parser.add_argument("--undisturbed", action="store_true", help="real-time priority, and processors that do not sleep")
    chosen = parser.parse_args()
    conditions = undisturbed() if chosen.undisturbed else contextlib.nullcontext()
    trunk = Trunk(chosen.hosts // 2, Wire(rate=chosen.trunk)) if chosen.trunk else None
    try:
        with Hosts(chosen.hosts, Wire(rate=chosen.rate), trunk) as hosts, tempfile.TemporaryDirectory() as scratch, conditions:
            rehearse = over_mpi if chosen.mpi else over_udp
            return rehearse(hosts, Path(scratch), ["--out", chosen.folder, chosen.file])
    except Unavailable as error:
        print(f"such hosts can't be made here: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
