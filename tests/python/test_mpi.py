"""Programs over MPI: under the mpiexec of PyPI's mpich, next to this Python."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import maquette as mq

BIN = Path(sys.executable).parent
LIBRARY = BIN.parent / "lib" / "libmpi_abi.so.1"
#: The names of the libraries with which these tests have passed: those of `pip install mpich` and of `pip install impi-rt`.
LIBRARIES = ("MPICH", "Intel(R) MPI Library")
PROGRAMS = '''
import os
import signal
import sys
import maquette as mq

async def ring_sum(endpoint, size=1000, rounds=1):
    """The number of each rank goes round the ring, and with each a large message in the other direction."""
    left, right = (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size
    total = 0
    for _ in range(rounds):
        number = endpoint.rank + 1
        total += number
        for _ in range(endpoint.size - 1):
            _, _, received, large = await mq.join(
                endpoint.send(right, number.to_bytes(8, "little"), tag=2_000_000_000),
                endpoint.send(left, bytes(size), tag=7),
                endpoint.receive(left, tag=2_000_000_000),
                endpoint.receive(right, tag=7),
            )
            assert large.size == size
            number = int.from_bytes(received.data, "little")
            total += number
    return total

async def from_any_source(endpoint):
    if endpoint.rank > 0:
        await endpoint.send(0, bytes([endpoint.rank]))
        return None
    return sorted([(await endpoint.receive()).source for _ in range(1, endpoint.size)])

async def collectives(endpoint):
    shared = await mq.broadcast(endpoint, b"x" * 50_000, algorithm="pipeline")
    summed = await mq.all_reduce(endpoint, bytes(8 * endpoint.size), algorithm="ring", operator="sum-f64")
    each = await mq.all_to_all(endpoint, [bytes([endpoint.rank, other]) for other in range(endpoint.size)], algorithm="bruck")
    return [len(shared), len(summed), [list(one) for one in each]]

async def raises(endpoint):
    if endpoint.rank == 1:
        raise RuntimeError("no bread")
    await endpoint.receive(1)

async def dies(endpoint):
    if endpoint.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    await endpoint.receive(1)

async def stops(endpoint):
    if endpoint.rank == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    await endpoint.receive(1)

async def waits(endpoint):
    if "PROGRESS" in os.environ:
        open(os.path.join(os.environ["PROGRESS"], str(os.getpid())), "w").close()
    await endpoint.receive((endpoint.rank + 1) % endpoint.size)

if __name__ == "__main__":
    function = globals()[sys.argv[1]]
    launched = [mq.launch(function, mpi=True) for _ in range(2)]
    by_name = mq.launch("all-reduce", mpi=True, bytes=4096)
    if launched[0].finish_ps and by_name.ranks == launched[0].ranks:
        print([run.returned for run in launched], flush=True)
'''


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for needed in (BIN / "mpiexec", LIBRARY):
        if not needed.exists():
            pytest.skip(f"there is no {needed}, which `pip install mpich` installs")
    path = tmp_path_factory.mktemp("mpi") / "programs.py"
    path.write_text(PROGRAMS)
    return path


def mpiexec(ranks: int, *arguments: str | Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [BIN / "mpiexec", "-n", str(ranks), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=os.environ | (environment or {}))


def over_mpi(ranks: int, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return mpiexec(ranks, BIN / "maquette", "launch", "--mpi", *arguments)


def answer_of(done: subprocess.CompletedProcess[str], *statuses: int) -> dict[str, Any]:
    assert done.returncode in (0, *statuses), done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_more_ranks_than_processors_run_a_program_of_the_catalogue(programs: Path) -> None:
    ranks = 2 * (os.cpu_count() or 1)
    answer = answer_of(over_mpi(ranks, "--json", "--repeat", "3", "all-to-all", "--algorithm", "bruck", "--bytes", "20KiB"))
    assert answer["nodes"] == len(answer["ranks"]) == ranks
    assert len(answer["times_ps"]) == 3 and min(answer["times_ps"]) > 0
    assert answer["messages"] == sum(rank["messages"] for rank in answer["ranks"]) > 0
    assert answer["not_received"] == []
    assert answer["mpi_library"].startswith(LIBRARIES) and answer["experiment"]["parameters"]["repeat"] == 3


def test_the_summary_is_printed_once_and_names_the_library(programs: Path) -> None:
    done = over_mpi(2, "broadcast", "--algorithm", "hardware", "--bytes", "300KiB", "--repeat", "5")
    assert done.returncode == 0, done.stderr
    assert [done.stdout.count(f"on 2 ranks by MPI ({library} ") for library in LIBRARIES].count(1) == 1
    assert "time" in done.stdout and "5, 1500 KiB in total" in done.stdout


@pytest.mark.parametrize("function", ["ring_sum", "from_any_source", "collectives"])
def test_a_program_has_the_same_result_over_mpi_as_over_udp(programs: Path, function: str) -> None:
    arguments = [f"{programs}:{function}"] + (["--size", "100000"] if function == "ring_sum" else [])
    over_udp = subprocess.run(
        [BIN / "maquette", "launch", "--json", "--local", "3", *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert answer_of(over_mpi(3, "--json", *arguments))["returned"] == answer_of(over_udp)["returned"]


def test_processes_of_python_are_ranks_that_all_get_the_answer(programs: Path) -> None:
    done = mpiexec(3, sys.executable, programs, "ring_sum")
    assert done.returncode == 0, done.stderr
    # The output of three processes may be interleaved.
    assert done.stdout.count(str([[6, 6, 6]] * 2)) == 3


def test_a_rank_that_fails_ends_all_with_its_error(programs: Path) -> None:
    for done in (over_mpi(2, f"{programs}:raises"), mpiexec(2, sys.executable, programs, "raises")):
        assert done.returncode != 0
        assert "no bread" in done.stderr


def test_a_rank_that_dies_ends_the_others(programs: Path) -> None:
    assert over_mpi(3, f"{programs}:dies").returncode != 0


def test_ranks_stop_waiting_for_one_that_no_longer_answers(programs: Path) -> None:
    begin = time.monotonic()
    done = over_mpi(2, "--patience", "1s", f"{programs}:stops")
    assert done.returncode != 0 and 1 < time.monotonic() - begin < 20
    assert "rank 0 waits for a message from rank 1" in done.stderr


@pytest.mark.parametrize("way", ["by the command", "by Python"])
def test_ranks_that_wait_are_ended_by_ctrl_c(programs: Path, way: str, tmp_path: Path) -> None:
    """Long before the minute for which they are patient; as on a terminal, all processes get the signal."""
    own: list[str | Path]
    own = [BIN / "maquette", "launch", "--mpi", f"{programs}:waits"] if way == "by the command" else [sys.executable, programs, "waits"]
    command: list[str | Path] = ["env", "--default-signal=INT", f"PROGRESS={tmp_path}", BIN / "mpiexec", "-n", "2", *own]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            deadline = time.monotonic() + 40
            while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            begin = time.monotonic()
            for rank in tmp_path.iterdir():
                os.kill(int(rank.name), signal.SIGINT)
            process.communicate(timeout=50)
        finally:
            process.kill()
    assert process.returncode != 0 and time.monotonic() - begin < 30


def test_ranks_that_wait_for_each_other_end_and_name_each_other(programs: Path) -> None:
    done = over_mpi(2, "--patience", "500ms", f"{programs}:waits")
    assert done.returncode == 1
    assert "rank 0 waits for a message from rank 1" in done.stderr or "rank 1 waits for a message from rank 0" in done.stderr


def test_wrong_arguments_are_reported_once(programs: Path) -> None:
    for arguments, problem in [
        (["brodcast"], "a similar subcommand exists: `broadcast`"),
        (["broadcast", "--root", "9"], "--root: found rank 9; allowed is 0 to 1, the ranks of the program"),
        ([f"{programs}:nothing"], "nothing"),
    ]:
        done = over_mpi(2, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert problem in done.stderr.replace("'", "`") and done.stderr.count("error:") == 1, done.stderr


REHEARSAL = """
repeat = 3
machine.name = "loggp"
fit.L = "100ns..1ms"
fit.G = "10ps..100ns"

