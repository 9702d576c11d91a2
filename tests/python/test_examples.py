"""What the documentation shows in Python, run as it stands; and the types that are promised."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def python(*arguments: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_program_of_the_readme_runs() -> None:
    pytest.importorskip("polars")
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) > 1
    out = python("-c", "".join(blocks))
    assert out.startswith("<maquette.Run halo on 64 nodes of infiniband-128: ") and " us> [63, 0, 1, 2] " in out


def test_the_halo_is_quicker_where_it_overlaps() -> None:
    lines = python(ROOT / "examples" / "halo.py").splitlines()
    assert len(lines) == 4
    for line in lines:
        after, behind = re.findall(r"([0-9.]+) us", line)
        assert float(behind) < float(after)


def test_the_stub_is_that_of_the_module() -> None:
    pytest.importorskip("mypy")
    assert "no issues found" in python("-m", "mypy.stubtest", "maquette._maquette")


def test_importing_it_takes_no_time() -> None:
    statement = "import time; begin = time.perf_counter(); import maquette; print(time.perf_counter() - begin)"
    # The least of several, as others use this computer, too.
    assert min(float(python("-c", statement)) for _ in range(5)) < 0.08
