"""The Python in the README and the examples, run unchanged; and the types of the package."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def python(*arguments: str | Path) -> str:
    # Pictures are drawn, but not shown.
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_program_of_the_readme_runs() -> None:
    pytest.importorskip("polars")
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) > 1
    out = python("-c", "".join(blocks))
    assert out.startswith("<maquette.Run halo on 64 nodes of infiniband-128: ") and " us> [63, 0, 1, 2] " in out


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: str(path.stem))
def test_an_example_runs_and_asserts_its_claims(example: Path) -> None:
    """It runs to its end; its claims are assertions."""
    needed = re.findall(r"^(?:import|from) (matplotlib|networkx|numpy|pandas|distributed)\b", example.read_text(), re.MULTILINE)
    for module in needed:
        pytest.importorskip(module)
    assert "assert " in example.read_text()
    python("-W", "ignore", example)


def test_there_are_ten_examples_and_the_readme_names_them() -> None:
    examples = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert len(examples) == 10
    assert examples == set(re.findall(r"\(examples/(\w+\.py)\)", (ROOT / "README.md").read_text()))


def test_the_stub_matches_the_module() -> None:
    pytest.importorskip("mypy")
    assert "no issues found" in python("-m", "mypy.stubtest", "maquette._maquette")


@pytest.mark.parametrize(
    "module", ["asyncio", "multiprocessing", "numpy", "pandas", "polars", "pyarrow", "maquette.store", "maquette.tuning"]
)
def test_importing_the_package_loads_no_module_that_few_programs_need(module: str) -> None:
    """How long it takes is measured by `make bench`."""
    assert module not in python("-c", "import sys, maquette; print(*sys.modules)").split()
