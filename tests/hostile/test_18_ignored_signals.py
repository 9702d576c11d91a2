"""The tests end where SIGINT is ignored, as in the background of a script."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: The longest time that they may take, building included. [s]
TIMEOUT = 1_000.0


def run_ignoring_sigint(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command with SIGINT ignored, like a script in its background."""
    script = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command]
    return subprocess.run(script, capture_output=True, text=True, timeout=TIMEOUT, check=False, cwd=ROOT)


@pytest.mark.long
def test_rust_tests_that_interrupt_a_process_end() -> None:
    """Those of signals, casts and launches."""
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo here")
    completed = run_ignoring_sigint("cargo", "test", "-p", "maquette-command-line", "--test", "signals", "--test", "cast", "--test", "launch")
    assert completed.returncode == 0, completed.stdout[-5_000:] + completed.stderr[-2_000:]


@pytest.mark.long
def test_python_tests_that_interrupt_a_process_end() -> None:
    """Those of the installed command."""
    if not Path(sys.executable).with_name("maquette").exists():
        pytest.skip("the command is not installed")
    completed = run_ignoring_sigint(sys.executable, "-m", "pytest", "tests/python", "-k", "ctrl_c")
    assert completed.returncode == 0, completed.stdout[-5_000:]
