"""
A stencil that computes while its boundaries travel
===================================================

A rank of a stencil swaps boundaries with its neighbours and computes its interior. The interior needs no other rank's boundary, so the two
can overlap. If they do, a step takes as long as the longer of the two instead of their sum: communication costs nothing as long as there
is enough computation to hide it.
"""

import array

import matplotlib.pyplot as plt

import maquette as mq


# %%
# The program is an async function, called once for each rank. ``join`` lets operations of a rank overlap, and ends with the last.


async def halo(endpoint: mq.Endpoint, compute_us: float, overlaps: bool) -> float:
    """Swap boundaries with both neighbours of a ring, and compute the interior; returns the boundary from the left."""
    left, right = (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size
    boundary = array.array("d", [float(endpoint.rank)] * 8192)
    exchange = mq.join(
        endpoint.send(right, boundary, tag=0),
        endpoint.send(left, boundary, tag=1),
        endpoint.receive(left, tag=0),
        endpoint.receive(right, tag=1),
    )
    inside = endpoint.compute(f"{compute_us} us")
    if overlaps:
        (_, _, from_left, _), _ = await mq.join(exchange, inside)
    else:
        _, _, from_left, _ = await exchange
        await inside
    assert from_left.data is not None
    return memoryview(from_left.data).cast("d")[0]


# %%
# The boundaries are real data, so we can check that each rank has its left neighbour's.

machine = mq.Machine("infiniband-128")
computing_us = [2.5 * step for step in range(17)]
after, behind = (
    [mq.run(halo, machine, ranks=64, compute_us=each, overlaps=overlaps) for each in computing_us] for overlaps in (False, True)
)
assert all(run.returned == [float((rank - 1) % 64) for rank in range(64)] for run in after + behind)

# %%
# The dashed line is computing alone. Left of the kink a step waits for the boundaries, right of it they are free.

figure, axes = plt.subplots()
axes.plot(computing_us, [run.makespan_ps / 1e6 for run in after], marker=".", label="first swap, then compute")
axes.plot(computing_us, [run.makespan_ps / 1e6 for run in behind], marker=".", label="both at once")
axes.plot(computing_us, computing_us, "k--", linewidth=1, label="computing alone")
axes.set(xlabel="computing of a rank [us]", ylabel="time of a step [us]", title="64 KiB each way, 64 ranks in a ring")
axes.legend()

exchange_us = after[0].makespan_ps / 1e6
hidden_us = (after[-1].makespan_ps - behind[-1].makespan_ps) / 1e6
print(f"The exchange takes {exchange_us:.1f} us by itself; behind {computing_us[-1]} us of computing, {hidden_us:.1f} us of it are hidden.")

assert hidden_us > 0.9 * exchange_us
assert all(run.makespan_ps / 1e6 < 1.1 * max(each, exchange_us) for run, each in zip(behind, computing_us, strict=True))
plt.show()
