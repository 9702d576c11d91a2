"""Collectives of the list, and groups: some ranks of a program in an order."""

import struct
from typing import Any

import pytest

import maquette as mq

MACHINE = mq.Machine("parsytec-cc-16")


def ran(program: Any, ranks: int = 6) -> list[Any]:
    return mq.run(program, MACHINE, ranks=ranks).returned


def numbers(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


def test_gather_brings_all_data_to_the_root_in_order_of_rank() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        return await mq.gather(endpoint, bytes([endpoint.rank] * 2), root=4)

    assert ran(program) == [b"\0\0\1\1\2\2\3\3\4\4\5\5" if rank == 4 else None for rank in range(6)]


@pytest.mark.parametrize("how", [{"algorithm": "linear"}, {"sizes": [0, 1, 2, 3, 4, 5]}, {"sizes": ["0 B", 1, "2", 3, 4, 5]}])
def test_data_of_different_sizes_are_gathered_straight_or_with_known_sizes(how: dict[str, Any]) -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        return await mq.gather(endpoint, bytes([endpoint.rank]) * endpoint.rank, root=1, **how)

    assert ran(program)[1] == b"\1\2\2\3\3\3\4\4\4\4\5\5\5\5\5"


def test_scatter_takes_a_list_of_blocks_or_all_of_them_joined() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        is_root = endpoint.rank == 2
        of_list = await mq.scatter(endpoint, [bytes([7, rank]) for rank in range(6)] if is_root else None, root=2)
        joined = await mq.scatter(endpoint, bytes(range(12)) if is_root else None, root=2)
        uneven = await mq.scatter(endpoint, bytes(range(15)) if is_root else None, root=2, sizes=range(6))
        return of_list, joined, uneven

    first = [0, 0, 1, 3, 6, 10]
    assert ran(program) == [
        (bytes([7, rank]), bytes([2 * rank, 2 * rank + 1]), bytes(range(first[rank], first[rank] + rank))) for rank in range(6)
    ]


@pytest.mark.parametrize("algorithm", [None, "ring", "bruck", "recursive-doubling", "neighbour-exchange", "gather-broadcast"])
def test_all_gather_joins_the_data_of_all_ranks(algorithm: str | None) -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        return await mq.all_gather(endpoint, bytes([endpoint.rank]), algorithm=algorithm)

    assert ran(program) == [bytes(range(6))] * 6


def test_reductions_give_the_parts_that_mpi_gives() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        own = numbers(*range(endpoint.rank, endpoint.rank + endpoint.size))
        return (
            await mq.reduce(endpoint, own, "max-i64", root=3),
            await mq.reduce_scatter(endpoint, own, "sum-i64"),
            await mq.scan(endpoint, numbers(endpoint.rank), "sum-i64"),
            await mq.exscan(endpoint, numbers(endpoint.rank), "sum-i64"),
        )

    for rank, (reduced, block, scan, exscan) in enumerate(ran(program)):
        assert reduced == (numbers(*range(5, 11)) if rank == 3 else None)
        assert block == numbers(15 + 6 * rank)
        assert scan == numbers(rank * (rank + 1) // 2)
        assert exscan == (numbers(rank * (rank - 1) // 2) if rank else None)


def test_sizes_are_enough_where_nobody_looks_at_the_data() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        return [
            await mq.all_gather(endpoint, size="4 KiB"),
            await mq.gather(endpoint, size=100),
            await mq.reduce_scatter(endpoint, size=48),
            await mq.scatter(endpoint, size=600),
        ]

    assert ran(program) == [[None] * 4] * 6


@pytest.mark.parametrize("algorithm", ["dissemination", "binomial", "linear"])
def test_a_barrier_waits_for_the_last(algorithm: str | None) -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        await endpoint.compute(f"{endpoint.rank} ms")
        await mq.barrier(endpoint, algorithm=algorithm)
        return endpoint.now_ps

    assert min(ran(program)) >= 5 * 10**9


def test_every_collective_runs_among_the_ranks_of_a_group_in_its_order() -> None:
    order = [5, 1, 3]

    async def program(endpoint: mq.Endpoint) -> Any:
        if endpoint.rank not in order:
            return None
        group = endpoint.group(order)
        assert (group.size, group.ranks, group.ranks[group.rank]) == (3, order, endpoint.rank)
        own = bytes([endpoint.rank])
        await mq.barrier(group)
        return [
            await mq.all_gather(group, own),
            await mq.gather(group, own, root=2),
            await mq.broadcast(group, own if group.rank == 1 else None, root=1),
            await mq.all_reduce(group, numbers(endpoint.rank), "sum-i64"),
            await mq.all_to_all(group, [bytes([endpoint.rank, place]) for place in range(3)]),
            await mq.scan(group, numbers(endpoint.rank), "sum-i64"),
        ]

    returned = ran(program)
    assert [returned[rank] for rank in (0, 2, 4)] == [None] * 3
    for place, rank in enumerate(order):
        assert returned[rank] == [
            b"\5\1\3",
            b"\5\1\3" if place == 2 else None,
            b"\1",
            numbers(9),
            [bytes([other, place]) for other in order],
            numbers([5, 6, 9][place]),
        ]


def test_groups_at_once_do_not_mix() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        rows = endpoint.group([rank for rank in range(6) if rank // 3 == endpoint.rank // 3])
        columns = endpoint.group([rank for rank in range(6) if rank % 3 == endpoint.rank % 3])
        own = bytes([endpoint.rank])
        pending = [mq.all_gather(rows, own), mq.all_gather(columns, own), mq.all_gather(endpoint, own)]
        # Ranks begin them in different orders.
        order = [0, 1, 2] if endpoint.rank % 2 else [2, 1, 0]
        ended = await mq.join(*(pending[each] for each in order))
        return [ended[order.index(each)] for each in range(3)]

    for rank, (row, column, every) in enumerate(ran(program)):
        assert row == bytes(range(rank // 3 * 3, rank // 3 * 3 + 3))
        assert column == bytes([rank % 3, rank % 3 + 3])
        assert every == bytes(range(6))


def test_a_split_makes_a_group_of_each_colour_in_order_of_keys() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        group = await endpoint.split(None if endpoint.rank == 4 else endpoint.rank % 2, -endpoint.rank)
        if group is None:
            return None
        inner = await group.split(0 if group.rank < 2 else 1)
        assert inner is not None
        return group.ranks, group.rank, inner.ranks

    assert ran(program) == [([2, 0], 1, [2, 0]), ([5, 3, 1], 2, [1]), ([2, 0], 0, [2, 0]), ([5, 3, 1], 1, [5, 3]), None, ([5, 3, 1], 0, [5, 3])]


def test_messages_within_a_group_go_to_places() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        if endpoint.rank == 0:
            return None
        group = endpoint.group([4, 2, 5, 1, 3])
        _, received = await mq.join(
            group.send((group.rank + 1) % 5, bytes([group.rank]), tag=3), group.receive((group.rank - 1) % 5, tag=3)
        )
        return received.data, received.source

    assert ran(program)[1:] == [(b"\2", 5), (b"\0", 4), (b"\3", 1), (b"\4", 3), (b"\1", 2)]


@pytest.mark.parametrize(
    ("ranks", "text"),
    [
        ([0, 1, 9], "ranks: found rank 9; allowed is 0 to 5, the ranks of the program"),
        ([0, 1, 1], "ranks: found rank 1 twice; allowed is each rank once"),
        (["a"], r"ranks: found \['a'\]; allowed is a list of ranks"),
        (5, "ranks: found 5; allowed is a list of ranks"),
        ([1, 2], "ranks: found 2 ranks without rank 0; allowed is a group that has the rank which makes it"),
    ],
)
def test_what_is_no_group_is_an_error(ranks: Any, text: str) -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        if endpoint.rank == 0:
            endpoint.group(ranks)

    with pytest.raises((TypeError, ValueError), match=text):
        ran(program)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda endpoint: mq.scatter(endpoint, [b"a", b"bcd", b"e", b"fgh", b"i", b"j"]), mq.Mismatch, "blocks of 1 B and of 3 B"),
        (lambda endpoint: mq.gather(endpoint, bytes(9), sizes=[1, 2, 3, 4, 5, 6]), mq.Mismatch, "found 9 B for rank 0; allowed is 1 B"),
        (lambda endpoint: mq.reduce_scatter(endpoint, bytes(50), "xor"), mq.Unfit, "found 50 B; .* for each of 6 ranks"),
        (lambda endpoint: mq.scatter(endpoint, [b"a", b"b"]), mq.Unfit, "found 2 blocks of data; rank 0 has to have 6"),
        (lambda endpoint: mq.gather(endpoint), mq.Unfit, "rank 0 has no data"),
        (lambda endpoint: mq.gather(endpoint, b"a", sizes=5), TypeError, "sizes: found 5; allowed is a list"),  # type: ignore[arg-type]
        (lambda endpoint: mq.gather(endpoint, b"a", sizes=[1, 2]), ValueError, "sizes: found 2 sizes; allowed is one for each of 6"),
    ],
)
def test_data_that_do_not_fit_are_an_error_and_never_cut_wrongly(call: Any, error: type[Exception], text: str) -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        return await call(endpoint)

    with pytest.raises(error, match=text):
        ran(program)


def test_ranks_that_differ_are_named_by_their_ranks_in_the_program() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        if endpoint.rank in (2, 5):
            group = endpoint.group([5, 2])
            await (mq.barrier(group) if endpoint.rank == 2 else mq.scan(group, size=8))

    with pytest.raises(mq.Mismatch, match="rank [25] calls .* of ranks 5, 2 as its collective 1, where rank [25] calls"):
        ran(program)


def test_a_subset_that_calls_without_a_group_is_told() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        if endpoint.rank < 2:
            await mq.all_reduce(endpoint, size=8)

    text = r"ranks 0, 1 called all-reduce .*, and ranks 2, 3, 4, 5 did not: .* by endpoint\.group"
    with pytest.raises(mq.Deadlock, match=text):
        ran(program)


def test_for_real_groups_do_the_same() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        group = await endpoint.split(endpoint.rank % 2)
        assert group is not None
        return await mq.all_gather(group, bytes([endpoint.rank])), await mq.gather(endpoint, b"x" * 3000, root=2)

    launched = mq.launch(program, local=4).returned
    assert launched == [(bytes([rank % 2, rank % 2 + 2]), b"x" * 12000 if rank == 2 else None) for rank in range(4)]