[[measure]]
ranks = 2
program.ping-pong = { bytes = 64 }
over.bytes = [64, "16 KiB"]

[[predict]]
program.broadcast = { bytes = 64 }
over = { ranks = [2, 3], algorithm = ["binomial", "linear", "hardware"], bytes = [64] }

[[predict]]
ranks = 3
program.all-to-all = { traffic = "sizes.csv" }
"""


def rehearse(ranks: int, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return mpiexec(ranks, "-wdir", folder, BIN / "maquette", "rehearse", "--mpi", "--out", "out", *arguments)


@pytest.fixture
def rehearsal(programs: Path, tmp_path: Path) -> Path:
    """A folder with the file of a rehearsal."""
    (tmp_path / "rehearsal.toml").write_text(REHEARSAL)
    (tmp_path / "sizes.csv").write_text("0,64,0\n0,0,64\n64,0,0\n")
    return tmp_path


def test_a_rehearsal_on_more_ranks_than_some_programs_have(rehearsal: Path) -> None:
    # On a busy computer ranks lose their processors in so many runs that nothing is decided.
    answer = answer_of(rehearse(4, rehearsal, "--json", "rehearsal.toml"), 1)
    out = rehearsal / "out"
    assert sorted(path.name for path in out.iterdir()) == ["fitted.toml", "index.html", "outcome.json", "predictions.json"]
    assert json.loads((out / "outcome.json").read_text()) == answer
    predicted = json.loads((out / "predictions.json").read_text())["predictions"]
    compared = answer["judgement"]["compared"]
    assert [it["what"] for it in compared] == [it["what"] for it in predicted] and len(compared) == 7
    assert min(it["all_runs"]["measured_ps"] for it in compared) > 0 and {it["runs"] for it in compared} == {3}
    assert len(answer["fitted_to"]) == 2 and answer["experiment"]["parameters"]["mpi_library"].startswith(LIBRARIES)
    again = rehearse(4, rehearsal, "rehearsal.toml")
    assert again.returncode == 2 and again.stderr.count("error:") == 1
    assert "found predictions.json in out" in again.stderr


def test_a_reference_runs_between_the_programs_of_a_rehearsal(rehearsal: Path) -> None:
    # Three ranks share two processors with other tests, so that the reference often takes twice as long as usual: enough passes for some that count.
    text = REHEARSAL.replace("repeat = 3", "repeat = 20\nwarm_up = 1\npasses = 10")
    reference = "[reference]\nranks = 2\nprogram.ping-pong = { bytes = 64 }\ntolerance = 1.0\n"
    (rehearsal / "rehearsal.toml").write_text(text + reference)
    answer = answer_of(rehearse(3, rehearsal, "--json", "rehearsal.toml"), 1)
    judged, unusual = answer["judgement"]["compared"], answer["unusual"]
    programs = answer["fitted_to"] + judged + unusual
    assert len(programs) == 2 + 7
    for passes in (it["passes"] for it in programs):
        assert len(passes) >= 10 and {len(it["times_ps"]) for it in passes} == {2}
        assert all(time > 0 for it in passes for time in it["reference_ps"])
        # What is the reference after one pass is that before the next program's.
    after, before = programs[0]["passes"][0]["reference_ps"], programs[1]["passes"][0]["reference_ps"]
    assert unusual or after[1] == before[0]


def test_errors_in_a_rehearsal_are_reported_once_and_leave_no_files(rehearsal: Path) -> None:
    (rehearsal / "bad.toml").write_text(REHEARSAL.replace("repeat", "repaet"))
    for ranks, file, problem in [
        (2, "nothing.toml", "cannot read `nothing.toml`"),
        (2, "bad.toml", "there is no field `repaet`"),
        (2, "rehearsal.toml", "allowed is 1 to 2, as many as mpiexec has started"),
    ]:
        done = rehearse(ranks, rehearsal, file)
        assert (done.returncode, done.stdout) == (2, "")
        assert problem in done.stderr and done.stderr.count("error:") == 1, done.stderr
    assert not (rehearsal / "out").exists()


def test_a_rank_that_lacks_a_file_ends_the_rehearsal_for_all(rehearsal: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    arguments = [str(BIN / "maquette"), "rehearse", "--mpi", "--out", "out", "rehearsal.toml"]
    done = mpiexec(2, "-wdir", rehearsal, *arguments, ":", "-n", "1", "-wdir", elsewhere, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "rank 2 on " in done.stderr and "sizes.csv" in done.stderr and done.stderr.count("error:") == 1, done.stderr
    # The predictions were written before; nothing looks like an outcome.
    assert not (rehearsal / "out" / "outcome.json").exists()


BESIDE_MPI4PY = """
import sys
if sys.argv[1] == "mpi4py first":
    from mpi4py import MPI
