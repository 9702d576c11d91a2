"""Starts the installed command, within limits of time and memory, so that no case hangs or eats the machine."""

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


def maquette(
    *arguments: str | Path,
    cwd: Path | None = None,
    seconds: float = 120,
    memory: int | None = 4 * GIB,
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """What the command prints and ends with, within `seconds` and `memory` bytes of address space."""
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
    """What a child does before it begins, so that it gets no more than `memory` bytes."""
    if memory is None:
        return None
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def answer(*arguments: str | Path, cwd: Path | None = None, seconds: float = 120) -> Any:
    """What the command says as JSON; that it says anything else is a failure of the case."""
    done = maquette(*arguments, "--json", cwd=cwd, seconds=seconds)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(*arguments: str | Path, cwd: Path | None = None, status: int = 2, seconds: float = 120) -> str:
    """The one error with which the command refuses; nothing is printed beside it."""
    done = maquette(*arguments, cwd=cwd, seconds=seconds)
    assert done.returncode == status, f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.stderr.startswith("error: "), done.stderr
    return done.stderr
