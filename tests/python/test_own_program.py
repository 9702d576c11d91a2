"""The project in examples/own-program, built and run as its owner would do it."""

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_program_of_ones_own_runs_on_two_models_and_for_real() -> None:
    project = ROOT / "examples" / "own-program"
    # Use the versions of the workspace.
    shutil.copy(ROOT / "Cargo.lock", project)
    done = subprocess.run(
        ["cargo", "run", "--quiet"], cwd=project, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    total = sum(rank**2 for rank in range(8))
    for line, name in zip(done.stdout.splitlines(), ["infiniband-128", "loggp", "for real"], strict=True):
        assert line.startswith(f"{name}: ")
        assert re.findall(r"\b\d+(?=[,\]])", line) == [str(total)] * 8


def test_its_dependency_is_one_crate() -> None:
    manifest = (ROOT / "examples" / "own-program" / "Cargo.toml").read_text()
    section = manifest.split("[dependencies]")[1].split("[")[0]
    assert [line.split(" ")[0] for line in section.splitlines() if line] == ["maquette"]
