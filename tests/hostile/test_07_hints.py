"""The error about a misspelt, misplaced or wrong field suggests the right one, and never a unit that is off by a factor of eight."""

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


def description(folder: Path, text: str) -> Path:
    """Write a description to a file."""
    file = folder / "m.toml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("rate", ["20 Gbps", "20 Gb/s", "20 Gbit/s", "20000 Mbps", "20000000 kbps", "2.5 GB/s", "2.5 GBps"])
def test_bits_are_bits_and_bytes_are_bytes(rate: str) -> None:
    """Every usual spelling of a rate is accepted; a `b` is a bit."""
    plain = answer("run", "ping-pong", "--machine", "moc-3-2", "--set", "rate=2.5 GB/s")
    assert answer("run", "ping-pong", "--machine", "moc-3-2", "--set", f"rate={rate}")["makespan_ps"] == plain["makespan_ps"]


@pytest.mark.parametrize("rate", ["20 gbps", "20 GBPS", "20 gb/s", "20 mbps"])
def test_a_unit_in_the_wrong_case_is_ambiguous(rate: str) -> None:
    """Where bits and bytes cannot be distinguished, the error suggests both."""
    error = refusal("machine", "moc-3-2", "--set", f"rate={rate}")
    assert "bit/s` (bits) or `" in error and "B/s` (bytes)?" in error


@pytest.mark.parametrize("size", ["1 Mb", "1 kb", "1 Mbit"])
def test_sizes_in_bits_are_not_taken_for_bytes(size: str) -> None:
    """No size in bytes is suggested for one in bits."""
    assert "did you mean" not in refusal("machine", "moc-3-2", "--set", f"payload={size}")


def test_a_setting_without_its_table_gets_a_hint() -> None:
    """`processor_send` means `node.processor_send`."""
    assert "did you mean `node.processor_send`?" in refusal("machine", "moc-3-2", "--set", "processor_send=5us")


@pytest.mark.parametrize("setting", ["nodes=8", "loggp.nodes=8", "L=1us"])
def test_a_field_of_another_kind_of_machine_is_not_called_missing(setting: str) -> None:
    """The error for a dragonfly names the fields that it has instead."""
    error = refusal("machine", "slingshot-1024", "--set", setting)
    assert "missing" not in error and "topology.dragonfly.routers" in error


def test_a_duplicate_key_is_named(tmp_path: Path) -> None:
    """The error names the key that occurs twice."""
    assert "`rows`" in refusal("machine", description(tmp_path, MESH.replace("rows = 2", "rows = 2\nrows = 3")))


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
def test_one_error_shows_how_links_are_written(tmp_path: Path, links: str) -> None:
    """Whatever is wrong with a link, the error shows its form; a third end is not ignored."""
    error = refusal("machine", description(tmp_path, f"[channels]{GRAPH}{ROUTERS}{links}\n"))
    assert '{ between = ["a", "b"] }' in error and "struct" not in error
