"""Programs for real, over UDP; and programs in files, as the command runs and launches them."""

import array
import json
import runpy
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import maquette as mq

COMMAND = Path(sys.executable).with_name("maquette")


async def ring_sum(endpoint: mq.Endpoint, size: int = 1000) -> int:
    """The number of each rank goes once round the ring."""
    left, right = (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size
    number = total = endpoint.rank + 1
    for _ in range(endpoint.size - 1):
        _, received = await mq.join(
            endpoint.send(right, number.to_bytes(8, "little"), size=size, tag=7), endpoint.receive(left, tag=7)
        )
        assert received.data is not None and received.size == size
        number = int.from_bytes(received.data[:8], "little")
        total += number
    return total


def test_a_program_has_the_same_result_for_real_as_on_models() -> None:
    real = mq.launch(ring_sum, local=5)
    assert real.returned == [15] * 5
    for machine in ["infiniband-128", "loggp", "dp-smp-8"]:
        assert mq.run(ring_sum, machine, ranks=5).returned == real.returned
    assert len(real.finish_ps) == 5 and 0 < max(real.finish_ps) < real.elapsed_s * 1e12
    assert repr(real).startswith("<maquette.Launch ring_sum on 5 ranks: ")


def test_a_message_of_many_packets_arrives_complete() -> None:
    data = bytes(range(256)) * 2000

    async def program(endpoint: mq.Endpoint) -> bool:
        if endpoint.rank == 0:
            await endpoint.send(1, data)
            return True
        return (await endpoint.receive(0)).data == data

    assert mq.launch(program, local=2).returned == [True, True]


def test_collectives_work_for_real() -> None:
    async def program(endpoint: mq.Endpoint) -> tuple[bytes | None, list[int], list[bytes | None]]:
        shared = await mq.broadcast(endpoint, b"x" * 5000, algorithm="pipeline")
        numbers = await mq.all_reduce(endpoint, array.array("q", [endpoint.rank, 1]), algorithm="ring")
        await mq.barrier(endpoint)
        each = await mq.all_to_all(endpoint, [bytes([endpoint.rank, other]) for other in range(4)], algorithm="bruck")
        return shared, array.array("q", numbers or b"").tolist(), each

    for rank, (shared, numbers, each) in enumerate(mq.launch(program, local=4).returned):
        assert (shared, numbers) == (b"x" * 5000, [6, 4])
        assert each == [bytes([other, rank]) for other in range(4)]


def test_a_program_of_the_catalogue_is_launched_by_its_name() -> None:
    launched = mq.launch("all-to-all", local=4, algorithm="bruck", bytes=100)
    assert launched.found["received_bytes"] == mq.run("all-to-all", "loggp", ranks=4, algorithm="bruck", bytes=100).found["received_bytes"]
    with pytest.raises(ValueError, match="did you mean `broadcast`"):
        mq.launch("brodcast", local=4)
    with pytest.raises(TypeError, match="has no parameter `algoritm`"):
        mq.launch("broadcast", local=4, algoritm="linear")


def test_errors_of_a_launch_are_reported() -> None:
    async def waits(endpoint: mq.Endpoint) -> None:
        await endpoint.receive((endpoint.rank + 1) % 2)

    async def fails(endpoint: mq.Endpoint) -> None:
        if endpoint.rank == 1:
            raise RuntimeError("no bread")
        await endpoint.receive(1)

    with pytest.raises(mq.Deadlock):
        mq.launch(waits, local=2)
    with pytest.raises(RuntimeError, match="no bread") as caught:
        mq.launch(fails, local=2)
    assert any("raised by rank 1" in note for note in caught.value.__notes__)
    for ranks in [0, 257]:
        with pytest.raises(mq.Unfit, match="allowed are 1 to 256"):
            mq.launch(waits, local=ranks)
    with pytest.raises(TypeError, match="program: found 3"):
        mq.launch(3, local=2)  # type: ignore[call-overload]


def test_ctrl_c_ends_a_launch() -> None:
    async def chatter(endpoint: mq.Endpoint) -> None:
        while True:
            await mq.join(endpoint.send(1 - endpoint.rank, b"?"), endpoint.receive(1 - endpoint.rank))

    def interrupt() -> None:
        time.sleep(0.5)
        signal.raise_signal(signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            mq.launch(chatter, local=2)
    finally:
        signal.signal(signal.SIGINT, previous)


PROGRAM = '''
import maquette as mq

async def ring(endpoint, rounds=1, word="none"):
    for _ in range(rounds):
        right, left = (endpoint.rank + 1) % endpoint.size, (endpoint.rank - 1) % endpoint.size
        await mq.join(endpoint.send(right, word.encode()), endpoint.receive(left))
    return endpoint.rank * rounds

async def fails(endpoint):
    raise RuntimeError("no bread")

async def dozes(endpoint):
    import asyncio
    await asyncio.sleep(1)

async def waits_for_nothing(endpoint):
    import asyncio
    await asyncio.Future(loop=asyncio.new_event_loop())

def plain(endpoint):
    return 5

async def alone():
    pass
'''


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path / "program.py"


def test_the_command_runs_and_launches_a_program_in_a_file(program: Path) -> None:
    options = ["--rounds", "3", "--word=some", "--json"]
    ran = command("run", f"{program}:ring", "--machine", "moc-2-1", "--ranks", "4", "--set", "buffers=4", *options)
    assert ran.returncode == 0, ran.stderr
    simulated = json.loads(ran.stdout)
    assert (simulated["messages"], simulated["returned"]) == (12, [0, 3, 6, 9])
    assert simulated["experiment"]["parameters"] == {"rounds": 3, "word": "some"}
    assert simulated["experiment"]["machine"]["set"] == ["buffers=4"]
    launched = command("launch", f"{program}:ring", "--local", "4", *options)
    assert launched.returncode == 0, launched.stderr
    real = json.loads(launched.stdout)
    assert (real["messages"], real["returned"]) == (12, simulated["returned"])
    assert "rank 3: 9\n" in command("launch", "--local", "4", "--repeat", "2", f"{program}:ring", "--rounds", "3").stdout
    text = command("run", f"{program}:ring", "--machine", "moc-2-1", "--ranks", "4").stdout
    assert text.startswith("<maquette.Run ring on 4 nodes of moc-2-1: ") and "rank 3: 3\n" in text


def test_the_command_reports_errors_in_a_program_in_a_file(program: Path) -> None:
    cases = [
        (["run", f"{program}:rong", "--machine", "loggp"], 2, "found no function rong"),
        (["run", "no-such.py:ring", "--machine", "loggp"], 2, "found no file no-such.py"),
        (["run", f"{program}:ring", "--machine", "moc-2"], 2, "`moc-2`"),
        (["run", f"{program}:fails", "--machine", "moc-2-1"], 1, "RuntimeError: no bread"),
        (["launch", f"{program}:ring"], 2, "--local"),
        (["launch", f"{program}:rong", "--local", "2"], 2, "found no function rong"),
        (["launch", f"{program}:fails", "--local", "2"], 1, "RuntimeError: no bread"),
        (["launch", "no-such.py:ring", "--local", "2"], 2, "no-such.py"),
        (["launch", f"{program}:ring", "--local", "2", "--round", "3"], 2, "has no parameter `round`; it has rounds, word; did you mean `rounds`?"),
    ]
    for arguments, status, expected in cases:
        done = command(*arguments)
        assert (done.returncode, expected in done.stderr) == (status, True), (arguments, done.stderr)


@pytest.mark.parametrize(
    ("function", "status", "line", "expected"),
    [
        ("fails", 1, "raise RuntimeError", "in fails: RuntimeError: no bread\n"),
        ("dozes", 1, "await asyncio.sleep", "in dozes: RuntimeError: no running event loop\nhint: a rank awaits the verbs of its endpoint"),
        ("waits_for_nothing", 1, "await asyncio.Future", "in waits_for_nothing: TypeError: await: found"),
        ("plain", 2, "def plain", "the program `plain` is not an async function: found 5, where a coroutine was expected; allowed is `async"),
        ("alone", 2, "async def alone", "the program `alone` takes no endpoint; allowed is `async def alone(endpoint)`"),
    ],
)
def test_an_error_in_a_program_in_a_file_names_its_line(
    program: Path, function: str, status: int, line: str, expected: str
) -> None:
    number = next(number for number, text in enumerate(PROGRAM.splitlines(), 1) if line in text)
    done = command("run", f"{program}:{function}", "--machine", "moc-2-1", "--ranks", "2")
    assert (done.returncode, done.stderr.startswith(f"error: {program}:{number}: {expected}")) == (status, True), done.stderr
    assert str(Path(mq.__file__).parent) not in done.stderr


def test_a_file_that_is_no_python_is_refused_with_its_line(program: Path) -> None:
    program.write_text("async def ring(endpoint):\n    await await\n")
    done = command("run", f"{program}:ring", "--machine", "moc-2-1")
    assert (done.returncode, done.stderr) == (2, f"error: {program}:2: SyntaxError: invalid syntax\n")


def test_values_from_hosts_keep_all_digits_and_others_come_as_text(program: Path, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("here 127.0.0.1 1\n")
    program.write_text(
        "async def numbers(endpoint):\n    return [2**64 + 1, -(3**50), 0.1, 1e300, 'é']\n"
        "async def beyond_json(endpoint):\n    return [b'x', float('nan')]\n"
    )
    functions = runpy.run_path(str(program))
    assert mq.launch(functions["numbers"], hosts=hosts).returned == [[2**64 + 1, -(3**50), 0.1, 1e300, "é"]]
    assert mq.launch(functions["beyond_json"], hosts=hosts).returned == ["[b'x', nan]"]
    assert f"rank 0: [{2**64 + 1},-{3**50},0.1,1e+300,\"é\"]" in command("launch", "--local", "1", f"{program}:numbers").stdout


def test_a_program_on_hosts_has_the_same_result_as_on_models(program: Path, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("here 127.0.0.1 3\n")
    from_file = runpy.run_path(str(program))
    real = mq.launch(from_file["ring"], hosts=hosts, rounds=2)
    assert real.returned == mq.run(from_file["ring"], "loggp", ranks=3, rounds=2).returned == [0, 2, 4]
    assert (real.program, real.ranks, len(real.finish_ps)) == ("ring", 3, 3)
    named = mq.launch("broadcast", hosts=hosts, algorithm="hardware", bytes="4 KiB", no_multicast=True)
    assert (named.ranks, named.found["messages"]) == (3, 1)


def test_programs_that_can_not_be_launched_on_hosts_are_refused(program: Path, tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("here 127.0.0.1 2\n")
    from_file = runpy.run_path(str(program))

    async def inner(endpoint: mq.Endpoint) -> None:
        pass

    with pytest.raises(ValueError, match="allowed is a function at the top level of a file"):
        mq.launch(inner, hosts=hosts)
    with pytest.raises(TypeError, match="one of local, hosts and mpi"):
        mq.launch(from_file["ring"], hosts=hosts, local=2)
    with pytest.raises(mq.MaquetteError, match="no bread"):
        mq.launch(from_file["fails"], hosts=hosts)
    with pytest.raises(ValueError, match="no-hosts.txt"):
        mq.launch(from_file["ring"], hosts=tmp_path / "no-hosts.txt")


DISAGREES = '''
import maquette as mq

async def in_kind(endpoint):
    if endpoint.rank == 0:
        return len(await mq.broadcast(endpoint, bytes(8)))
    return len(await mq.all_reduce(endpoint, bytes(8), "sum-f64"))

async def in_operator(endpoint):
    return len(await mq.all_reduce(endpoint, bytes(8), "sum-f64" if endpoint.rank == 0 else "max-f64"))

async def in_algorithm(endpoint):
    algorithm = "ring" if endpoint.rank == 0 else "recursive-doubling"
    return len(await mq.all_reduce(endpoint, bytes(8), "sum-f64", algorithm=algorithm))

async def in_size(endpoint):
    return len(await mq.all_reduce(endpoint, bytes(8 if endpoint.rank == 0 else 16), "sum-f64"))
'''


@pytest.mark.parametrize("disagrees", ["in_kind", "in_operator", "in_algorithm", "in_size"])
def test_ranks_that_call_different_collectives_get_no_wrong_data(disagrees: str, tmp_path: Path) -> None:
    """In one process all ranks are compared; on hosts each notices it by the first message."""
    file, hosts = tmp_path / "disagrees.py", tmp_path / "hosts.txt"
    file.write_text(DISAGREES)
    hosts.write_text("here 127.0.0.1 2\n")
    program = runpy.run_path(str(file))[disagrees]
    with pytest.raises(mq.Mismatch, match=r"rank [01] calls .* as its collective 1, where rank [01] calls"):
        mq.launch(program, local=2)
    with pytest.raises(mq.MaquetteError, match=r"rank [01] calls .*, where rank [01] calls another collective"):
        mq.launch(program, hosts=hosts)
