"""Programs written for MPI whose collectives follow a plan: they receive the same bytes as without it, and unsuitable plans are refused."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from maquette.command import COLLECTIVES_LIBRARY

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
MPIEXEC = BIN / "mpiexec"
#: A plan in which every algorithm of some kind is used at some size.
PLAN = """
maquette_plan = 1
machine = "here"
ranks = {ranks}

[[broadcast]]
to = "4 KiB"
algorithm = "binomial"

[[broadcast]]
above = "4 KiB"
algorithm = "pipeline"
segment = "16 KiB"

[[all_reduce]]
to = "4 KiB"
algorithm = "recursive-doubling"

[[all_reduce]]
above = "4 KiB"
algorithm = "rabenseifner"

[[gather]]
algorithm = "binomial"

[[scatter]]
algorithm = "binomial"

[[all_gather]]
to = "4 KiB"
algorithm = "bruck"

[[all_gather]]
above = "4 KiB"
algorithm = "ring"

[[reduce]]
algorithm = "scatter-gather"

[[reduce_scatter]]
algorithm = "recursive-halving"

[[scan]]
algorithm = "recursive-doubling"

[[exscan]]
algorithm = "linear"

[[all_to_all]]
to = "1 KiB"
algorithm = "bruck"

[[all_to_all]]
above = "1 KiB"
to = "10000 B"
algorithm = "all-at-once"

[all_to_allv]
{matrix}

[end]
"""


def maquette(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command; returns its output and exit status."""
    variables = {**os.environ, **environment}
    return subprocess.run([BIN / "maquette", *arguments], capture_output=True, text=True, timeout=120, check=False, env=variables)


def compiled(source: Path, program: Path) -> Path:
    """Compile a program in C for the standard ABI."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    lib = BIN.parent / "lib"
    arguments: list[str | Path] = ["-O1", "-DMPI_ABI", f"-I{BIN.parent / 'include'}", source, "-o", program, f"-L{lib}", "-lmpi_abi"]
    subprocess.run([compiler, *arguments, f"-Wl,-rpath,{lib}"], check=True, timeout=120)
    return program


@pytest.fixture(scope="module")
def every_collective(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that calls every collective in many shapes."""
    return compiled(HERE / "mpi" / "every_collective.c", tmp_path_factory.mktemp("program") / "every_collective")


def plan(folder: Path, ranks: int, **matrix: str) -> Path:
    """Write a plan to a file, with these fields for the exchange of a matrix."""
    path = folder / "plan.toml"
    fields = matrix or {"algorithm": "all-at-once"}
    path.write_text(PLAN.format(ranks=ranks, matrix="\n".join(f'{field} = "{value}"' for field, value in fields.items())))
    return path


def test_the_package_contains_the_library() -> None:
    """Without it the other tests here would test nothing: `make test` installs it."""
    assert COLLECTIVES_LIBRARY.is_file()


@pytest.mark.parametrize(
    ("ranks", "matrix", "by"),
    [
        (2, {"algorithm": "all-at-once"}, "all-at-once"),
        (3, {"algorithm": "edge-colouring"}, "edge-colouring"),
        (4, {"algorithm": "birkhoff"}, "birkhoff"),
        (4, {"algorithm": "largest-first", "pacing": "overlapped"}, "largest-first, overlapped"),
    ],
)
def test_a_plan_changes_no_received_data(every_collective: Path, tmp_path: Path, ranks: int, matrix: dict[str, str], by: str) -> None:
    command: list[str | Path] = [MPIEXEC, "-n", str(ranks), every_collective]
    alone = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    done = maquette("collectives", "--json", "--plan", plan(tmp_path, ranks, **matrix), "--", *command)
    assert done.returncode == 0, done.stderr
    *digests, summary = done.stdout.splitlines()
    assert digests == alone.stdout.splitlines() and len(digests) == ranks
    lines: list[dict[str, Any]] = json.loads(summary)["calls"]
    planned = {(line["function"], line["by"]) for line in lines if line["planned"]}
    assert planned == {
        ("MPI_Bcast", "binomial"),
        ("MPI_Bcast", "pipeline, segment 16 KiB"),
        ("MPI_Allreduce", "recursive-doubling"),
        ("MPI_Allreduce", "rabenseifner"),
        ("MPI_Gather", "binomial"),
        ("MPI_Scatter", "binomial"),
        ("MPI_Allgather", "bruck"),
        ("MPI_Allgather", "ring"),
        ("MPI_Reduce", "scatter-gather"),
        ("MPI_Reduce_scatter_block", "recursive-halving"),
        ("MPI_Scan", "recursive-doubling"),
        ("MPI_Exscan", "linear"),
        ("MPI_Alltoall", "bruck"),
        ("MPI_Alltoall", "all-at-once"),
        ("MPI_Alltoallv", by),
    }
    left_to_library = {(line["function"], line["by"]) for line in lines if not line["planned"]}
    assert ("MPI_Alltoall", "not in the plan") in left_to_library
    assert ("MPI_Allreduce", "an operator that is not commutative, or the program's own") in left_to_library
    assert ("MPI_Bcast", "another number of ranks") in left_to_library