import maquette as mq

async def pass_on(endpoint):
    if endpoint.rank == 0:
        await endpoint.send(1, b"ours")
        return None
    return (await endpoint.receive(0)).data.decode()

def launched():
    return mq.launch(pass_on, mpi=True).returned

try:
    first = launched()
except ValueError as error:
    print(f"refused: {error}", flush=True)
    sys.exit(3)
from mpi4py import MPI
world = MPI.COMM_WORLD
# Begun before a launch and received after it: the messages of the launch must not interfere.
request = world.isend("theirs", 1 - world.rank)
second = launched()
theirs = world.recv(source=1 - world.rank)
request.wait()
assert world.allreduce(1) == 2
print(first == second == [None, "ours"] and theirs == "theirs", flush=True)
"""


@pytest.fixture
def beside_mpi4py(programs: Path, tmp_path: Path) -> Path:
    """A program that uses mpi4py and launches."""
    pytest.importorskip("mpi4py")
    path = tmp_path / "beside.py"
    path.write_text(BESIDE_MPI4PY)
    return path


def is_of_the_standard_abi() -> bool:
    """Whether the mpi4py of this environment is built for the standard ABI."""
    printed = subprocess.run(
        [sys.executable, "-c", "from mpi4py import MPI; print('libmpi_abi' in open('/proc/self/maps').read())"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return printed.stdout.strip() == "True"


@pytest.mark.parametrize("order", ["mpi4py first", "maquette first"])
def test_a_program_may_use_mpi4py_beside_a_launch(beside_mpi4py: Path, order: str) -> None:
    if not is_of_the_standard_abi():
        pytest.skip("this mpi4py lacks the standard ABI: MPICC=mpicc_abi pip install --no-binary=mpi4py mpi4py builds one that has it")
    done = mpiexec(2, sys.executable, beside_mpi4py, order)
    assert (done.returncode, done.stdout.count("True")) == (0, 2), done.stderr


def test_a_second_library_in_a_process_is_refused(beside_mpi4py: Path) -> None:
    if is_of_the_standard_abi():
        pytest.skip("this mpi4py has the standard ABI")
    done = mpiexec(2, sys.executable, beside_mpi4py, "mpi4py first")
    assert done.returncode == 3 and done.stdout.count("refused: this process has already initialized MPI with") == 2, done.stderr
    assert "libmpi.so.12" in done.stdout and "libmpi_abi.so.1" in done.stdout and "--no-binary=mpi4py" in done.stdout


def without_mpiexec(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command without mpiexec."""
    command = [BIN / "maquette", "launch", "--mpi", *arguments]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PMI_", "MAQUETTE_MPI"))}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=clean | environment)


