"""Round-robin arbitration begins at port 0."""

import csv
from pathlib import Path

import pytest
from command import answer

STAR = """
[topology.star]
nodes = 4
[channels]
flit_time = "1 ns"
buffers = 64
[routers]
routing_delay = "1 ns"
arbitration = "round-robin"
[packet]
payload = 8
header = 1
flit = 1
"""

GOAL = """num_ranks 4
rank 0 {
  a: send 8b to 3
}
rank 1 {
  a: send 8b to 3
}
rank 2 {
  a: send 8b to 3
}
rank 3 {
  a: recv 8b from 0
  b: recv 8b from 1
  c: recv 8b from 2
}
"""


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_the_first_turn_is_that_of_port_0(tmp_path: Path, engine: str) -> None:
    """Of three nodes that send to node 3 at the same time, node 0 has port 0 and comes first, then node 1, then node 2."""
    machine, goal, log = tmp_path / "star.toml", tmp_path / "three.goal", tmp_path / "log.csv"
    machine.write_text(STAR)
    goal.write_text(GOAL)
    answer("run", "goal", goal, "--machine", machine, "--engine", engine, "--packets", log)
    with log.open() as lines:
        packets = sorted(csv.DictReader(lines), key=lambda packet: int(packet["delivered_ps"]))
    assert [packet["source"] for packet in packets] == ["0", "1", "2"]
