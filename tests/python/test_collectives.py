"""Collectives that a program awaits."""

import array
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import maquette as mq

COMMAND = Path(sys.executable).with_name("maquette")


def algorithms(program: str) -> list[str]:
    """The names of the algorithms that the command knows."""
    done = subprocess.run([COMMAND, "programs", program, "--json"], capture_output=True, text=True, timeout=60, check=True)
    return [algorithm["name"] for algorithm in json.loads(done.stdout)["algorithms"]]


#: The parameters that some algorithms need.
PARAMETERS: dict[str, dict[str, Any]] = {
    "lambda-tree": {"lambda_": 1.5},
    "two-queue": {"lambda_": 1.5},
    "census": {"lambda_": 1.5},
    "delay-send": {"lambda_": 1.5, "t0": "5 us"},
    "delay-receive": {"lambda_": 1.5},
    "reduce-broadcast": {"lambda_": 1.5},
    "segmented-tree": {"segment": "100 B", "alpha": 0.6},
    "pipeline": {"segment": 100},
}


def parameters_of(name: str) -> dict[str, Any]:
    return PARAMETERS.get(name, {})


def command_names(options: dict[str, Any]) -> dict[str, Any]:
    return {("lambda" if name == "lambda_" else name): value for name, value in options.items()}


@pytest.mark.parametrize("machine", ["cm5-32", "loggp", "infiniband-128"])
@pytest.mark.parametrize("root", [0, 3])
def test_every_broadcast_delivers_the_message_to_all(machine: str, root: int) -> None:
    names = algorithms("broadcast")
    assert {"binomial", "scatter-gather", "pipeline", "hardware"} <= set(names)
    data = bytes(range(250)) * 4

    async def program(endpoint: mq.Endpoint, algorithm: str) -> bytes | None:
        mine = data if endpoint.rank == root else None
        return await mq.broadcast(endpoint, mine, size=1000, root=root, algorithm=algorithm, **parameters_of(algorithm))

    for name in names:
        if name == "hardware" and machine != "cm5-32":
            with pytest.raises(mq.Unfit):
                mq.run(program, machine, ranks=11, algorithm=name)
            continue
        run = mq.run(program, machine, ranks=11, algorithm=name)
        assert run.returned == [data] * 11, name
        theirs = mq.run("broadcast", machine, ranks=11, root=root, bytes=1000, algorithm=name, **command_names(parameters_of(name)))
        assert (run.finish_ps, run.message_count) == (theirs.finish_ps, theirs.message_count), name


@pytest.mark.parametrize("machine", ["cm5-32", "loggp", "infiniband-128"])
def test_every_all_reduce_adds_up(machine: str) -> None:
    names = algorithms("all-reduce")
    assert {"ring", "recursive-doubling", "rabenseifner"} <= set(names)

    async def program(endpoint: mq.Endpoint, algorithm: str) -> list[float]:
        mine = array.array("d", [endpoint.rank + index for index in range(24)])
        combined = await mq.all_reduce(endpoint, mine, algorithm=algorithm, **parameters_of(algorithm))
        assert combined is not None
        return array.array("d", combined).tolist()

    for name in names:
        run = mq.run(program, machine, ranks=8, algorithm=name)
        assert run.returned == [[28.0 + 8 * index for index in range(24)]] * 8, name
        theirs = mq.run("all-reduce", machine, ranks=8, bytes=192, algorithm=name, **command_names(parameters_of(name)))
        assert (run.finish_ps, run.message_count) == (theirs.finish_ps, theirs.message_count), name


@pytest.mark.parametrize("machine", ["cm5-32", "loggp"])
def test_every_all_to_all_delivers_each_rank_its_messages(machine: str) -> None:
    names = algorithms("all-to-all")
    assert {"linear", "pairwise", "greedy", "bruck", "recursive"} <= set(names)

    async def program(endpoint: mq.Endpoint, algorithm: str) -> list[bytes | None]:
        mine = [bytes([endpoint.rank, other]) * 50 for other in range(endpoint.size)]
        return await mq.all_to_all(endpoint, mine, algorithm=algorithm)

    for name in names:
        run = mq.run(program, machine, ranks=8, algorithm=name)
        assert run.returned == [[bytes([other, rank]) * 50 for other in range(8)] for rank in range(8)], name
        theirs = mq.run("all-to-all", machine, ranks=8, bytes=100, algorithm=name)
        assert (run.finish_ps, run.message_count) == (theirs.finish_ps, theirs.message_count), name