def test_a_plan_for_another_number_of_ranks_is_refused(every_collective: Path, tmp_path: Path) -> None:
    done = maquette("collectives", "--plan", plan(tmp_path, 5), "--", MPIEXEC, "-n", "2", every_collective)
    assert done.returncode == 2
    assert "plan.toml: ranks: found a program of 2; allowed is 5, for which the plan was made" in done.stderr


def test_ranks_refuse_a_plan_that_is_damaged(every_collective: Path, tmp_path: Path) -> None:
    """The command reads the plan beforehand; a program that preloads the library by itself gets the same error."""
    path = plan(tmp_path, 2)
    path.write_text(path.read_text().replace('"binomial"', '"binomail"'))
    error = "plan.toml:8:13: broadcast[0].algorithm: found `binomail`; allowed is one of linear, binomial, "
    done = maquette("collectives", "--plan", path, "--", MPIEXEC, "-n", "2", every_collective)
    assert done.returncode == 2 and error in done.stderr and "did you mean `binomial`?" in done.stderr
    variables = {**os.environ, "LD_PRELOAD": str(COLLECTIVES_LIBRARY), "MAQUETTE_COLLECTIVES_PLAN": str(path)}
    command: list[str | Path] = [MPIEXEC, "-n", "2", every_collective]
    alone = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=variables)
    assert alone.returncode != 0 and alone.stderr.count(error) == 1


def test_a_plan_for_another_machine_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    done = maquette("plan", "collectives", "--machine", "loggp", "--ranks", "4", "--sizes", "64", "--write", path)
    assert done.returncode == 0, done.stderr
    assert maquette("collectives", "--plan", path, "--machine", "loggp", "--", "true").returncode == 0
    done = maquette("collectives", "--plan", path, "--machine", "delta", "--", "true")
    assert done.returncode == 2 and "found a plan for loggp (blake3 " in done.stderr and "allowed is one for delta (blake3 " in done.stderr
    done = maquette("collectives", "--plan", path, "--set", "g=2us", "--", "true")
    assert done.returncode == 2 and "--set: found g; allowed is nothing without --machine" in done.stderr


def test_a_plan_for_a_machine_with_other_settings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    settings = ("--machine", "loggp", "--set", "g=2us")
    done = maquette("plan", "collectives", *settings, "--ranks", "4", "--sizes", "64", "--write", path)
    assert done.returncode == 0, done.stderr
    assert maquette("collectives", "--plan", path, *settings, "--", "true").returncode == 0
    done = maquette("collectives", "--plan", path, "--machine", "loggp", "--", "true")
    assert done.returncode == 2 and ") with g=2us; allowed is one for loggp (blake3 " in done.stderr


