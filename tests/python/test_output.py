"""The files that a run writes, read by other programs."""

import csv
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

COMMAND = Path(sys.executable).with_name("maquette")
RUN = ["run", "equal-dist", "--machine", "moc-2-1", "--messages", "64", "--bytes", "300"]


def run(*arguments: str | Path) -> str:
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    run(*RUN, "--packets", folder / "log.csv", "--timeline", folder / "trace.json")
    run(*RUN, "--packets", folder / "log.arrow")
    return folder


def packets(folder: Path) -> list[dict[str, Any]]:
    """The packets of log.csv, with numbers and lists of numbers."""

    def value(name: str, text: str) -> int | list[int]:
        lists = ["channels", "virtual_channels", "requested_ps", "granted_ps", "released_ps"]
        return [int(number) for number in text.split()] if name in lists else int(text)

    with open(folder / "log.csv", newline="") as file:
        return [{name: value(name, text) for name, text in row.items()} for row in csv.DictReader(file)]


def test_arrow_and_csv_have_the_same_contents(outputs: Path) -> None:
    polars = pytest.importorskip("polars")
    assert polars.read_ipc(outputs / "log.arrow").to_dicts() == packets(outputs)


def test_the_log_agrees_with_the_channels_of_the_machine(outputs: Path) -> None:
    network = json.loads(run("machine", "moc-2-1", "--json"))["network"]
    channels = network["channels"]
    for packet in packets(outputs):
        route = [channels[channel] for channel in packet["channels"]]
        assert route[0]["from"] == {"node": packet["source"]}
        assert route[-1]["to"] == {"node": packet["destination"]}
        assert all(one["to"] == following["from"] for one, following in zip(route, route[1:]))
        # A channel is held for at least the time of the packet's flits.
        for channel, granted, released in zip(route, packet["granted_ps"], packet["released_ps"]):
            assert released - granted >= packet["flits"] * channel["flit_time_ps"]


def test_one_packet_at_a_time_holds_a_channel(outputs: Path) -> None:
    held: dict[int, list[tuple[int, int]]] = {}
    for packet in packets(outputs):
        for channel, granted, released in zip(packet["channels"], packet["granted_ps"], packet["released_ps"]):
            held.setdefault(channel, []).append((granted, released))
    for times in held.values():
        times.sort()
        assert all(one[1] <= following[0] for one, following in zip(times, times[1:]))


def test_the_timeline_has_every_message_as_an_arrow(outputs: Path) -> None:
    events = json.loads((outputs / "trace.json").read_text())["traceEvents"]
    kinds = Counter(event["ph"] for event in events)
    assert kinds["s"] == kinds["f"] == 64
    slices = [event for event in events if event["ph"] == "X"]
    hops = sum(len(packet["channels"]) for packet in packets(outputs))
    assert sum(event["pid"] == 2 for event in slices) == hops
    # Every arrow begins and ends inside a slice of its rank.
    for arrow in (event for event in events if event["ph"] in "sf"):
        mine = (event for event in slices if event["pid"] == 1 and event["tid"] == arrow["tid"])
        assert any(event["ts"] <= arrow["ts"] <= event["ts"] + event["dur"] for event in mine)


def test_the_same_run_prints_the_same_bytes() -> None:
    random = [*RUN, "--json", "--seed", "5"]
    assert run(*random) == run(*random)
