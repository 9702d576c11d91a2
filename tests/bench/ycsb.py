"""The Yahoo! Cloud Serving Benchmark, workloads A to D and F, by go-ycsb: one store, and a pool of three, beside redis-server.

    .venv/bin/python tests/bench/ycsb.py [COMMAND]

go-ycsb is fetched from Go's module proxy, checked against the sum below and built under target/, which takes a few minutes once. Its records go
into hashes (HSET) by default, and the store has strings alone; so each record is one string of JSON (redis.datatype=string), in the store as in
redis-server, and an update reads it first. Clients of the pool follow slots, as go-ycsb's do in Redis Cluster. COMMAND is the `maquette`
that is measured, if not the one that is installed.

Workloads are those of the paper (Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC 2010): A half reads, half updates; B 95%
reads; C reads alone; D reads of the newest, with 5% inserts; F half of the reads followed by a write. E scans, which go-ycsb can't do with Redis.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from store_pool import Pool, ended
from stores import running

#: What is fetched, and its sum as the checksum database of Go has it.
MODULE, VERSION, SUM = "github.com/pingcap/go-ycsb", "v1.0.1", "h1:OGIUjQjtC22KDHPCqg4+ScWYFZrHQjJnt3Gmf4N8UOw="
ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "target" / "ycsb" / f"go-ycsb-{VERSION}"
WORKLOADS = "abcdf"
#: Records of ten fields of 100 bytes, operations of a workload, and clients.
RECORDS, OPERATIONS, CLIENTS = 20_000, 100_000, 8
#: Members of the pool.
MEMBERS = 3
#: As long anything may take. [s]
LIMIT = 900


class Figures(NamedTuple):
    """What go-ycsb says of a workload."""

    #: Operations a second. [1/s]
    rate: float
    #: What one operation of a hundred takes longer than, by its kind. [ms]
    p99: dict[str, float]
    errors: int


def source() -> Path:
    """Where the sources of go-ycsb are, of this version and no other."""
    scratch = PROGRAM.parent
    scratch.mkdir(parents=True, exist_ok=True)
    line = ["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"]
    told = json.loads(subprocess.run(line, cwd=scratch, capture_output=True, text=True, check=True, timeout=LIMIT).stdout)
    assert told["Sum"] == SUM, f"{MODULE} {VERSION} has the sum {told['Sum']}, and not {SUM}"
    return Path(told["Dir"])


def build(sources: Path) -> None:
    """Builds it, with the versions that its own go.sum says."""
    if not PROGRAM.exists():
        print("building go-ycsb: a few minutes", file=sys.stderr)
        subprocess.run(["go", "build", "-o", PROGRAM, "./cmd/go-ycsb"], cwd=sources, check=True, timeout=LIMIT)


def figures(told: str) -> Figures:
    """What is told in the end: a line a kind, `READ - Takes(s): 1.5, Count: 9, OPS: 6.2, ..., 99th(us): 312, ...`."""
    of_kind = {
        line.split()[0]: {key: float(value) for key, value in re.findall(r"([\w.()]+): ([\d.]+)", line)}
        for line in told.rpartition("Run finished")[2].splitlines()
        if " - Takes(s): " in line
    }
    errors = sum(int(kind["Count"]) for name, kind in of_kind.items() if name.endswith("_ERROR"))
    p99 = {name: kind["99th(us)"] / 1e3 for name, kind in of_kind.items() if not name.endswith("_ERROR") and name != "TOTAL"}
    return Figures(of_kind["TOTAL"]["OPS"], p99, errors)


def go_ycsb(what: str, workload: Path, *properties: str) -> str:
    """Loads or runs a workload."""
    given = [f"recordcount={RECORDS}", f"operationcount={OPERATIONS}", f"threadcount={CLIENTS}", "redis.datatype=string", *properties]
    line = [str(PROGRAM), what, "redis", "-P", str(workload), *(word for one in given for word in ("-p", one))]
    return subprocess.run(line, capture_output=True, text=True, check=True, timeout=LIMIT).stdout


@contextmanager
def pool_of(command: str, count: int) -> Iterator[list[str]]:
    """Members of which each has a server once the records are loaded, by properties for clients that follow slots."""
    pool = Pool(command, capacity=RECORDS // (2 * count))
    try:
        while len(pool.ports) < count:
            pool.add()
        yield ["redis.mode=cluster", "redis.addr=" + ";".join(f"127.0.0.1:{slots}" for _, slots, _ in pool.ports)]
    finally:
        ended(pool.processes)


@contextmanager
def single(line: list[str]) -> Iterator[list[str]]:
    """A server, by properties for clients that ask it alone."""
    with running(line) as (port, _):
        yield [f"redis.addr=127.0.0.1:{port}"]


def main() -> None:
    """Measure, and print a table, with the errors of loading and of the workload itself."""
    missing = [tool for tool in ("go", "redis-server") if not shutil.which(tool)]
    if missing:
        print(f"{' and '.join(missing)} not installed: nothing measured")
        return
    command = sys.argv[1] if len(sys.argv) > 1 else str(Path(sys.executable).with_name("maquette"))
    sources = source()
    build(sources)
    print(f"go-ycsb {VERSION}, {RECORDS:,} records of 1 KB as strings, {OPERATIONS:,} operations, {CLIENTS} clients, {os.cpu_count()} processors")
    print(f"{'workload':8} {'server':16} {'operations/s':>12} {'of redis':>8} {'loading':>7} {'errors':>6}  p99 [ms]")
    for letter in WORKLOADS:
        workload = sources / "workloads" / f"workload{letter}"
        alone = 0.0
        with ExitStack() as stack:
            servers = {
                "redis-server": stack.enter_context(single(["redis-server", "--save", "", "--appendonly", "no"])),
                "one store": stack.enter_context(single([command, "store", "serve"])),
                f"a pool of {MEMBERS}": stack.enter_context(pool_of(command, MEMBERS)),
            }
            for name, properties in servers.items():
                loaded = figures(go_ycsb("load", workload, *properties))
                told = figures(go_ycsb("run", workload, *properties))
                alone = alone or told.rate
                p99 = ", ".join(f"{kind.lower()} {each:.2f}" for kind, each in told.p99.items())
                print(f"{letter.upper():8} {name:16} {told.rate:12,.0f} {told.rate / alone:8.2f} {loaded.errors:7} {told.errors:6}  {p99}", flush=True)


if __name__ == "__main__":
    main()
