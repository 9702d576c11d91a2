"""A rehearsal between eight hosts of the kind that `hosts.py` makes: `rehearse.py FILE.toml FOLDER`, as root.

With `--trunk 25mbit` the second half of them is on a second switch, with a trunk of that rate between the two.

Whoever has the computer to themselves gets the truest times: what ranks lose of their processors to others is told, and left out.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hosts import Hosts, Trunk, Unavailable, Wire

#: The command, as `make release` installs it, unless MAQUETTE names another.
MAQUETTE = os.environ.get("MAQUETTE", str(Path(sys.executable).with_name("maquette")))


def main() -> int:
    """Rehearse a file between hosts, and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what is rehearsed")
    parser.add_argument("folder", help="where to write what was fitted, predicted and measured")
    parser.add_argument("--rate", default="100mbit", help="of each wire, as tc reads it")
    parser.add_argument("--hosts", type=int, default=8, help="how many")
    parser.add_argument("--trunk", help="the rate of a trunk to a second switch")
    chosen = parser.parse_args()
    trunk = Trunk(chosen.hosts // 2, Wire(rate=chosen.trunk)) if chosen.trunk else None
    try:
        with Hosts(chosen.hosts, Wire(rate=chosen.rate), trunk) as hosts, tempfile.TemporaryDirectory() as scratch:
            names = Path(scratch) / "hosts.txt"
            names.write_text(hosts.lines())
            start = [MAQUETTE, "rehearse", "--hosts", str(names), "--shell", "ip netns exec {host}"]
            start += ["--control", f"{hosts.address(1)}:0", "--timeout", "600s", "--out", chosen.folder, chosen.file]
            return subprocess.run(hosts.command(1, start), check=False).returncode
    except Unavailable as error:
        print(f"such hosts can't be made here: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
