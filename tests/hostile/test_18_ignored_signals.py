"""The tests end where SIGINT is ignored, as in the background of a script."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: How long they may take, building included. [s]
PATIENCE = 1_000.0


def ignoring(*command: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a command as a script does in its background."""
    script = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command]
    return subprocess.run(script, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=ROOT)


@pytest.mark.long
def test_rust_tests_that_interrupt_a_process_end() -> None:
    """Those of the signals, of casts and of launches."""
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo here")
    done = ignoring("cargo", "test", "-p", "maquette-command-line", "--test", "signals", "--test", "cast", "--test", "launch")
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]


@pytest.mark.long
def test_python_tests_that_interrupt_a_process_end() -> None:
    """Those of the installed command."""
    if not Path(sys.executable).with_name("maquette").exists():
        pytest.skip("the command is not installed")
    done = ignoring(sys.executable, "-m", "pytest", "tests/python", "-k", "ctrl_c")
    assert done.returncode == 0, done.stdout[-5_000:]
