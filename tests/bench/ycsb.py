"""The Yahoo! Cloud Serving Benchmark, workloads A to D and F, by go-ycsb: one store, and a pool of three, compared with redis-server.

    .venv/bin/python tests/bench/ycsb.py [COMMAND]

go-ycsb is fetched from Go's module proxy, checked against the sum below and built under target/, which takes a few minutes once. Its records go
into hashes (HSET) by default, and the store has only strings; so each record is one string of JSON (redis.datatype=string), in the store as in
redis-server, and an update reads it first. Clients of the pool follow slots, as go-ycsb's do in Redis Cluster. COMMAND is the `maquette`
to measure; by default the installed one.

Workloads are those of the paper (Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC 2010): A half reads, half updates; B 95%
reads; C only reads; D reads of the newest, with 5% inserts; F half of the reads followed by a write. E scans, which go-ycsb can't do with Redis.
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

from store_pool import Pool, stop
from stores import running

#: The module to fetch, and its sum in the checksum database of Go.
MODULE, VERSION, SUM = "github.com/pingcap/go-ycsb", "v1.0.1", "h1:OGIUjQjtC22KDHPCqg4+ScWYFZrHQjJnt3Gmf4N8UOw="
ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "target" / "ycsb" / f"go-ycsb-{VERSION}"
WORKLOADS = "abcdf"
#: Records of ten fields of 100 bytes, operations of a workload, and clients.
RECORDS, OPERATIONS, CLIENTS = 20_000, 100_000, 8
#: Members of the pool.
MEMBERS = 3
#: The longest wait for anything. [s]
LIMIT = 900


class Figures(NamedTuple):
    """The results of go-ycsb for a workload."""

    #: Operations per second. [1/s]
    rate: float
    #: The 99th percentile of the latency, by the kind of operation. [ms]
    p99: dict[str, float]
    errors: int


def source() -> Path:
    """Fetch the sources of exactly this version of go-ycsb, and return their folder."""
    scratch = PROGRAM.parent
    scratch.mkdir(parents=True, exist_ok=True)
    command = ["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"]
    module = json.loads(subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=True, timeout=LIMIT).stdout)
    assert module["Sum"] == SUM, f"{MODULE} {VERSION} has the sum {module['Sum']}, and not {SUM}"
    return Path(module["Dir"])


def build(sources: Path) -> None:
    """Build it, with the versions in its own go.sum."""
    if not PROGRAM.exists():
        print("building go-ycsb: a few minutes", file=sys.stderr)
        subprocess.run(["go", "build", "-o", PROGRAM, "./cmd/go-ycsb"], cwd=sources, check=True, timeout=LIMIT)


def figures(output: str) -> Figures:
    """Parse the summary at the end, with a line for each kind of operation: `READ - Takes(s): 1.5, Count: 9, OPS: 6.2, ..., 99th(us): 312, ...`."""
    of_kind = {
        line.split()[0]: {key: float(value) for key, value in re.findall(r"([\w.()]+): ([\d.]+)", line)}
        for line in output.rpartition("Run finished")[2].splitlines()
        if " - Takes(s): " in line
    }
    errors = sum(int(kind["Count"]) for name, kind in of_kind.items() if name.endswith("_ERROR"))
    p99 = {name: kind["99th(us)"] / 1e3 for name, kind in of_kind.items() if not name.endswith("_ERROR") and name != "TOTAL"}
    return Figures(of_kind["TOTAL"]["OPS"], p99, errors)


def go_ycsb(phase: str, workload: Path, *properties: str) -> str:
    """Load or run a workload."""
    given = [f"recordcount={RECORDS}", f"operationcount={OPERATIONS}", f"threadcount={CLIENTS}", "redis.datatype=string", *properties]
    command = [str(PROGRAM), phase, "redis", "-P", str(workload), *(argument for each in given for argument in ("-p", each))]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT).stdout


@contextmanager
def pool_of(command: str, count: int) -> Iterator[list[str]]:
    """Run members that each have a server once the records are loaded; yields properties for clients that follow slots."""
    pool = Pool(command, capacity=RECORDS // (2 * count))
    try:
        while len(pool.ports) < count:
            pool.add()
        yield ["redis.mode=cluster", "redis.addr=" + ";".join(f"127.0.0.1:{slots}" for _, slots, _ in pool.ports)]
    finally:
        stop(pool.processes)


@contextmanager
def single(command: list[str]) -> Iterator[list[str]]:
    """Run a single server; yields properties for its clients."""
    with running(command) as (port, _):
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
        redis_rate = 0.0
        with ExitStack() as stack:
            servers = {
                "redis-server": stack.enter_context(single(["redis-server", "--save", "", "--appendonly", "no"])),
                "one store": stack.enter_context(single([command, "store", "serve"])),
                f"a pool of {MEMBERS}": stack.enter_context(pool_of(command, MEMBERS)),
            }
            for name, properties in servers.items():
                loaded = figures(go_ycsb("load", workload, *properties))
                result = figures(go_ycsb("run", workload, *properties))
                redis_rate = redis_rate or result.rate
                p99 = ", ".join(f"{kind.lower()} {each:.2f}" for kind, each in result.p99.items())
                print(f"{letter.upper():8} {name:16} {result.rate:12,.0f} {result.rate / redis_rate:8.2f} {loaded.errors:7} {result.errors:6}  {p99}", flush=True)


if __name__ == "__main__":
    main()
