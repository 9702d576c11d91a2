"""On a mesh of a million nodes a few ranks take memory by the routers that their messages meet, and a description ends when it is interrupted."""

import signal
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, GIB, NETWORK, maquette

MESH = f"{NETWORK}[topology.mesh]\ncolumns = 1024\nrows = 1024\n"


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    """The description of the mesh."""
    file = tmp_path / "mesh.toml"
    file.write_text(MESH)
    return file


def test_sixteen_of_a_million_nodes_take_a_gigabyte_at_most(mesh: Path) -> None:
    """They took four. Their times are those of the small mesh that has the sixteen nodes."""
    run = ["run", "broadcast", "--nodes", "16", "--bytes", "1KiB", "--machine"]
    large = maquette(*run, mesh, memory=GIB)
    assert large.returncode == 0, large.stderr
    small = mesh.with_name("small.toml")
    small.write_text(MESH.replace("columns = 1024", "columns = 16").replace("rows = 1024", "rows = 1"))
    makespans = {text.split("makespan")[1].splitlines()[0] for text in (large.stdout, maquette(*run, small).stdout)}
    assert len(makespans) == 1


def test_a_description_of_a_million_routers_takes_a_gigabyte_at_most(mesh: Path) -> None:
    described = maquette("machine", mesh, memory=GIB)
    assert described.returncode == 0, described.stderr


def test_a_description_of_a_million_routers_ends_when_it_is_interrupted(mesh: Path) -> None:
    running = subprocess.Popen(
        ["env", "--default-signal=INT", COMMAND, "machine", mesh], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    with pytest.raises(subprocess.TimeoutExpired):
        running.wait(0.3)
    running.send_signal(signal.SIGINT)
    _, complaints = running.communicate(timeout=20)
    assert running.returncode == 130, complaints