def test_no_rank_hangs_when_another_dies(tmp_path: Path) -> None:
    source = tmp_path / "dies.c"
    source.write_text(
        "#include <mpi.h>\n#include <signal.h>\n#include <unistd.h>\n"
        "int main(int argc, char **argv) { int me, from[1 << 16] = {0}; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &me);\n"
        "MPI_Bcast(from, 1 << 16, MPI_INT, 0, MPI_COMM_WORLD); if (me == 1) kill(getpid(), SIGKILL);\n"
        "MPI_Allreduce(MPI_IN_PLACE, from, 1 << 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD); return MPI_Finalize(); }\n"
    )
    program = compiled(source, tmp_path / "dies")
    done = maquette("collectives", "--plan", plan(tmp_path, 3), "--", MPIEXEC, "-n", "3", program)
    assert done.returncode not in (0, 2)


def test_processes_that_a_program_starts_are_left_to_the_library(tmp_path: Path) -> None:
    source = tmp_path / "starts.c"
    source.write_text(
        "#include <mpi.h>\n#include <stdio.h>\n"
        "int main(int argc, char **argv) { int one = 1, sum = 0; MPI_Comm parent, started; MPI_Init(&argc, &argv); MPI_Comm_get_parent(&parent);\n"
        "if (parent == MPI_COMM_NULL) MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &started, MPI_ERRCODES_IGNORE);\n"
        "MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); MPI_Comm *both = parent == MPI_COMM_NULL ? &started : &parent;\n"
        # MPICH does not wait for processes that are still in MPI_Init when the processes that started them end.
        "MPI_Barrier(*both); MPI_Comm_disconnect(both);\n"
        'printf("sum %d\\n", sum); return MPI_Finalize(); }\n'
    )
    program = compiled(source, tmp_path / "starts")
    done = maquette("collectives", "--json", "--plan", plan(tmp_path, 2), "--", MPIEXEC, "-n", "2", program)
    assert done.returncode == 0, done.stderr
    *sums, summary = done.stdout.splitlines()
    assert sorted(sums) == ["sum 2"] * 2 + ["sum 3"] * 3
    assert [(line["by"], line["calls"]) for line in json.loads(summary)["calls"]] == [("recursive-doubling", 2)]


def test_a_library_without_the_standard_interface_is_named(tmp_path: Path) -> None:
    """The mpi4py of PyPI has MPICH's older interface."""
    program = "from mpi4py import MPI"
    done = maquette("collectives", "--plan", plan(tmp_path, 2), "--", MPIEXEC, "-n", "2", sys.executable, "-c", program)
    assert done.returncode != 0
    assert done.stderr.count("not an MPI library with the standard ABI") == 1
    assert "compiles programs for it with `mpicc_abi`" in done.stderr
    assert "-1" not in done.stderr and "  " not in done.stderr, done.stderr


def test_a_measured_plan_has_entries_only_where_it_is_faster(every_collective: Path, tmp_path: Path) -> None:
    path, ranks = tmp_path / "plan.toml", 2
    command: list[str | Path] = [MPIEXEC, "-n", str(ranks), BIN / "maquette", "plan", "collectives", "--measure", "--json"]
    command += ["--sizes", "64,64KiB", "--write", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    measured: list[dict[str, Any]] = json.loads(done.stdout)["measured"]
    rows = {(row["collective"], row["bytes"]) for row in measured}
    assert rows >= {(name, size) for name in ("broadcast", "all-reduce", "all-to-all") for size in ("64 B", "64 KiB")}
    assert all(row["library"]["after_barrier_ps"] > 0 and row["library"]["in_a_row_ps"] > 0 for row in measured)
    plan = tomllib.loads(path.read_text())
    assert plan["ranks"] == ranks and plan["only_blocking"] is True
    for collective, name in [("broadcast", "broadcast"), ("all_reduce", "all-reduce"), ("all_to_all", "all-to-all")]:
        faster = {_bytes(row["bytes"]) for row in measured if row["collective"] == name and any(it["faster"] for it in row["algorithms"])}
        last = {size for size in (64, 65_536) if any(_bytes(entry["to"]) == size for entry in plan.get(collective, []))}
        assert last <= faster, f"{collective}: entries up to {last}, faster at {faster}"
        assert bool(faster) == bool(plan.get(collective))
    program: list[str | Path] = [MPIEXEC, "-n", str(ranks), every_collective]
    alone = subprocess.run(program, capture_output=True, text=True, timeout=120, check=True)
    planned = maquette("collectives", "--json", "--plan", path, "--", *program)
    assert planned.returncode == 0, planned.stderr
    assert planned.stdout.splitlines()[:-1] == alone.stdout.splitlines()


def _bytes(size: str) -> int:
    number, unit = size.split()
    return int(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[unit]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "--measure: found one rank; allowed is at least 2, which mpiexec starts"),
        (["--machine", "delta"], "the argument '--measure' cannot be used with '--machine <NAME|FILE>'"),
        (["--ranks", "4"], "the argument '--measure' cannot be used with '--ranks <N>'"),
    ],
)
def test_a_measurement_that_cannot_be_made_is_refused(arguments: list[str], error: str) -> None:
    done = maquette("plan", "collectives", "--measure", *arguments)
    assert done.returncode == 2 and error in done.stderr


