"""No output replaces an input or another output, signals leave no unfinished files, and every file name works."""

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
    """Copy a description to a file of its own."""
    return Path(shutil.copy(ROOT / "machines" / "cm5-32.toml", folder / "m.toml"))


@pytest.mark.parametrize("kind", ["itself", "symbolic", "hard", "roundabout"])
def test_an_input_is_not_replaced(tmp_path: Path, kind: str) -> None:
    """The timeline does not replace the description of the machine, whatever name it is given."""
    file = machine(tmp_path)
    before = file.read_bytes()
    output = {"itself": file, "roundabout": tmp_path / ".." / tmp_path.name / "m.toml"}.get(kind, tmp_path / "t.json")
    if kind == "symbolic":
        output.symlink_to(file)
    if kind == "hard":
        output.hardlink_to(file)
    error = refusal("run", "ping-pong", "--machine", file, "--timeline", output)
    assert "it is the same file as" in error and "also read" in error
    assert file.read_bytes() == before and not list(tmp_path.glob(".*"))


def test_no_command_replaces_its_inputs(tmp_path: Path) -> None:
    """Traffic, schedules, times and machines are inputs that no output of any command replaces."""
    file = machine(tmp_path)
    matrix = Path(shutil.copy(ROOT / "docs" / "halo.csv", tmp_path / "halo.csv"))
    times = Path(shutil.copy(ROOT / "docs" / "times.csv", tmp_path / "times.csv"))
    goal = Path(shutil.copy(ROOT / "docs" / "ring.goal", tmp_path / "ring.goal"))
    ranks = str(len(matrix.read_text().splitlines()))
    before = {each: each.read_bytes() for each in (file, matrix, times, goal)}
    commands: list[list[str | Path]] = [
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
    for arguments in commands:
        completed = maquette(*arguments)
        assert completed.returncode == 2, (arguments, completed.stdout, completed.stderr)
    assert {each: each.read_bytes() for each in before} == before
    assert not list(tmp_path.glob(".*"))


def test_two_outputs_to_one_file_are_refused(tmp_path: Path) -> None:
    """Two outputs cannot be the same file, even if it does not exist yet."""
    (tmp_path / "again").symlink_to(tmp_path)
    outputs = ("--packets", tmp_path / "x.csv", "--timeline", tmp_path / "again" / "x.csv")
    error = refusal("run", "ping-pong", "--machine", "moc-3-2", *outputs)
    assert "it is the same file as" in error and "also to be written" in error
    assert [entry.name for entry in tmp_path.iterdir()] == ["again"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    """A run that is ended by a signal removes its unfinished files, and exits with the status that shells report for it."""
    arguments: list[str | Path] = ["run", "all-pairs", "--machine", "torus-512", "--bytes", "1MiB", "--timeline", tmp_path / "t.json"]
    running = subprocess.Popen(
        [COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lambda: restore_default(number)
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


def restore_default(number: signal.Signals) -> None:
    """Restore the default action of a signal in a child, however this process was started."""
    signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize("name", [LONG_NAME.encode(), "ü".encode() * 125, ODD_NAME])
def test_every_file_name_works(tmp_path: Path, name: bytes) -> None:
    """Files whose names have nearly 255 bytes, or are not UTF-8, are read and written."""
    folder = os.fsencode(tmp_path) + b"/"
    file, output, packets = (os.fsdecode(folder + name + end) for end in (b".toml", b".js", b".csv"))
    shutil.copy(ROOT / "machines" / "cm5-32.toml", file)
    completed = maquette("run", "ping-pong", "--machine", file, "--timeline", output, "--packets", packets)
    assert completed.returncode == 0, completed.stderr
    assert sorted(os.listdir(folder)) == sorted(name + end for end in (b".toml", b".js", b".csv"))
    goal = os.fsdecode(folder + name + b".goa")
    shutil.copy(ROOT / "docs" / "ring.goal", goal)
    assert maquette("run", "goal", goal).returncode == 0
