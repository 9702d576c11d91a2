"""Ranks that disagree: on the size of a message or of a part of a collective, or on which collective they call. Each is an error that names both."""

from pathlib import Path

import pytest
from command import maquette, refusal

import maquette as mq

MACHINES = ["loggp", "fat-tree-1024", "torus-512", "dp-smp-8"]


@pytest.mark.parametrize("name", MACHINES)
def test_a_goal_receive_without_room_for_its_message_is_refused(name: str, tmp_path: Path) -> None:
    """Both ranks, the tag, both sizes and the line of the receive are named; the other way round is legal."""
    schedule = tmp_path / "short.goal"
    text = "num_ranks 2\nrank 0 {{\nsend {}b to 1 tag 3\n}}\nrank 1 {{\nrecv {}b from 0 tag 3\n}}\n"
    schedule.write_text(text.format(1000, 500))
    error = refusal("run", "goal", schedule, "--machine", name)
    expected = "short.goal: line 6: the message of rank 0 to rank 1 with tag 3 has 1000 B, and its receive has room for 500 B"
    assert expected in error
    schedule.write_text(text.format(500, 1000))
    assert maquette("run", "goal", schedule, "--machine", name).returncode == 0


TRACES = {
    "0 send 1 7 1000 6\n1 recv 0 7 500 6\n": "has 1000 B, and its receive has room for 500 B",
    "0 alltoallv 48 8 40 32 8 24 6 6\n1 alltoallv 32 24 8 52 44 8 6 6\n": (
        "found room for 44 B at rank 1 for what rank 0 sends, which are 40 B"
    ),
    "0 gatherv 8 8 44 0 6 6\n1 gatherv 40 0 0 0 6 6\n": (
        "found room for 44 B at rank 0 for what rank 1 sends, which are 40 B"
    ),
    "0 allgather 40 44 6 6\n1 allgather 40 44 6 6\n": "found 40 B to send and room for 44 B",
    "0 bcast 40 0 6\n1 bcast 44 0 6\n": "found MPI_Bcast of root 0 with 44 B",
    "0 bcast 40 0 6\n1 bcast 40 1 6\n": "found MPI_Bcast of root 1 with 40 B",
    "0 bcast 40 0 6\n1 allreduce 40 0 6\n": "found MPI_Allreduce with 40 B",
}


@pytest.mark.parametrize("lines", TRACES)
def test_a_trace_whose_ranks_disagree_is_refused(lines: str, tmp_path: Path) -> None:
    """Whether on a message or on a collective."""
    trace = tmp_path / "trace.txt"
    trace.write_text("".join(f"{rank} init\n" for rank in (0, 1)) + lines + "0 finalize\n1 finalize\n")
    assert TRACES[lines] in refusal("run", "trace", trace, "--machine", "loggp")


@pytest.mark.parametrize("name", ["loggp", "infiniband-128", "dp-smp-8"])
def test_ranks_that_call_different_collectives_get_no_wrong_data(name: str) -> None:
    """With another collective, operator or algorithm, a rank gets an error."""

    async def kinds(endpoint: mq.Endpoint) -> bytes | None:
        if endpoint.rank == 0:
            return await mq.broadcast(endpoint, bytes(8))
        return await mq.all_reduce(endpoint, bytes(8), "sum-f64")

    async def operators(endpoint: mq.Endpoint) -> bytes | None:
        return await mq.all_reduce(endpoint, bytes(8), "sum-f64" if endpoint.rank == 0 else "max-f64")

    async def algorithms(endpoint: mq.Endpoint) -> bytes | None:
        return await mq.all_reduce(
            endpoint, bytes(8), "sum-f64", algorithm="ring" if endpoint.rank == 0 else "recursive-doubling"
        )

    for program in (kinds, operators, algorithms):
        with pytest.raises(mq.Mismatch, match=r"rank [01] calls .* as its collective 1, where rank [01] calls"):
            mq.run(program, name, ranks=2)
