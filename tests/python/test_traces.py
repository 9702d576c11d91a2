"""Programs that were written for MPI: traced under a real MPI, replayed on models, and what can't be."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from maquette.command import TRACE_LIBRARY

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
MPIEXEC = BIN / "mpiexec"


def maquette(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """What the command prints and how it ends."""
    return subprocess.run([BIN / "maquette", *words], capture_output=True, text=True, timeout=300, check=False)


def traced(out: Path, *command: str | Path) -> tuple[dict[str, Any], str]:
    """The summary of the trace of a program, and the output of the program itself."""
    done = maquette("trace", "--json", "--out", out, "--", *command)
    assert done.returncode == 0, done.stderr
    *printed, summary = done.stdout.splitlines()
    return json.loads(summary), "\n".join(printed)


def replayed(trace: Path, *words: str) -> dict[str, Any]:
    """The summary of a replay."""
    done = maquette("run", "trace", trace, "--json", *words)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def messages(printed: str) -> int:
    """How many messages a program has counted."""
    found = re.search(r"messages (\d+)", printed)
    assert found, printed
    return int(found[1])


@pytest.fixture(scope="module")
def conjugate_gradient(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A method that sends its borders to its neighbours."""
    return compiled("conjugate_gradient", tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def work_between_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rank that tests a receive, and computes between the tests or does not."""
    return compiled("work_between_tests", tmp_path_factory.mktemp("program"))


def compiled(name: str, folder: Path) -> Path:
    """A program in C, for the standard ABI."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    program = folder / name
    lib = BIN.parent / "lib"
    source = HERE / "mpi" / f"{name}.c"
    words: list[str | Path] = ["-O2", "-DMPI_ABI", f"-I{BIN.parent / 'include'}", source, "-o", program, f"-L{lib}", "-lmpi_abi"]
    subprocess.run([compiler, *words, f"-Wl,-rpath,{lib}", "-lm"], check=True, timeout=120)
    return program


def test_the_library_is_where_the_package_is() -> None:
    """Without it the rest of this file tests nothing: `make test` puts it there."""
    assert TRACE_LIBRARY.is_file()


def test_a_program_in_c_is_replayed_with_the_messages_that_it_sent(conjugate_gradient: Path, tmp_path: Path) -> None:
    trace = tmp_path / "cg.trace"
    summary, printed = traced(trace, MPIEXEC, "-n", "3", conjugate_gradient, "96", "20")
    iterations, sent = 20, 20 * 4
    assert messages(printed) == sent
    assert summary["ranks"] == 3
    # Two receives, two sends and a wait where there are two neighbours; sums, a barrier and a reduction; the end.
    middle = iterations * 7 + 1 + 3
    edge = iterations * 5 + 1 + 3
    assert summary["calls"] == middle + 2 * edge
    assert summary["bytes"] <= 20 * summary["calls"]
    answer = replayed(trace, "--machine", "infiniband-128")
    assert answer["replayed"] == {"calls": summary["calls"], "messages": sent, "collectives": 2 * iterations + 3}
    assert answer["recorded_ps"] == summary["recorded_ps"]
    # Of each of the sums, recursive doubling among three sends four messages; a barrier sends six, a reduction two.
    assert answer["messages"] == sent + (2 * iterations + 1) * 4 + 6 + 2


def test_computing_is_scaled_and_algorithms_are_chosen(conjugate_gradient: Path, tmp_path: Path) -> None:
    trace = tmp_path / "cg.trace"
    traced(trace, MPIEXEC, "-n", "3", conjugate_gradient, "96", "5")
    whole = replayed(trace, "--machine", "infiniband-128")
    none = replayed(trace, "--machine", "infiniband-128", "--compute-scale", "0")
    ring = replayed(trace, "--machine", "infiniband-128", "--compute-scale", "0", "--all-reduce", "ring")
    assert none["makespan_ps"] < whole["makespan_ps"]
    assert none["computing_ps"] == [0, 0, 0]
    assert ring["messages"] > none["messages"]


def test_who_goes_on_without_what_it_tested_for_has_computed(work_between_tests: Path, tmp_path: Path) -> None:
    trace = tmp_path / "work.trace"
    _, printed = traced(trace, MPIEXEC, "-n", "2", work_between_tests)
    tested = re.search(r"tested (\d+)", printed)
    assert tested, printed
    summary = replayed(trace, "--machine", "infiniband-128")
    assert summary["replayed"]["messages"] == 2
    # All of it, that of the tests, too: less than a microsecond between any two of them, and some milliseconds together.
    assert summary["computing_ps"][0] >= 1000 * int(tested[1])


def test_a_program_in_python_is_replayed_with_every_kind_of_call(tmp_path: Path) -> None:
    trace = tmp_path / "python.trace"
    summary, printed = traced(trace, MPIEXEC, "-n", "3", sys.executable, HERE / "mpi" / "every_call.py")
    answer = replayed(trace, "--machine", "infiniband-128")
    counts = answer["replayed"]
    assert counts["messages"] == messages(printed)
    assert counts["calls"] == summary["calls"]
    assert "not_received" not in answer or not answer["not_received"]


def test_a_program_that_died_leaves_a_trace_that_says_so(tmp_path: Path) -> None:
    trace = tmp_path / "died.trace"
    program = "from mpi4py import MPI; MPI.COMM_WORLD.Barrier(); import os; os.kill(os.getpid(), 9)"
    done = maquette("trace", "--out", trace, "--", sys.executable, "-c", program)
    assert "did not reach MPI_Finalize" in done.stderr
    again = maquette("run", "trace", trace, "--machine", "infiniband-128")
    assert again.returncode == 2
    assert "cut short: rank 0 made 1 calls, the last an MPI_Barrier, and no MPI_Finalize" in again.stderr


def test_one_sided_communication_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "window.trace"
    program = "from mpi4py import MPI; MPI.Win.Allocate(8).Free()"
    traced(trace, sys.executable, "-c", program)
    done = maquette("run", "trace", trace, "--machine", "infiniband-128")
    assert done.returncode == 2
    assert "MPI_Win_allocate" in done.stderr and "found a call that a replay cannot follow" in done.stderr


def test_what_is_no_program_of_mpi_is_told(tmp_path: Path) -> None:
    done = maquette("trace", "--out", tmp_path / "none.trace", "--", "true")
    assert done.returncode == 2
    assert "no rank of the program called MPI_Init" in done.stderr
    assert not (tmp_path / "none.trace").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    done = maquette("trace", "--out", tmp_path / "full", "--", "true")
    assert done.returncode == 2 and "which has files" in done.stderr
    done = maquette("trace", "--out", tmp_path / "no.trace", "--", "no-such-program")
    assert done.returncode == 2 and "no-such-program" in done.stderr


def test_a_library_of_another_interface_is_named(tmp_path: Path) -> None:
    """A library that says that it is Open MPI, made here: its handles are neither of the two that are known."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    (tmp_path / "other.c").write_text(
        "#include <string.h>\n"
        "int PMPI_Init(int *a, char ***b) { return 0; }\n"
        "int MPI_Init(int *a, char ***b) { return PMPI_Init(a, b); }\n"
        'int PMPI_Get_library_version(char *text, int *n) { strcpy(text, "Open MPI v5.0.6"); *n = 15; return 0; }\n'
    )
    (tmp_path / "program.c").write_text("int MPI_Init(int *, char ***);\nint main(void) { return MPI_Init(0, 0); }\n")
    library = tmp_path / "libmpi.so"
    subprocess.run([compiler, "-shared", "-fPIC", tmp_path / "other.c", "-o", library], check=True, timeout=120)
    program = tmp_path / "program"
    words: list[str | Path] = [tmp_path / "program.c", "-o", program, f"-L{tmp_path}", "-lmpi", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([compiler, *words], check=True, timeout=120)
    done = maquette("trace", "--out", tmp_path / "other.trace", "--", program)
    assert done.returncode == 2
    assert f"the program runs with Open MPI v5.0.6, {library}" in done.stderr
    assert "libmpi_abi.so" in done.stderr
    assert not (tmp_path / "other.trace").exists()


def test_traces_whose_files_do_not_fit_together_are_told(conjugate_gradient: Path, tmp_path: Path) -> None:
    trace = tmp_path / "cg.trace"
    traced(trace, MPIEXEC, "-n", "2", conjugate_gradient, "64", "2")

    def told() -> str:
        done = maquette("run", "trace", trace, "--machine", "infiniband-128")
        assert done.returncode == 2
        return done.stderr

    whole = (trace / "rank-1.trace").read_bytes()
    (trace / "rank-1.trace").write_bytes(whole[:-20])
    assert "cut short" in told() or "ends within a call" in told()
    (trace / "rank-1.trace").write_bytes((trace / "rank-0.trace").read_bytes())
    assert "found the calls of rank 0; allowed are those of rank 1" in told()
    os.remove(trace / "rank-1.trace")
    assert "missing: rank 0 says that there are 2 ranks" in told()
    os.remove(trace / "rank-0.trace")
    assert "found no `rank-0.trace`; allowed is a folder with a trace" in told()
