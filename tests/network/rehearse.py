"""A rehearsal between eight hosts, as created by `hosts.py`: `rehearse.py FILE.toml FOLDER`, as root.

With `--mpi` the ranks are those of PyPI's MPICH over TCP, one on each host.
With `--trunk 25mbit` the second half of them is on a second switch, with a trunk of that rate between the two.

With `--undisturbed` the ranks have real-time priority, and processors never sleep: waking one takes time, now and then
more than a small message does.

Times are most accurate on an otherwise idle computer. Runs in which a rank lost its processor to another process are reported and left out.
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
#: PyPI's MPICH, in the same folder.
MPIEXEC = str(Path(sys.executable).with_name("mpiexec"))
#: Over TCP on the wires of the hosts, and nothing faster: MPICH would notice that they are on one computer.
TCP = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0", "MPIR_CVAR_NOLOCAL": "1"}
#: The real-time priority of ranks that are not to be disturbed.
PRIORITY = 10


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Give processes that are started in the block real-time priority, and keep idle processors busy."""
    busy_loop = ["chrt", "--idle", "0", sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(busy_loop) for _ in range(os.cpu_count() or 1)]
    previous = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        yield
    finally:
        os.sched_setscheduler(0, *previous)
        for process in busy:
            process.kill()
            process.wait()


def over_udp(hosts: Hosts, scratch: Path, arguments: list[str]) -> int:
    """Rehearse on processes that Maquette launches."""
    hosts_file = scratch / "hosts.txt"
    hosts_file.write_text(hosts.lines())
    start = [MAQUETTE, "rehearse", "--hosts", str(hosts_file), "--shell", "ip netns exec {host}"]
    start += ["--control", f"{hosts.address(1)}:0", "--timeout", "600s", *arguments]
    return subprocess.run(hosts.command(1, start), check=False).returncode


def over_mpi(hosts: Hosts, scratch: Path, arguments: list[str]) -> int:
    """Rehearse on ranks of MPICH, over TCP."""
    shell = scratch / "shell"
    shell.write_text(mpi.SHELL)
    shell.chmod(0o755)
    all_names = ",".join(hosts.name(host) for host in range(1, hosts.count + 1))
    start = [MPIEXEC, "-launcher", "ssh", "-launcher-exec", str(shell), "-hosts", all_names, "-n", str(hosts.count), "-iface", "eth0"]
    script = f"hostname {hosts.name(1)}; exec {shlex.join([*start, MAQUETTE, 'rehearse', '--mpi', *arguments])}"
    try:
        mpi.add_names(hosts)
        command = hosts.command(1, ["unshare", "--uts", "sh", "-c", script])
        return subprocess.run(command, check=False, env=os.environ | TCP).returncode
    finally:
        mpi.remove_names(hosts)


def main() -> int:
    """Rehearse a file between hosts, and print the result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what is rehearsed")
    parser.add_argument("folder", help="where to write what was fitted, predicted and measured")
    parser.add_argument("--rate", default="100mbit", help="of each wire, as tc reads it")
    parser.add_argument("--hosts", type=int, default=8, help="how many")
    parser.add_argument("--trunk", help="the rate of a trunk to a second switch")
    parser.add_argument("--mpi", action="store_true", help="on ranks of MPICH over TCP")
    parser.add_argument("--undisturbed", action="store_true", help="real-time priority, and processors that do not sleep")
    options = parser.parse_args()
    conditions = undisturbed() if options.undisturbed else contextlib.nullcontext()
    trunk = Trunk(options.hosts // 2, Wire(rate=options.trunk)) if options.trunk else None
    try:
        with Hosts(options.hosts, Wire(rate=options.rate), trunk) as hosts, tempfile.TemporaryDirectory() as scratch, conditions:
            rehearse = over_mpi if options.mpi else over_udp
            return rehearse(hosts, Path(scratch), ["--out", options.folder, options.file])
    except Unavailable as error:
        print(f"such hosts can't be made here: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
