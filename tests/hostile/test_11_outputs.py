"""No output replaces an input or another output, unfinished files go when a signal comes, and any name will do."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from command import COMMAND, maquette, refusal

ROOT = Path(__file__).parents[2]
LONG_NAME = "l" * 250
ODD_NAME = b"odd-\xff\xfe"


def machine(folder: Path) -> Path:
    """A description in a file of its own."""
    return Path(shutil.copy(ROOT / "machines" / "cm5-32.toml", folder / "m.toml"))


@pytest.mark.parametrize("way", ["itself", "symbolic", "hard", "roundabout"])
def test_an_input_is_not_replaced(tmp_path: Path, way: str) -> None:
    """The timeline does not take the place of the machine's own description, by whatever name."""
    file = machine(tmp_path)
    before = file.read_bytes()
    output = {"itself": file, "roundabout": tmp_path / ".." / tmp_path.name / "m.toml"}.get(way, tmp_path / "t.json")
    if way == "symbolic":
        output.symlink_to(file)
    if way == "hard":
        output.hardlink_to(file)
    error = refusal("run", "ping-pong", "--machine", file, "--timeline", output)
    assert "it is the same file as" in error and "also read" in error
    assert file.read_bytes() == before and not list(tmp_path.glob(".*"))


def test_every_command_that_writes(tmp_path: Path) -> None:
    """Traffic, schedules, times, keys and machines are inputs wherever a command writes."""
    file = machine(tmp_path)
    matrix = Path(shutil.copy(ROOT / "docs" / "halo.csv", tmp_path / "halo.csv"))
    times = Path(shutil.copy(ROOT / "docs" / "times.csv", tmp_path / "times.csv"))
    goal = Path(shutil.copy(ROOT / "docs" / "ring.goal", tmp_path / "ring.goal"))
    ranks = str(len(matrix.read_text().splitlines()))
    before = {each: each.read_bytes() for each in (file, matrix, times, goal)}
    lines: list[list[str | Path]] = [
        ["run", "all-to-all", "--traffic", matrix, "--machine", "cm5-32", "--packets", matrix],
        ["run", "goal", goal, "--timeline", goal],
        ["run", "traffic", "--machine", file, "--packets", file],
        ["saturate", "--machine", file, "--chart", file],
        ["measure", "lambda", "--machine", file, "--report", file],
        ["calibrate", "--machine", file, "--times", times, "--fit", "node.processor_send=10us..200us", "--write", times],
        ["calibrate", "--machine", file, "--times", times, "--fit", "node.processor_send=10us..200us", "--write", file],
        ["plan", "broadcast", "--machine", file, "--ranks", "4", "--bytes", "512", "--write", file],
        ["plan", "all-to-all", "--machine", "cm5-32", "--traffic", matrix, "--ranks", ranks, "--write", matrix],
    ]
    for words in lines:
        done = maquette(*words)
        assert done.returncode == 2, (words, done.stdout, done.stderr)
    assert {each: each.read_bytes() for each in before} == before
    assert not list(tmp_path.glob(".*"))


def test_outputs_differ(tmp_path: Path) -> None:
    """Two outputs are not the same file, which need not be there yet."""
    (tmp_path / "again").symlink_to(tmp_path)
    outputs = ("--packets", tmp_path / "x.csv", "--timeline", tmp_path / "again" / "x.csv")
    error = refusal("run", "ping-pong", "--machine", "moc-3-2", *outputs)
    assert "it is the same file as" in error and "also to be written" in error
    assert [entry.name for entry in tmp_path.iterdir()] == ["again"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    """An ended run removes its unfinished files, and has the status that shells give."""
    words: list[str | Path] = ["run", "all-pairs", "--machine", "torus-512", "--bytes", "1MiB", "--timeline", tmp_path / "t.json"]
    running = subprocess.Popen(
        [COMMAND, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lambda: usual(number)
    )
    try:
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".t.json.unfinished-*")) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert list(tmp_path.iterdir()), "nothing was begun"
        running.send_signal(number)
        assert running.wait(timeout=20) == 128 + number
        assert not list(tmp_path.iterdir())
    finally:
        running.kill()


def usual(number: signal.Signals) -> None:
    """Lets a child have the usual meaning of a signal, however this process was started."""
    signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("name", [LONG_NAME.encode(), "ü".encode() * 125, ODD_NAME])
def test_any_name_will_do(tmp_path: Path, name: bytes) -> None:
    """Names of nearly 255 bytes, and such as are no UTF-8, are read and written."""
    folder = os.fsencode(tmp_path) + b"/"
    file, output, packets = (os.fsdecode(folder + name + end) for end in (b".toml", b".js", b".csv"))
    shutil.copy(ROOT / "machines" / "cm5-32.toml", file)
    done = maquette("run", "ping-pong", "--machine", file, "--timeline", output, "--packets", packets)
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(folder)) == sorted(name + end for end in (b".toml", b".js", b".csv"))
    goal = os.fsdecode(folder + name + b".goa")
    shutil.copy(ROOT / "docs" / "ring.goal", goal)
    assert maquette("run", "goal", goal).returncode == 0
