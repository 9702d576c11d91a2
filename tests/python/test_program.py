"""Programs in Python: coroutines that the simulated machine resumes."""

import array
import asyncio
import signal
import threading
import time
import traceback
from typing import Any

import pytest

import maquette as mq

MACHINES = ["infiniband-128", "loggp"]


async def ring_all_reduce(endpoint: mq.Endpoint, size: int) -> int:
    """The ring algorithm: n - 1 steps that add up parts, and n - 1 that pass the sums round."""
    n, part = endpoint.size, size // endpoint.size
    left, right = (endpoint.rank - 1) % n, (endpoint.rank + 1) % n
    for _ in range(2 * (n - 1)):
        await mq.join(endpoint.send(right, size=part), endpoint.receive(left))
    return endpoint.now_ps


async def ping_pong(endpoint: mq.Endpoint, size: int, rounds: int) -> None:
    other = 1 - endpoint.rank
    for _ in range(rounds):
        if endpoint.rank == 0:
            await endpoint.send(other, size=size)
            await endpoint.receive(other)
        else:
            await endpoint.receive(other)
            await endpoint.send(other, size=size)


@pytest.mark.parametrize("machine", [*MACHINES, "dp-smp-8"])
@pytest.mark.parametrize("size", [1, 64, 100_000])
def test_it_takes_as_long_as_the_same_program_in_rust(machine: str, size: int) -> None:
    mine = mq.run(ping_pong, machine, ranks=2, size=size, rounds=3)
    theirs = mq.run("ping-pong", machine, ranks=2, bytes=size, rounds=3)
    assert mine.finish_ps == theirs.finish_ps
    assert mine.message_count == theirs.message_count == 6
    mine_result, theirs_result = mine.to_dict(), theirs.to_dict()
    assert mine_result["experiment"]["parameters"] == {"size": size, "rounds": 3}
    for name in ["channels", "routers", "ranks", "packets", "flit_hops", "frames"]:
        assert mine_result.get(name) == theirs_result.get(name)


def test_a_placement_that_names_the_usual_order_changes_nothing() -> None:
    usual, named = (mq.run(ring_all_reduce, "cm5-32", ranks=4, placement=way, size=64) for way in (None, "0-3"))
    assert usual.to_dict() == named.to_dict()


@pytest.mark.parametrize("placement", [None, "random"])
@pytest.mark.parametrize("machine", MACHINES)
def test_the_same_run_has_the_same_result(machine: str, placement: str | None) -> None:
    if machine == "loggp" and placement == "random":
        with pytest.raises(ValueError, match="found random; allowed is in-order, as on loggp no node is nearer than another"):
            mq.run(ring_all_reduce, machine, ranks=16, placement=placement, seed=5, size=65536)
        return
    runs = [mq.run(ring_all_reduce, machine, ranks=16, placement=placement, seed=5, size=65536) for _ in range(2)]
    assert runs[0].to_dict() == runs[1].to_dict()
    assert runs[0].returned == runs[0].finish_ps
    assert runs[0].message_count == 16 * 30


