"""A stencil whose communication hides behind its computing: how much of it, on which machine?"""

import array

import maquette as mq


async def halo(endpoint: mq.Endpoint, overlaps: bool) -> float:
    """Swap boundaries with both neighbours of a ring, and compute what lies between; gives what came from the left."""
    left, right = (endpoint.rank - 1) % endpoint.size, (endpoint.rank + 1) % endpoint.size
    boundary = array.array("d", [float(endpoint.rank)] * 8192)
    exchange = mq.gather(
        endpoint.send(right, boundary, tag=0),
        endpoint.send(left, boundary, tag=1),
        endpoint.receive(left, tag=0),
        endpoint.receive(right, tag=1),
    )
    inner = endpoint.compute("25 us")
    if overlaps:
        (_, _, from_left, _), _ = await mq.gather(exchange, inner)
    else:
        _, _, from_left, _ = await exchange
        await inner
    assert from_left.data is not None
    return memoryview(from_left.data).cast("d")[0]


if __name__ == "__main__":
    for name in ["infiniband-128", "torus-512"]:
        machine = mq.Machine(name)
        for placement in ["in-order", "random"]:
            after, behind = (
                mq.run(halo, machine, ranks=64, placement=placement, seed=1, overlaps=overlaps)
                for overlaps in (False, True)
            )
            assert behind.returned == [float((rank - 1) % 64) for rank in range(64)]
            print(f"{name}, {placement}: {after.makespan_ps / 1e6:.1f} us, overlapped {behind.makespan_ps / 1e6:.1f} us")