def test_sizes_may_replace_data() -> None:
    async def program(endpoint: mq.Endpoint) -> Any:
        one = await mq.broadcast(endpoint, "4 KiB", algorithm="pipeline")
        two = await mq.all_reduce(endpoint, size=4096)
        return one, two, await mq.all_to_all(endpoint, size="1 KiB")

    assert mq.run(program, "loggp", ranks=4).returned[2] == (None, None, [None] * 4)


def test_a_barrier_waits_for_the_last() -> None:
    async def program(endpoint: mq.Endpoint) -> int:
        await endpoint.compute(1_000_000 * endpoint.rank)
        await mq.barrier(endpoint)
        return endpoint.now_ps

    assert min(mq.run(program, "infiniband-128", ranks=9).returned) >= 8_000_000


def test_collectives_do_not_match_other_messages() -> None:
    async def program(endpoint: mq.Endpoint) -> tuple[bytes | None, bytes | None]:
        other = 1 - endpoint.rank
        await endpoint.send(other, b"own", tag=5)
        shared = await mq.broadcast(endpoint, b"shared" if endpoint.rank == 0 else None)
        return shared, (await endpoint.receive(other, tag=5)).data

    assert mq.run(program, "loggp", ranks=2).returned == [(b"shared", b"own")] * 2


def test_a_receive_for_any_tag_does_not_match_messages_of_a_collective() -> None:
    async def program(endpoint: mq.Endpoint) -> tuple[bytes | None, bytes | None]:
        other = 1 - endpoint.rank
        received, shared, _ = await mq.join(
            endpoint.receive(), mq.broadcast(endpoint, b"shared" if endpoint.rank == 0 else None), endpoint.send(other, b"own")
        )
        return received.data, shared

    assert mq.run(program, "infiniband-128", ranks=2).returned == [(b"own", b"shared")] * 2


def test_a_collective_overlaps_with_other_operations() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        await mq.join(mq.all_reduce(endpoint, size="64 KiB", algorithm="ring"), endpoint.compute("1 ms"))

    alone = mq.run("all-reduce", "infiniband-128", ranks=16, bytes="64 KiB", algorithm="ring").makespan_ps
    assert mq.run(program, "infiniband-128", ranks=16).makespan_ps < 1_000_000_000 + alone


def test_operators_use_the_number_type_of_the_buffer() -> None:
    async def program(endpoint: mq.Endpoint, kind: str, operator: str) -> bytes | None:
        return await mq.all_reduce(endpoint, array.array(kind, [endpoint.rank + 1, 7]), operator)

    for kind, operator, expected in [("q", "sum", [10, 28]), ("f", "max", [4, 7]), ("Q", "product", [24, 2401])]:
        (returned, *_) = mq.run(program, "loggp", ranks=4, kind=kind, operator=operator).returned
        assert returned is not None and array.array(kind, returned).tolist() == expected
    with pytest.raises(TypeError, match="operator: found 'sum' of buffers with the format 'h'"):
        mq.run(program, "loggp", ranks=4, kind="h", operator="sum")


@pytest.mark.parametrize(
    ("error", "options", "expected"),
    [
        (ValueError, {"algorithm": "binomail"}, "did you mean `binomial`?"),
        (mq.Unfit, {"algorithm": "pipeline"}, "size: found nothing; allowed is the size of the message at every rank, as pipeline"),
        (ValueError, {"alpha": 0.6, "algorithm": "binomial"}, "alpha: found 0.6; allowed is none, as binomial"),
        (ValueError, {"root": 9}, "root: found rank 9; allowed is 0 to"),
    ],
)
def test_wrong_arguments_are_reported(error: type[Exception], options: dict[str, Any], expected: str) -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        await mq.broadcast(endpoint, b"data" if endpoint.rank == 0 else None, **options)

    with pytest.raises(error) as caught:
        mq.run(program, "loggp", ranks=4)
    assert expected in str(caught.value)


def test_a_wrong_number_of_messages_is_reported() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        await mq.all_to_all(endpoint, [b"one"])

    with pytest.raises(mq.Unfit, match="data: found 1 messages; allowed is one for each of the 4 ranks"):
        mq.run(program, "loggp", ranks=4)


def test_a_rank_that_does_not_join_is_a_deadlock() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        if endpoint.rank != 2:
            await mq.barrier(endpoint)

    with pytest.raises(mq.Deadlock, match="rank 2"):
        mq.run(program, "loggp", ranks=4)


async def broadcast(endpoint: mq.Endpoint, **options: Any) -> None:
    await mq.broadcast(endpoint, bytes(8), **options)


async def all_reduce(endpoint: mq.Endpoint, size: int = 8, **options: Any) -> None:
    await mq.all_reduce(endpoint, bytes(size), **{"operator": "sum-f64", **options})


