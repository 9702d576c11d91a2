"""Endless files, folders, binary files and pipes are refused with their name, in bounded memory."""

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


def command_line(reader: str, file: Path) -> list[str]:
    """The arguments of the command that reads the file."""
    return [str(file) if argument == "FILE" else argument for argument in READERS[reader][1]]


# These read up to a gigabyte before they refuse a file, which takes long.
LONG = {"goal", "keys"}


@pytest.mark.parametrize("reader", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in READERS])
def test_a_file_without_end_is_refused(tmp_path: Path, reader: str) -> None:
    """A link to /dev/zero is read up to the limit, and the error names that."""
    file = tmp_path / f"endless{READERS[reader][0]}"
    file.symlink_to("/dev/zero")
    completed = maquette(*command_line(reader, file), memory=4 * GIB)
    assert completed.returncode == 2 and completed.stderr.startswith("error: "), completed.stderr
    assert "endless" in completed.stderr and any(unit in completed.stderr for unit in ("MiB", "GiB", " B", "bytes", "MB"))


@pytest.mark.parametrize("reader", READERS)
def test_a_folder_is_refused(tmp_path: Path, reader: str) -> None:
    """A folder in place of a file is one clear error."""
    folder = tmp_path / f"folder{READERS[reader][0]}"
    folder.mkdir()
    assert "folder" in refusal(*command_line(reader, folder))


@pytest.mark.parametrize("reader", READERS)
def test_bytes_that_are_not_text_never_cause_a_panic(tmp_path: Path, reader: str) -> None:
    """Bytes that are not text are an error, or are read where any bytes are allowed; there is never a panic."""
    file = tmp_path / f"bytes{READERS[reader][0]}"
    file.write_bytes(b"\xff\xfe\x00\x80" * 2)
    completed = maquette(*command_line(reader, file)) if reader != "keys" else None
    if completed is not None:
        assert completed.returncode == 2 and "panicked" not in completed.stderr, completed.stderr


@pytest.mark.parametrize("reader", [name for name in READERS if name != "key-file"])
def test_waiting_for_a_pipe_can_be_interrupted(tmp_path: Path, reader: str) -> None:
    """A command that waits for a pipe is ended by one signal, with the exit status for it."""
    pipe = tmp_path / f"pipe{READERS[reader][0]}"
    os.mkfifo(pipe)
    waiting = subprocess.Popen([COMMAND, *command_line(reader, pipe)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_for_handler(waiting.pid)
        waiting.send_signal(signal.SIGTERM)
        waiting.communicate(timeout=10)
        assert waiting.returncode == 128 + signal.SIGTERM
    finally:
        waiting.kill()


def wait_for_handler(process: int) -> None:
    """Wait until a process handles SIGTERM."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        status = Path(f"/proc/{process}/status").read_text()
        caught = next(row.split()[1] for row in status.splitlines() if row.startswith("SigCgt:"))
        if int(caught, 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.02)
    raise AssertionError("it does not handle signals")
