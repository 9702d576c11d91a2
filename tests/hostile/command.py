"""Runs the installed command with limits of time and memory, so that no case hangs or exhausts the machine."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMMAND = Path(os.environ.get("MAQUETTE", Path(sys.executable).with_name("maquette")))
GIB = 1 << 30
#: What the description of a network has besides its topology.
NETWORK = """[channels]
rate = "1 GB/s"
buffers = 64
[routers]
routing_delay = "50 ns"
[packet]
payload = "1 KiB"
header = "16 B"
flit = "16 B"
"""


def maquette(
    *arguments: str | Path,
    cwd: Path | None = None,
    seconds: float = 120,
    memory: int | None = 4 * GIB,
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run the command for at most `seconds` and in `memory` bytes of address space; returns its output and exit status."""
    return subprocess.run(
        [COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        cwd=cwd,
        input=stdin,
        preexec_fn=limited(memory),
    )


def limited(memory: int | None) -> Callable[[], None] | None:
    """A function that limits the memory of a child process, in bytes, before it starts."""
    if memory is None:
        return None
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def answer(*arguments: str | Path, cwd: Path | None = None, seconds: float = 120) -> Any:
    """The JSON that the command prints; the case fails if the command does."""
    completed = maquette(*arguments, "--json", cwd=cwd, seconds=seconds)
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout)


def refusal(*arguments: str | Path, cwd: Path | None = None, status: int = 2, seconds: float = 120) -> str:
    """The error with which the command refuses."""
    completed = maquette(*arguments, cwd=cwd, seconds=seconds)
    assert completed.returncode == status, f"exit status {completed.returncode}\n{completed.stdout}{completed.stderr}"
    assert completed.stderr.startswith("error: "), completed.stderr
    return completed.stderr