def test_a_matrix_of_other_ranks_is_not_measured(tmp_path: Path) -> None:
    matrix = tmp_path / "three.csv"
    matrix.write_text("0,1,0\n0,0,1\n1,0,0\n")
    command: list[str | Path] = [MPIEXEC, "-n", "2", BIN / "maquette", "plan", "collectives", "--measure", "--traffic", matrix]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    error = "--traffic: found a matrix of 3 ranks; allowed is one of 2, as many as mpiexec has started"
    assert done.returncode != 0 and done.stderr.count(error) == 1, done.stderr


#: Prints for how many threads MPI was initialized; a program built with BEGINS refers to a nonblocking collective, and never calls it.
THREADS = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int provided, me, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Query_thread(&provided), MPI_Comm_rank(MPI_COMM_WORLD, &me);
#ifdef BEGINS
    MPI_Request request;
    if (argc > 7) MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
#endif
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (me == 0) puts(provided == MPI_THREAD_MULTIPLE ? "multiple" : "as the program asks");
    return MPI_Finalize();
}
"""


@pytest.mark.parametrize(
    ("begins", "only_blocking", "threads"),
    [(False, False, "as the program asks"), (True, False, "multiple"), (True, True, "as the program asks")],
)
def test_mpi_serves_several_threads_only_where_nonblocking_collectives_may_be_planned(
    tmp_path: Path, begins: bool, only_blocking: bool, threads: str
) -> None:
    """Several threads make every call of the library slower, also of a program that begins no collective."""
    source, path = tmp_path / "threads.c", plan(tmp_path, 2)
    source.write_text(("#define BEGINS\n" if begins else "") + THREADS)
    if only_blocking:
        path.write_text(path.read_text().replace("ranks = 2", "ranks = 2\nonly_blocking = true"))
    done = maquette("collectives", "--plan", path, "--", MPIEXEC, "-n", "2", compiled(source, tmp_path / "threads"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == threads


@pytest.mark.parametrize("starter", ["OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"])
def test_a_program_under_the_mpiexec_of_another_library_is_refused_at_once(tmp_path: Path, starter: str) -> None:
    """Started by another mpiexec, each process would take itself for the only one, or fail in the library's words."""
    source = tmp_path / "hours.c"
    source.write_text('#include <mpi.h>\n#include <stdio.h>\nint main(void) { MPI_Init(0, 0); puts("hours later"); return MPI_Finalize(); }\n')
    program = compiled(source, tmp_path / "hours")
    commands: list[list[str | Path]] = [["collectives", "--plan", plan(tmp_path, 2)], ["trace", "--out", tmp_path / "hours.trace"]]
    for command in commands:
        done = maquette(*command, "--", program, **{starter: "2"})
        assert done.returncode == 2, done.stderr
        assert "the program runs with MPICH" in done.stderr and "has started" in done.stderr
        assert "start it with the mpiexec that comes with its library" in done.stderr
        assert "hours later" not in done.stdout
    done = maquette("launch", "--mpi", "broadcast", **{starter: "2"})
    assert done.returncode == 2 and "has started 2 processes, and " in done.stderr