async def all_to_all(endpoint: mq.Endpoint, size: int = 8, **options: Any) -> None:
    await mq.all_to_all(endpoint, [bytes(size)] * endpoint.size, **options)


@pytest.mark.parametrize(
    ("one", "other", "named"),
    [
        (broadcast, all_reduce, ["broadcast (algorithm binomial, root 0)", "all-reduce (", "operator sum-f64"]),
        ((broadcast, {"root": 1}), broadcast, ["root 0", "root 1"]),
        ((broadcast, {"algorithm": "linear"}), broadcast, ["algorithm linear", "algorithm binomial"]),
        ((broadcast, {"order": "permuted"}), broadcast, ["order permuted"]),
        ((all_reduce, {"operator": "max-f64"}), all_reduce, ["operator max-f64", "operator sum-f64"]),
        ((all_reduce, {"root": 1}), all_reduce, ["root 1", "root 0"]),
        ((all_reduce, {"size": 16}), all_reduce, ["with 16 B", "with 8 B"]),
        (all_to_all, mq.barrier, ["all-to-all (algorithm pairwise, pacing free-running)", "calls barrier"]),
        ((all_to_all, {"pacing": "barrier"}), all_to_all, ["pacing barrier", "pacing free-running"]),
        ((all_to_all, {"algorithm": "bruck", "size": 9}), (all_to_all, {"algorithm": "bruck"}), ["9 B", "8 B"]),
    ],
)
@pytest.mark.parametrize("odd", [0, 3])
def test_two_ranks_that_call_different_collectives_are_named_with_what_they_called(
    one: Any, other: Any, named: list[str], odd: int
) -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        await mq.barrier(endpoint)
        called = one if endpoint.rank == odd else other
        call, options = called if isinstance(called, tuple) else (called, {})
        await call(endpoint, **options)

    with pytest.raises(mq.Mismatch) as raised:
        mq.run(program, "loggp", ranks=4)
    error = str(raised.value)
    assert "as its collective 2, where rank" in error and f"rank {odd} calls" in error
    assert all(text in error for text in named), error


def test_the_same_collective_may_be_written_in_two_ways() -> None:
    async def program(endpoint: mq.Endpoint) -> None:
        if endpoint.rank == 0:
            await mq.broadcast(endpoint, bytes(100), algorithm="pipeline", segment="1 KiB")
            await mq.broadcast(endpoint, bytes(100))
        else:
            await mq.broadcast(endpoint, size="100 B", algorithm="pipeline", segment=1024, root=0)
            await mq.broadcast(endpoint, algorithm="binomial")

    mq.run(program, "loggp", ranks=4)


def test_messages_of_an_exchange_that_forwards_none_may_have_any_sizes() -> None:
    async def program(endpoint: mq.Endpoint) -> list[bytes | None]:
        return await mq.all_to_all(endpoint, [bytes(endpoint.rank)] * endpoint.size)

    assert mq.run(program, "loggp", ranks=3).returned[0] == [b"", bytes(1), bytes(2)]


@pytest.mark.parametrize("machine", ["loggp", "infiniband-128", "dp-smp-8"])
def test_a_receive_without_room_for_its_message_is_an_error(machine: str) -> None:
    async def program(endpoint: mq.Endpoint, room: int | str) -> int:
        if endpoint.rank == 0:
            await endpoint.send(1, size=1000, tag=7)
            return 0
        return (await endpoint.receive(0, size=room)).size

    expected = "the message of rank 0 to rank 1 with tag 7 has 1000 B, and its receive has room for 500 B"
    with pytest.raises(mq.Mismatch, match=expected):
        mq.run(program, machine, ranks=2, room="500 B")
    assert mq.run(program, machine, ranks=2, room=1000).returned[1] == 1000
    assert mq.run(program, machine, ranks=2, room="1 MiB").returned[1] == 1000


@pytest.mark.parametrize("algorithm", algorithms("all-reduce"))
def test_data_that_are_only_the_beginning_of_a_message_keep_its_size(algorithm: str) -> None:
    """Nobody reads the rest, so that the result is only a size, and as many bytes are sent as of any message of that size."""

    async def program(endpoint: mq.Endpoint, begins: bool) -> bytes | None:
        data = bytes(8) if begins else None
        return await mq.all_reduce(endpoint, data, "sum-f64", size=800, algorithm=algorithm, **parameters_of(algorithm))

    begun, sized = (mq.run(program, "parsytec-cc-16", ranks=5, begins=begins) for begins in (True, False))
    assert begun.returned == [None] * 5
    assert begun.finish_ps == sized.finish_ps
