"""Graphs of many routers: their tables of next hops fit into memory, or are refused beforehand."""

import os
import random
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, NETWORK, refusal


def graph(file: Path, routers: int, links: list[tuple[int, int]]) -> Path:
    """Write a graph with a node at each router."""
    names = "\n".join(f'{{ name = "r{router}", nodes = 1 }},' for router in range(routers))
    edges = "\n".join(f'{{ between = ["r{one}", "r{other}"] }},' for one, other in links)
    file.write_text(f"{NETWORK}[topology.graph]\nrouters = [\n{names}\n]\nlinks = [\n{edges}\n]\n")
    return file


def ring(routers: int) -> list[tuple[int, int]]:
    """Links from each router to the next."""
    return [(router, (router + 1) % routers) for router in range(routers)]


def random_regular(routers: int, degree: int) -> list[tuple[int, int]]:
    """Rings in random orders, the first in order: a connected graph of even degree, except for links drawn twice."""
    draw = random.Random(1)
    links = set(ring(routers))
    for _ in range(degree // 2 - 1):
        order = list(range(routers))
        draw.shuffle(order)
        links |= {(order[index - 1], order[index]) for index in range(routers)}
    return sorted(links)


def peak(*arguments: str | Path) -> int:
    """The peak memory of the command, which must succeed. [B]"""
    running = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(running.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return usage.ru_maxrss * 1024


@pytest.mark.long
@pytest.mark.parametrize("kind", ["ring", "random"])
def test_32768_routers_fit_into_two_gigabytes(tmp_path: Path, kind: str) -> None:
    """`machine` and `run` work on 32,768 routers with a node each in less than 2 GB.

    Across a ring a packet passes 16,384 channels, and the network keeps state for each of them until it arrives: for all nodes at
    once that is more than any table. So only neighbours take part on the ring.
    """
    links = ring(32_768) if kind == "ring" else random_regular(32_768, 4)
    ranks = 256 if kind == "ring" else 32_768
    file = graph(tmp_path / "large.toml", 32_768, links)
    assert peak("machine", file) < 2_000_000_000
    assert peak("run", "broadcast", "--machine", file, "--nodes", str(ranks), "--bytes", "64") < 2_000_000_000


@pytest.mark.long
def test_8192_routers_with_many_links_fit_into_two_gigabytes(tmp_path: Path) -> None:
    """8,192 routers, which used to be refused, work whatever their links."""
    file = graph(tmp_path / "dense.toml", 8_192, random_regular(8_192, 16))
    assert peak("machine", file) < 2_000_000_000


@pytest.mark.long
def test_a_table_that_would_not_fit_is_refused_beforehand(tmp_path: Path) -> None:
    """A table that would not fit is refused for its size, before it takes memory."""
    file = graph(tmp_path / "huge.toml", 100_000, ring(100_000))
    error = refusal("machine", file)
    assert "its table of next hops for 100000 routers could take" in error and "at most 1717 MiB" in error