def test_without_mpiexec_there_is_one_rank(programs: Path) -> None:
    done = without_mpiexec("broadcast", "--bytes", "8")
    assert done.returncode == 0, done.stderr
    assert "on 1 rank by MPI" in done.stdout


def test_a_file_that_is_not_an_mpi_library_is_refused(programs: Path, tmp_path: Path) -> None:
    text = tmp_path / "libmpi_abi.so"
    text.write_text("INPUT(libmpi_abi.so.1)")
    cases: list[tuple[Path, str]] = [
        (tmp_path / "libmpi_abi.so.1", "can't be opened"),
        (text, "can't be opened"),
        (LIBRARY.with_name("libmpi.so.12"), "not an MPI library with the standard ABI"),
    ]
    for path, problem in cases:
        for done in (without_mpiexec("--mpi-library", path, "broadcast"), without_mpiexec("broadcast", MAQUETTE_MPI_LIBRARY=str(path))):
            assert done.returncode == 2 and problem in done.stderr and str(path) in done.stderr, done.stderr
    with pytest.raises(ValueError, match="can't be opened"):
        mq.launch("broadcast", mpi=True, mpi_library=text)


def test_a_library_of_another_mpiexec_is_noticed(programs: Path) -> None:
    done = without_mpiexec("broadcast", OMPI_COMM_WORLD_SIZE="4")
    assert done.returncode == 2
    assert "Open MPI's mpiexec has started 4 processes, and " in done.stderr and " does not belong to it: " in done.stderr


@pytest.mark.parametrize("option", [["--local", "2"], ["--window", "8"], ["--datagram", "8KiB"], ["--no-multicast"], ["--timeout", "1s"]])
def test_options_without_effect_are_refused(option: list[str]) -> None:
    done = without_mpiexec(*option, "broadcast")
    assert done.returncode == 2 and f"{option[0]}: found --mpi, too" in done.stderr
