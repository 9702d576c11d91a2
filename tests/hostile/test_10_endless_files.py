"""Files that never end, and others that are none, are refused with their name and a limit, in bounded memory."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from command import COMMAND, GIB, maquette, refusal

ON_A_MACHINE = ("--machine", "moc-3-2")
READERS: dict[str, tuple[str, list[str]]] = {
    "machine": (".toml", ["machine", "FILE"]),
    "machine-of-run": (".toml", ["run", "ping-pong", "--machine", "FILE"]),
    "machine-of-check": (".toml", ["plan", "check", "--machine", "FILE"]),
    "goal": (".goal", ["run", "goal", "FILE"]),
    "schedule": (".json", ["run", "schedule", "FILE", *ON_A_MACHINE]),
    "matrix": (".csv", ["run", "all-to-all", "--traffic", "FILE", *ON_A_MACHINE]),
    "npy": (".npy", ["run", "all-to-all", "--traffic", "FILE", *ON_A_MACHINE]),
    "times": (".csv", ["calibrate", *ON_A_MACHINE, "--times", "FILE", "--fit", "o=1us..2us"]),
    "keys": (".txt", ["run", "linear-hash", *ON_A_MACHINE, "--keys", "FILE"]),
    "hosts": (".txt", ["launch", "--hosts", "FILE", "barrier"]),
    "key-file": (".key", ["cast", "send", "--key-file", "FILE", "/etc/hostname"]),
}


def line(reader: str, file: Path) -> list[str]:
    """The command line that reads the file."""
    return [str(file) if word == "FILE" else word for word in READERS[reader][1]]


# Whatever needs a gigabyte to find out is long.
LONG = {"goal", "keys"}


@pytest.mark.parametrize("reader", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in READERS])
def test_a_file_without_end(tmp_path: Path, reader: str) -> None:
    """A link to /dev/zero is read up to the limit, which the error names."""
    file = tmp_path / f"endless{READERS[reader][0]}"
    file.symlink_to("/dev/zero")
    done = maquette(*line(reader, file), memory=4 * GIB)
    assert done.returncode == 2 and done.stderr.startswith("error: "), done.stderr
    assert "endless" in done.stderr and any(unit in done.stderr for unit in ("MiB", "GiB", " B", "bytes", "MB"))


@pytest.mark.parametrize("reader", READERS)
def test_a_folder(tmp_path: Path, reader: str) -> None:
    """A folder in place of a file is one clear error."""
    folder = tmp_path / f"folder{READERS[reader][0]}"
    folder.mkdir()
    assert "folder" in refusal(*line(reader, folder))


@pytest.mark.parametrize("reader", READERS)
def test_bytes_that_are_no_text(tmp_path: Path, reader: str) -> None:
    """What is no text is an error or, where any bytes are allowed, read; it never panics."""
    file = tmp_path / f"bytes{READERS[reader][0]}"
    file.write_bytes(b"\xff\xfe\x00\x80" * 2)
    done = maquette(*line(reader, file)) if reader != "keys" else None
    if done is not None:
        assert done.returncode == 2 and "panicked" not in done.stderr, done.stderr


@pytest.mark.parametrize("reader", [name for name in READERS if name != "key-file"])
def test_a_pipe_with_nobody_at_its_other_end(tmp_path: Path, reader: str) -> None:
    """Whoever waits for a pipe can be ended by one signal, with the shell's status."""
    pipe = tmp_path / f"pipe{READERS[reader][0]}"
    os.mkfifo(pipe)
    waiting = subprocess.Popen([COMMAND, *line(reader, pipe)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        ready(waiting.pid)
        waiting.send_signal(signal.SIGTERM)
        waiting.communicate(timeout=10)
        assert waiting.returncode == 128 + signal.SIGTERM
    finally:
        waiting.kill()


def ready(process: int) -> None:
    """Waits until a process listens to SIGTERM."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        status = Path(f"/proc/{process}/status").read_text()
        caught = next(row.split()[1] for row in status.splitlines() if row.startswith("SigCgt:"))
        if int(caught, 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.02)
    raise AssertionError("it does not listen to signals")
