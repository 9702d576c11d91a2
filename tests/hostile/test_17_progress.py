"""Progress is shown at a terminal, and only there."""

import os
import pty
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import COMMAND, maquette

# Each takes minutes, and is ended as soon as it has shown something.
LONG_RUNS = {
    "flits": "run all-pairs --machine fat-tree-1024 --rounds 100",
    "flits, reference engine": "run all-pairs --machine moc-3-2 --rounds 100000 --engine reference",
    "Ethernet": "run all-pairs --machine ethernet-128 --rounds 100000",
    "LogGP": "run all-pairs --machine loggp --nodes 256 --rounds 100000",
    "LogGP, from anyone": "run linear-hash --machine loggp --clients 8 --servers 64 --then " + ",".join(["get"] * 40),
    "pairs": "run equal-dist --machine moc-3-2 --messages 4000000000",
    "application": "run euler --machine moc-3-2 --vertices 20000 --tolerance 0 --most-cycles 1000000",
}
TEXTS = ("simulated, ", " messages")


@contextmanager
def at_a_terminal(*arguments: str | Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run a command whose standard error is a terminal; yields the process and the other end of the terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def output_of(process: subprocess.Popen[bytes], terminal: int, texts: tuple[str, ...], seconds: float) -> str:
    """The output at the terminal until it contains all `texts`, the command ends, or `seconds` are over."""
    text, end = "", time.monotonic() + seconds
    os.set_blocking(terminal, False)
    while time.monotonic() < end and not all(expected in text for expected in texts):
        try:
            text += os.read(terminal, 1 << 16).decode(errors="replace")
        except BlockingIOError:
            if process.poll() is not None:
                break
            time.sleep(0.05)
        except OSError:  # the command has ended, and closed its end
            break
    return text


@pytest.mark.long
@pytest.mark.parametrize("command", LONG_RUNS.values(), ids=LONG_RUNS.keys())
def test_a_long_run_shows_its_progress(command: str) -> None:
    """Simulated time and the number of messages appear, and are updated."""
    with at_a_terminal(*command.split()) as (process, terminal):
        text = output_of(process, terminal, TEXTS, 60)
    assert [expected for expected in TEXTS if expected not in text] == [], text


@pytest.mark.long
@pytest.mark.parametrize(
    "command",
    [
        "plan all-to-all --machine fat-tree-1024 --bytes 1KiB --budget 100000",
        "measure lambda --machine fat-tree-1024 --draws 40",
        "schedule --complete 2048 --algorithm edge-colouring",
    ],
)
def test_other_long_commands_show_the_elapsed_time(command: str) -> None:
    """The elapsed time appears."""
    with at_a_terminal(*command.split()) as (process, terminal):
        text = output_of(process, terminal, ("00:00:0",), 60)
    assert "00:00:0" in text, text


def test_a_share_is_shown_where_the_end_is_known() -> None:
    """A share in percent appears where the number of messages is known beforehand."""
    with at_a_terminal(*LONG_RUNS["pairs"].split()) as (process, terminal):
        text = output_of(process, terminal, ("%", *TEXTS), 30)
    assert "%" in text and "packets" in text, text


def test_a_short_run_leaves_the_terminal_clean() -> None:
    """A command that ends within a second shows nothing."""
    with at_a_terminal("run", "ping-pong", "--machine", "moc-2-1") as (process, terminal):
        text = output_of(process, terminal, ("never",), 30)
        assert process.wait(timeout=30) == 0
    assert text == ""


def test_without_a_terminal_nothing_is_shown() -> None:
    """Standard error stays empty if it is not a terminal, while the same command, started later, already shows progress at one."""
    command = LONG_RUNS["pairs"].split()
    quiet = subprocess.Popen([COMMAND, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        with at_a_terminal(*command) as (process, terminal):
            assert "simulated" in output_of(process, terminal, TEXTS, 30)
        assert quiet.stderr is not None and quiet.poll() is None
        os.set_blocking(quiet.stderr.fileno(), False)
        assert not quiet.stderr.read()
    finally:
        quiet.kill()
        quiet.wait()


def test_progress_changes_no_result() -> None:
    """The same bytes come out at a terminal and without one."""
    command = ["run", "all-pairs", "--machine", "torus-512", "--rounds", "1", "--nodes", "64", "--json"]
    ours, theirs = pty.openpty()
    at_terminal = subprocess.run([COMMAND, *command], stdout=subprocess.PIPE, stderr=theirs, timeout=120, check=True)
    os.close(theirs)
    os.close(ours)
    assert at_terminal.stdout.decode() == maquette(*command).stdout
