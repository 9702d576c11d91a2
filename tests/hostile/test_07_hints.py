"""The error about a mistyped, misplaced or wrong field leads to the right one, and never to a unit eight times off."""

from pathlib import Path

import pytest

from command import answer, refusal

MESH = """[topology.mesh]
columns = 4
rows = 2
[channels]
rate = "10 MB/s"
[routers]
routing_delay = "100 ns"
[packet]
payload = "128 B"
header = "2 B"
"""
GRAPH = MESH.split("[channels]", 1)[1]
ROUTERS = '[topology.graph]\nrouters = [{ name = "a", nodes = 1 }, { name = "b", nodes = 1 }]\n'


def described(folder: Path, text: str) -> Path:
    """A description in a file."""
    file = folder / "m.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("rate", ["20 Gbps", "20 Gb/s", "20 Gbit/s", "20000 Mbps", "20000000 kbps", "2.5 GB/s", "2.5 GBps"])
def test_bits_are_bits_and_bytes_are_bytes(rate: str) -> None:
    """Every usual spelling of a rate is read, a `b` as a bit."""
    plain = answer("run", "ping-pong", "--machine", "moc-3-2", "--set", "rate=2.5 GB/s")
    assert answer("run", "ping-pong", "--machine", "moc-3-2", "--set", f"rate={rate}")["makespan_ps"] == plain["makespan_ps"]


@pytest.mark.parametrize("rate", ["20 gbps", "20 GBPS", "20 gb/s", "20 mbps"])
def test_lost_case_is_asked_about(rate: str) -> None:
    """Where bits and bytes cannot be told apart both are named, as bits and as bytes."""
    error = refusal("machine", "moc-3-2", "--set", f"rate={rate}")
    assert "bit/s` (bits) or `" in error and "B/s` (bytes)?" in error


@pytest.mark.parametrize("size", ["1 Mb", "1 kb", "1 Mbit"])
def test_sizes_in_bits_are_not_taken_for_bytes(size: str) -> None:
    """No size in bytes is proposed for one in bits."""
    assert "did you mean" not in refusal("machine", "moc-3-2", "--set", f"payload={size}")


def test_a_setting_without_its_table_is_found() -> None:
    """`processor_send` is `node.processor_send`."""
    assert "did you mean `node.processor_send`?" in refusal("machine", "moc-3-2", "--set", "processor_send=5us")


@pytest.mark.parametrize("setting", ["nodes=8", "loggp.nodes=8", "L=1us"])
def test_what_a_machine_does_not_have_is_not_missing(setting: str) -> None:
    """A dragonfly lacks no latency: it is told what it has instead."""
    error = refusal("machine", "slingshot-1024", "--set", setting)
    assert "missing" not in error and "topology.dragonfly.routers" in error


def test_a_duplicate_is_named(tmp_path: Path) -> None:
    """The key that is there twice is named."""
    assert "`rows`" in refusal("machine", described(tmp_path, MESH.replace("rows = 2", "rows = 2\nrows = 3")))


@pytest.mark.parametrize(
    "links",
    [
        'links = [{ from = "a", to = "b" }]',
        'links = [["a", "b"]]',
        'links = ["a-b"]',
        'links = [{ between = "a" }]',
        'links = [{ between = ["a", "b", "c"] }]',
        "links = [{}]",
        "links = 3",
        'edges = [["a", "b"]]',
        "",
    ],
)
def test_links_of_graphs_can_be_written_after_one_error(tmp_path: Path, links: str) -> None:
    """Whatever is wrong with a link, its form is shown; a third end is not passed over."""
    error = refusal("machine", described(tmp_path, f"[channels]{GRAPH}{ROUTERS}{links}\n"))
    assert '{ between = ["a", "b"] }' in error and "struct" not in error