def test_a_halo_exchange_is_hidden_by_computing() -> None:
    async def halo(endpoint: mq.Endpoint, overlaps: bool) -> None:
        left, right = (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size
        exchange = [endpoint.send(right, size="64 KiB"), endpoint.receive(left)]
        if overlaps:
            await mq.join(*exchange, endpoint.compute("100 us"))
        else:
            await mq.join(*exchange)
            await endpoint.compute("100 us")

    alone = mq.run(halo, "infiniband-128", ranks=8, overlaps=False).makespan_ps
    hidden = mq.run(halo, "infiniband-128", ranks=8, overlaps=True).makespan_ps
    assert 100_000_000 < hidden < 102_000_000
    assert alone > hidden + 1_000_000


def test_data_arrives_as_it_was_sent() -> None:
    sent: list[Any] = [b"", b"bytes", bytearray(b"array"), memoryview(b"view"), array.array("d", [1.0, 2.5])]

    async def program(endpoint: mq.Endpoint) -> list[tuple[int, bytes | None]]:
        if endpoint.rank == 0:
            for data in sent:
                await endpoint.send(1, data)
            return []
        return [((received := await endpoint.receive(0)).size, received.data) for _ in sent]

    run = mq.run(program, "infiniband-128", ranks=2)
    assert run.returned[1] == [(len(raw), raw) for raw in (memoryview(data).tobytes() for data in sent)]


def test_numpy_arrays_are_data() -> None:
    numpy = pytest.importorskip("numpy")

    async def program(endpoint: mq.Endpoint) -> float:
        if endpoint.rank == 0:
            values = numpy.arange(12.0).reshape(3, 4)
            await endpoint.send(1, values.T)
            values[:] = 0
            return 0.0
        received = await endpoint.receive(0)
        assert received.data is not None and received.size == 96
        return float(numpy.frombuffer(received.data).reshape(4, 3)[1, 2])

    assert mq.run(program, "loggp", ranks=2).returned == [0.0, 9.0]


def test_a_size_is_a_text_or_a_number() -> None:
    async def program(endpoint: mq.Endpoint) -> list[tuple[int, bytes | None]]:
        if endpoint.rank == 0:
            await endpoint.send(1, "4 KiB")
            await endpoint.send(1, size=100)
            await endpoint.send(1, b"head", size="1 kB")
            return []
        messages = [await endpoint.receive(0) for _ in range(3)]
        return [(message.size, message.data) for message in messages]

    assert mq.run(program, "infiniband-128", ranks=2).returned[1] == [(4096, None), (100, None), (1000, b"head")]


def test_tags_and_any_source_select_the_message() -> None:
    async def program(endpoint: mq.Endpoint) -> list[tuple[int, int, bytes | None]]:
        if endpoint.rank > 0:
            await endpoint.sleep_until(f"{10 * endpoint.rank} us")
            await endpoint.send(0, b"low", tag=1)
            await endpoint.send(0, b"high", tag=7)
            return []
        taken = [await endpoint.receive(2, tag=7), await endpoint.receive(tag=7)]
        taken += [await endpoint.receive(), await endpoint.receive(2)]
        return [(message.source, message.tag, message.data) for message in taken]

    run = mq.run(program, "loggp", ranks=3)
    assert run.returned[0] == [(2, 7, b"high"), (1, 7, b"high"), (1, 1, b"low"), (2, 1, b"low")]


def test_a_deadline_passes_and_can_be_caught() -> None:
    async def program(endpoint: mq.Endpoint) -> tuple[str, int] | None:
        if endpoint.rank == 1:
            return None
        try:
            await endpoint.receive(1, until="5 us")
        except mq.Deadline as error:
            return str(error), endpoint.now_ps
        return None

    text = "no message arrived by 5000000 ps"
    assert mq.run(program, "infiniband-128", ranks=2).returned == [(text, 5_000_000), None]


def test_coroutines_overlap_and_first_returns_the_first_to_end() -> None:
    async def work(endpoint: mq.Endpoint, time: str) -> str:
        await endpoint.sleep_until(time)
        return time

    async def program(endpoint: mq.Endpoint) -> tuple[tuple[str, ...], tuple[int, str], int]:
        gathered = await mq.join(*(work(endpoint, f"{time} us") for time in (3, 1, 2)))
        one = await mq.first(work(endpoint, "9 us"), work(endpoint, "5 us"), work(endpoint, "7 us"))
        return gathered, one, endpoint.now_ps

    assert mq.run(program, "loggp", ranks=1).returned == [(("3 us", "1 us", "2 us"), (1, "5 us"), 5_000_000)]


def test_an_exception_names_its_rank_and_what_the_others_waited_for() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        await endpoint.compute("2 us")
        if endpoint.rank == 3:
            raise LookupError("no such pivot")
        await endpoint.receive(3)

    with pytest.raises(LookupError, match="no such pivot") as caught:
        mq.run(program, "infiniband-128", ranks=4)
    assert caught.value.__notes__[0] == "raised by rank 3 at 2 us"
    assert "rank 0 waits for a message from rank 3" in caught.value.__notes__[1]
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line == 'raise LookupError("no such pivot")'


def test_an_exception_in_a_gather_reaches_the_coroutine_that_awaits_it() -> None:
    closed: list[str] = []

    async def fails(endpoint: mq.Endpoint) -> None:
        await endpoint.compute("1 us")
        raise ArithmeticError("singular")

    async def waits(endpoint: mq.Endpoint) -> None:
        try:
            await endpoint.receive()
        finally:
            closed.append("closed")

    async def program(endpoint: mq.Endpoint) -> str:
        try:
            await mq.join(waits(endpoint), fails(endpoint))
        except ArithmeticError as error:
            return f"{error}, {closed}"
        return "nothing"

    assert mq.run(program, "loggp", ranks=1).returned == ["singular, ['closed']"]


def test_a_deadlock_names_its_ranks() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        await endpoint.receive((endpoint.rank + 1) % endpoint.size)

    for machine in MACHINES:
        with pytest.raises(mq.Deadlock, match="rank 0 waits for a message from rank 1, rank 1 waits for a message from"):
            mq.run(program, machine, ranks=3)
    with pytest.raises(mq.Deadlock, match="rank 0 waits for a message from rank 1"):
        mq.run(program, "infiniband-128", ranks=3, placement="random")


def test_a_deadlock_names_the_tags_that_receives_wait_for() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        if endpoint.rank == 0:
            await endpoint.send(1, "8 B", tag=5)
            await endpoint.receive(1, tag=7)
        else:
            await endpoint.receive(0, tag=6)

    for machine in MACHINES:
        with pytest.raises(mq.Deadlock, match="rank 1 waits for a message with tag 6 from rank 0"):
            mq.run(program, machine, ranks=2)


def test_a_foreign_awaitable_is_refused_where_it_is_awaited() -> None:
    async def sleeps(endpoint: mq.Endpoint) -> None:
        await asyncio.sleep(0)

    async def catches(endpoint: mq.Endpoint) -> str:
        try:
            await asyncio.sleep(0)
        except TypeError as error:
            return str(error)
        return "nothing"

    with pytest.raises(TypeError, match="await: found None; allowed is the verbs of the rank's endpoint") as caught:
        mq.run(sleeps, "loggp", ranks=2)
    assert caught.value.__notes__ == ["raised by rank 0 at 0 ps", "1 other rank raised exceptions, too"]
    assert "asyncio" in mq.run(catches, "loggp", ranks=1).returned[0]


def test_a_function_that_is_not_async_is_refused() -> None:
    def program(endpoint: mq.Endpoint) -> int:
        return 1

    with pytest.raises(TypeError, match="the program `program` is not an async function: found 1, where"):
        mq.run(program, "loggp", ranks=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="program: found 3; allowed is"):
        mq.run(3, "loggp", ranks=1)  # type: ignore[call-overload]


def test_arguments_that_a_program_does_not_take_are_refused_before_it_runs() -> None:
    async def program(endpoint: mq.Endpoint, rounds: int, size: int = 64) -> None:
        raise AssertionError("it was begun")

    with pytest.raises(TypeError, match="`program` has no parameter `round`; it has rounds, size; did you mean `rounds`?"):
        mq.run(program, "loggp", ranks=2, round=3)
    with pytest.raises(TypeError, match="the program `program` needs `rounds`, which has no default"):
        mq.run(program, "loggp", ranks=2)
    with pytest.raises(TypeError, match="the program `ring_all_reduce` has no parameter `root`; it has size$"):
        mq.launch(ring_all_reduce, local=2, root=3)


@pytest.mark.parametrize(
    ("error", "expected", "arguments"),
    [
        (mq.NoSuchRank, "rank 9 does not exist: the program has 2", {"to": 9, "size": 1}),
        (mq.NoSuchRank, "rank 0 cannot send to or receive from itself", {"to": 0, "size": 1}),
        (ValueError, "to: found -1; allowed is a whole number from 0 to", {"to": -1, "size": 1}),
        (TypeError, "to: found 'all'; allowed is a whole number from 0 to", {"to": "all", "size": 1}),
        (ValueError, "data: `4 Kb` is not an amount of data", {"to": 1, "data": "4 Kb"}),
        (TypeError, "data: found 64; allowed is a bytes-like object", {"to": 1, "data": 64}),
        (TypeError, "data: found neither data nor a size", {"to": 1}),
        (ValueError, "size: found 2 B; allowed is at least 4", {"to": 1, "data": b"long", "size": 2}),
        (ValueError, "tag: found -2; allowed is", {"to": 1, "size": 1, "tag": -2}),
        (ValueError, "tag: found 4294967294; allowed is a whole number from 0 to 4294901756", {"to": 1, "size": 1, "tag": 2**32 - 2}),
    ],
)
def test_bad_arguments_are_reported_by_the_verb(error: type[Exception], expected: str, arguments: dict[str, Any]) -> None:
    async def program(endpoint: mq.Endpoint) -> str:
        if endpoint.rank == 0:
            try:
                await endpoint.send(**arguments)
            except error as caught:
                return str(caught)
        return "nothing"

    assert expected in mq.run(program, "loggp", ranks=2).returned[0]


def test_a_broadcast_in_hardware_needs_the_hardware() -> None:
    async def program(endpoint: mq.Endpoint) -> bytes | None:
        if endpoint.rank == 2:
            await endpoint.multicast(b"all of you")
            return None
        return (await endpoint.receive_multicast(2)).data

    assert mq.run(program, "cm5-32", ranks=4).returned == [b"all of you", b"all of you", None, b"all of you"]
    with pytest.raises(mq.Unfit, match="no network to broadcast on in hardware"):
        mq.run(program, "loggp", ranks=4)


def test_ctrl_c_ends_a_program_that_never_ends() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        while True:
            await endpoint.compute("1 us")

    def interrupt() -> None:
        time.sleep(0.3)
        signal.raise_signal(signal.SIGINT)

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        with pytest.raises(KeyboardInterrupt):
            mq.run(program, "infiniband-128", ranks=64)
    finally:
        signal.signal(signal.SIGINT, previous)
    assert mq.run(ping_pong, "loggp", ranks=2, size=1, rounds=1).message_count == 2


def test_a_missing_await_is_a_warning() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        endpoint.compute("1 us")  # type: ignore[unused-coroutine]

    with pytest.warns(RuntimeWarning, match="'Endpoint.compute' was never awaited"):
        mq.run(program, "loggp", ranks=1)
