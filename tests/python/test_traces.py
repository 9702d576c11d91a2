"""Programs written for MPI: traced under a real MPI, replayed on models, and the programs and traces that are refused."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from maquette.command import TRACE_LIBRARY

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
MPIEXEC = BIN / "mpiexec"


def maquette(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the command; returns its output and exit status."""
    return subprocess.run([BIN / "maquette", *arguments], capture_output=True, text=True, timeout=300, check=False)


def traced(out: Path, *command: str | Path) -> tuple[dict[str, Any], str]:
    """The summary of the trace of a program, and the output of the program itself."""
    done = maquette("trace", "--json", "--out", out, "--", *command)
    assert done.returncode == 0, done.stderr
    *printed, summary = done.stdout.splitlines()
    return json.loads(summary), "\n".join(printed)


def replayed(trace: Path, *arguments: str) -> dict[str, Any]:
    """The summary of a replay."""
    done = maquette("run", "trace", trace, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def messages(printed: str) -> int:
    """The number of messages that a program has counted."""
    found = re.search(r"messages (\d+)", printed)
    assert found, printed
    return int(found[1])


@pytest.fixture(scope="module")
def conjugate_gradient(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A solver whose ranks send their borders to their neighbours."""
    return compiled("conjugate_gradient", tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def work_between_tests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rank that tests a receive again and again, and computes between the tests."""
    return compiled("work_between_tests", tmp_path_factory.mktemp("program"))


def compiled(name: str, folder: Path) -> Path:
    """Compile a program in C for the standard ABI."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    program = folder / name
    lib = BIN.parent / "lib"
    source = HERE / "mpi" / f"{name}.c"
    arguments: list[str | Path] = ["-O2", "-DMPI_ABI", f"-I{BIN.parent / 'include'}", source, "-o", program, f"-L{lib}", "-lmpi_abi"]
    subprocess.run([compiler, *arguments, f"-Wl,-rpath,{lib}", "-lm"], check=True, timeout=120)
    return program


def test_the_package_contains_the_library() -> None:
    """Without it the other tests here would test nothing: `make test` installs it."""
    assert TRACE_LIBRARY.is_file()


def test_a_program_in_c_is_replayed_with_the_messages_that_it_sent(conjugate_gradient: Path, tmp_path: Path) -> None:
    trace = tmp_path / "cg.trace"
    summary, printed = traced(trace, MPIEXEC, "-n", "3", conjugate_gradient, "96", "20")
    iterations, sent = 20, 20 * 4
    assert messages(printed) == sent
    assert summary["ranks"] == 3
    # With two neighbours: two receives, two sends and a wait; then sums, a barrier and a reduction; the end.
    middle = iterations * 7 + 1 + 3
    edge = iterations * 5 + 1 + 3
    assert summary["calls"] == middle + 2 * edge
    assert summary["bytes"] <= 20 * summary["calls"]
    answer = replayed(trace, "--machine", "infiniband-128")
    assert answer["replayed"] == {"calls": summary["calls"], "messages": sent, "collectives": 2 * iterations + 3}
    assert answer["recorded_ps"] == summary["recorded_ps"]
    # Among three ranks, recursive doubling sends four messages for each sum, a barrier six, a reduction two.
    assert answer["messages"] == sent + (2 * iterations + 1) * 4 + 6 + 2


def test_computing_can_be_scaled_and_algorithms_chosen(conjugate_gradient: Path, tmp_path: Path) -> None:
    trace = tmp_path / "cg.trace"
    traced(trace, MPIEXEC, "-n", "3", conjugate_gradient, "96", "5")
    whole = replayed(trace, "--machine", "infiniband-128")
    none = replayed(trace, "--machine", "infiniband-128", "--compute-scale", "0")
    ring = replayed(trace, "--machine", "infiniband-128", "--compute-scale", "0", "--all-reduce", "ring")
    assert none["makespan_ps"] < whole["makespan_ps"]
    assert none["computing_ps"] == [0, 0, 0]
    assert ring["messages"] > none["messages"]


def test_time_around_tests_that_find_nothing_counts_as_computing(work_between_tests: Path, tmp_path: Path) -> None:
    trace = tmp_path / "work.trace"
    _, printed = traced(trace, MPIEXEC, "-n", "2", work_between_tests)
    tested = re.search(r"tested (\d+)", printed)
    assert tested, printed
    summary = replayed(trace, "--machine", "infiniband-128")
    assert summary["replayed"]["messages"] == 2
    # All of the time counts, including that of the tests: less than a microsecond between any two, and some milliseconds in all.
    assert summary["computing_ps"][0] >= 1000 * int(tested[1])


def test_a_program_in_python_is_replayed_with_every_kind_of_call(tmp_path: Path) -> None:
    trace = tmp_path / "python.trace"
    summary, printed = traced(trace, MPIEXEC, "-n", "3", sys.executable, HERE / "mpi" / "every_call.py")
    answer = replayed(trace, "--machine", "infiniband-128")
    counts = answer["replayed"]
    assert counts["messages"] == messages(printed)
    assert counts["calls"] == summary["calls"]
    assert "not_received" not in answer or not answer["not_received"]


def test_the_trace_of_a_program_that_died_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "died.trace"
    program = "from mpi4py import MPI; MPI.COMM_WORLD.Barrier(); import os; os.kill(os.getpid(), 9)"
    done = maquette("trace", "--out", trace, "--", sys.executable, "-c", program)
    assert done.returncode == 1
    assert "did not reach MPI_Finalize" in done.stderr
    assert "the program ended with signal: 9 (SIGKILL); what it did until then is kept" in done.stderr
    assert "replay" not in done.stdout
    assert (trace / "rank-0.trace").stat().st_size < 100, "the reserved room is given back"
    again = maquette("run", "trace", trace, "--machine", "infiniband-128")
    assert again.returncode == 2
    assert "cut short: rank 0 made 1 call, the last an MPI_Barrier, and no MPI_Finalize" in again.stderr


def test_a_program_that_fails_after_its_last_call_is_traced_and_the_command_fails_as_well(tmp_path: Path) -> None:
    trace = tmp_path / "failed.trace"
    program = "from mpi4py import MPI; MPI.COMM_WORLD.Barrier(); MPI.Finalize(); raise SystemExit(3)"
    done = maquette("trace", "--json", "--out", trace, "--", sys.executable, "-c", program)
    assert (done.returncode, json.loads(done.stdout)["failed"]) == (1, "exit status: 3")
    assert "the program ended with exit status: 3" in done.stderr
    assert len(replayed(trace, "--machine", "infiniband-128")["ranks"]) == 1


def test_an_interrupted_program_leaves_no_trace(tmp_path: Path) -> None:
    """As Ctrl-C on a terminal does, which reaches the program and the command at once."""
    program = f"from mpi4py import MPI; import time; MPI.COMM_WORLD.Barrier(); open({str(tmp_path / 'begun')!r}, 'w'); time.sleep(60)"
    arguments = ["trace", "--out", "spin.trace", "--", str(MPIEXEC), "-n", "2", sys.executable, "-c", program]
    command: list[str | Path] = ["env", "--default-signal=INT", BIN / "maquette", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
    ) as process:
        try:
            deadline = time.monotonic() + 60
            while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            assert (tmp_path / "begun").exists(), "the program has not begun"
            os.killpg(process.pid, signal.SIGINT)
            out, error = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130, error
    assert "replay" not in out and "maquette/command.py" not in error and error.rstrip().endswith("error: interrupted")
    assert not (tmp_path / "spin.trace").exists()


def test_a_program_that_opens_its_library_itself_is_explained(tmp_path: Path) -> None:
    done = maquette("trace", "--out", tmp_path / "own.trace", "--", str(MPIEXEC), "-n", "1", BIN / "maquette", "launch", "--mpi", "ping-pong")
    assert done.returncode == 2
    assert "opens its MPI library itself, as `maquette launch --mpi` does" in done.stderr


def test_one_sided_communication_is_refused(tmp_path: Path) -> None:
    trace = tmp_path / "window.trace"
    program = "from mpi4py import MPI; MPI.Win.Allocate(8).Free()"
    traced(trace, sys.executable, "-c", program)
    done = maquette("run", "trace", trace, "--machine", "infiniband-128")
    assert done.returncode == 2
    assert "MPI_Win_allocate" in done.stderr and "found a call that a replay cannot follow" in done.stderr


def test_a_program_that_does_not_use_mpi_is_reported(tmp_path: Path) -> None:
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
    """A library that claims to be Open MPI: its handles are of neither of the two known kinds."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    (tmp_path / "other.c").write_text(
        "#include <string.h>\n"
        "int PMPI_Init(int *a, char ***b) { return 0; }\n"
        "int MPI_Init(int *a, char ***b) { return PMPI_Init(a, b); }\n"
        'int PMPI_Get_library_version(char *text, int *n) { strcpy(text, "Open MPI v5.0.6"); *n = 15; return 0; }\n'
    )
    (tmp_path / "program.c").write_text(
        '#include <stdio.h>\nint MPI_Init(int *, char ***);\nint main(void) { MPI_Init(0, 0); puts("hours later"); return 0; }\n'
    )
    library = tmp_path / "libmpi.so"
    subprocess.run([compiler, "-shared", "-fPIC", tmp_path / "other.c", "-o", library], check=True, timeout=120)
    program = tmp_path / "program"
    arguments: list[str | Path] = [tmp_path / "program.c", "-o", program, f"-L{tmp_path}", "-lmpi", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([compiler, *arguments], check=True, timeout=120)
    done = maquette("trace", "--out", tmp_path / "other.trace", "--", program)
    assert done.returncode == 2
    assert f"the program runs with Open MPI v5.0.6, {library}" in done.stderr
    assert "libmpi_abi.so" in done.stderr
    assert "hours later" not in done.stdout, "the program is refused before it does anything"
    assert not (tmp_path / "other.trace").exists()


def test_traces_whose_files_do_not_match_are_refused(conjugate_gradient: Path, tmp_path: Path) -> None:
    trace = tmp_path / "cg.trace"
    traced(trace, MPIEXEC, "-n", "2", conjugate_gradient, "64", "2")

    def error() -> str:
        done = maquette("run", "trace", trace, "--machine", "infiniband-128")
        assert done.returncode == 2
        return done.stderr

    whole = (trace / "rank-1.trace").read_bytes()
    (trace / "rank-1.trace").write_bytes(whole[:-20])
    assert "cut short" in error() or "ends within a call" in error()
    (trace / "rank-1.trace").write_bytes((trace / "rank-0.trace").read_bytes())
    assert "found the calls of rank 0; allowed are those of rank 1" in error()
    os.remove(trace / "rank-1.trace")
    assert "missing: rank 0 says that there are 2 ranks" in error()
    os.remove(trace / "rank-0.trace")
    assert "found no `rank-0.trace`; allowed is a folder with a trace" in error()
