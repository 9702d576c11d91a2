"""Operations that go on while the program does: isend, irecv, sendrecv, and receives into buffers."""

import array
from typing import Any

import pytest

import maquette as mq

MACHINES = ["infiniband-128", "loggp", "cm5-32", "dp-smp-8"]


def neighbours(endpoint: mq.Endpoint) -> tuple[int, int]:
    return (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size


@pytest.mark.parametrize("machine", MACHINES)
def test_messages_arrive_in_the_order_in_which_they_are_waited_for(machine: str) -> None:
    async def program(endpoint: mq.Endpoint) -> list[bytes | None]:
        left, right = neighbours(endpoint)
        sends = [endpoint.isend(right, bytes([endpoint.rank, tag]), tag=tag) for tag in range(3)]
        receives = [endpoint.irecv(left, tag=tag) for tag in (2, 0, 1)]
        received = await mq.wait_all(receives)
        assert await mq.wait_all(sends) == (None, None, None)
        return [message.data for message in received]

    for rank, received in enumerate(mq.run(program, machine, ranks=6).returned):
        left = (rank - 1) % 6
        assert received == [bytes([left, tag]) for tag in (2, 0, 1)]


@pytest.mark.parametrize("machine", MACHINES)
def test_requests_take_the_time_of_joined_operations(machine: str) -> None:
    async def by_join(endpoint: mq.Endpoint) -> None:
        left, right = neighbours(endpoint)
        for _ in range(3):
            await mq.join(endpoint.send(right, size="20 KiB"), endpoint.receive(left), endpoint.compute("30 us"))

    async def by_requests(endpoint: mq.Endpoint) -> None:
        left, right = neighbours(endpoint)
        for _ in range(3):
            pending = [endpoint.isend(right, size="20 KiB"), endpoint.irecv(left)]
            await endpoint.compute("30 us")
            await mq.wait_all(pending)

    times = [mq.run(program, machine, ranks=8).makespan_ps for program in (by_join, by_requests)]
    assert times[0] == times[1] > 0


def test_a_message_arrives_while_its_rank_does_something_else() -> None:
    async def program(endpoint: mq.Endpoint) -> int:
        if endpoint.rank == 0:
            await endpoint.send(1, size="64 KiB")
            return 0
        request = endpoint.irecv(0)
        assert not await request.test()
        await endpoint.sleep_until("10 ms")
        assert await request.test()
        before = endpoint.now_ps
        assert (await request.wait()).size == 64 << 10
        return endpoint.now_ps - before

    assert mq.run(program, "infiniband-128", ranks=2).returned[1] == 0


def test_the_first_of_several_is_known() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        if endpoint.rank > 0:
            await endpoint.compute(f"{[0, 30, 10, 20][endpoint.rank]} us")
            await endpoint.send(0, bytes([endpoint.rank]))
            return None
        left = [endpoint.irecv(rank) for rank in (1, 2, 3)]
        order = []
        while left:
            index, received = await mq.wait_any(left)
            order.append(received.source)
            del left[index]
        return order

    assert mq.run(program, "infiniband-128", ranks=4).returned[0] == [2, 3, 1]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_sendrecv_needs_no_agreement_on_who_sends_first(machine: str) -> None:
    async def program(endpoint: mq.Endpoint) -> bytes | None:
        left, right = neighbours(endpoint)
        return (await endpoint.sendrecv(right, bytes([endpoint.rank] * 5000), left)).data

    assert mq.run(program, machine, ranks=5).returned == [bytes([(rank - 1) % 5] * 5000) for rank in range(5)]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_probe_says_what_there_is_to_receive(machine: str) -> None:
    async def program(endpoint: mq.Endpoint) -> list[bytes | None]:
        if endpoint.rank > 0:
            await endpoint.compute(f"{100 * endpoint.rank} us")
            await endpoint.send(0, bytes([endpoint.rank] * 1000 * endpoint.rank), tag=endpoint.rank)
            return []
        assert await endpoint.iprobe() is None
        data: list[bytes | None] = []
        for expected in (1, 2, 3):
            found = await endpoint.probe()
            assert (found.source, found.tag, found.size, found.data) == (expected, expected, 1000 * expected, None)
            again = await endpoint.iprobe(found.source, found.tag)
            assert again is not None and again.size == found.size
            assert await endpoint.iprobe(found.source, found.tag + 1) is None
            buffer = bytearray(found.size)
            await endpoint.receive(found.source, found.tag, into=buffer)
            data.append(bytes(buffer))
        return data

    assert mq.run(program, machine, ranks=4).returned[0] == [bytes([rank] * 1000 * rank) for rank in (1, 2, 3)]


def test_a_probe_in_a_group_waits_for_its_places() -> None:
    async def program(endpoint: mq.Endpoint) -> int:
        group = endpoint.group([3, 1, 0, 2])
        if group.rank == 0:
            await group.send(2, size=64, tag=5)
        if group.rank == 2:
            found = await group.probe(0, 5)
            assert (await group.receive(0, 5)).size == found.size
            with pytest.raises(mq.Deadline):
                await group.probe(1, until=endpoint.now_ps + 1)
            return found.source
        return -1

    assert mq.run(program, "infiniband-128", ranks=4).returned == [3, -1, -1, -1]


def test_a_probe_that_finds_nothing_names_what_it_waits_for() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        if endpoint.rank == 0:
            await endpoint.probe(1, 7)

    with pytest.raises(mq.Deadlock, match="rank 0 waits for a message with tag 7 from rank 1"):
        mq.run(program, "infiniband-128", ranks=2)


def test_data_are_written_into_buffers_that_have_room() -> None:
    numpy = pytest.importorskip("numpy")

    async def program(endpoint: mq.Endpoint) -> Any:
        other = 1 - endpoint.rank
        mine = numpy.arange(4, dtype=float) + endpoint.rank
        received, begun, exchanged = numpy.zeros(4), numpy.zeros((2, 2)), array.array("d", [0] * 5)
        await mq.join(endpoint.send(other, mine), endpoint.receive(other, into=received))
        request = endpoint.irecv(other, into=begun)
        await endpoint.isend(other, mine * 2).wait()
        await request.wait()
        await endpoint.sendrecv(other, mine * 3, into=exchanged)
        return received.tolist(), begun.tolist(), exchanged.tolist()

    one = [1.0, 2.0, 3.0, 4.0]
    expected = (one, [[2.0, 4.0], [6.0, 8.0]], [3.0, 6.0, 9.0, 12.0, 0.0])
    assert mq.run(program, "infiniband-128", ranks=2).returned[0] == expected


def test_what_is_wrong_is_raised_where_it_is_waited_for() -> None:
    async def beyond(endpoint: mq.Endpoint) -> None:
        await endpoint.isend(9, b"x").wait()

    with pytest.raises(mq.NoSuchRank):
        mq.run(beyond, "infiniband-128", ranks=2)

    async def too_long(endpoint: mq.Endpoint) -> None:
        if endpoint.rank == 0:
            await endpoint.send(1, bytes(9))
        else:
            await endpoint.irecv(0, into=bytearray(8)).wait()

    with pytest.raises(mq.Mismatch, match="has 9 B, and its receive has room for 8 B"):
        mq.run(too_long, "infiniband-128", ranks=2)


def test_what_is_wrong_with_an_argument_is_raised_at_once() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        with pytest.raises(ValueError, match="tag: found -1"):
            endpoint.isend(1, b"x", tag=-1)
        with pytest.raises(TypeError, match="into: found bytes; allowed is a buffer that can be written"):
            endpoint.irecv(1, into=b"x")
        with pytest.raises(TypeError, match="requests: found 'x'; allowed is what isend and irecv"):
            await mq.wait_all(["x"])  # type: ignore[list-item]
        with pytest.raises(ValueError, match="wait_any: found nothing"):
            await mq.wait_any([])

    mq.run(program, "infiniband-128", ranks=1)


def test_what_nobody_waits_for_goes_on() -> None:
    async def program(endpoint: mq.Endpoint) -> bytes | None:
        if endpoint.rank == 0:
            endpoint.isend(1, b"later")
            return None
        return (await endpoint.receive(0)).data

    assert mq.run(program, "infiniband-128", ranks=2).returned == [None, b"later"]


def test_for_real_requests_do_the_same() -> None:
    async def program(endpoint: mq.Endpoint) -> bytes | None:
        left, right = neighbours(endpoint)
        request = endpoint.irecv(left)
        endpoint.isend(right, bytes([endpoint.rank]) * 4000)
        return (await request.wait()).data

    assert mq.launch(program, local=3).returned == [bytes([(rank - 1) % 3]) * 4000 for rank in range(3)]
