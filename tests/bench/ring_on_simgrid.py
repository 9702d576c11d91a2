"""The ring of tests/bench/python.py on SimGrid's Python: prints how many operations it simulates per second."""

import sys
import tempfile
import time

from simgrid import Actor, Engine, Host, Mailbox  # type: ignore[import-not-found]

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="node-" radical="0-{last}" suffix="" speed="1Gf" bw="12.5GBps" lat="1us"/>
</platform>
"""


def rank(number: int, size: int, rounds: int) -> None:
    """Send 64 B to the right and receive from the left: two operations per round."""
    right, own = Mailbox.by_name(str((number + 1) % size)), Mailbox.by_name(str(number))
    for _ in range(rounds):
        sent = right.put_async(b"", 64)
        own.get()
        sent.wait()


def main() -> None:
    """Run the given number of ranks and rounds on a cluster with a link of 100 Gbit/s per node."""
    size, rounds = int(sys.argv[1]), int(sys.argv[2])
    engine = Engine([sys.argv[0], "--log=root.thresh:error"])
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as platform:
        platform.write(PLATFORM.format(last=size - 1))
        platform.flush()
        engine.load_platform(platform.name)
    for number in range(size):
        Actor.create(f"rank-{number}", Host.by_name(f"node-{number}"), rank, number, size, rounds)
    began = time.perf_counter()
    engine.run()
    print(2 * size * rounds / (time.perf_counter() - began))


if __name__ == "__main__":
    main()
