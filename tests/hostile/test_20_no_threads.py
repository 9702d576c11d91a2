"""Where the system starts no more threads, as memory or the number of processes is limited, a command does its work on those that it has, with the same
output, or says what is missing: it never panics."""

import os
import subprocess
from pathlib import Path

import pytest
from command import COMMAND
from preloaded import FEW_THREADS, built, few_threads

#: What a command says that can't do without.
REFUSAL = "Resource temporarily unavailable (os error 11)\n"
#: Each is refused the first thread that it wants, or the second, and so on.
ALLOWED = range(6)

#: Runs that are the same with any number of threads beside the one that hears of signals.
WORK_WITHOUT = {
    "LogGP": "run all-reduce --machine loggp --nodes 64 --bytes 1KiB --json",
    "flits": "run broadcast --machine moc-3-1 --bytes 1KiB --json",
    "saturation": "saturate --machine booksim-mesh-8x8 --warm-up 200 --measure 400 --precision 0.2 --json",
    "plan": "plan broadcast --machine delta --ranks 64 --bytes 512 --json",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is preloaded."""
    return built(FEW_THREADS, tmp_path_factory.mktemp("threads"))


def run(command: str, preloaded: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command with these variables in its environment."""
    arguments: list[str | Path] = [COMMAND, *command.split()]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False, env=os.environ | preloaded)


@pytest.mark.parametrize("command", WORK_WITHOUT.values(), ids=WORK_WITHOUT.keys())
def test_a_run_is_the_same_with_any_number_of_threads(library: Path, command: str) -> None:
    expected = run(command, {})
    assert expected.returncode == 0, expected.stderr
    for threads in ALLOWED:
        completed = run(command, few_threads(library, threads))
        if threads == 0:
            assert (completed.returncode, completed.stderr) == (1, f"error: can't start a thread: {REFUSAL}")
        else:
            assert (completed.returncode, completed.stdout) == (0, expected.stdout), completed.stderr


def test_a_launch_and_its_ranks_say_what_is_missing(library: Path) -> None:
    statuses = set()
    for threads in ALLOWED:
        completed = run("launch broadcast --local 2 --bytes 1KiB --json", few_threads(library, threads))
        statuses.add(completed.returncode)
        assert completed.returncode == 0 or completed.stderr.endswith(REFUSAL), completed.stderr
        assert "panicked" not in completed.stderr
    assert 1 in statuses and statuses <= {0, 1}


def test_a_store_says_that_it_can_keep_nothing(library: Path, tmp_path: Path) -> None:
    """The thread that makes its log durable is the first that it wants, beside the one that hears of signals."""
    completed = run(f"store serve --port 0 --data {tmp_path}", few_threads(library, 1))
    assert completed.returncode == 2
    assert completed.stderr == f"error: can't start a thread for `{tmp_path}`: {REFUSAL}"
