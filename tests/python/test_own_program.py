"""The project in examples/own-program: its program, and that it stands on its own."""

import json
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "examples" / "own-program"


def cargo(*arguments: str | Path, folder: Path = ROOT) -> str:
    """Run cargo; returns its output."""
    done = subprocess.run(["cargo", *arguments], cwd=folder, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_of_ones_own_runs_on_two_models_and_for_real() -> None:
    """It is built as an example of the workspace, which `make test` has built."""
    cargo("build", "--quiet", "--locked", "--workspace", "--example", "own-program")
    program = ROOT / "target" / "debug" / "examples" / "own-program"
    out = subprocess.run([program], capture_output=True, text=True, timeout=100, check=True).stdout
    total = sum(rank**2 for rank in range(8))
    for line, name in zip(out.splitlines(), ["infiniband-128", "loggp", "for real"], strict=True):
        assert line.startswith(f"{name}: ")
        assert re.findall(r"\b\d+(?=[,\]])", line) == [str(total)] * 8


def test_its_project_is_one_of_its_own() -> None:
    # Use the versions of the workspace.
    shutil.copy(ROOT / "Cargo.lock", PROJECT)
    found = json.loads(cargo("metadata", "--quiet", "--format-version", "1", folder=PROJECT))
    assert [Path(found["workspace_root"]), len(found["workspace_members"])] == [PROJECT, 1]
    edges = {node["id"]: [dependency["name"] for dependency in node["deps"]] for node in found["resolve"]["nodes"]}
    assert edges[found["workspace_members"][0]] == ["maquette"]


def test_its_dependency_is_one_crate() -> None:
    manifest = (PROJECT / "Cargo.toml").read_text()
    section = manifest.split("[dependencies]")[1].split("[")[0]
    assert [line.split(" ")[0] for line in section.splitlines() if line] == ["maquette"]
